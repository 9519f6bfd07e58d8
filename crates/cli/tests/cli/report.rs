//! `kinfolk report`: what is on the page without a browser, and what is refused. With one: tests/report.

use crate::common::{Place, golden};

/// Names that would break a page which is not careful.
const HOSTILE: [&str; 4] = [
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "it's {{ 7 * 7 }} & <b>bold</b>",
    "\u{5d0}\u{5d1}\u{1f600}",
];

/// A csv with two tasks of each name.
fn table(names: &[&str]) -> String {
    let mut text = String::from("task,x,y\n");
    for (t, name) in names.iter().enumerate() {
        for i in 0..6 {
            let x = f64::from(i) - 2.5;
            text += &format!(
                "\"{}\",{x},{}\n",
                name.replace('"', "\"\""),
                x * (1.0 + t as f64) + 0.1 * f64::from(i % 2)
            );
        }
    }
    text
}

fn page(place: &Place, words: &str) -> String {
    place.ok(&format!("report {words} -o page.html"));
    String::from_utf8(place.read("page.html")).unwrap()
}

#[test]
fn sections_appear_with_their_sources_and_hints_without() {
    let place = Place::with_examples();
    let school = "school.csv --task school --target score";
    place.ok(&format!(
        "select {school} --compare --folds 3 --grid strength=1,10 --results r.json -o s.st --quiet"
    ));
    let bare = page(&place, "s.st");
    for hint in [
        "--compare --results",
        "if the data of the fit are given",
        "--trace FILE",
        "select ... --results FILE",
    ] {
        assert!(bare.contains(hint), "{hint}");
    }
    assert!(bare.contains("No model of this kind can be better than this one by more than"));
    let full = page(&place, "s.st school.csv --select r.json");
    assert!(!full.contains("class=\"hint\"><p") && !full.contains("<p class=\"hint\">How the gap"));
    for part in [
        "They agree.",
        "aria-label=\"Relative gap over seconds\"",
        "Gain of each task",
        "aria-label=\"Score along C\"",
        "4 tasks with 15 rows each",
    ] {
        assert!(full.contains(part), "{part}");
    }
    place.ok("fit mines.npz -o m.st --trace t.csv --quiet");
    let traced = page(&place, "m.st mines.npz --trace t.csv");
    assert!(traced.contains("Relative gap over passes") && traced.contains("Recomputed from mines.npz"));
    // Other data have scores, and say nothing about the gap.
    place.ok("data generate other.npz --tasks 6 --groups 2 --rows 20 --features 9 --binary --seed 5 --quiet");
    let other = page(&place, "m.st other.npz");
    assert!(other.contains("is not the data of the fit") && other.contains("Score, other.npz"));
    // Nothing is asked of the network, and the same input gives the same page.
    assert!(
        !full.contains("http://")
            || full.matches("http://").count() == full.matches("http://www.w3.org/2000/svg").count()
    );
    assert!(!full.contains("https://") && full.contains("default-src 'none'"));
    assert_eq!(full, page(&place, "s.st school.csv --select r.json"));
}

#[test]
fn no_name_becomes_markup() {
    let place = Place::new();
    place.write("hostile.csv", table(&HOSTILE));
    place.ok("select hostile.csv --task task --target y --compare --folds 2 --grid strength=1,10 --results \
              r.json -o h.st --quiet");
    let html = page(&place, "h.st hostile.csv --select r.json");
    assert_eq!(html.matches("<script").count(), 3, "two of data and one of code");
    assert_eq!(html.matches("</script>").count(), 3);
    for forbidden in ["<img", "<b>bold", "onerror=alert(2)>", "49 &amp;"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("&lt;img src=x onerror=alert(2)&gt;"));
}

#[test]
fn one_task_has_a_page() {
    let place = Place::new();
    place.write("one.csv", table(&["only"]));
    place.ok("fit one.csv --task task --target y -o one.st --quiet");
    assert!(page(&place, "one.st one.csv").contains("There is only one task."));
}

#[test]
fn the_page_holds_the_certificate_as_json() {
    let place = Place::with_examples();
    place.ok("fit mines.npz -o m.st --quiet");
    let html = page(&place, "m.st");
    let start = "<script type=\"application/json\" id=\"certificate-data\">";
    let json = html.split_once(start).unwrap().1.split_once("</script>").unwrap().0;
    let on_page: serde_json::Value = serde_json::from_str(json).unwrap();
    let answer = place.run("report m.st -o page.html --json").stdout;
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    for key in ["claim", "status", "primal", "dual", "gap", "rel_gap"] {
        assert_eq!(on_page[key], answer[key], "{key}");
    }
    assert_eq!((&on_page["claim"], &on_page["status"]), (&"optimal".into(), &"certified".into()));
}

#[test]
fn pictures_are_files_too() {
    let place = Place::with_examples();
    place.ok("fit mines.npz -o m.st --quiet");
    place.ok("theta m.st --svg t.svg --correlation");
    assert!(place.read("t.svg").starts_with(b"<svg"));
}

#[test]
fn mistakes_are_one_line() {
    let place = Place::with_examples();
    place.ok("fit mines.npz -o m.st --quiet");
    place.ok("fit school.csv --task school --target score -o s.st --quiet");
    place.ok("select school.csv --task school --target score --folds 2 --grid strength=1 --method stl \
              --results r.json --quiet");
    place.write("bad.json", "{\"metric\": 3}");
    place.write("bad.csv", "a,b\n1,2\n");
    let mut text = String::new();
    for wrong in [
        "report none.st",
        "report m.st none.npz",
        "report m.st -o no/where.html",
        "report m.st --select none.json",
        "report m.st --select bad.json",
        "report m.st --select r.json",
        "report m.st --trace bad.csv",
        "report m.st --trace none.csv",
        "report s.st school.csv --task hours",
        "theta m.st --svg no/where.svg",
        "fit mines.npz -o m2.st --trace no/where.csv",
        "select mines.npz --results no/where.json",
    ] {
        let said = place.run(wrong);
        assert!(said.stderr.lines().count() == 1 || said.code == 2, "{}", said.stderr);
        text += &said.transcript();
    }
    text += &place.run("report s.st -o s.html").transcript();
    text += &place.run("report s.st -o s.html --json").transcript();
    assert!(!place.files().iter().any(|name| name == "report.html" || name == "m2.st"));
    golden("report.txt", &text);
}
