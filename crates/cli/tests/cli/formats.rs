//! The same data in any format, dense or sparse, whole or in chunks, give the same model and the same predictions.

use crate::common::Place;

/// Fits all formats of a file, all options else being equal; everything that is said must be the same to the last bit.
fn same_in_all_formats(place: &Place, data: &str, formats: &[&str], options: &str) {
    let mut first: Option<(Vec<serde_json::Value>, Vec<u8>)> = None;
    for format in formats {
        let file = format!("same.{format}");
        let said = place.json(&format!("data convert {data} {file} --force"));
        let read = said["options"].as_str().unwrap_or_default().to_string();
        let fit = place.json(&format!("fit {file} {read} -o same.st --threads 1 --c strength:1 {options}"));
        assert_eq!(fit["status"], "certified", "{data} as {format}");
        let checked = place.json(&format!("certify same.st {file} --threads 1"));
        assert_eq!(checked["holds"], true);
        let numbers = ["primal", "dual", "gap", "passes", "n_inputs", "n_tasks", "n_observations"];
        let said: Vec<serde_json::Value> = numbers.iter().map(|key| fit[key].clone()).collect();
        place.ok(&format!("predict same.st {file} -o same-scores.csv --quiet --force"));
        let scores = place.read("same-scores.csv");
        match &first {
            None => first = Some((said, scores)),
            Some((numbers, expected)) => {
                assert_eq!(said, *numbers, "{data} as {format}");
                assert!(scores == *expected, "{data} as {format}: predictions differ");
            }
        }
    }
}

#[test]
fn generated_tasks() {
    let place = Place::new();
    place.ok("data generate kin.npz --tasks 5 --rows 30 --features 8 --quiet");
    same_in_all_formats(
        &place,
        "kin.npz",
        &["npz", "csv", "csv.gz", "tsv.bz2", "jsonl", "parquet", "arrow", "svm", "svm.gz"],
        "",
    );
    place.ok("data generate signs.npz --tasks 5 --rows 30 --features 8 --binary --quiet");
    same_in_all_formats(
        &place,
        "signs.npz",
        &["npz", "csv", "parquet", "svm"],
        "--k 2 --class-weight balanced",
    );
}

/// Words, dates and gaps become the same features from every text, and from standard input.
#[test]
fn words_dates_and_gaps() {
    let place = Place::new();
    let (mut csv, mut german, mut json) =
        ("shop,plan,age,day,y\n".to_string(), "shop;plan;age;day;y\r\n".to_string(), String::new());
    for i in 0..40 {
        let (shop, plan) = (["north", "south"][i % 2], ["basic", "pro", "plus"][i % 3]);
        let (age, day, y) = (20 + i * 7 % 31, i % 28 + 1, i * i % 17);
        let age = if i % 9 == 4 { None } else { Some(age) };
        let text = age.map_or(String::new(), |age| format!("{age}.5"));
        csv += &format!("{shop},{plan},{text},2024-02-{day:02},{y}\n");
        german += &format!("{shop};{plan};{};{day}.2.2024;{y}\r\n", text.replace('.', ","));
        let age = age.map_or(String::new(), |age| format!("\"age\":{age}.5,"));
        json += &format!(
            "{{\"shop\":\"{shop}\",\"plan\":\"{plan}\",{age}\"day\":\"2024-02-{day:02}\",\"y\":{y}}}\n"
        );
    }
    place.write("a.csv", &csv);
    place.write("a.txt", csv.replace(',', "\t"));
    place.write("a.jsonl", json);
    place.write("german.csv", german);
    let fit = |file: &str| {
        place.ok(&format!("fit {file} --task shop --target y -o m.st --threads 1 --quiet"));
        assert_eq!(place.json(&format!("certify m.st {file} --threads 1"))["holds"], true);
        place.ok(&format!("predict m.st {file} -o p.csv --force --quiet"));
        (place.read("m.st"), place.read("p.csv"))
    };
    let (model, scores) = fit("a.csv");
    for file in ["a.txt", "a.jsonl"] {
        let (other, other_scores) = fit(file);
        assert!(other == model && other_scores == scores, "{file}");
    }
    // The model knows that dates and numbers are written otherwise.
    assert!(fit("german.csv").1 == scores);
}

#[test]
fn digits_with_kernels_and_scalings() {
    let place = Place::new();
    place.ok("data generate digits.npz --kind digits --quiet");
    let formats = ["npz", "csv", "parquet", "svm"];
    same_in_all_formats(&place, "digits.npz", &formats, "--scale unit");
    same_in_all_formats(&place, "digits.npz", &formats, "--scale standard --solver sdca --tol 1e-2 --dense");
}

#[test]
fn predictions_of_features_alone_are_those_of_rows_with_labels() {
    let place = Place::new();
    place.write("wide.csv", "a,b,first,second\n1,2,3,\n2,1,,1\n3,3,1,2\n0,1,2,4\n");
    place.ok("fit wide.csv --target first,second -o m.st --quiet");
    let with_labels = place.ok("predict m.st wide.csv");
    place.write("new.csv", "b,extra,a\n2,x,1\n1,y,2\n3,x,3\n1,z,0\n");
    assert_eq!(place.ok("predict m.st new.csv"), with_labels);
    assert!(with_labels.starts_with("first,second\n"));
    place.ok("predict m.st new.csv -o p.npy --quiet");
    place.ok("predict m.st new.csv -o p.parquet --quiet");
    let info = place.json("data info p.npy");
    assert_eq!((info["n_inputs"].as_u64(), info["n_features"].as_u64()), (Some(4), Some(2)));
    let info = place.json("data info p.parquet");
    assert_eq!((info["n_inputs"].as_u64(), info["n_features"].as_u64()), (Some(4), Some(2)));
}

#[test]
fn converted_columns_keep_their_names() {
    let place = Place::new();
    let text = |name: &str| String::from_utf8(place.read(name)).unwrap();
    place.write("a.csv", "school,hours,w,score\neast,1,2,3.5\nwest,2,1,4\neast,3,1,5\nwest,4,2,4.5\n");
    let said = place.ok("data convert a.csv b.csv --task school --target score --weight w");
    assert!(said.contains("read it with --task school --target score --weight w"), "{said}");
    assert!(text("b.csv").starts_with("hours,school,score,w\n"), "{}", text("b.csv"));
    let said = place.ok("data convert a.csv -o c.parquet --task school --target score --weight w");
    assert!(said.contains("--task school --target score"), "{said}");
    place.ok("data convert c.parquet -o d.csv --task school --target score --weight w");
    assert_eq!(text("d.csv"), text("b.csv"));
    for wrong in ["data convert a.csv", "data convert a.csv b.csv -o c.csv"] {
        assert_eq!(place.run(wrong).code, 2, "{wrong}");
    }
}
