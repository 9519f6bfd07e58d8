//! The paper's tables and figures, as tiny versions.
#![allow(clippy::unwrap_used)] // helpers outside test functions

mod common;

use common::Place;
use std::collections::BTreeMap;

/// Score and parameters by set, method and split; seconds differ from run to run.
fn scores(place: &Place, file: &str) -> BTreeMap<String, (String, String)> {
    let text = String::from_utf8(place.read(file)).unwrap();
    let of_line = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let key = format!("{}/{}/{}", record["set"], record["method"], record["split"]);
        (key, (record["score"].to_string(), record["params"].to_string()))
    };
    text.lines().map(of_line).collect()
}

/// All items on sets that need no files: everything but real numbers.
#[test]
fn all_items_run_quickly_and_their_page_has_tables_and_pictures() {
    let place = Place::new();
    // An empty folder: what is small is generated, and sets that cannot be are named.
    std::fs::create_dir(place.path("nothing")).unwrap();
    let said = place.json("reproduce all --quick --data nothing -o look");
    let items = said["items"].as_array().unwrap();
    assert_eq!(items.len(), 5);
    assert!(items.iter().all(|item| item["done"].as_u64().unwrap() > 0), "{said}");
    let skipped = items[3]["skipped"].as_array().unwrap();
    assert!(skipped[0].as_str().unwrap().contains("sun397.npz not in nothing"), "{said}");
    let page = String::from_utf8(place.read("look/reproduction.md")).unwrap();
    for wanted in [
        "## Multi-task data sets",
        "## Task matrices",
        "## Handwritten digits",
        "## Many classes, few rows",
        "## Seconds against tasks",
        "| FMTL p=4/3 |",
        "generated data",
    ] {
        assert!(page.contains(wanted), "no {wanted:?} in\n{page}");
    }
    let pictures: Vec<&str> = page.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let pictures: Vec<&&str> = pictures.iter().filter(|link| link.ends_with(".svg")).collect();
    assert!(pictures.len() >= 6);
    for link in pictures {
        assert!(place.read(&format!("look/{link}")).starts_with(b"<svg"), "{link}");
    }
    // The page is a function of the records.
    place.ok("reproduce page -o look --page again.md");
    let again = String::from_utf8(place.read("again.md")).unwrap();
    assert_eq!(again.replace("](again/", "](reproduction/"), page);
}

#[test]
fn a_run_goes_on_where_it_was_and_gives_the_same_numbers() {
    let place = Place::new();
    std::fs::create_dir(place.path("nothing")).unwrap();
    let words = "reproduce table-digits --quick --data nothing";
    place.ok(&format!("{words} -o one --threads 1"));
    place.ok(&format!("{words} -o two --threads 2"));
    let whole = scores(&place, "one/table-digits.jsonl");
    assert_eq!(whole, scores(&place, "two/table-digits.jsonl"));
    // Records are never mixed up with another run's by accident.
    let refused = place.run(&format!("{words} -o one"));
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("table-digits.jsonl: there are records already"), "{}", refused.stderr);
    // A run that was killed in the middle of a line.
    let text = String::from_utf8(place.read("one/table-digits.jsonl")).unwrap();
    let half: Vec<&str> = text.lines().take(10).collect();
    place.write("one/table-digits.jsonl", format!("{}\n{{\"set\": \"MN", half.join("\n")));
    let said = place.json(&format!("{words} -o one --resume"));
    assert_eq!(
        (said["items"][0]["before"].as_u64(), said["items"][0]["done"].as_u64()),
        (Some(10), Some(whole.len() as u64 - 10))
    );
    assert_eq!(whole, scores(&place, "one/table-digits.jsonl"));
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    let said = place.run("reproduce table-9 -o out");
    assert!(said.code == 2 && said.stderr.contains("table-multitask"), "{}", said.stderr);
    let said = place.run("reproduce all -o out --data nowhere");
    assert!(said.code == 3 && said.stderr.contains("nowhere: there is no such folder"), "{}", said.stderr);
}

/// The page in the documentation is what the tool makes of the records that lie beside the recipes.
#[test]
fn the_page_in_the_documentation_was_written_by_the_tool() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let place = Place::new();
    place.ok(&format!(
        "reproduce page -o {root}/paper/results --page {}",
        place.path("reproduction.md").display()
    ));
    let written = String::from_utf8(place.read("reproduction.md")).unwrap();
    let kept = std::fs::read_to_string(format!("{root}/docs/reproduction.md")).unwrap();
    assert!(
        written == kept,
        "write it anew: kinfolk reproduce page -o paper/results --page docs/reproduction.md"
    );
}

#[test]
fn single_sets_and_methods() {
    let place = Place::new();
    std::fs::create_dir(place.path("nothing")).unwrap();
    let words = "reproduce table-digits --quick --data nothing -o one --method STL";
    place.ok(&format!("{words} --set MNIST"));
    assert_eq!(
        scores(&place, "one/table-digits.jsonl").into_keys().collect::<Vec<_>>(),
        ["\"MNIST\"/\"STL\"/0"]
    );
    let refused = place.run(&format!("{words} --set SVHN --resume"));
    assert!(refused.stderr.contains("there is no set \"SVHN\"; there are MNIST; USPS"), "{}", refused.stderr);
}
