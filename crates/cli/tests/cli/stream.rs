//! `fit --stream`: files in chunks give the model of the files in memory.

use crate::common::Place;

fn number(value: &serde_json::Value, key: &str) -> f64 {
    value[key].as_f64().unwrap()
}

/// Rows of shops in two files, one with words and gaps.
fn with_rows() -> Place {
    let place = Place::new();
    for part in 0..2 {
        let mut text = String::from("shop,plan,size,sales\n");
        for i in 0..150 {
            let k = part * 150 + i;
            let (shop, plan) = (["east", "north", "west"][k % 3], ["basic", "pro"][k % 2]);
            let size = if k % 50 == 7 { String::new() } else { (k * 37 % 101).to_string() };
            let label = if k % 40 == 3 {
                String::new()
            } else {
                format!("{}", (k * 53 % 97) as f64 / 9.0 + (k % 2) as f64)
            };
            text += &format!("{shop},{plan},{size},{label}\n");
        }
        place.write(&format!("rows-{part}.csv"), text);
    }
    place
}

#[test]
fn streams_give_the_model_of_the_rows() {
    let place = with_rows();
    let options = "--task shop --target sales --tol 1e-8 --c 0.5 --threads 1";
    let whole = place.json(&format!("fit rows-0.csv rows-1.csv {options} -o whole.st"));
    let said = place.run(&format!("fit rows-0.csv rows-1.csv {options} --stream -o stream.st --json"));
    assert_eq!(said.code, 0, "{}", said.stderr);
    for words in [
        "2 files",
        "two passes",
        "pass 1 of 2, statistics: 300 rows in",
        "pass 2 of 2, certificate: 300 rows",
    ] {
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
    let stream: serde_json::Value = serde_json::from_str(said.stdout.trim()).unwrap();
    assert_eq!(
        (&stream["status"], &stream["n_inputs"], &stream["n_tasks"]),
        (&"certified".into(), &292.into(), &3.into())
    );
    let (a, b) = (number(&whole, "primal"), number(&stream, "primal"));
    assert!((a - b).abs() <= 1e-7 * a, "{a} {b}");
    assert!(number(&stream, "rel_gap") <= 1e-8);
    let checked = place.json("certify stream.st rows-0.csv rows-1.csv");
    assert_eq!(checked["holds"], true, "{checked}");
    for model in ["whole", "stream"] {
        place.ok(&format!("predict {model}.st rows-0.csv -o {model}.csv --quiet"));
    }
    let scores = |name: &str| -> Vec<f64> {
        let text = String::from_utf8(place.read(name)).unwrap();
        text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
    };
    let apart =
        scores("whole.csv").iter().zip(scores("stream.csv")).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart <= 1e-3, "{apart}");
    // C is left to the data, and the model is as good as any other for a report.
    let auto = place.json("fit rows-0.csv rows-1.csv --task shop --target sales --stream -o auto.st");
    assert_eq!(auto["status"], "certified");
    place.ok("report auto.st rows-0.csv rows-1.csv -o auto.html --quiet");
    place.ok("model show auto.st");
}

#[test]
fn what_cannot_be_streamed_is_said() {
    let place = with_rows();
    place.write("words.csv", "shop,size,sold\na,1,yes\na,2,no\nb,3,yes\nb,4,no\n");
    let cases = [
        ("words.csv --task shop --target sold --loss huber", "is not a number"),
        ("rows-0.csv --task shop --target sales --loss hinge", "two values"),
        ("rows-0.csv --task shop --target sales --loss huber --method gmtl", "needs its rows in memory"),
        ("rows-0.csv --task shop --target sales --kernel rbf", "statistics are for the linear kernel"),
        (
            "rows-0.csv --task shop --target sales --folds-by group:plan",
            "--folds-by needs all rows in memory",
        ),
        ("rows-0.csv --task shop --target sales --checkpoint c.st", "cannot be used with"),
        ("nothing.csv --task shop --target sales", "nothing.csv"),
        ("more.csv --task shop --target sold --offset before", "offsets of classes need the rows in memory"),
        ("far.svm", "the sums over the rows need at least"),
        ("far.svm --loss hinge --memory 64GB", "the sums over the rows need at least"),
    ];
    place.write("more.csv", "shop,size,before,sold\na,1,1,yes\na,2,2,no\nb,3,0,yes\nb,4,1,no\n");
    // More features than any matrix of them fits.
    place.write("far.svm", "1 qid:1 1:1 1000000000:2\n-1 qid:2 2:1\n1 qid:1 1:2\n-1 qid:2 3:1\n");
    for (words, expected) in cases {
        let said = place.run(&format!("fit {words} --stream -o no.st"));
        assert!(said.code != 0 && said.stderr.contains(expected), "{words}: {}", said.stderr);
    }
    assert!(!place.files().contains(&"no.st".to_string()));
}

/// Rows of shops with numbers, answers and classes, in two files.
fn with_labels() -> Place {
    let place = Place::new();
    for part in 0..2 {
        let mut text = String::from("shop,size,price,sales,sold,kind\n");
        for i in 0..400 {
            let k = part * 400 + i;
            let (size, price) = ((k * 37 % 101) as f64 / 50.0, (k * 53 % 97) as f64 / 40.0);
            let sales = size - price + 0.3 * (k % 3) as f64 + (k * 29 % 89) as f64 / 60.0;
            let sold = if sales > 0.6 { "yes" } else { "no" };
            let kind = ["small", "medium", "large"][(2.0 * sales).clamp(0.0, 2.0) as usize];
            let shop = ["east", "north", "west"][k % 3];
            text += &format!("{shop},{size},{price},{sales},{sold},{kind}\n");
        }
        place.write(&format!("rows-{part}.csv"), text);
    }
    place
}

#[test]
fn streams_of_every_loss_give_the_model_of_the_rows() {
    let place = with_labels();
    for (options, loss) in [
        ("--task shop --target sold --drop sales --drop kind", "logistic"),
        ("--task shop --target sold --drop sales --drop kind --loss hinge", "hinge"),
        ("--task shop --target sales --drop sold --drop kind --loss epsilon:0.1", "epsilon"),
        ("--target kind --classes --drop sold --drop sales --drop shop", "logistic"),
    ] {
        let options = format!("rows-0.csv rows-1.csv {options} --tol 1e-5 --c 0.5 --threads 1");
        let whole = place.json(&format!("fit {options} -o whole.st --kernel linear"));
        let said = place.run(&format!("fit {options} --stream -o stream.st --json"));
        assert_eq!(said.code, 0, "{options}: {}", said.stderr);
        assert!(said.stderr.contains("more passes over the rows"), "{options}: {}", said.stderr);
        let stream: serde_json::Value = serde_json::from_str(said.stdout.trim()).unwrap();
        assert_eq!(stream["status"], "certified", "{stream}");
        assert_eq!((&stream["n_inputs"], &stream["n_tasks"]), (&800.into(), &3.into()), "{loss}");
        let (a, b) = (number(&whole, "primal"), number(&stream, "primal"));
        assert!((a - b).abs() <= 2e-5 * a, "{options}: {a} {b}");
        // In memory, and in chunks.
        let checked = place.json("certify stream.st rows-0.csv rows-1.csv");
        assert_eq!(checked["holds"], true, "{options}: {checked}");
        let checked = place.json("certify stream.st rows-0.csv rows-1.csv --memory 10KB");
        assert_eq!(checked["holds"], true, "{options}: {checked}");
        assert!((number(&checked["recomputed"], "primal") - b).abs() <= 1e-9 * b, "{checked}");
        // A row less is not the data of the fit.
        let short = place.run("certify stream.st rows-0.csv --memory 10KB");
        assert!(short.code != 0 && short.stderr.contains("fitted on 800"), "{}", short.stderr);
    }
    // C is left to the data.
    let auto = place
        .json("fit rows-0.csv rows-1.csv --task shop --target sold --drop sales,kind --stream -o auto.st");
    assert_eq!(auto["status"], "certified");
    place.ok("predict auto.st rows-0.csv -o scores.csv --quiet");
}

#[test]
fn next_to_no_rows_are_no_trouble() {
    let place = Place::new();
    let files = [
        ("one row", "task,x,y\na,1,1\n"),
        ("a row for each task", "task,x,y\na,1,1\nb,2,-1\nc,3,1\n"),
        ("equal labels", "task,x,y\na,1,1\na,2,1\nb,3,1\nb,5,1\n"),
        ("equal features", "task,x,y\na,2,1\na,2,-1\nb,2,1\nb,2,-1\n"),
        ("one task", "task,x,y\na,1,1\na,2,-1\na,4,1\na,3,-1\n"),
        ("a task without labels", "task,x,y\na,1,1\na,2,-1\nb,4,\nb,3,\n"),
    ];
    for (name, text) in files {
        place.write("d.csv", text);
        for loss in ["squared", "absolute", "huber:0.5", "quantile:0.3", "epsilon:0.1", "hinge", "logistic"] {
            for intercept in ["free", "none", "ridge:1"] {
                let case = format!("{name}, {loss}, {intercept}");
                let options = format!(
                    "d.csv --task task --target y --loss {loss} --intercept {intercept} --c 1 --tol 1e-4 --threads 1"
                );
                let options = format!("{options} --kernel linear");
                let whole = place.run(&format!("fit {options} -o whole.st --json --force"));
                let said = place.run(&format!("fit {options} --stream -o stream.st --json --force"));
                assert_eq!((whole.code, said.code), (0, 0), "{case}: {} {}", whole.stderr, said.stderr);
                let [a, b]: [serde_json::Value; 2] =
                    [whole, said].map(|end| serde_json::from_str(end.stdout.trim()).unwrap());
                if loss == "quantile:0.3" && b["status"] != "certified" {
                    // Softened, the loss is never zero: there is an end, and no proof.
                    assert!(number(&a, "primal") <= 1e-9 && number(&b, "primal") <= 1e-9, "{case}: {a} {b}");
                    continue;
                }
                assert_eq!(
                    (&a["status"], &b["status"]),
                    (&"certified".into(), &"certified".into()),
                    "{case}"
                );
                let (a, b) = (number(&a, "primal"), number(&b, "primal"));
                assert!((a - b).abs() <= 3e-4 * a.max(1e-9), "{case}: {a} {b}");
                let checked = place.json("certify stream.st d.csv");
                assert_eq!(checked["holds"], true, "{case}: {checked}");
            }
        }
    }
}

/// Rows of shops with numbers, in files of this kind; `odd` may change the cells of a row of the second file.
fn typed(place: &Place, kind: &str, files: usize, odd: impl Fn(usize, &mut [String; 4])) {
    for part in 0..files {
        let mut text = String::from("shop,size,price,sales\n");
        for i in 0..1500 {
            let k = part * 1500 + i;
            let (size, price) = ((k * 37 % 1013) as f64 / 50.0, (k * 53 % 977) as f64 / 40.0);
            let sales = size - price + 0.3 * (k % 3) as f64 + (k * 29 % 89) as f64 / 60.0;
            let shop = ["east", "north", "west"][k % 3].to_string();
            let mut cells = [shop, size.to_string(), price.to_string(), sales.to_string()];
            if part == 1 {
                odd(i, &mut cells);
            }
            text += &(cells.join(",") + "\n");
        }
        place.write("part.csv", text);
        place.ok(&format!(
            "data convert part.csv part-{part}.{kind} --task shop --target sales --force --quiet --missing zero"
        ));
    }
}

#[test]
fn typed_columns_are_not_looked_through_before() {
    for kind in ["parquet", "arrow"] {
        let place = Place::new();
        typed(&place, kind, 3, |_, _| {});
        let options = "--task shop --target sales --tol 1e-8 --c 0.5 --kernel linear";
        let whole = place.json(&format!("fit part-*.{kind} {options} -o whole.st"));
        for threads in [1, 2, 5] {
            let said = place.run(&format!(
                "fit part-*.{kind} {options} --stream --threads {threads} -o {threads}.st --json"
            ));
            assert_eq!(said.code, 0, "{}", said.stderr);
            assert!(!said.stderr.contains("looked through"), "{}", said.stderr);
            let stream: serde_json::Value = serde_json::from_str(said.stdout.trim()).unwrap();
            assert_eq!((&stream["status"], &stream["n_inputs"]), (&"certified".into(), &4500.into()));
            let (a, b) = (number(&whole, "primal"), number(&stream, "primal"));
            assert!((a - b).abs() <= 1e-7 * a, "{kind}: {a} {b}");
            // Bits do not depend on threads.
            place.ok(&format!("model coef {threads}.st -o {threads}.csv --quiet"));
            assert_eq!(
                place.read("1.csv"),
                place.read(&format!("{threads}.csv")),
                "{kind}, {threads} threads"
            );
        }
    }
}

#[test]
fn a_value_that_is_missing_far_down_is_filled_in_as_in_memory() {
    // An arrow file does not say how many values are missing.
    for kind in ["parquet", "arrow"] {
        let place = Place::new();
        typed(&place, kind, 3, |_, _| {});
        // A hole that is a null there.
        let rows = "shop,size,price,sales\neast,1.5,,2.25\nwest,2.5,3.5,1.25\nnorth,0.5,2.5,1.75\n";
        place.write("hole.csv", rows);
        let text = "fit hole.csv --task shop --target sales --c 1 -o h.st --quiet";
        place.ok(text);
        place.write("holes.jsonl", {
            let cell =
                |k: usize| if k == 1400 { "null".into() } else { format!("{}", (k * 31 % 53) as f64 / 7.0) };
            let row = |k: usize| {
                let (shop, size) = (["east", "north", "west"][k % 3], (k * 37 % 101) as f64 / 50.0);
                format!(
                    "{{\"shop\":\"{shop}\",\"size\":{size},\"price\":{},\"sales\":{}}}\n",
                    cell(k),
                    k % 17
                )
            };
            (0..1500).map(row).collect::<String>()
        });
        let options = "--task shop --target sales --tol 1e-8 --c 0.5 --kernel linear";
        let whole = place.json(&format!("fit part-0.{kind} part-1.{kind} {options} -o whole.st"));
        let stream = place.json(&format!("fit part-0.{kind} part-1.{kind} {options} --stream -o stream.st"));
        assert!(
            (number(&whole, "primal") - number(&stream, "primal")).abs() <= 1e-7 * number(&whole, "primal")
        );
        let whole = place.json(&format!("fit holes.jsonl {options} -o whole.st --force"));
        let stream = place.json(&format!("fit holes.jsonl {options} --stream -o stream.st --force"));
        assert!(
            (number(&whole, "primal") - number(&stream, "primal")).abs() <= 1e-7 * number(&whole, "primal")
        );
    }
}

#[test]
fn bad_files_are_named_with_their_rows() {
    let place = Place::new();
    typed(&place, "parquet", 3, |_, _| {});
    let options = "--task shop --target sales --stream -o no.st";
    let fails = |files: &str, words: &[&str]| {
        let said = place.run(&format!("fit {files} {options}"));
        assert_eq!(said.code, 3, "{files}: {}", said.stderr);
        for words in words {
            assert!(said.stderr.contains(words), "{files}: {words}: {}", said.stderr);
        }
        assert!(!place.files().contains(&"no.st".to_string()), "{files}");
    };
    // A column less, a type that is another one, a file that was cut off, none at all.
    place.write("less.csv", "shop,size,sales\neast,1.5,2\nwest,2.5,3\n");
    place.ok("data convert less.csv less.parquet --task shop --target sales --quiet");
    fails("part-0.parquet less.parquet", &["less.parquet", "there is no column \"price\""]);
    place.write("words.csv", "shop,size,price,sales\neast,1.5,dear,2\nwest,2.5,cheap,3\n");
    place.write("plain.csv", place.read("part.csv"));
    fails("plain.csv words.csv", &["words.csv: line 2", "\"dear\""]);
    place.write("far.csv", "shop,size,price,sales\neast,1.5,2,2\nwest,2.5,inf,3\n");
    fails("plain.csv far.csv", &["far.csv: line 3", "not a finite number"]);
    let whole = place.read("part-1.parquet");
    place.write("cut.parquet", &whole[..whole.len() / 2]);
    fails("part-0.parquet cut.parquet", &["cut.parquet", "not a whole parquet file"]);
    place.write("zero.parquet", "");
    fails("part-0.parquet zero.parquet", &["zero.parquet", "not a whole parquet file"]);
    fails("part-0.parquet gone.parquet", &["gone.parquet", "No such file"]);
}

#[test]
fn files_without_rows_are_no_trouble_among_others() {
    let place = Place::new();
    typed(&place, "csv", 2, |_, _| {});
    place.write("none.csv", "shop,size,price,sales\n");
    let options = "--task shop --target sales --tol 1e-8 --c 0.5 --kernel linear";
    let whole = place.json(&format!("fit part-0.csv part-1.csv {options} --stream -o whole.st"));
    let with_none = place.json(&format!("fit part-0.csv none.csv part-1.csv {options} --stream -o none.st"));
    assert_eq!(number(&whole, "primal").to_bits(), number(&with_none, "primal").to_bits());
    let said = place.run(&format!("fit none.csv none.csv {options} --stream -o no.st"));
    assert!(said.code == 3 && said.stderr.contains("there are no rows"), "{}", said.stderr);
}

#[test]
fn select_chooses_on_rows_that_are_kept_and_fits_all() {
    let place = Place::new();
    typed(&place, "parquet", 3, |_, _| {});
    let options = "part-0.parquet part-1.parquet part-2.parquet --task shop --target sales --tol 1e-6";
    let said = place.run(&format!("select {options} --method kin,stl --folds 3 --stream -o best.st --json"));
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("settings are chosen on 3000 rows of 4500"), "{}", said.stderr);
    let results: serde_json::Value = serde_json::from_str(said.stdout.trim()).unwrap();
    assert_eq!(
        (&results["fit"]["status"], &results["fit"]["claim"]),
        (&"certified".into(), &"optimal".into())
    );
    let checked = place.json("certify best.st part-0.parquet part-1.parquet part-2.parquet");
    assert_eq!(checked["holds"], true, "{checked}");
    let curved = place.run(&format!("select {options} --grid kernel=linear,rbf:0.1 --stream -o no.st"));
    assert!(curved.code == 2 && curved.stderr.contains("linear kernel"), "{}", curved.stderr);
}
