//! A known part of each prediction: predict adds it as evaluate does.

use crate::common::Place;

/// Rows of two tasks whose labels follow from x and an offset.
fn table(label: impl Fn(f64, f64) -> String) -> String {
    let mut text = String::from("task,x,off,y\n");
    for i in 0..60i32 {
        let (x, off) = (f64::from(i * 7 % 13) / 6.0 - 1.0, f64::from(i * 5 % 17) - 8.0);
        text += &format!("{},{x},{off},{}\n", ["a", "b"][i as usize % 2], label(x, off));
    }
    text
}

/// The table without its column of offsets.
fn without_offsets(table: &str) -> String {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{},{},{}\n", cells[0], cells[1], cells[3])
    };
    table.lines().map(row).collect()
}

/// The numbers of a column of a table.
fn column(table: &str, name: &str) -> Vec<f64> {
    let at = table.lines().next().unwrap().split(',').position(|own| own == name).unwrap();
    table.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

#[test]
fn scores_and_intervals_have_the_offsets_of_their_rows() {
    let place = Place::new();
    let rows = table(|x, off| format!("{}", 2.0 * x + off + (40.0 * x).sin() / 10.0));
    place.write("o.csv", &rows);
    place.write("n.csv", without_offsets(&rows));
    place.write("other.csv", rows.replace(",off,", ",exposure,"));
    place.ok("fit o.csv --task task --target y --offset off -o o.st --threads 1 -q");
    let with = place.run("predict o.st o.csv --interval 0.8");
    let without = place.run("predict o.st n.csv --interval 0.8");
    assert_eq!(with.stderr, "");
    assert_eq!(
        without.stderr,
        "note: no column \"off\", the offset of the fit: predictions are for offset 0 (--offset names another column)\n"
    );
    let offsets = column(&rows, "off");
    for name in ["score", "low", "high"] {
        let (with, without) = (column(&with.stdout, name), column(&without.stdout, name));
        let differ = with.iter().zip(&without).zip(&offsets).find(|((a, b), o)| (*a - *b - *o).abs() > 1e-9);
        assert_eq!(differ, None, "{name}");
    }
    assert_eq!(place.ok("predict o.st other.csv --offset exposure --interval 0.8"), with.stdout);
    // What evaluate scores are these predictions.
    let rmse = place.json("evaluate o.st o.csv --metric pooled-rmse")["metrics"]["rmse"]["pooled"].as_f64();
    let squares = column(&with.stdout, "score")
        .iter()
        .zip(column(&rows, "y"))
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>();
    assert!(((squares / 60.0).sqrt() / rmse.unwrap() - 1.0).abs() < 1e-9, "{rmse:?}");
    assert!(rmse.unwrap() < 1.0);
    // An array has its name without being asked for.
    place.ok("data convert o.csv o.npz --task task --target y --offset off -q");
    place.ok("fit o.npz -o n.st --threads 1 -q");
    assert_eq!(place.run("predict n.st o.npz").stderr, "");
    place.ok("data convert n.csv n.npz --task task --target y -q");
    assert!(place.run("predict n.st n.npz").stderr.contains("no column \"offset\", the offset of the fit"));
    // Without a column of tasks every task has them.
    let cut = |text: &str| {
        text.lines().map(|line| line.split_once(',').unwrap().1.to_string() + "\n").collect::<String>()
    };
    place.write("all.csv", cut(&rows));
    place.write("none.csv", cut(&without_offsets(&rows)));
    let (with, without) = (place.ok("predict o.st all.csv"), place.ok("predict o.st none.csv -q"));
    for task in ["a", "b"] {
        let (with, without) = (column(&with, task), column(&without, task));
        assert!(with.iter().zip(&without).zip(&offsets).all(|((a, b), o)| (a - b - o).abs() < 1e-9));
    }
}

#[test]
fn labels_and_probabilities_have_them_too() {
    let place = Place::new();
    let rows = table(|x, off| if x + off > 0.0 { "yes".into() } else { "no".into() });
    place.write("o.csv", &rows);
    place.write("n.csv", without_offsets(&rows));
    place.ok("fit o.csv --task task --target y --offset off --loss logistic --c 1 -o o.st --threads 1 -q");
    let with = place.ok("predict o.st o.csv --proba --labels");
    let without = place.ok("predict o.st n.csv --proba --labels -q");
    let log_odds = |p: f64| (p / (1.0 - p)).ln();
    let (a, b) = (column(&with, "probability"), column(&without, "probability"));
    let offsets = column(&rows, "off");
    assert!(a.iter().zip(&b).zip(&offsets).all(|((a, b), o)| (log_odds(*a) - log_odds(*b) - o).abs() < 1e-6));
    let right = with
        .lines()
        .zip(rows.lines())
        .skip(1)
        .filter(|(own, row)| own.rsplit(',').next() == row.rsplit(',').next());
    assert!(right.count() > 55, "{with}");
}

#[test]
fn balanced_classes_are_said_to_be_balanced() {
    let place = Place::new();
    place.write("o.csv", table(|x, off| if x + off > 4.0 { "yes".into() } else { "no".into() }));
    place.ok("fit o.csv --task task --target y --class-weight balanced --loss logistic --c 1 -o o.st --threads 1 -q");
    let note = "note: the model was fitted with --class-weight balanced: its probabilities are those of classes that \
                are equally frequent, not of their shares in the data\n";
    assert_eq!(place.run("predict o.st o.csv --proba").stderr, note);
    assert_eq!(place.run("predict o.st o.csv").stderr, "");
    assert!(place.run("evaluate o.st o.csv").stderr.contains(note));
}
