//! The paper's tables and figures, as tiny versions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// A temporary folder in which the program runs.
struct Place(tempfile::TempDir);

/// What a run printed, and its exit code.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Place {
    /// With an empty folder `nothing`: what is small is generated, and sets that cannot be are listed.
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.path("nothing")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn run(&self, words: &str) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kinfolk-paper"));
        let output = command.args(words.split(' ')).current_dir(self.0.path()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Runs it, which must end with exit code 0.
    fn ok(&self, words: &str) -> Ended {
        let ended = self.run(words);
        assert_eq!(ended.code, 0, "kinfolk-paper {words}\n{}{}", ended.stdout, ended.stderr);
        ended
    }
}

/// Score and parameters by set, method and split; seconds differ from run to run.
fn scores(place: &Place, file: &str) -> BTreeMap<String, (String, String)> {
    let of_line = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let key = format!("{}/{}/{}", record["set"], record["method"], record["split"]);
        (key, (record["score"].to_string(), record["params"].to_string()))
    };
    place.read(file).lines().map(of_line).collect()
}

/// All items on sets that need no files: everything but real numbers.
#[test]
fn all_items_run_quickly_and_their_page_has_tables_and_pictures() {
    let place = Place::new();
    let ended = place.ok("all --quick --data nothing -o look");
    let done: Vec<&str> = ended.stdout.lines().filter(|line| line.contains(" done")).collect();
    assert!(done.len() == 5 && done.iter().all(|line| !line.contains(": 0 done")), "{}", ended.stdout);
    assert!(ended.stderr.contains("skipped table-scenes: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("sun397.npz not in nothing"), "{}", ended.stderr);
    let page = place.read("look/reproduction.md");
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
        assert!(place.read(&format!("look/{link}")).starts_with("<svg"), "{link}");
    }
    // The page is a function of the records.
    place.ok("page -o look --page again.md");
    assert_eq!(place.read("again.md").replace("](again/", "](reproduction/"), page);
}

#[test]
fn a_run_goes_on_where_it_was_and_gives_the_same_numbers() {
    let place = Place::new();
    let words = "table-digits --quick --data nothing";
    place.ok(&format!("{words} -o one --threads 1"));
    place.ok(&format!("{words} -o two --threads 2"));
    let whole = scores(&place, "one/table-digits.jsonl");
    assert_eq!(whole, scores(&place, "two/table-digits.jsonl"));
    // RecordFile are never mixed up with another run's by accident.
    let refused = place.run(&format!("{words} -o one"));
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("table-digits.jsonl: there are records already"), "{}", refused.stderr);
    // A run that was killed in the middle of a line.
    let text = place.read("one/table-digits.jsonl");
    let half: Vec<&str> = text.lines().take(10).collect();
    let cut = format!("{}\n{{\"set\": \"MN", half.join("\n"));
    std::fs::write(place.path("one/table-digits.jsonl"), cut).unwrap();
    let ended = place.ok(&format!("{words} -o one --resume"));
    let summary = format!("table-digits: {} done, 10 before\n", whole.len() - 10);
    assert!(ended.stdout.starts_with(&summary), "{}", ended.stdout);
    assert_eq!(whole, scores(&place, "one/table-digits.jsonl"));
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    let said = place.run("table-9 -o out");
    assert!(said.code == 2 && said.stderr.contains("table-multitask"), "{}", said.stderr);
    let said = place.run("all -o out --data nowhere");
    assert!(said.code == 3 && said.stderr.contains("nowhere: there is no such folder"), "{}", said.stderr);
}

/// The page in the documentation is what the tool makes of the records that lie beside the experiments.
#[test]
fn the_page_in_the_documentation_was_written_by_the_tool() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let place = Place::new();
    place.ok(&format!("page -o {root}/paper/results --page reproduction.md"));
    let written = place.read("reproduction.md");
    let kept = std::fs::read_to_string(format!("{root}/docs/reproduction.md")).unwrap();
    assert!(
        written == kept,
        "docs/reproduction.md is not what the records say; write it again: \
         cargo run -p kinfolk-paper -- page -o paper/results --page docs/reproduction.md"
    );
}

#[test]
fn single_sets_and_methods() {
    let place = Place::new();
    let words = "table-digits --quick --data nothing -o one --method STL";
    place.ok(&format!("{words} --set MNIST"));
    assert_eq!(
        scores(&place, "one/table-digits.jsonl").into_keys().collect::<Vec<_>>(),
        ["\"MNIST\"/\"STL\"/0"]
    );
    let refused = place.run(&format!("{words} --set SVHN --resume"));
    assert!(refused.stderr.contains("there is no set \"SVHN\"; there are MNIST; USPS"), "{}", refused.stderr);
}
