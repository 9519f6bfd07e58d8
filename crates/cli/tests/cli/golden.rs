//! What every command says, to people and to programs.

use crate::common::{Place, golden};
use serde_json::Value;

/// Keys in order, and numbers that are not whole masked.
fn json(place: &Place, words: &str) -> String {
    let said = place.run(&format!("{words} --json"));
    assert_eq!(said.stdout.lines().count(), 1, "{}{}", said.stdout, said.stderr);
    let value: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(value.is_object());
    said.transcript()
}

fn keys(place: &Place, words: &str) -> Vec<String> {
    let stdout = place.run(&format!("{words} --json")).stdout;
    // serde_json sorts; the text has the order.
    let value: Value = serde_json::from_str(&stdout).unwrap();
    let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
    keys.sort_by_key(|key| stdout.find(&format!("\"{key}\":")).unwrap());
    keys
}

#[test]
fn fit_and_certify() {
    let place = Place::with_examples();
    let fit = "fit mines.npz -o mines.st --threads 1";
    let mut text = place.run(fit).transcript();
    text += &json(&place, fit);
    text += &place.run("fit digits.npz -o digits.st --threads 1 --scale unit --k 2").transcript();
    text += &place.run("fit school.csv --task school --target score -o school.st --threads 1").transcript();
    text +=
        &place.run("fit mines.npz -o limit.st --threads 1 --max-passes 1 --tol 1e-9 --strict").transcript();
    text += &place.run("certify mines.st mines.npz --threads 1").transcript();
    text += &json(&place, "certify mines.st mines.npz --threads 1");
    text += &place.run("certify limit.st mines.npz --threads 1").transcript();
    text += &place.run("certify school.st school.csv --threads 1").transcript();
    golden("fit.txt", &text);
    let expected = [
        "claim",
        "status",
        "primal",
        "dual",
        "gap",
        "rel_gap",
        "rounding",
        "solver",
        "passes",
        "seconds",
        "n_inputs",
        "n_tasks",
        "n_observations",
        "loss",
        "output",
        "c",
        "lambda",
        "kernel",
        "scale",
        "target_scale",
        "atoms",
        "auto_c",
        "spec",
        "model",
    ];
    assert_eq!(keys(&place, fit), expected);
}

#[test]
fn predict_and_evaluate() {
    let place = Place::with_examples();
    place.ok("fit mines.npz -o mines.st --threads 1 --loss logistic --quiet");
    place.ok("fit digits.npz -o digits.st --threads 1 --scale unit --quiet");
    place.ok("fit school.csv --task school --target score -o school.st --threads 1 --quiet");
    let mut text = place.run("predict mines.st mines.npz -o mines.csv").transcript();
    text += &json(&place, "predict digits.st digits.npz --labels -o digits.csv");
    text += &first_lines(&place.ok("predict digits.st digits.npz --labels"), 3);
    text += &first_lines(&place.ok("predict mines.st mines.npz --labels"), 3);
    text += &first_lines(&place.ok("predict school.st school.csv"), 3);
    for words in
        ["evaluate mines.st mines.npz", "evaluate digits.st digits.npz", "evaluate school.st school.csv"]
    {
        text += &place.run(words).transcript();
        text += &json(&place, words);
    }
    golden("predict.txt", &text);
}

fn first_lines(text: &str, n: usize) -> String {
    text.lines().take(n).map(|line| format!("{line}\n")).collect()
}

#[test]
fn theta() {
    let place = Place::with_examples();
    place.ok("fit mines.npz -o m.st --threads 1 --tol 1e-9 --quiet");
    let mut text = place.run("theta m.st").transcript();
    text += &place.run("theta m.st --correlation --order given").transcript();
    text += &place.run("theta m.st --format csv").transcript();
    text += &place.run("theta m.st --format graphml --threshold 0.2").transcript();
    text += &json(&place, "theta m.st --correlation");
    text += &place.run("theta m.st -o t.npy --svg t.svg").transcript();
    text += &place.run("theta m.st -o t.doc").transcript();
    golden("theta.txt", &text);
    // What was written can be used again, as a fixed matrix or a prior, in any order of tasks.
    place.ok("theta m.st -o t.csv --quiet");
    let fixed = |file: &str| {
        place.json(&format!("fit mines.npz -o f.st --c 1 --threads 1 --output fixed --theta {file}"))["primal"].clone()
    };
    assert_eq!(fixed("t.csv"), fixed("t.npy"));
    assert_eq!(fixed("t.csv"), fixed("m.st"));
    place.ok("fit mines.npz -o f.st --prior t.csv --quiet");
}

#[test]
fn select() {
    let place = Place::with_examples();
    let school = "school.csv --task school --target score --folds 3 --grid strength=1,10";
    let mut text = place.run(&format!("select {school} --compare -o s.st")).transcript();
    text += &json(&place, &format!("select {school} --compare"));
    text += &place.run(&format!("select {school} --method fmtl:k=1,mtl:mu=0.1 --all")).transcript();
    text += &place.run("select mines.npz --folds 3 --grid c=0.1 --method stl --metric accuracy").transcript();
    let splits = format!("select {school} --method stl,fmtl:k=1 --splits 2 --train-share 0.5");
    text += &place.run(&splits).transcript();
    text += &json(&place, &splits);
    // The winner is a model like any other.
    text += &place.run("certify s.st school.csv --threads 1").transcript();
    for wrong in [
        "select mines.npz --method lasso",
        "select mines.npz --method fmtl:k=0",
        "select mines.npz --method stl --grid k=1",
        "select mines.npz --grid c=1 --grid strength=1",
        "select mines.npz --grid strength",
        "select mines.npz --metric r3",
        "select mines.npz --metric log-loss",
        "select mines.npz --metric class-accuracy",
        "select mines.npz --folds 1000",
        "select mines.npz --splits 2",
        "select mines.npz --splits 2 --train-share 2",
    ] {
        text += &place.run(wrong).transcript();
    }
    golden("select.txt", &text);
}

#[test]
fn methods_and_data() {
    let place = Place::with_examples();
    let mut text = place.run("methods").transcript();
    text += &json(&place, "methods");
    for words in
        ["data info digits.npz", "data info mines.npz", "data info school.csv --task school --target score"]
    {
        text += &place.run(words).transcript();
        text += &json(&place, words);
    }
    text += &place.run("data generate kin.npz --kind outliers --tasks 8").transcript();
    text += &json(&place, "data generate kin.npz --kind outliers --tasks 8 --force");
    text += &place.run("data convert kin.npz kin.svm").transcript();
    text += &json(&place, "data convert kin.npz kin.svm --force");
    golden("data.txt", &text);
}

#[test]
fn demo() {
    let place = Place::new();
    let said = place.run("demo --threads 1");
    assert_eq!(said.code, 0, "{}", said.stderr);
    golden("demo.txt", &said.transcript());
    let files = [
        "model.safetensors",
        "predictions.csv",
        "report.html",
        "results.json",
        "test.npz",
        "theta.svg",
        "train.npz",
    ];
    for file in files {
        assert!(place.path("kinfolk-demo").join(file).exists(), "{file}");
    }
    let said = place.json("demo --data digits -o digits --threads 1");
    assert!(said["methods"].as_array().unwrap().iter().all(|method| method["test"].as_f64().unwrap() > 0.8));
    // The demo's advice works.
    place.ok("certify kinfolk-demo/model.safetensors kinfolk-demo/train.npz");
    place.ok("evaluate kinfolk-demo/model.safetensors kinfolk-demo/test.npz");
}
