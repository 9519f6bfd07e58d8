//! What people try who have read the README alone: it works, or a message says what does.

use crate::common::Place;

/// Sixty rows of two numbers in four shops.
fn shops(name: impl Fn(usize) -> String, more: impl Fn(usize) -> String) -> String {
    let row = |i: usize| format!("{},{},{}{}\n", name(i % 4), i * 7 % 11, i * 5 % 13 + i % 4, more(i));
    (0..60).map(row).collect()
}

fn plain(i: usize) -> String {
    format!("s{i}")
}

fn nothing(_: usize) -> String {
    String::new()
}

const FIT: &str = "--task shop --target y --c 1";

#[test]
fn tasks_without_letters_are_one_whatever_blanks_are_around_them() {
    let place = Place::new();
    place.write(
        "a.csv",
        "shop,x,y\n".to_string() + &shops(|i| format!("010{}{}", i / 2, " ".repeat(i % 2)), nothing),
    );
    place.ok(&format!("fit a.csv {FIT} --ignore-case -o m.st"));
    assert_eq!(place.json("model show m.st")["tasks"], serde_json::json!(["0100", "0101"]));
    place.write("new.csv", "shop,x\n 0101 ,3\n");
    assert!(place.ok("predict m.st new.csv").contains("\n0101,"));
    assert!(place.ok(&format!("fit a.csv {FIT} -o n.st")).contains("differ in letter case or spaces only"));
}

#[test]
fn parents_may_have_slashes_in_their_names() {
    let place = Place::new();
    let data = |sign: &str| "shop,x,y\n".to_string() + &shops(|i| format!("{}{sign}{i}", i / 2), nothing);
    // Shops 0 and 1 have one parent, and 2 and 3 another.
    let parents = |sign: &str| {
        (0..4)
            .fold("shop,parent\n".into(), |text: String, i| text + &format!("{}{sign}{i},{}\n", i / 2, i / 2))
    };
    for (name, sign) in [("slash", "/"), ("line", "_")] {
        place.write(&format!("{name}.csv"), data(sign));
        place.write(&format!("{name}_parents.csv"), parents(sign));
        place.ok(&format!("fit {name}.csv {FIT} --atom tree={name}_parents.csv,weight=5 -o {name}.st"));
    }
    let scores =
        |name: &str, sign: &str| place.ok(&format!("predict {name}.st {name}.csv")).replace(sign, "");
    assert_eq!(scores("slash", "/"), scores("line", "_"));
}

#[test]
fn relations_are_read_as_the_data_are() {
    let place = Place::new();
    place.write("a.csv", "shop,x,y\n".to_string() + &shops(plain, nothing));
    place.write("regions.csv", "shop,region\ns0,north\ns1,south\ns2,north\ns3,\n");
    place.write("spelled.csv", "shop,region\nS0,North\n s1,south\ns2,north \ns3,?\n");
    let fit = |file: &str| {
        let more = "--ignore-case --missing-word \"?\"";
        place.ok(&format!("fit a.csv {FIT} {more} --atom groups={file},name=region -o m.st"));
        place.ok("predict m.st a.csv")
    };
    assert_eq!(fit("regions.csv"), fit("spelled.csv"));
    // New tasks, too.
    place.write("new.csv", "shop,x\nNEW,3\n");
    place.write("later.csv", "shop,region\nnew,NORTH\n");
    assert!(place.ok("predict m.st new.csv --atom groups=later.csv,name=region").contains("\nNEW,"));
    let said = place.run(&format!("fit a.csv {FIT} -o n.st")).code;
    assert_eq!(said, 0);
    let said = place.run("predict n.st new.csv --atom groups=later.csv").stderr;
    assert!(said.contains("the model was fitted without --atom"), "{said}");
}

#[test]
fn models_are_no_streams() {
    let place = Place::new();
    place.write("a.csv", "shop,x,y\n".to_string() + &shops(plain, nothing));
    place.ok(&format!("fit a.csv {FIT} -o m.st"));
    for words in
        ["fit a.csv --task shop --target y -o -", "report m.st a.csv -o -", "theta m.st --format csv -o -"]
    {
        let said = place.run(words);
        assert!(said.code == 2 && said.stderr.contains("not to standard output"), "{said:?}");
        assert!(!place.path("-").exists());
    }
    assert_eq!(place.ok("predict m.st a.csv -o -"), place.ok("predict m.st a.csv"));
}

#[test]
fn scores_of_numbers_are_refused_for_two_values() {
    let place = Place::new();
    let label = |i: usize| format!(",{}", ["no", "yes"][i * 3 % 2]);
    place.write("a.csv", "shop,x,z,y\n".to_string() + &shops(plain, label));
    place.ok(&format!("fit a.csv {FIT} -o m.st"));
    for metric in ["rmse", "pooled-r2", "auc,mae"] {
        let said = place.run(&format!("evaluate m.st a.csv --metric {metric}"));
        let why = "needs labels that are numbers; auc, pr-auc, accuracy";
        assert!(said.code == 3 && said.stderr.contains(why), "{said:?}");
    }
    let said = place.ok("evaluate m.st a.csv --metric auc,pooled-accuracy");
    assert!(
        said.contains("auc is the line mean over tasks\npooled-accuracy is the line all rows together"),
        "{said}"
    );
}

#[test]
fn one_command_takes_all_words_for_missing_values() {
    let place = Place::new();
    let more = |i: usize| match i % 20 {
        0 => ",NC,1".into(),
        1 => ",?,inf".into(),
        2 => format!(",{},n. r.", i),
        _ => format!(",{i}.5,{}", i * 3 % 7),
    };
    place.write("a.csv", "shop,x,y,u,Yes No\n".to_string() + &shops(plain, more));
    let info = place.ok("data info a.csv --target y --task shop");
    let options = "--missing-word NC --missing-word \"?\" --missing-word inf --missing-word \"n. r.\"";
    assert!(info.contains(&format!("all of these words as missing values: {options}")), "{info}");
    let next = info.lines().find_map(|line| line.strip_prefix("next      kinfolk ")).unwrap();
    assert!(next.contains(options), "{next}");
    place.ok(&format!("{next} --c 1"));
    // What is known about other columns is said as well.
    assert!(info.contains("missing values: \"u\" (6 rows)"), "{info}");
}

#[test]
fn tasks_beyond_the_model_are_not_left_out_in_silence() {
    let place = Place::new();
    let row = |i: usize| format!("{},{},{}\n", i % 7, i % 5, i % 3);
    place.write("a.csv", "x,t_1,t_2\n".to_string() + &(0..40).map(row).collect::<String>());
    place.write("kin.csv", "task,kind\nt_1,a\nt_2,b\n");
    place.write("later.csv", "task,kind\nt_3,a\n");
    place.ok("fit a.csv --target \"t_*\" --c 1 --atom groups=kin.csv -o m.st");
    let said = place.run("predict m.st a.csv --atom groups=later.csv").stderr;
    assert!(
        said.contains("not predicted") && said.contains("\"t_3\"") && said.contains("--task COLUMN"),
        "{said}"
    );
    place.write("new.csv", "x,t_1,of\n1,2,t_3\n2,2,t_1\n");
    let said = place.run("predict m.st new.csv --atom groups=later.csv --task of");
    assert!(
        said.code == 0 && said.stdout.contains("\nt_3,") && !said.stderr.contains("not predicted"),
        "{said:?}"
    );
}

#[test]
fn a_kept_column_may_be_called_like_a_prediction() {
    let place = Place::new();
    let label = |i: usize| format!(",{}", ["no", "yes"][i * 3 % 2]);
    place.write("a.csv", "shop,x,z,label\n".to_string() + &shops(plain, label));
    place.ok("fit a.csv --task shop --target label --c 1 -o m.st");
    let said = place.run("predict m.st a.csv --labels --keep label").stderr;
    assert!(said.contains("the predicted label is in column \"label_\""), "{said}");
}

#[test]
fn many_coefficients_end_with_how_many_more_there_are() {
    let place = Place::new();
    let more = |i: usize| format!(",w{i}");
    place.write("a.csv", "shop,x,y,kind\n".to_string() + &shops(plain, more).repeat(3));
    place.ok(&format!("fit a.csv {FIT} -o m.st"));
    let said = place.ok("model coef m.st");
    assert!(said.lines().count() == 41 && said.contains("more lines; --task NAME"), "{said}");
    assert!(place.ok("model coef m.st --task s1").lines().count() > 50);
}

#[test]
fn missing_labels_are_no_value() {
    let place = Place::new();
    let label = |i: usize| format!(",{}", ["", "yes", "no"][i % 3]);
    place.write("a.csv", "shop,x,z,y\n".to_string() + &shops(plain, label));
    let said = place.ok("data info a.csv --target y --task shop");
    assert!(said.contains("labels    40 (values: no, yes)\nmissing   20 labels"), "{said}");
}
