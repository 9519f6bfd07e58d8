//! What someone found who tried to break the command: wrong in silence, or slow, or said in the wrong words.

use crate::common::Place;

/// Sixty rows of two numbers in four shops.
fn shops(more: impl Fn(usize) -> String) -> String {
    (0..60).map(|i| format!("s{},{},{}{}\n", i % 4, i * 7 % 11, i * 5 % 13 + i % 4, more(i))).collect()
}

fn place_with_shops() -> Place {
    let place = Place::new();
    place.write("a.csv", "shop,x,y\n".to_string() + &shops(|_| String::new()));
    place
}

const FIT: &str = "a.csv --task shop --target y --c 1 --threads 1";

#[test]
fn labels_that_are_numbers_have_no_classes_to_balance() {
    let place = place_with_shops();
    let auto = "fit a.csv --task shop --target y --threads 1".to_string();
    for words in [format!("fit {FIT}"), format!("fit {FIT} --loss absolute"), auto] {
        let said = place.run(&format!("{words} --class-weight balanced -o m.st"));
        assert_eq!(said.code, 3, "{words}: {}", said.stderr);
        assert!(
            said.stderr.contains("labels of two values and a loss for classification"),
            "{}",
            said.stderr
        );
    }
    assert_eq!(place.files(), ["a.csv"]);
    // Of two values, whatever they are called, the sign says which.
    place.write("two.csv", "shop,x,z,y\n".to_string() + &shops(|i| format!(",{}", u8::from(i % 3 == 0))));
    let two = "two.csv --task shop --target y --c 1 --threads 1";
    place.ok(&format!("fit {two} --class-weight balanced -o m.st"));
    place.ok(&format!("fit {two} --class-weight balanced --loss squared -o n.st"));
}

#[test]
fn few_rows_of_many_columns_are_streamed_as_they_are_fitted_in_memory() {
    let place = Place::new();
    let d = 1500;
    let names: Vec<String> = (0..d).map(|j| format!("f{j}")).collect();
    let row = |i: usize| {
        let x: Vec<String> = (0..d).map(|j| ((i * 31 + j * 17 + i * j) % 23).to_string()).collect();
        format!("t{},{},{}\n", i % 2, x.join(","), (i * 5 % 7) as f64 / 2.0)
    };
    let rows: String = (0..8).map(row).collect();
    place.write("wide.csv", format!("task,{},y\n{rows}", names.join(",")));
    let words = "fit wide.csv --task task --target y --c 0.01 --threads 1";
    let whole = place.json(&format!("{words} -o whole.st"));
    let streamed = place.json(&format!("{words} --stream -o streamed.st"));
    let objective = |said: &serde_json::Value| said["primal"].as_f64().unwrap();
    let (a, b) = (objective(&whole), objective(&streamed));
    assert!((a - b).abs() <= 2e-3 * a.abs(), "{a} {b}");
    assert_eq!(streamed["status"], "certified");
    place.ok("certify streamed.st wide.csv");
}

#[test]
fn damage_of_a_checkpoint_beside_its_duals_is_found() {
    let place = Place::new();
    place.ok("data generate data.npz --tasks 6 --rows 40 --features 9 --binary --quiet");
    let fit = "fit data.npz --solver sdca --tol 1e-9 --threads 1 --c 1 --checkpoint c.st";
    place.ok(&format!("{fit} --max-passes 5 -o m.st"));
    let bytes = place.read("c.st");
    let key = b"\\\"passes\\\":";
    let at = bytes.windows(key.len()).position(|own| own == key).unwrap() + key.len();
    let mut damaged = bytes.clone();
    damaged[at] ^= 1;
    place.write("c.st", &damaged);
    let said = place.run(&format!("{fit} --resume -o n.st"));
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(said.stderr.contains("it is not a valid checkpoint: its count of passes"), "{}", said.stderr);
    place.write("c.st", &bytes);
    place.ok(&format!("{fit} --resume -o n.st"));
}

#[test]
fn noise_that_leaves_no_finite_label_is_refused() {
    let place = Place::new();
    let said = place.run("data generate kin.csv --noise 1e308");
    assert_eq!((said.code, place.files().len()), (2, 0), "{}", said.stderr);
    assert!(
        said.stderr.contains("noise = 1e308 is too large: labels would not be finite"),
        "{}",
        said.stderr
    );
    place.ok("data generate kin.csv --noise 1e3");
}

#[test]
fn pages_and_pictures_have_the_endings_of_their_formats() {
    let place = place_with_shops();
    place.ok(&format!("fit {FIT} -o m.st"));
    for (words, hint) in [
        ("report m.st -o b.pdf", "b.pdf: report writes HTML, whatever the ending: name it b.html"),
        ("theta m.st --svg t.png", "t.png: --svg writes SVG, whatever the ending: name it t.svg"),
    ] {
        let said = place.run(words);
        assert_eq!(said.code, 2, "{words}");
        assert!(said.stderr.contains(hint), "{}", said.stderr);
    }
    assert_eq!(place.files(), ["a.csv", "m.st"]);
    ["report m.st -o b.htm", "report m.st -o page", "theta m.st --svg t.SVG"]
        .iter()
        .for_each(|words| drop(place.ok(words)));
}

#[test]
fn words_of_new_rows_are_those_of_training_in_another_letter_case() {
    let place = Place::new();
    let more = |i: usize| format!(",{},{}", ["ja", "nein"][i / 3 % 2], ["Elm", "fir", "oak"][i / 5 % 3]);
    place.write("a.csv", "shop,x,y,smoker,tree\n".to_string() + &shops(more));
    place.ok(&format!("fit {FIT} -o m.st"));
    let predict = |rows: &str| {
        place.write("new.csv", format!("shop,x,smoker,tree\n{rows}"));
        let said = place.run("predict m.st new.csv");
        assert_eq!(said.code, 0, "{}", said.stderr);
        (said.stdout, said.stderr)
    };
    let (known, quiet) = predict("s1,3,ja,Elm\ns1,3,nein,fir\n");
    assert!(!quiet.contains("letter case"), "{quiet}");
    let (meant, said) = predict("s1,3,Ja,ELM\ns1,3,NEIN,fir\n");
    assert_eq!(known, meant);
    let note = "column \"smoker\": 2 rows have a value that differs from one of training in letter case or spaces \
                only, and counts as that one, such as \"Ja\"";
    assert!(said.contains(note), "{said}");
    assert!(said.contains("such as \"ELM\"") && !said.contains("was not there in training"), "{said}");
    assert!(predict("s1,3,vielleicht,fir\n").1.contains("was not there in training, such as \"vielleicht\""));
    // Two words of training that are one but for their letter case are two, and a third is neither.
    let more = |i: usize| format!(",{}", ["ja", "Ja", "nein"][i / 3 % 3]);
    place.write("a.csv", "shop,x,y,smoker\n".to_string() + &shops(more));
    place.ok(&format!("fit {FIT} -o m.st"));
    assert!(predict("s1,3,JA,Elm\n").1.contains("was not there in training, such as \"JA\""));
}

#[test]
fn rows_in_another_order_get_a_hint() {
    let place = place_with_shops();
    place.ok(&format!("fit {FIT} -o m.st"));
    let text = String::from_utf8(place.read("a.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let turned: Vec<&str> = rows.lines().rev().collect();
    place.write("turned.csv", format!("{header}\n{}\n", turned.join("\n")));
    let said = place.run("certify m.st turned.csv");
    let hint = "hint: the rows must be those of the fit, in the same order";
    assert!(said.code == 1 && said.stdout.contains(hint), "{}", said.stdout);
    assert!(!place.ok("certify m.st a.csv").contains("hint"));
}

#[test]
fn a_given_c_was_not_chosen_on_held_out_tasks() {
    let place = Place::new();
    let rows = (0..120).map(|i| format!("s{:02},{},{}\n", i % 12, i * 7 % 11, i * 5 % 13 + i % 12));
    place.write("many.csv", "shop,x,y\n".to_string() + &rows.collect::<String>());
    let fit = "fit many.csv --task shop --target y --c strength:1e9 --interval-new-tasks";
    place.ok(&format!("{fit} -o m.st"));
    let said = place.run("predict m.st many.csv --interval 0.5");
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(!said.stderr.contains("when C was chosen"), "{}", said.stderr);
    assert!(
        said.stderr.contains("tasks without training rows alone (fit --interval-folds K"),
        "{}",
        said.stderr
    );
}

#[test]
fn options_without_an_effect_are_errors() {
    let place = place_with_shops();
    place.ok(&format!("fit {FIT} -o m.st"));
    for (words, why) in [
        ("model show m.st --coef --spec", "cannot be used with"),
        ("theta m.st --threshold 0.5", "--threshold is for the edges of a graph"),
        ("theta m.st -o t.csv --threshold 0.5", "--threshold is for the edges of a graph"),
        ("evaluate m.st a.csv --weighted", "--weighted: these rows have no weights"),
        ("data generate k.csv --outliers 3", "--outliers is for --kind outliers"),
        ("data generate k.csv --kind digits --outliers 3", "--outliers is for --kind outliers"),
    ] {
        let said = place.run(words);
        assert_eq!(said.code, 2, "{words}: {}", said.stderr);
        assert!(said.stderr.contains(why), "{words}: {}", said.stderr);
    }
    place.ok("theta m.st --format graphml --threshold 0.5");
    place.ok("data generate k.csv --kind outliers --outliers 3");
    // Columns that are no features cannot be one-hot.
    place.write("two.csv", "shop,x,z,y\n".to_string() + &shops(|i| format!(",{i}")));
    let said = place.run("fit two.csv --task shop --target y --c 1 --features x --one-hot z -o n.st");
    assert_eq!(said.code, 2, "{}", said.stderr);
    let why = "--one-hot z: the column is not among those to learn from; name it with --features, too";
    assert!(said.stderr.contains(why), "{}", said.stderr);
    place.ok("fit two.csv --task shop --target y --c 1 --features x,z --one-hot z -o n.st");
}

#[test]
fn reports_name_one_c_and_short_strengths() {
    let place = place_with_shops();
    let select = "select a.csv --task shop --target y --method kin:k=1 --grid strength=0.31622776601683794,1";
    place.ok(&format!("{select} --folds 3 --threads 1 --results r.json -o m.st"));
    place.ok("report m.st --select r.json -o r.html");
    let page = String::from_utf8(place.read("r.html")).unwrap();
    assert!(page.contains("Best at strength ") && !page.contains("Best at C"));
    place.ok("fit a.csv --task shop --target y --c strength:3.162277660168379 -o n.st --threads 1");
    place.ok("report n.st -o n.html");
    let page = String::from_utf8(place.read("n.html")).unwrap();
    assert!(page.contains("(strength 3.162)"));
}

#[test]
fn columns_that_may_be_other_outcomes_are_named_before_a_fit() {
    let place = Place::new();
    let row = |i: usize| {
        format!("s{},{},{},{},{}\n", i % 4, i * 7 % 11, i * 3 % 5, i * 5 % 13, 2 * (i * 5 % 13) + 1)
    };
    let rows: String = (0..60).map(row).collect();
    place.write("a.csv", format!("shop,x,cost_drugs,cost_total,leak\n{rows}"));
    let columns = "a.csv --task shop --target cost_total";
    for said in [place.ok(&format!("data info {columns}")), place.ok(&format!("fit {columns} --c 1 -o m.st"))]
    {
        assert!(said.contains("nearly the label by itself: \"leak\" (correlation 1.000)"), "{said}");
        assert!(
            said.contains("called like the target \"cost_total\"") && said.contains("cost_drugs"),
            "{said}"
        );
    }
}
