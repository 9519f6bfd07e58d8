//! Ctrl-C.

use crate::common::Place;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

/// Waits until something is so.
fn wait_until(so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < Duration::from_secs(60), "it did not come to that");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn ctrl_c_ends_a_fit_with_its_model_and_true_certificate() {
    let place = Place::new();
    place.ok("data generate data.npz --tasks 12 --rows 300 --features 30 --binary --quiet");
    let words = "fit data.npz -o m.st --solver sdca --tol 1e-15 --max-passes 100000000 --threads 1 --json \
                 --checkpoint c.st --checkpoint-every 0";
    let child = place.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until(|| place.path("c.st").exists());
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["status"], "stopped");
    assert_eq!(place.files(), ["c.st", "data.npz", "m.st"]);
    // The certificate is true: it agrees with the data, and the gap is the one that was told.
    let checked = place.json("certify m.st data.npz --tol 1 --threads 1");
    assert_eq!(checked["holds"], true);
    assert_eq!(checked["recomputed"]["gap"], said["gap"]);
    // And the fit can go on.
    let resumed =
        place.json("fit data.npz -o m.st --solver sdca --tol 1e-3 --threads 1 --checkpoint c.st --resume");
    assert_eq!(resumed["status"], "certified");
}

#[test]
fn ctrl_c_before_there_is_a_model_ends_at_once_and_leaves_nothing() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe.svm")).status().unwrap().success());
    let child =
        place.command("fit pipe.svm -o m.st").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Opening the other end waits for the reader.
    let writer = std::fs::OpenOptions::new().write(true).open(place.path("pipe.svm")).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    drop(writer);
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty());
    assert_eq!(place.files(), ["pipe.svm"]);
}

#[test]
fn ctrl_c_in_the_middle_of_writing_leaves_nothing_unfinished() {
    let place = Place::new();
    place.write("train.svm", "1 qid:1 1:0.5 2:1\n-1 qid:1 1:-1\n1 qid:2 1:2\n-1 qid:2 2:-3\n");
    place.ok("fit train.svm -o m.st --quiet");
    place.write("scores.csv", "precious");
    assert!(Command::new("mkfifo").arg(place.path("pipe.svm")).status().unwrap().success());
    let words = "predict m.st pipe.svm -o scores.csv --force";
    let child = place.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut writer = std::fs::OpenOptions::new().write(true).open(place.path("pipe.svm")).unwrap();
    // More than a chunk, and no end.
    writer.write_all("1 qid:1 1:0.5\n".repeat(40_000).as_bytes()).unwrap();
    wait_until(|| place.files().iter().any(|name| name.starts_with(".kinfolk-")));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    drop(writer);
    assert_eq!(place.files(), ["m.st", "pipe.svm", "scores.csv", "train.svm"]);
    assert_eq!(place.read("scores.csv"), b"precious");
}

#[test]
fn ctrl_c_ends_importance_within_a_second_or_so() {
    let place = Place::new();
    place.ok("data generate d.csv --tasks 10 --rows 600 --features 40 -q");
    place.ok("fit d.csv --task task --target y --c 1 --kernel rbf:0.1 --tol 0.5 -o m.st -q");
    let words = "evaluate m.st d.csv --importance --shuffles 1000";
    let child = place.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let start = Instant::now();
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    // Tests run without optimization, and beside others.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(output.stdout.is_empty() && said.starts_with("note: stopped before the last column"), "{said}");
    assert_eq!(said.lines().count(), 1, "nobody waits for more: {said}");
}
