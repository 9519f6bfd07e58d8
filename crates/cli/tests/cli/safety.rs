//! Files that a command reads, or that are somebody else's, are never replaced; limits are found before they hurt.

use crate::common::{CommandOutput, Place};

/// Data, a model, and files that are nobody's.
fn place() -> Place {
    let place = Place::with_examples();
    place.ok("fit school.csv --task school --target score -o m.st --c 1 --trace t.csv --quiet");
    place.ok(SELECT);
    place.write("notes.txt", "precious");
    place
}

const SELECT: &str = "select school.csv --task school --target score --method stl --grid strength=1 --folds 2 \
                      --results r.json -q";
const FIT: &str = "fit school.csv --task school --target score --c 1";

#[test]
fn a_file_that_is_read_is_never_replaced_by_whatever_name() {
    let place = place();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("school.csv", place.path("link.csv")).unwrap();
        std::fs::hard_link(place.path("school.csv"), place.path("hard.csv")).unwrap();
    }
    std::fs::create_dir(place.path("sub")).unwrap();
    place.write("spec.toml", "tol = 0.01\n");
    let files = ["school.csv", "m.st", "t.csv", "r.json", "districts.csv", "spec.toml"];
    let before: Vec<Vec<u8>> = files.iter().map(|name| place.read(name)).collect();
    let mut commands: Vec<String> = [
        "predict m.st school.csv -o school.csv",
        "predict m.st school.csv -o ./school.csv",
        "predict m.st school.csv -o sub/../school.csv",
        "predict m.st school.csv -o m.st",
        "data convert school.csv school.csv --task school --target score",
        "report m.st -o m.st",
        "report m.st school.csv -o school.csv",
        "report m.st --trace t.csv -o t.csv",
        "report m.st --select r.json -o r.json",
        "theta m.st -o m.st --format csv",
        "theta m.st --svg m.st",
    ]
    .map(String::from)
    .to_vec();
    for rest in [
        "-o school.csv",
        "-o x.st --trace school.csv",
        "-o x.st --checkpoint school.csv",
        "-o x.st --trace x.st",
        "-o x.st --checkpoint ./x.st",
        "-o x.st --trace x.csv --checkpoint x.csv",
        "-o districts.csv --atom groups=districts.csv:district",
        "-o spec.toml --spec spec.toml",
        "-o x.st --trace m.st --prior m.st --method fmtl",
    ] {
        commands.push(format!("{FIT} {rest}"));
    }
    commands.push("select school.csv --task school --target score -o school.csv".into());
    commands.push("select school.csv --task school --target score --results school.csv".into());
    if cfg!(unix) {
        commands.push("predict m.st school.csv -o link.csv".into());
        commands.push("predict m.st link.csv -o school.csv".into());
        commands.push("predict m.st hard.csv -o school.csv".into());
        commands.push(format!("{FIT} -o link.csv"));
    }
    let all = place.files();
    for words in commands {
        for words in [words.clone(), format!("{words} --force")] {
            let said = place.run(&words);
            assert_eq!((said.code, said.stdout.as_str()), (2, ""), "kinfolk {words}\n{}", said.stderr);
            assert_eq!(said.stderr.lines().count(), 1, "kinfolk {words}\n{}", said.stderr);
            let why = ["this command reads it", "two outputs have this name"];
            assert!(why.iter().any(|why| said.stderr.contains(why)), "kinfolk {words}\n{}", said.stderr);
        }
    }
    let after: Vec<Vec<u8>> = files.iter().map(|name| place.read(name)).collect();
    assert_eq!(before, after);
    assert_eq!(place.files(), all);
}

#[cfg(unix)]
#[test]
fn a_file_that_standard_input_reads_is_not_replaced() {
    let place = place();
    let before = place.read("school.csv");
    for words in [
        "fit - --task school --target score --c 1 -o school.csv --force",
        "predict m.st - -o school.csv --force",
        "data convert - school.csv --force",
    ] {
        let input = std::fs::File::open(place.path("school.csv")).unwrap();
        let said = place.command(words).stdin(input).output().unwrap();
        let error = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.code() == Some(2) && error.contains("this command reads it"), "{words}: {error}");
        assert_eq!(place.read("school.csv"), before, "{words}");
    }
}

#[test]
fn settings_of_the_folder_are_not_replaced() {
    let place = place();
    place.write("kinfolk.toml", "tol = 0.01\n");
    let said = place.run(&format!("{FIT} -o kinfolk.toml --force"));
    assert!(said.code == 2 && said.stderr.contains("this command reads it"), "{said:?}");
    assert_eq!(place.read("kinfolk.toml"), b"tol = 0.01\n");
}

#[cfg(unix)]
#[test]
fn what_can_be_read_once_is_not_streamed_twice() {
    let place = place();
    let made = std::process::Command::new("mkfifo").arg(place.path("pipe.csv")).status().unwrap();
    assert!(made.success());
    for data in ["pipe.csv", "-"] {
        let said = place.run(&format!("fit {data} --task school --target score --c 1 --stream -o s.st"));
        assert!(said.code == 2 && said.stderr.contains("it can be read once only"), "{said:?}");
    }
}

#[test]
fn a_model_whose_shrinking_had_nothing_to_shrink_holds() {
    let place = place();
    place.ok(&format!("{FIT} --target-scale shrunk -o s.st --quiet"));
    assert_eq!(place.json("certify s.st school.csv")["holds"], true);
}

#[test]
fn files_of_others_are_replaced_only_by_force() {
    let place = place();
    let commands = [
        format!("{FIT} -o notes.txt"),
        format!("{FIT} -o x.st --trace notes.txt"),
        format!("{FIT} -o x.st --checkpoint notes.txt"),
        format!("{FIT} -o x.st --checkpoint m.st"),
        "select school.csv --task school --target score -o notes.txt".into(),
        "select school.csv --task school --target score --results notes.txt".into(),
        "predict m.st school.csv -o notes.csv".into(),
        "theta m.st -o notes.txt".into(),
        "theta m.st --svg notes.txt".into(),
        "report m.st -o notes.txt".into(),
        "data convert school.csv notes.csv --task school --target score".into(),
        "data generate notes.csv --tasks 2 --rows 3".into(),
    ];
    place.write("notes.csv", "precious");
    let (all, model) = (place.files(), place.read("m.st"));
    for words in &commands {
        let said = place.run(words);
        assert_eq!((said.code, said.stdout.as_str()), (4, ""), "kinfolk {words}\n{}", said.stderr);
        assert!(said.stderr.contains("it exists"), "{}", said.stderr);
        assert!(said.stderr.ends_with("replace it with --force\n"), "{}", said.stderr);
    }
    assert_eq!(
        (place.read("notes.txt"), place.read("notes.csv")),
        (b"precious".to_vec(), b"precious".to_vec())
    );
    assert_eq!((place.files(), place.read("m.st")), (all, model));
    place.ok("predict m.st school.csv -o notes.csv --force");
    assert_ne!(place.read("notes.csv"), b"precious");
}

#[test]
fn files_of_the_same_kind_and_empty_files_are_replaced() {
    let place = place();
    place.write("empty.csv", "");
    for words in [
        format!("{FIT} -o m.st --trace t.csv --quiet"),
        SELECT.into(),
        "report m.st --quiet".into(),
        "report m.st --quiet".into(),
        "predict m.st school.csv -o empty.csv --quiet".into(),
    ] {
        place.ok(&words);
    }
}

#[test]
fn sizes_that_a_file_claims_are_not_trusted() {
    let place = Place::new();
    place.write("big.svm", "1 qid:1 1:1.5\n-1 qid:1 2:1\n1 qid:2 300000000:1\n-1 qid:2 1:1\n");
    for kernel in ["linear", "cosine"] {
        let said = place.run(&format!("fit big.svm -o m.st --kernel {kernel}"));
        assert_eq!((said.code, said.stdout.as_str()), (3, ""), "{}", said.stderr);
        assert!(
            said.stderr.contains("so many features and tasks needs 19200000000 bytes"),
            "{}",
            said.stderr
        );
    }
    assert_eq!(place.files(), ["big.svm"]);
}

#[cfg(unix)]
#[test]
fn endless_files_are_refused() {
    let place = place();
    std::os::unix::fs::symlink("/dev/zero", place.path("zero.st")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path("zero.toml")).unwrap();
    for words in [
        "theta zero.st",
        "model show zero.st",
        "predict zero.st school.csv",
        "report m.st --select zero.st",
        "report m.st --trace zero.st",
        "fit school.csv --task school --target score -o x.st --spec zero.toml",
        "fit school.csv --task school --target score -o x.st --method fmtl --prior zero.st",
    ] {
        let said = place.run(words);
        assert_eq!((said.code, said.stdout.as_str()), (3, ""), "kinfolk {words}\n{}", said.stderr);
        assert!(said.stderr.ends_with("it is not a file\n"), "{}", said.stderr);
    }
}

#[test]
fn inputs_that_are_all_zero_have_a_model_with_every_kernel() {
    let place = Place::new();
    let rows: String = (0..12).map(|i| format!("{},0,0,{}\n", ["u", "v"][i % 2], 0.1 * i as f64)).collect();
    place.write("zero.csv", format!("task,a,b,y\n{rows}"));
    for kernel in ["linear", "rbf", "polynomial", "laplacian", "cosine", "polynomial:2,scale,1.0"] {
        let said = place.json(&format!("fit zero.csv --task task --target y --kernel {kernel} -o m.st"));
        assert_eq!(said["status"], "certified", "{kernel}");
    }
}

#[test]
fn more_threads_than_cores_are_not_started_and_that_is_said() {
    let place = place();
    let said = place.run(&format!("{FIT} -o x.st --threads 100000"));
    assert_eq!(said.code, 0, "{}", said.stderr);
    let cores = std::thread::available_parallelism().unwrap();
    let note = format!("note: --threads 100000: there are {cores} cores, so {cores} threads are used\n");
    assert_eq!(said.stderr, note);
}

#[test]
fn words_for_numbers_that_make_no_sense() {
    let place = place();
    let huge: String = (0..20)
        .map(|i| {
            format!(
                "{},{},{}e308\n",
                ["u", "v"][i % 2],
                (i * 7) % 5,
                [1.0, -1.0][i / 2 % 2] + 0.01 * i as f64 / 20.0
            )
        })
        .collect();
    place.write("huge.csv", format!("task,a,y\n{huge}"));
    place.write("large.csv", format!("task,a,y\n{}", huge.replace("e308", "e150")));
    place.write(
        "zero.csv",
        "task,north,south,east,west\nnorth,0,0,0,0\nsouth,0,0,0,0\neast,0,0,0,0\nwest,0,0,0,0\n",
    );
    place.write("rubbish.csv", "\u{1}rubbish,,\n\"x");
    let refused = |words: &str, code: i32, why: &str| {
        let said = place.run(words);
        assert_eq!((said.code, said.stdout.as_str()), (code, ""), "kinfolk {words}\n{}", said.stderr);
        assert!(said.stderr.contains(why), "kinfolk {words}\n{}", said.stderr);
    };
    refused(
        "fit huge.csv --task task --target y -o x.st --target-scale none",
        3,
        "is too large: the squared losses",
    );
    refused(&format!("{FIT} -o x.st --output fixed --theta zero.csv"), 3, "theta is zero");
    refused(
        "report m.st --trace rubbish.csv -o x.html",
        3,
        "its first line is not passes,seconds,primal,dual,gap",
    );
    refused("predict m.st school.csv -o x.npz", 2, "predictions can be written as");
    refused("predict m.st school.csv -o x.xlsx", 2, "its kind is not known");
    refused("select school.csv --task school --target score --splits 0 --train-share 0.5", 2, "--splits");
    let text = place.ok("fit large.csv --task task --target y -o x.st --target-scale none");
    assert!(text.lines().all(|line| line.len() < 250), "{text}");
}

#[test]
fn names_cannot_speak_to_the_terminal() {
    let place = Place::new();
    let row = |i: usize| format!("\"\u{1b}[31m{}\",{},{}\n", ["a", "b"][i % 2], i * i % 7, i);
    place.write("d.csv", format!("task,x\u{7},y\n{}", (0..12).map(row).collect::<String>()));
    let fit = place.ok("fit d.csv --task task --target y --c 1 -o m.st");
    place.write(
        "new.csv",
        "task,x\u{7},y\n\u{1b}[31ma,1,1\n\u{1b}[31ma,2,1\n\u{1b}[31mb,2,1\n\u{1b}[31mb,1,1\n",
    );
    let mut said = vec![fit];
    for words in
        ["theta m.st", "model coef m.st", "model show m.st", "evaluate m.st new.csv", "data info d.csv"]
    {
        said.push(place.ok(words));
    }
    for text in &said {
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    }
    assert!(said[1].contains("\\u{1b}[31ma"), "{}", said[1]);
    // Data are data.
    assert!(place.ok("predict m.st new.csv").contains("\u{1b}[31ma"));
}

#[test]
#[cfg(unix)]
fn a_write_protected_file_is_refused_before_the_work() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    std::fs::set_permissions(place.path("m.st"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let before = place.read("m.st");
    for words in [format!("{FIT} -o m.st"), format!("{FIT} -o m.st --force")] {
        let said = place.run(&words);
        assert_eq!((said.code, said.stderr.as_str()), (4, "error: m.st: it is write-protected\n"), "{words}");
    }
    assert_eq!(place.read("m.st"), before);
}

#[test]
fn a_name_that_is_too_long_is_refused_before_the_work() {
    let place = Place::new();
    // The data are not even looked for.
    let said = place.run(&format!("fit nowhere.csv -o {}.st", "x".repeat(300)));
    assert_eq!(said.code, 4, "{}", said.stderr);
}

#[test]
#[cfg(unix)]
fn a_full_disk_is_one_error_for_every_format() {
    let place = Place::new();
    place.ok("data generate d.csv --tasks 8 --rows 500 --features 10 --quiet");
    for format in ["npz", "csv", "csv.gz", "parquet", "arrow", "svm", "jsonl"] {
        // Files of at most two blocks of 1,024 bytes.
        let words =
            format!("ulimit -f 2; exec \"$0\" data convert d.csv out.{format} --task task --target y");
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &words, env!("CARGO_BIN_EXE_kinfolk")]).current_dir(place.path("."));
        let said = shell.output().unwrap();
        let stderr = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(4), "{format}: {stderr}");
        assert!(stderr.starts_with("error: out.") && stderr.lines().count() == 1, "{format}: {stderr}");
        let is_limit = stderr.contains("larger than the limit of file sizes, 2048 bytes (ulimit -f)");
        assert!(is_limit || !cfg!(target_os = "linux"), "{format}: {stderr}");
    }
    assert_eq!(place.files(), ["d.csv"]);
}

#[test]
fn an_objective_that_double_precision_cannot_hold_is_not_certified() {
    let place = Place::new();
    let rows = ["a,3e-140,8e-26", "b,1e-140,-4e-26", "c,-2e-140,1e-25", "d,3e-140,-8e-26"];
    place.write("d.csv", format!("task,x,y\n{}\n", rows.join("\n")));
    let said = place.run(
        "fit d.csv --task task --target y -o m.st --scale none --target-scale none --method pooled --loss absolute \
         --c 1e281 --intercept ridge:0.01 --solver sdca-sequential --tol 1e-2",
    );
    let expected = "B = 0.01: is too far from the scale of the kernel values and labels for double precision";
    assert_eq!((said.code, said.stderr.trim_end().ends_with(expected)), (3, true), "{}", said.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn names_of_files_may_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let place = place();
    let name = |bytes: &[u8]| std::ffi::OsStr::from_bytes(bytes).to_os_string();
    let (data, model) = (name(b"\xff\xfe.csv"), name(b"\xfd.st"));
    std::fs::copy(place.path("school.csv"), place.path(".").join(&data)).unwrap();
    let run = |words: &str| {
        let mut command = place.command(words.split(" DATA").next().unwrap());
        if words.contains("DATA") {
            command.arg(&data);
        }
        if words.contains("MODEL") {
            command.arg("-o").arg(&model);
        }
        let said = command.output().unwrap();
        (said.status.code(), String::from_utf8_lossy(&said.stderr).into_owned())
    };
    assert_eq!(run("data info DATA").0, Some(0));
    assert_eq!(run("fit --task school --target score --c 1 --quiet DATA MODEL").0, Some(0));
    let (code, said) = run("fit --task school --target score --c 1 --json DATA MODEL");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("is not UTF-8, so it cannot be in JSON; leave --json out"), "{said}");
}

/// Files of four terabytes that take no room on the disk: more than any machine has. Nothing is read of them, and
/// nothing is written.
#[cfg(target_os = "linux")]
#[test]
fn more_than_the_memory_is_refused_before_the_work() {
    const BYTES: u64 = 1 << 42;
    let place = place();
    let huge = |name: &str, start: &str| {
        place.write(name, start);
        let file = std::fs::OpenOptions::new().write(true).open(place.path(name)).unwrap();
        file.set_len(BYTES).is_ok()
    };
    if !(huge("huge.csv", &"school,score,a\n1,2,3\n".repeat(5000)) && huge("huge.npz", "PK")) {
        eprintln!("skipped: the disk has no files of such a size");
        return;
    }
    assert!(huge("huge.st", "model"));
    let commands = [
        "fit huge.csv --task school --target score -o new.st --c 1",
        "fit huge.npz -o new.st --c 1",
        "select huge.csv --task school --target score --method stl -o new.st",
        "data convert huge.csv new.npz",
        "certify m.st huge.csv",
        "report m.st huge.csv -o new.html",
        "report huge.st -o new.html",
        "predict huge.st school.csv -o new.csv",
        "evaluate huge.st school.csv",
        "theta huge.st",
    ];
    for command in commands {
        let began = std::time::Instant::now();
        let CommandOutput { code, stderr: said, .. } = place.run(command);
        assert_eq!(code, 3, "{command}: {said}");
        assert!(said.contains("of memory, ") && said.contains(" is there ("), "{command}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{command}: {said}");
        assert!(began.elapsed().as_secs() < 20, "{command}");
    }
    assert!(!place.path("new.st").exists() && !place.path("new.npz").exists());
}

#[test]
fn manual_pages_replace_those_of_the_program_alone() {
    let place = Place::new();
    place.ok("man pages -q");
    place.ok("man pages -q");
    place.write("pages/kinfolk-fit.1", "precious");
    let before = place.read("pages/kinfolk.1");
    place.write("pages/kinfolk.1", [&before[..], b"old"].concat());
    let said = place.run("man pages -q");
    assert_eq!(said.code, 4);
    assert!(said.stderr.contains("it exists and is not a manual page of kinfolk: replace it with --force"));
    assert_eq!(place.read("pages/kinfolk-fit.1"), b"precious");
    // Nothing is written unless all can be.
    assert_ne!(place.read("pages/kinfolk.1"), before);
    place.ok("man pages -q --force");
    assert_eq!(place.read("pages/kinfolk.1"), before);
}

/// Names that turn text around or end lines: printed by no command, kept as they are in what it writes.
#[test]
fn names_of_any_characters_are_printed_escaped() {
    let place = Place::new();
    let odd = ["a\u{202e}b", "c\u{85}d", "e\u{200b}\u{9b}", "f\u{2028}\u{feff}"];
    let mut text = format!("task,{},{},y\n", odd[0], odd[1]);
    for i in 0..40 {
        text += &format!("{},{},{},{}\n", odd[2 + i % 2], i * 7 % 13, i * 5 % 11, i * 3 % 17);
    }
    place.write("d.csv", &text);
    place.ok("fit d.csv --task task --target y --c 1 -o m.st -q");
    for words in [
        "data info d.csv",
        "fit d.csv --task task --target y --c 1 -o n.st",
        "theta m.st",
        "theta m.st --parts",
        "model show m.st",
        "model show m.st --spec",
        "model coef m.st",
        "evaluate m.st d.csv",
        "evaluate m.st d.csv --importance --by-task",
        "certify m.st d.csv",
    ] {
        let said = place.run(words);
        let all = said.stdout + &said.stderr;
        assert_eq!(said.code, 0, "{words}: {all}");
        let odd = all.chars().find(|c| kinfolk_io::is_unprintable(*c) && *c != '\n');
        assert_eq!(odd, None, "{words}: {all}");
    }
    assert!(place.ok("predict m.st d.csv").contains(odd[2]));
    let said = place.run("fit d.csv -o x.st --atom \"x\u{202e}\r\ny=z\"");
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("x\\u{202e}\\r\\ny"), "{}", said.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    for words in ["--help", "--version", "fit --help"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Place::new().command(words).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{words}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: stdout: "), "{words}");
    }
}

#[test]
fn sparse_rows_with_very_many_features_are_not_written_as_dense_ones() {
    let place = Place::new();
    place.write("wide.svm", "1 qid:1 1:1 1000000000:1\n2 qid:1 2:1\n3 qid:2 1:3\n".repeat(400));
    for out in ["w.npz", "w.csv"] {
        let said = place.run(&format!("data convert wide.svm {out}"));
        assert_eq!(said.code, 3, "{out}: {}", said.stderr);
        assert!(said.stderr.contains("the rows with all their zeros need at least"), "{}", said.stderr);
    }
    assert_eq!(place.files(), ["wide.svm"]);
}
