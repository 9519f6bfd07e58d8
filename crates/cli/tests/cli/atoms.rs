//! Relations that users know, from words to predictions for tasks without rows.

use crate::common::Place;
use serde_json::Value;

/// Twelve shops, four of each of three regions: what sells is a matter of the region. The last one has no rows unless
/// they are asked for.
fn shops(all: bool) -> String {
    let mut text = String::from("shop,price,rain,sales\n");
    let mut state = 3u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 16) / 65_536.0
    };
    for i in 0..120 {
        let shop = i % 12;
        let (price, rain, noise) = (next(), next(), next());
        let (a, b) = [(4.0, 1.0), (-3.0, 2.0), (0.0, -4.0)][shop % 3];
        if all || shop != 11 {
            text +=
                &format!("shop{shop:02},{price:.3},{rain:.3},{:.3}\n", a * price + b * rain + 0.3 * noise);
        }
    }
    text
}

fn regions() -> String {
    let names = ["north", "south", "west"];
    let rows: Vec<String> = (0..12).map(|shop| format!("shop{shop:02},{}\n", names[shop % 3])).collect();
    format!("shop,region\n{}", rows.concat())
}

fn place() -> Place {
    let place = Place::new();
    place.write("shops.csv", shops(false));
    place.write("all.csv", shops(true));
    place.write("regions.csv", regions());
    place
}

const FIT: &str = "fit shops.csv --task shop --target sales --method fmtl --threads 1";

#[test]
fn a_known_relation_is_used_told_of_and_kept() {
    let place = place();
    let text = place.ok(&format!("{FIT} --atom groups=regions.csv:region -o m.st"));
    assert!(text.contains("atom     groups=regions.csv:region\n"), "{text}");
    let shares = text.lines().find(|line| line.starts_with("theta    ")).unwrap();
    assert!(shares.contains(" % region, ") && shares.ends_with(" % found in the data"), "{text}");
    assert!(text.contains("note     atom \"region\": tasks that the data do not have: shop11"), "{text}");
    // The text can be pasted back, and the file needs no other file.
    let shown = place.ok("model show m.st");
    assert!(shown.contains("atom     groups=regions.csv:region\n") && shown.contains("[[atoms]]"), "{shown}");
    std::fs::rename(place.path("regions.csv"), place.path("moved.csv")).unwrap();
    place.ok("certify m.st shops.csv --threads 1");
    let spec = place.ok("model show m.st --spec");
    place.write("spec.toml", &spec);
    place.ok("fit shops.csv --spec spec.toml -o again.st --threads 1 --quiet");
    assert_eq!(place.ok("theta again.st --format csv"), place.ok("theta m.st --format csv"));
    let json = place.json("model show m.st");
    let atom = &json["atoms"][0];
    assert_eq!((&atom["name"], &atom["weight"]), (&Value::from("region"), &Value::from(10.0)));
    assert!(atom["share"].as_f64().unwrap() > 0.5, "{atom}");
}

#[test]
fn theta_comes_in_parts() {
    let place = place();
    place.ok(&format!("{FIT} --atom groups=regions.csv:region --atom common,weight=3 -o m.st -q"));
    let text = place.ok("theta m.st --parts");
    let line =
        |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{text}"));
    assert!(line("region").ends_with(" %") && line("found in the data").ends_with(" %"));
    assert!(line("shop00").contains("(region)"), "{text}");
    let json = place.json("theta m.st --parts");
    let parts = json["parts"].as_array().unwrap();
    let names: Vec<&str> = parts.iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["region", "common", "found in the data"]);
    let sum: f64 = parts.iter().map(|part| part["share"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9);
    let whole = place.json("theta m.st");
    for r in 0..11 {
        for s in 0..11 {
            let sum: f64 = parts.iter().map(|part| part["theta"][r][s].as_f64().unwrap()).sum();
            assert!((sum - whole["theta"][r][s].as_f64().unwrap()).abs() < 1e-9);
        }
    }
    let csv = place.ok("theta m.st --parts --format csv");
    assert_eq!(csv.lines().count(), 1 + 3 * 11, "{csv}");
    assert!(csv.starts_with("part,task,shop"));
    assert_eq!(place.run("theta m.st --parts --svg x.svg").code, 2);
    // Groups that were given are told from those that the data say.
    let said = place.ok("theta m.st");
    assert!(said.contains("groups may come from what was given: region ("), "{said}");
    assert!(said.contains("found in the data ("), "{said}");
    place.ok(&format!("{FIT} -o plain.st -q"));
    assert!(place.ok("theta plain.st --parts").contains("100 %"));
    assert!(!place.ok("model show plain.st").contains("theta    "));
}

#[test]
fn a_shop_without_rows_is_predicted_from_its_region() {
    let place = place();
    place.ok(&format!("{FIT} --atom groups=regions.csv:region -o m.st -q"));
    let error = |predictions: &str| -> f64 {
        let cell = |line: &str, i: usize| line.split(',').nth(i).unwrap().to_string();
        let truth: Vec<f64> = shops(true)
            .lines()
            .skip(1)
            .filter(|l| l.starts_with("shop11"))
            .map(|l| cell(l, 3).parse().unwrap())
            .collect();
        let found: Vec<f64> = predictions
            .lines()
            .filter(|line| line.starts_with("shop11"))
            .map(|line| cell(line, 1).parse().unwrap())
            .collect();
        assert_eq!(truth.len(), found.len());
        truth.iter().zip(&found).map(|(y, p)| (y - p).powi(2)).sum::<f64>() / truth.len() as f64
    };
    let by_region = error(&place.ok("predict m.st all.csv"));
    place.ok(&format!("{FIT} -o plain.st -q"));
    let said = place.run("predict plain.st all.csv");
    assert_eq!(said.code, 3);
    assert!(
        said.stderr.contains("task \"shop11\" is unknown") && said.stderr.contains("--unknown-task"),
        "{}",
        said.stderr
    );
    let by_mean = error(&place.ok("predict plain.st all.csv --unknown-task mean"));
    assert!(by_region < 0.2 && by_region < 0.1 * by_mean, "{by_region} {by_mean}");
    // The relation may come after the fit.
    let known: String =
        regions().lines().filter(|line| !line.starts_with("shop11")).map(|l| format!("{l}\n")).collect();
    place.write("known.csv", known);
    place.write("new.csv", "shop,region\nshop11,west\n");
    place.ok(&format!("{FIT} --atom groups=known.csv:region -o known.st -q"));
    assert_eq!(place.run("predict known.st all.csv").code, 3);
    let later = place.ok("predict known.st all.csv --atom groups=new.csv:region");
    assert_eq!(later, place.ok("predict m.st all.csv"));
    let said = place.run("predict known.st all.csv --atom groups=new.csv:region,name=area");
    let why = "the model was fitted without an atom \"area\"; its atoms are region; ,name=NAME names one";
    assert_eq!(said.stderr, format!("error: {why}\n"));
    // What all have in common is known of any task.
    place.ok(&format!("{FIT} --atom common,weight=100 -o common.st -q"));
    assert_eq!(place.run("predict common.st all.csv").code, 3);
    assert!(error(&place.ok("predict common.st all.csv --unknown-task mean")).is_finite());
}

#[test]
fn weights_of_relations_are_chosen_on_a_grid() {
    let place = place();
    let select = "select shops.csv --task shop --target sales --method fmtl:k=1 --compare --folds 3 --threads 2 \
                  --grid strength=1,10 --atom groups=regions.csv:region";
    let found = place.json(&format!("{select} --grid region=0,30 -o best.st"));
    let methods: Vec<&str> =
        found["rows"].as_array().unwrap().iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert!(methods.contains(&"fmtl:atom.region=30,k=1,output=power"), "{methods:?}");
    assert!(methods.contains(&"stl") && methods.contains(&"pooled"));
    let shown = place.json("model show best.st");
    assert_eq!(shown["spec"]["method"], "fmtl:atom.region=30,k=1,output=power");
    assert_eq!(shown["atoms"][0]["weight"], 30.0);
    place.ok("certify best.st shops.csv --threads 1");
    let found = place.json(&format!("{select} --whole-tasks"));
    // Tasks alone say nothing about tasks without rows, so one baseline is left.
    assert_eq!(found["rows"].as_array().unwrap().len(), 2 * (4 + 1));
}

#[test]
fn molecules_with_a_similarity_matrix_and_a_taxonomy_of_classes() {
    let place = place();
    let names: Vec<String> = (0..11).map(|shop| format!("shop{shop:02}")).collect();
    let row = |r: usize| {
        let cells: Vec<String> = (0..11)
            .map(|s| {
                if r == s {
                    "1"
                } else if r % 3 == s % 3 {
                    "0.8"
                } else {
                    "0.1"
                }
                .into()
            })
            .collect();
        format!("{},{}\n", names[r], cells.join(","))
    };
    place.write(
        "likeness.csv",
        format!(",{}\n{}", names.join(","), (0..11).rev().map(row).collect::<String>()),
    );
    place.ok(&format!("{FIT} --atom matrix=likeness.csv -o matrix.st -q"));
    place.ok("certify matrix.st shops.csv --threads 1");
    let share = place.json("model show matrix.st")["atoms"][0]["share"].as_f64().unwrap();
    assert!(share > 0.3, "{share}");
    // Classes are tasks: a tree of them.
    let mut text = String::from("a,b,kind\n");
    for i in 0..60 {
        let (x, y) = (f64::from(i % 7), f64::from(i % 11));
        let kind = ["cat", "dog", "oak"][i as usize % 3];
        text += &format!("{},{},{kind}\n", x + f64::from(i % 3), y - f64::from(i % 3));
    }
    place.write("kinds.csv", text);
    place.write("tree.csv", "kind,path\ncat,animal/cat\ndog,animal/dog\noak,plant/oak\n");
    place.ok("fit kinds.csv --target kind --method fmtl --atom tree=tree.csv -o kinds.st -q");
    place.ok("certify kinds.st kinds.csv");
    assert_eq!(place.json("model show kinds.st")["atoms"][0]["name"], "tree");
}

#[test]
fn mistakes_are_one_line_with_a_cure() {
    let place = place();
    place.write("some.csv", "shop,path\nshop00,a\n");
    place.write("twice.csv", "shop,region\nshop00,a\nshop00,b\n");
    for (options, code, message) in [
        ("--atom region=regions.csv", 2, "there is no relation \"region\"; there are groups, tree, graph"),
        ("--atom groups=nowhere.csv", 3, "nowhere.csv: "),
        ("--atom groups=regions.csv:area", 3, "regions.csv: there is no column \"area\" beside the tasks"),
        (
            "--atom tree=some.csv",
            3,
            "atom \"tree\": some.csv: 10 tasks of the data not in it: shop01, shop02",
        ),
        (
            "--atom groups=twice.csv",
            3,
            "twice.csv: line 3: task \"shop00\" is in \"b\", and in \"a\" further up",
        ),
        (
            "--atom common --atom common",
            3,
            "there are two atoms named \"common\": add ,name=NAME to one of them",
        ),
        ("--method stl --atom common", 3, "method stl: it takes no atoms, and \"common\" is given"),
        ("--output fixed --theta regions.csv --atom common", 3, "regions.csv: "),
        ("--atom matrix=shops.npy", 3, "shops.npy: it has no names; expected .csv, .tsv, "),
    ] {
        let fit = FIT.replace(" --method fmtl", "");
        let method = if options.contains("--method") { "" } else { " --method fmtl" };
        let said = place.run(&format!("{fit}{method} {options} -o no.st"));
        assert_eq!(said.code, code, "{options}: {}", said.stderr);
        assert!(said.stderr.contains(message), "{options}: {}", said.stderr);
        if code == 3 {
            assert_eq!(said.stderr.lines().count(), 1, "{options}: {}", said.stderr);
        }
        assert!(!place.path("no.st").exists());
    }
    let said = place.run("select shops.csv --task shop --target sales --method stl --atom common");
    assert!(said.stderr.contains("no method here takes atoms, and \"common\" is given"), "{}", said.stderr);
}

/// An index of pandas is the column of tasks if it names them, and says nothing beside one that does.
#[test]
fn a_square_file_may_have_an_index_of_pandas() {
    let place = place();
    let names: Vec<String> = (0..11).map(|shop| format!("shop{shop:02}")).collect();
    let entry = |r: usize, s: usize| match (r == s, r % 3 == s % 3) {
        (true, _) => "1",
        (_, true) => "0.5",
        _ => "0.1",
    };
    let numbers = |r: usize| (0..11).map(|s| entry(r, s)).collect::<Vec<_>>().join(",");
    let rows = |head: &dyn Fn(usize) -> String| {
        (0..11).map(|r| format!("{},{}\n", head(r), numbers(r))).collect::<String>()
    };
    place.write("plain.csv", format!(",{}\n{}", names.join(","), rows(&|r| names[r].clone())));
    place
        .write("index.csv", format!(",shop,{}\n{}", names.join(","), rows(&|r| format!("{r},{}", names[r]))));
    let last = |r: usize| format!("{},{}\n", numbers(r), names[r]);
    let last = format!("{},__index_level_0__\n{}", names.join(","), (0..11).map(last).collect::<String>());
    place.write("last.csv", last);
    let theta = |file: &str| {
        place.ok(&format!("{FIT} --c 1 --atom matrix={file} -o m.st -q"));
        place.ok("theta m.st --format csv")
    };
    assert_eq!(theta("index.csv"), theta("plain.csv"));
    assert_eq!(theta("last.csv"), theta("plain.csv"));
    place.write(
        "bare.csv",
        format!("{}\n{}", names.join(","), (0..11).map(|r| numbers(r) + "\n").collect::<String>()),
    );
    let said = place.run(&format!("{FIT} --c 1 --atom matrix=bare.csv -o n.st"));
    assert!(said.stderr.contains("names in its first line and in its first column"), "{}", said.stderr);
}

#[test]
fn inner_nodes_of_a_tree_are_called_so() {
    let place = place();
    let rows: String = (0..11).map(|shop| format!("shop{shop:02},r{}\n", shop % 3)).collect();
    place.write("tree.csv", format!("shop,parent\n{rows}r0,all\nr1,all\nr2,all\nshop77,r2\n"));
    let said = place.ok(&format!("{FIT} --c 1 --atom tree=tree.csv -o m.st"));
    assert!(
        said.contains("atom \"tree\": inner nodes of the tree, which are no tasks: r0, r1, r2"),
        "{said}"
    );
    assert!(said.contains("atom \"tree\": tasks that the data do not have: shop77"), "{said}");
}
