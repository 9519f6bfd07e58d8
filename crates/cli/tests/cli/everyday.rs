//! Files where people have them: folders, patterns, pipes, compressed, with a config file beside them. What a command
//! suggests can be run.

use crate::common::{CommandOutput, Place, school};
use std::io::Write;
use std::process::Stdio;

const COLUMNS: &str = "--task school --target score";

/// Runs a command with this standard input.
fn piped(place: &Place, words: &str, input: impl AsRef<[u8]>) -> CommandOutput {
    let mut command = place.command(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_ref()).unwrap();
    CommandOutput::new(words, child.wait_with_output().unwrap())
}

/// The commands after `next`, without the name of the program.
fn next_commands(said: &str) -> Vec<String> {
    let lines = said.lines().skip_while(|line| !line.starts_with("next"));
    let commands = lines.filter_map(|line| line.split_once("kinfolk ")).map(|(_, words)| words.to_string());
    commands.collect()
}

/// Runs what a fit suggests; `new` are the new rows.
fn run_next(place: &Place, said: &str, new: &str) {
    let commands = next_commands(said);
    assert_eq!(commands.len(), 3, "{said}");
    for words in commands {
        place.ok(&words.replace("NEW-ROWS", new));
    }
}

/// The school in two files of a folder, and beside it.
fn parts() -> Place {
    let place = Place::new();
    let text = school();
    let (head, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    std::fs::create_dir(place.path("my data")).unwrap();
    for (name, rows) in [("a", &rows[..30]), ("b", &rows[30..])] {
        place.write(&format!("my data/{name}.csv"), format!("{head}\n{}\n", rows.join("\n")));
    }
    place.write("school.csv", &text);
    place
}

#[test]
fn folders_patterns_and_several_files_are_one_table() {
    let place = parts();
    place.ok(&format!("fit school.csv {COLUMNS} --c 1 -o whole.st"));
    for (data, name) in [
        ("\"my data\"", "folder"),
        ("\"my data/*.csv\"", "glob"),
        ("\"my data/a.csv\" \"my data/b.csv\"", "two"),
    ] {
        let said = place.ok(&format!("fit {data} {COLUMNS} --c 1 -o {name}.st"));
        assert_eq!(place.read(&format!("{name}.st")), place.read("whole.st"), "{data}");
        run_next(&place, &said, "school.csv");
        // The page has the certificate again: all files together are the data of the fit.
        let page = String::from_utf8(place.read(&format!("{name}.html"))).unwrap();
        assert!(page.contains("and 1 more file"), "{data}");
        std::fs::remove_file(place.path("predictions.csv")).unwrap();
    }
    let twice = place.run(&format!("fit school.csv school.csv {COLUMNS} --c 1 -o twice.st"));
    assert!(twice.stdout.contains("file \"school.csv\" is given twice: its rows count twice"), "{twice:?}");
    let wider = school()
        .lines()
        .enumerate()
        .map(|(i, line)| format!("{line},{}\n", if i == 0 { "more" } else { "1" }))
        .collect::<String>();
    place.write("more.csv", wider);
    let more = place.ok(&format!("fit school.csv more.csv {COLUMNS} --c 1 -o more.st"));
    let wanted = "left out of file \"more.csv\", since the first file has no such columns: \"more\"";
    assert!(more.contains(wanted), "{more}");
}

#[test]
fn standard_input_and_output_are_files() {
    let place = Place::new();
    place.write("school.csv", school());
    place.ok(&format!("fit school.csv {COLUMNS} --c 1 -o whole.st"));
    let said = piped(&place, "data info -", school());
    assert!(said.code == 0 && said.stdout.contains("file      stdin\n"), "{said:?}");
    let next = next_commands(&said.stdout);
    assert_eq!(next, ["fit - --target score --task school -o model.safetensors"], "{said:?}");
    let said = piped(&place, &format!("{} --c 1", next[0]), school());
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.read("model.safetensors"), place.read("whole.st"));
    run_next(&place, &said.stdout, "school.csv");
    let file = place.ok("predict whole.st school.csv");
    assert_eq!(piped(&place, "predict whole.st - -o -", school()).stdout, file);
    let wrong = piped(&place, "predict whole.st -", school().replacen(",0.", ",viel", 1));
    assert!(wrong.code == 3 && wrong.stderr.starts_with("error: stdin: line "), "{wrong:?}");
    assert!(wrong.stderr.contains("--missing-word viel"), "{wrong:?}");
    // A svm file is known by how it begins.
    let svm = "1 qid:1 1:0.5 3:2\n-1 qid:1 2:1\n1 qid:2 1:0.25 2:0.5\n-1 qid:2 3:1\n".repeat(6);
    let said = piped(&place, "fit - --c 1 -o svm.st", &svm);
    assert!(said.code == 0 && said.stdout.contains("24 rows, 3 features, 2 tasks"), "{said:?}");
}

/// A frame of zstd with one block that is stored as it is.
fn zstd(text: &str) -> Vec<u8> {
    let n = text.len() as u32;
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    bytes.extend(n.to_le_bytes());
    bytes.extend(&(n << 3 | 1).to_le_bytes()[..3]);
    bytes.extend(text.as_bytes());
    bytes
}

#[test]
fn zstd_is_read_by_name_and_from_a_pipe() {
    let place = Place::new();
    place.write("school.csv", school());
    place.write("school.csv.zst", zstd(&school()));
    place.ok(&format!("fit school.csv {COLUMNS} --c 1 -o plain.st"));
    place.ok(&format!("fit school.csv.zst {COLUMNS} --c 1 -o zstd.st"));
    assert_eq!(place.read("zstd.st"), place.read("plain.st"));
    let said = piped(&place, &format!("fit - {COLUMNS} --c 1 -o pipe.st"), zstd(&school()));
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.read("pipe.st"), place.read("plain.st"));
}

#[test]
fn settings_of_the_folder_are_used() {
    let place = Place::new();
    place.write("school.csv", school());
    place.ok(&format!("fit school.csv {COLUMNS} --c 2 -o given.st"));
    place.write("kinfolk.toml", "c = 2.0\n\n[columns]\ntask = \"school\"\ntarget = [\"score\"]\n");
    let said = place.run("fit school.csv -o own.st");
    assert!(
        said.code == 0 && said.stderr.contains("settings of kinfolk.toml in this folder are used"),
        "{said:?}"
    );
    assert_eq!(place.read("own.st"), place.read("given.st"));
    place.write("kinfolk.toml", "c = 2.0\nmethd = \"kin\"\n");
    let said = place.run("fit school.csv -o own.st");
    assert!(
        said.code == 3 && said.stderr.contains("kinfolk.toml: line 2: unknown field `methd`"),
        "{said:?}"
    );
    assert!(!said.stderr.contains("\\n"), "{said:?}");
}

#[test]
fn indices_count_as_in_the_fit() {
    let place = Place::new();
    let rows = |first: usize| {
        (0..40).fold(String::new(), |text, i| {
            let y = if i % 3 == 0 { 1 } else { -1 };
            text + &format!("{y} qid:{} {first}:{} {}:{} {}:1\n", i % 2, i % 5, first + 1, i % 7, first + 2)
        })
    };
    place.write("one.svm", rows(1));
    place.write("zero.svm", rows(0));
    let said = place.ok("fit one.svm --c 1 -o one.st");
    assert!(!said.contains("count from 0"), "{said}");
    let said = place.ok("fit zero.svm --c 1 --zero-based auto -o zero.st");
    assert!(said.contains("indices of features count from 0, since one is 0 (--zero-based)"), "{said}");
    let scores = place.ok("predict one.st one.svm");
    assert_eq!(place.ok("predict zero.st zero.svm"), scores);
    let said = place.run("predict one.st zero.svm");
    assert!(
        said.code == 3
            && said.stderr.contains("line 1, column \"0:0\": index 0, and indices count from 1 here"),
        "{said:?}"
    );
    assert!(said.stderr.contains("say so with --zero-based true"), "{said:?}");
    assert_eq!(place.ok("predict one.st zero.svm --zero-based true"), scores);
    let said = place.run("predict zero.st one.svm");
    assert!(
        said.code == 3 && said.stderr.contains("index 3 is beyond the 3 features known, which count from 0"),
        "{said:?}"
    );
    assert_eq!(place.ok("predict zero.st one.svm --zero-based false"), scores);
    // A file without an index 0 is read as that of the fit, not as it looks by itself.
    place.write("new.svm", "qid:0 1:3 2:1\n");
    place.write("new1.svm", "qid:0 2:3 3:1\n");
    assert_eq!(place.ok("predict zero.st new.svm"), place.ok("predict one.st new1.svm"));
}

#[test]
fn arrays_without_names_are_taken_in_order_aloud() {
    let place = Place::new();
    place.write("school.csv", school());
    place.ok(&format!("fit school.csv {COLUMNS} --c 1 -o m.st"));
    place.ok("data generate new.npz --tasks 6 --groups 2 --rows 5 --features 2 --quiet");
    let said = place.run("predict m.st new.npz --unknown-task mean");
    let wanted =
        "note: the features have no names here: they are taken in the order of the fit, \"age\" to \"hours\"";
    assert!(said.stderr.contains(wanted), "{said:?}");
}

#[test]
fn parts_are_named() {
    let place = Place::new();
    let part = |i: usize| ["train", "test", "validation"][i % 3];
    let text: String = school()
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("{line},part\n") } else { format!("{line},{}\n", part(i)) })
        .collect();
    place.write("parts.csv", text);
    let said = place.ok(&format!("fit parts.csv {COLUMNS} --split-column part --split train --c 1 -o m.st"));
    assert!(said.contains("20 rows"), "{said}");
    let said = place.json("evaluate m.st parts.csv --split test");
    assert_eq!(said["n_inputs"], 20, "{said}");
    let said = place.run("evaluate m.st parts.csv --split tset");
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn nothing_is_coloured_in_a_pipe() {
    let place = Place::new();
    for value in ["", "1"] {
        let mut command = place.command("predict no.st no.csv");
        let output = command.env("NO_COLOR", value).env("TERM", "xterm-256color").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("error: no.st") && !said.contains('\u{1b}'), "{said:?}");
    }
}

#[test]
fn what_data_info_suggests_can_be_run() {
    let place = Place::new();
    place.write("school.csv", school());
    let next = next_commands(&place.ok("data info school.csv"));
    place.ok(&format!("{} --c 1", next[0]));
    // A label that is no number: no command that would fail, but what is wrong.
    let text = school();
    let odd = text.lines().enumerate().map(|(i, line)| match i {
        12 => format!("{}viel\n", &line[..line.rfind(',').unwrap() + 1]),
        _ => format!("{line}\n"),
    });
    place.write("odd.csv", odd.collect::<String>());
    let said = place.ok("data info odd.csv");
    assert!(next_commands(&said).is_empty() && said.contains("problem   odd.csv: line 13"), "{said}");
    assert!(said.contains("--missing-word viel"), "{said}");
    // Numbers are shown as they are.
    place.write("few.csv", "shop,price,sales\na,372.25,1\nb,372.25,2\na,1.5,3\nb,2.125,4\n");
    assert!(place.ok("data info few.csv").contains("372.25"));
}

#[test]
fn rows_stay_in_their_places() {
    let place = Place::new();
    place.write("school.csv", school());
    place.write("gaps.csv", school().replacen(",10,", ",,", 1));
    let said = place.ok(&format!("fit gaps.csv {COLUMNS} --missing drop --c 1 -o m.st"));
    assert!(said.contains("1 row with a missing value is left out (--missing drop)"), "{said}");
    assert!(place.ok("model show m.st").contains("1 row with a missing value is left out"));
    let said = place.run("predict m.st gaps.csv -o out.csv");
    assert!(said.code == 3 && said.stderr.contains("column \"age\": the value is missing"), "{said:?}");
    assert!(!place.files().contains(&"out.csv".to_string()));
    place.ok("certify m.st gaps.csv");
    place.ok("predict m.st gaps.csv --missing-cells fill -o out.csv");
    // Rows that do not say their task.
    let without: String =
        school().lines().map(|line| line.split_once(',').unwrap().1.to_string() + "\n").collect();
    place.write("without.csv", without);
    let said = place.run("predict m.st without.csv");
    let wanted = "column \"school\" is not there: it is not known which task a row belongs to";
    assert!(said.code == 0 && said.stderr.contains(wanted), "{said:?}");
}

#[test]
fn all_names_that_are_wrong_are_named_at_once() {
    let place = Place::new();
    place.write("school.csv", school());
    let said = place.run("fit school.csv --task scool --target scor -o m.st").stderr;
    assert!(said.contains("\"scool\"") && said.contains("\"scor\""), "{said}");
    place.write("title.csv", format!("Export of 12.03.2024\n\n{}", school()));
    let said = place.run("fit title.csv --task scool --target score -o m.st").stderr;
    assert!(said.contains("there is no column \"scool\""), "the title is no header: {said}");
    place.write("double.csv", school().replacen("age", "hours", 1));
    let said = place.run("fit double.csv --task school --target score -o m.st").stderr;
    assert!(said.contains("are both named \"hours\"; rename one of them"), "{said}");
}
