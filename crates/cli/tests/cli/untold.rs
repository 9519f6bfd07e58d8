//! What commands say where something is missing or could be meant in two ways.

use crate::common::Place;

/// `rows` rows of four shops, the last of which has two.
fn shops(rows: usize, unit: impl Fn(usize) -> f64) -> String {
    let shop = |i: usize| if i < 2 { 3 } else { i % 3 };
    let label = |i: usize| unit(shop(i)) * (f64::from((i * 5 % 13) as u32) + shop(i) as f64);
    let row = |i: usize| format!("s{},{},{}\n", shop(i), i * 7 % 11, label(i));
    "shop,x,y\n".to_string() + &(0..rows).map(row).collect::<String>()
}

const FIT: &str = "--task shop --target y --c 1 --threads 1";

#[test]
fn relations_of_the_model_that_do_not_name_a_new_task_are_said() {
    let place = Place::new();
    place.write("a.csv", shops(60, |_| 1.0));
    place.write("region.csv", "shop,region\ns0,north\ns1,south\ns2,north\ns3,south\n");
    place.write("kind.csv", "shop,kind\ns0,big\ns1,big\ns2,small\ns3,small\n");
    place.ok(&format!(
        "fit a.csv {FIT} --atom groups=region.csv,name=region --atom groups=kind.csv,name=kind -o m.st"
    ));
    place.write("new.csv", "shop,x\nnew,3\n");
    place.write("new_region.csv", "shop,region\nnew,north\n");
    place.write("new_kind.csv", "shop,kind\nnew,big\n");
    let said = place.run("predict m.st new.csv --atom groups=new_region.csv,name=region");
    let note = "the relations of the model that do not name it (--atom may be repeated): \"new\" (kind)";
    assert!(said.code == 0 && said.stderr.contains(note), "{said:?}");
    let both = "--atom groups=new_region.csv,name=region --atom groups=new_kind.csv,name=kind";
    let said = place.run(&format!("predict m.st new.csv {both}"));
    assert!(said.code == 0 && !said.stderr.contains("do not name it"), "{said:?}");
}

#[test]
fn units_of_tasks_that_differ_are_said_with_predictions_for_new_tasks() {
    let place = Place::new();
    place.write("new.csv", "shop,x\nnew,3\n");
    for (name, unit, expected) in [("same", 1.0, false), ("other", 1000.0, true)] {
        place.write("a.csv", shops(60, |shop| if shop == 1 { unit } else { 1.0 }));
        place.ok(&format!("fit a.csv {FIT} -o {name}.st"));
        let said = place.run(&format!("predict {name}.st new.csv --unknown-task mean"));
        assert_eq!(said.stderr.contains("in a mean unit, which may not be theirs"), expected, "{said:?}");
        // Not for tasks that are known.
        assert!(!place.run(&format!("predict {name}.st a.csv")).stderr.contains("mean unit"));
    }
}

#[test]
fn tasks_with_few_labels_are_in_no_group() {
    let place = Place::new();
    place.write("a.csv", shops(60, |_| 1.0));
    place.ok(&format!("fit a.csv {FIT} -o m.st"));
    assert!(place.ok("theta m.st").contains("in no group, since they have few labels: s3"));
    let answer = place.json("theta m.st");
    assert_eq!(answer["few_labels"], serde_json::json!(["s3"]), "{answer}");
    assert!(!answer["groups"].to_string().contains("s3"), "{answer}");
}

#[test]
fn a_folder_called_like_a_column_is_not_that_column() {
    let place = Place::new();
    for folder in ["own/shop=a", "own/shop=b", "other/Shop=a", "other/Shop=b"] {
        std::fs::create_dir_all(place.path(folder)).unwrap();
        place.write(&format!("{folder}/x.csv"), shops(30, |_| 1.0));
    }
    let said = place.ok(&format!("fit own {FIT} -o own.st"));
    assert!(
        said.contains("column \"shop\" is that of the files, not that of the names of folders"),
        "{said}"
    );
    let said = place.ok(&format!("fit other {FIT} -o other.st"));
    assert!(said.contains("\"shop\" in the files is another column than \"Shop\" of folders"), "{said}");
}

#[test]
fn c_may_be_written_as_in_the_formula() {
    let place = Place::new();
    place.write("a.csv", shops(60, |_| 1.0));
    let fit = |c: &str| {
        place.ok(&format!("fit a.csv --task shop --target y {c} --threads 1 -o m.st --force"));
        place.ok("predict m.st a.csv")
    };
    let scores = fit("--c 1");
    for spelling in ["-c 1", "-C 1", "--C 1"] {
        assert_eq!(fit(spelling), scores, "{spelling}");
    }
}

/// Such as the date of a visit that follows a yes: filled in only where the answer is known.
#[test]
fn scores_that_are_too_good_are_said() {
    let place = Place::new();
    let rows = |cell: fn(usize) -> String| {
        let row =
            |i: usize| format!("s{},{},{},{}\n", i % 3, i * 7 % 11, ["no", "yes"][i * 5 % 7 % 2], cell(i));
        "shop,x,y,visit\n".to_string() + &(0..90).map(row).collect::<String>()
    };
    place.write("leak.csv", rows(|i| if i * 5 % 7 % 2 == 1 { "2024-05-01".into() } else { String::new() }));
    let said = place.ok("fit leak.csv --task shop --target y --threads 1 -o m.st");
    assert!(said.contains("are predicted nearly without error"), "{said}");
    place.write("fair.csv", rows(|i| format!("2024-05-{:02}", 1 + i * 3 % 28)));
    let said = place.ok("fit fair.csv --task shop --target y --threads 1 -o m.st --force");
    assert!(!said.contains("are predicted nearly without error"), "{said}");
}
