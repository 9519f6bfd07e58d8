//! Folds that a column decides about, in `fit` and in `select`.

use crate::common::Place;

/// Visits of 24 patients in 4 clinics over 12 days. A patient has a level of its own, which `mark` gives away: folds of
/// random rows can use it, folds of whole patients cannot.
fn visits() -> String {
    let mut text = String::from("clinic,patient,day,mark,dose,level\n");
    for i in 0..144u32 {
        let patient = i % 24;
        let own = f64::from(patient * 7 % 24) - 12.0;
        let dose = f64::from(i * 31 % 17) / 4.0;
        let level = own + 0.5 * dose + f64::from(i * 13 % 5) / 10.0;
        let clinic = ["n", "e", "s", "w"][patient as usize % 4];
        let mark = ["", "a", "b", "c"][(patient / 4 % 4) as usize];
        text += &format!("{clinic},p{patient},2024-03-{:02},{mark},{dose},{level}\n", 1 + i / 12);
    }
    text
}

const VISITS: &str = "visits.csv --task clinic --target level --threads 1";

fn place() -> Place {
    let place = Place::new();
    place.write("visits.csv", visits());
    place
}

#[test]
fn a_fit_says_what_was_held_out_and_repeats_itself() {
    let place = place();
    for (by, rows, folds) in [
        ("group:patient", "held-out groups", "5 folds of whole groups"),
        ("time:day", "later rows", "5 folds by time"),
    ] {
        let said = place.ok(&format!("fit {VISITS} --features day,mark,dose --folds-by {by} -o a.st"));
        assert!(said.contains(rows) && said.contains(folds), "{said}");
        let spec = place.ok("model show a.st --spec");
        assert!(spec.contains(&format!("folds_by = \"{by}\"")), "{spec}");
        place.write("fit.toml", spec);
        place.ok("fit visits.csv --spec fit.toml -o b.st --quiet");
        assert_eq!(place.read("a.st"), place.read("b.st"), "{by}");
        // New rows need no such column to be predicted, and the certificate holds.
        place.write("new.csv", "clinic,day,mark,dose\nn,2024-04-01,a,1\n");
        place.ok("predict a.st new.csv --quiet");
        assert_eq!(place.json("certify a.st visits.csv")["holds"], true);
    }
}

#[test]
fn groups_are_no_features_and_times_may_be() {
    let place = place();
    let said = place.ok(&format!("fit {VISITS} --folds-by group:patient -o m.st"));
    assert!(said.contains("left out: \"patient\" (its values are the groups of the folds)"), "{said}");
    assert!(!place.ok("model coef m.st").contains("patient"));
    let said = place.ok(&format!("fit {VISITS} --drop patient --folds-by time:day -o m.st"));
    assert!(said.contains("dates became days since 1970-01-01: \"day\""), "{said}");
    // Left out of the features, carried along or the task: the column still decides about folds.
    for more in
        ["--drop patient,day", "--drop patient --keep day", "--features dose", "--drop patient --one-hot day"]
    {
        let said = place.ok(&format!("fit {VISITS} {more} --folds-by time:day -o m.st"));
        assert!(said.contains("later rows"), "{more}: {said}");
    }
}

#[test]
fn folds_do_not_depend_on_the_order_of_rows_or_the_format() {
    let place = place();
    let text = visits();
    let (head, rows) = text.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.reverse();
    place.write("back.csv", format!("{head}\n{}\n", rows.join("\n")));
    let json = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        format!(
            "{{\"clinic\":\"{}\",\"patient\":\"{}\",\"day\":\"{}\",\"mark\":\"{}\",\"dose\":{},\"level\":{}}}\n",
            cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]
        )
    };
    place.write("visits.jsonl", text.lines().skip(1).map(json).collect::<String>());
    for by in ["group:patient", "time:day"] {
        let options = format!("--task clinic --target level --folds-by {by} --threads 1");
        let auto = |file: &str| {
            let fit = place.json(&format!("fit {file} {options} -o {file}.st"));
            (fit["auto_c"]["score"].clone(), fit["auto_c"]["strength"].clone())
        };
        assert_eq!(auto("visits.csv"), auto("visits.jsonl"), "{by}");
        assert_eq!(place.read("visits.csv.st"), place.read("visits.jsonl.st"), "{by}");
        let (score, strength) = auto("back.csv");
        assert_eq!(strength, auto("visits.csv").1, "{by}");
        let difference = score.as_f64().unwrap() - auto("visits.csv").0.as_f64().unwrap();
        assert!(difference.abs() < 1e-6, "{by}: {difference}");
    }
}

#[test]
fn new_groups_are_harder_than_new_rows_of_known_ones() {
    let place = place();
    // The patient as a feature, under another name.
    let text = visits();
    let copied = text.lines().map(|line| format!("{line},{}\n", line.split(',').nth(1).unwrap()));
    place.write("copied.csv", copied.collect::<String>().replacen("level,patient", "level,who", 1));
    let score = |more: &str| {
        let options = "--task clinic --target level --one-hot who --threads 1 -o m.st";
        place.json(&format!("fit copied.csv {options} {more}"))["auto_c"]["score"].as_f64().unwrap()
    };
    let (known, new) = (score("--drop patient,day"), score("--drop day --folds-by group:patient"));
    assert!(known > 0.9 && new < 0.3, "{known} {new}");
}

#[test]
fn select_takes_the_same_folds() {
    let place = place();
    let select = format!("select {VISITS} --method stl --grid strength=1 --folds 3");
    let said = place.ok(&format!("{select} --folds-by group:patient --drop day -o m.st"));
    assert!(said.contains("3 folds by group:patient"), "{said}");
    assert!(place.ok("model show m.st --spec").contains("folds_by = \"group:patient\""));
    let results = place.json(&format!("{select} --folds-by time:day --drop patient"));
    assert_eq!(results["folds_by"], "time:day");
    // A column of tasks as groups is the same as whole tasks.
    let of_groups = place.json(&format!("{select} --folds-by group:clinic --drop day,patient"));
    let of_tasks = place.json(&format!("{select} --whole-tasks --drop day,patient"));
    assert_eq!(of_groups["winner"]["score"], of_tasks["winner"]["score"]);
    let said = place.ok(&format!("{select} --folds-by time:day --drop patient --splits 1 --train-share 0.7"));
    assert!(said.contains("stl"), "{said}");
}

#[test]
fn folds_that_cannot_be_made_are_refused() {
    let place = place();
    let one_day = visits()
        .lines()
        .filter(|line| line.contains("-01,") || line.contains("-02,") || line.contains("dose"))
        .collect::<Vec<_>>()
        .join("\n");
    place.write("days.csv", one_day);
    let text = visits();
    let gap = text.replacen(",p5,2024", ",,2024", 1);
    place.write("gap.csv", gap.replacen(",2024-03-01,b", ",,b", 1));
    let fit = "--task clinic --target level -o m.st";
    for (words, why) in [
        (
            format!("select {VISITS} --folds 30 --folds-by group:patient"),
            "30 folds of 24 groups: there must be from 2 to 24".to_string(),
        ),
        (
            format!("select {VISITS} --folds 12 --folds-by time:day"),
            "12 folds of 12 different times: there must be from 2 to 11, and rows before the first".into(),
        ),
        (
            format!("select {VISITS} --repeats 2 --folds-by time:day"),
            "folds by time are always the same: they cannot be repeated".into(),
        ),
        (
            format!("fit visits.csv {fit} --features dose,patient --folds-by group:patient"),
            "visits.csv: column \"patient\": its values are the groups of the folds, so it cannot be learned from; the \
             features are \"dose\", \"patient\"; see --folds-by and --features"
                .into(),
        ),
        (
            format!("fit visits.csv {fit} --folds-by time:level"),
            "visits.csv: column \"level\": it is given as target and as column of the folds; a column has one use; see \
             --target and --folds-by"
                .into(),
        ),
        (
            format!("fit visits.csv {fit} --folds-by time:patient"),
            "visits.csv: line 2, column \"patient\": \"p0\" is no time: times are numbers or dates; see --folds-by"
                .into(),
        ),
        (
            format!("fit gap.csv {fit} --folds-by group:patient"),
            "gap.csv: line 7, column \"patient\": the cell is empty, and every row needs a group".into(),
        ),
        (
            format!("fit gap.csv {fit} --drop patient --folds-by time:day"),
            "gap.csv: line 10, column \"day\": the cell is empty, and every row needs a time".into(),
        ),
        (
            format!("fit days.csv {fit} --drop patient --folds-by time:day"),
            "days.csv: column \"day\": there are fewer than three different times, and folds by time need three".into(),
        ),
        (
            format!("fit visits.csv {fit} --folds-by group:patent"),
            "visits.csv: there is no column \"patent\"; did you mean \"patient\"? the columns are".into(),
        ),
    ] {
        let said = place.run(&words);
        assert_eq!(said.code, 3, "{words}\n{}", said.stderr);
        let line = said.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
        assert!(line.starts_with(&format!("error: {why}")), "{words}\n{line}\n{why}");
    }
    let said = place.run(&format!("select {VISITS} --whole-tasks --folds-by group:patient"));
    assert_eq!(said.code, 2, "{}", said.stderr);
    let said = place.run(&format!("fit {VISITS} --folds-by group:patient --c 1 -o m.st"));
    assert!(said.stderr.contains("--folds-by has no effect: C is given"), "{}", said.stderr);
    let said = place.run(&format!("fit {VISITS} --folds-by patient -o m.st"));
    assert!(said.stderr.contains("it must be group:COLUMN or time:COLUMN"), "{}", said.stderr);
}
