//! What is said about bad input: one line with the place and the value, exit code 3, and nothing written.

use crate::common::{Place, golden};

/// Runs commands that must fail with this code, and compares all that they say.
fn refused(place: &Place, name: &str, code: i32, commands: &[&str]) {
    let before = place.files();
    let mut text = String::new();
    for words in commands {
        let said = place.run(words);
        assert_eq!(said.code, code, "kinfolk {words}\n{}{}", said.stdout, said.stderr);
        assert_eq!(said.stdout, "", "kinfolk {words}");
        assert_eq!(said.stderr.lines().count(), 1, "kinfolk {words}\n{}", said.stderr);
        assert!(said.stderr.starts_with("error: "), "kinfolk {words}\n{}", said.stderr);
        // With --json the same.
        let again = place.run(&format!("{words} --json"));
        assert_eq!(
            (again.code, again.stdout.as_str(), &again.stderr),
            (code, "", &said.stderr),
            "kinfolk {words}"
        );
        text += &said.transcript();
    }
    assert_eq!(place.files(), before, "nothing is written");
    golden(name, &text);
}

#[test]
fn bad_tables() {
    let place = Place::new();
    let files: [(&str, &[u8]); 15] = [
        ("empty.csv", b""),
        ("header.csv", b"a,b,y\n"),
        ("ragged.csv", b"a,b,y\n1,2,3\n1,2\n"),
        ("words.csv", b"a,colour,y\n1,red,3\n1,5,2\n1,6,2\n"),
        ("twice.csv", b"a,a,y\n1,2,3\n"),
        ("nan.csv", b"a,b,y\n1,inf,3\n"),
        ("hole.csv", b"a,b,y\n1,,3\n2,1,4\n"),
        ("three.csv", b"a,b,y\n1,2,3\n1,3,2\n2,2,1\n"),
        ("bytes.csv", b"a,b,y\n1,\xc3\xa9,\xff\n"),
        ("zero.svm", b"1 qid:1 1:1 0:1.5\n"),
        ("down.svm", b"1 qid:1 2:1.5 1:3\n"),
        ("word.svm", b"1 qid:1 1:one\n"),
        ("junk.npz", b"PK no archive"),
        ("junk.npy", "\u{93}NUMPY".as_bytes()),
        ("what.doc", b"?"),
    ];
    files.iter().for_each(|(name, bytes)| place.write(name, bytes));
    std::fs::create_dir(place.path("folder.csv")).unwrap();
    let fit = |rest: &str| format!("fit {rest} -o m.st");
    let commands: Vec<String> = [
        "missing.csv --target y",
        "empty.csv --target y",
        "header.csv --target y",
        "ragged.csv --target y",
        "words.csv --target y",
        "twice.csv --target y",
        "nan.csv --target y",
        "hole.csv --target y --missing error",
        "three.csv --target z",
        "three.csv --target y --task t",
        "three.csv",
        "three.csv --target y --loss hinge",
        "three.csv --target y --drop nothing",
        "three.csv --target y --split 1",
        "bytes.csv --target y",
        "zero.svm",
        "down.svm",
        "word.svm",
        "junk.npz",
        "junk.npy",
        "what.doc",
        "folder.csv --target y",
    ]
    .map(fit)
    .to_vec();
    refused(&place, "bad_tables.txt", 3, &commands.iter().map(String::as_str).collect::<Vec<_>>());
    // Offered ways out work.
    place.ok("fit words.csv --target y --drop colour -o m.st --quiet");
    place.ok("fit words.csv --target y --one-hot colour -o m.st --quiet");
    place.ok("fit words.csv --target y --missing-word red -o m.st --quiet");
    place.ok("fit hole.csv --target y -o m.st --quiet");
}

#[test]
fn bad_models_parameters_and_rows() {
    let place = Place::with_examples();
    place.ok("fit mines.npz -o m.st --quiet");
    place.ok("fit school.csv --task school --target score -o school.st --quiet");
    place.write("junk.st", "no model");
    place.write("half.st", &place.read("m.st")[..1000]);
    place.write("small.csv", "1,0\n0,1\n");
    place.write("other.csv", "school,age,hours,score\nnorth,11,0.5,1\nmars,11,0.5,1\n");
    place.write("short.csv", "school,age,score\nnorth,11,1\n");
    place.ok("data generate more.npz --tasks 6 --groups 2 --rows 31 --features 9 --binary --quiet");
    refused(
        &place,
        "bad_models.txt",
        3,
        &[
            "theta missing.st",
            "theta junk.st",
            "theta half.st",
            "certify junk.st mines.npz",
            "certify m.st more.npz",
            "certify m.st digits.npz",
            "evaluate m.st digits.npz",
            "predict school.st other.csv -o p.csv",
            "predict school.st short.csv -o p.csv",
            "evaluate school.st other.csv",
            "predict m.st mines.npz --split 1 -o p.csv",
            "fit mines.npz -o f.st --output fixed --theta small.csv",
            "fit mines.npz -o f.st --output fixed --theta school.st",
            "fit mines.npz -o f.st --solver spectral",
            "fit digits.npz -o f.st --loss squared --solver spectral --memory 1KB",
            "fit mines.npz -o f.st --kernel precomputed",
        ],
    );
    // Choosing otherwise helps.
    let scores = place.ok("predict school.st other.csv --unknown-task zero");
    assert!(scores.lines().nth(2).unwrap() == "mars,0", "{scores}");
    let scores = place.ok("predict school.st other.csv --unknown-task mean");
    assert!(scores.lines().nth(2).unwrap().starts_with("mars,1."), "{scores}");
}

#[test]
fn what_cannot_be_written() {
    let place = Place::with_examples();
    place.ok("fit mines.npz -o m.st --quiet");
    std::fs::create_dir(place.path("folder")).unwrap();
    refused(
        &place,
        "unwritable.txt",
        4,
        &[
            "fit mines.npz -o nowhere/m.st",
            "fit mines.npz -o folder",
            "theta m.st -o nowhere/t.csv",
            "theta m.st --svg folder",
            "predict m.st mines.npz -o folder",
            "data convert mines.npz nowhere/m.npz",
            "fit mines.npz -o f.st --checkpoint nowhere/c",
        ],
    );
}

#[test]
fn tasks_of_one_row_or_one_class_are_fitted_and_counted() {
    let place = Place::new();
    place.write("few.csv", "task,x,y\na,1,yes\na,2,no\na,3,yes\nb,1,yes\nc,1,no\nc,2,no\n");
    place.ok("fit few.csv --task task --target y -o m.st --quiet");
    let said = place.json("evaluate m.st few.csv");
    assert_eq!(said["metrics"]["auc"]["n_defined"], 1);
    assert_eq!(said["metrics"]["auc"]["n_undefined"], 2);
    assert_eq!(said["metrics"]["accuracy"]["n_defined"], 3);
    assert_eq!(said["tasks"][1]["auc"], serde_json::Value::Null);
    let text = place.ok("evaluate m.st few.csv");
    assert!(text.contains("auc is undefined for 2 tasks, left out of the mean"), "{text}");
}

#[test]
fn tasks_with_few_labels_are_named_and_tasks_without_are_predicted_by_the_others() {
    let place = Place::new();
    place.write("few.csv", "task,x,y\na,1,2\na,2,3\na,3,4.5\nb,1,1000000\nc,1,7\nc,2,7\n");
    let said = place.ok("fit few.csv --task task --target y -o m.st");
    assert!(said.contains("note     1 task has one label only: b\n"), "{said}");
    assert!(said.contains("note     1 task has equal labels: c\n"), "{said}");
    place.ok("certify m.st few.csv");
    // A target without labels: nothing is learned about it, and that is said.
    place.write("wide.csv", "x,one,two,none\n1,2,3,\n2,3,4,\n3,5,1,\n4,4,2,\n");
    let said = place.ok("fit wide.csv --target one --target two --target none --method fmtl -o w.st");
    assert!(said.contains("note     1 task has no labels: nothing is learned about none\n"), "{said}");
    place.ok("certify w.st wide.csv");
    let refused = place.run("predict w.st wide.csv -o p.csv");
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("task \"none\" had no labels in training"), "{}", refused.stderr);
    let scores = place.ok("predict w.st wide.csv --unknown-task mean");
    for line in scores.lines().skip(1) {
        let row: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let [one, two, none] = row[..] else { panic!("{line}") };
        assert!((none - (one + two) / 2.0).abs() < 1e-9, "{line}");
    }
}

#[test]
fn weights_of_classes_do_not_count_for_the_scaling() {
    let place = Place::with_examples();
    place.ok("fit mines.npz -o plain.st --threads 1 --quiet");
    place.ok("fit mines.npz -o balanced.st --threads 1 --class-weight balanced --quiet");
    place.ok("certify balanced.st mines.npz");
}

#[test]
fn a_model_of_other_numbers_does_not_hold() {
    let place = Place::new();
    place.ok("data generate one.npz --quiet");
    place.ok("data generate two.npz --seed 1 --quiet");
    place.ok("fit one.npz -o m.st --c strength:1 --quiet");
    let refused = |reasons: &[&str]| {
        let said = place.run("certify m.st two.npz");
        assert_eq!(said.code, 1);
        reasons.iter().for_each(|why| assert!(said.stdout.contains(why), "{}", said.stdout));
    };
    refused(&[
        "do not agree: scale_mean, scale_factor, target_centre, target_scale, alpha, intercept, theta",
        "atom_coefficient, weights",
    ]);
    let said = place.run("certify m.st one.npz --tol 1e-9");
    assert_eq!(said.code, 1);
    let said = place.run("certify m.st two.npz --json");
    assert_eq!(said.code, 1);
    assert!(said.stdout.starts_with("{\"holds\":false,\"agrees\":false"), "{}", said.stdout);
    // Duals of one side of the hinge on labels of the other: nobody could have fitted that.
    place.ok("data generate one.npz --binary --quiet --force");
    place.ok("data generate two.npz --binary --seed 1 --quiet --force");
    place.ok("fit one.npz -o m.st --quiet");
    refused(&[
        "does not hold: the model file and the data do not agree: alpha, status\n",
        "the duals of the model do not belong to these data",
    ]);
}

#[test]
fn a_number_that_cannot_be_read_is_told_in_plain_words() {
    let place = Place::new();
    for (words, why) in [
        ("theta m.st --threshold abc", "'abc' for '--threshold <R>': it must be a number\n"),
        ("select x.csv --folds 1e3", "'1e3' for '--folds <K>': it must be a whole number\n"),
        ("fit x.csv -o m.st --max-levels 99999999999999999999", ": the number is too large\n"),
    ] {
        let said = place.run(words);
        assert!(said.code == 2 && said.stderr.contains(why), "{words}: {}", said.stderr);
    }
}
