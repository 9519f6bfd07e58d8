//! Files as other programs write them: their texts, folders, headers and names.

use crate::common::Place;

/// Sales of shops in three countries, in the order of the countries; the country is the last column.
fn sales(countries: &[&str]) -> Vec<(String, String)> {
    let row = |country: &str, i: usize| {
        let slope = if country == "de" { 1.0 } else { 1.5 };
        let size = (i * 7 % 11) as f64 / 2.0;
        format!(
            "{size},{},{:.2}",
            i % 4,
            3.0 + slope * size + 0.1 * (i % 4) as f64 + (i * 37 % 10) as f64 / 50.0
        )
    };
    let of_country =
        |country: &&str| (0..20).map(|i| (row(country, i), country.to_string())).collect::<Vec<_>>();
    countries.iter().flat_map(of_country).collect()
}

const HEADER: &str = "size,day,sales";

fn whole(countries: &[&str], name: &str) -> String {
    let rows = sales(countries).into_iter().map(|(row, country)| format!("{row},{country}\n"));
    format!("{HEADER},{name}\n{}", rows.collect::<String>())
}

/// A folder for each country, with files of this format.
fn write_partitions(place: &Place, folder: &str, countries: &[&str], format: &str) {
    for country in countries {
        let rows = sales(&[country]).into_iter().map(|(row, _)| row + "\n");
        place.write("part.csv", format!("{HEADER}\n{}", rows.collect::<String>()));
        if format != "csv" {
            place.ok(&format!("data convert part.csv -o part.{format} --target sales --force --quiet"));
        }
        let own = format!("{folder}/country={country}");
        std::fs::create_dir_all(place.path(&own)).unwrap();
        std::fs::rename(place.path(&format!("part.{format}")), place.path(&format!("{own}/part-0.{format}")))
            .unwrap();
    }
}

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(order).collect()
}

#[test]
fn texts_in_utf_16_give_the_same_model() {
    let place = Place::new();
    let text = whole(&["K\u{f6}ln", "\u{130}zmir", "\u{5317}\u{4eac}"], "town").replace(',', "\t");
    place.write("plain.txt", &text);
    place.write("little.txt", utf16(&text.replace('\n', "\r\n"), u16::to_le_bytes));
    place.write("big.txt", utf16(&text, u16::to_be_bytes));
    let fit = "--task town --target sales --c 1 --threads 1 --quiet";
    for name in ["plain", "little", "big"] {
        place.ok(&format!("fit {name}.txt {fit} -o {name}.st"));
        assert_eq!(place.read(&format!("{name}.st")), place.read("plain.st"), "{name}");
    }
    place.ok(&format!("fit little.txt {fit} --stream -o stream.st"));
    assert_eq!(place.ok("predict plain.st big.txt"), place.ok("predict plain.st plain.txt"));
    assert!(place.ok("data info little.txt").contains("K\u{f6}ln"));
    let json: String =
        (0..20).map(|i| format!("{{\"a\": {i}, \"t\": \"\u{e9}{}\", \"y\": {}}}\n", i % 2, i * i)).collect();
    place.write("a.jsonl", utf16(&json, u16::to_le_bytes));
    assert_eq!(place.json("data info a.jsonl --task t --target y")["tasks"][0], "\u{e9}0");
    let mut cut = place.read("little.txt");
    cut.pop();
    place.write("cut.txt", cut);
    let said = place.run(&format!("fit cut.txt {fit} -o cut.st"));
    assert!(said.stderr.contains("cut.txt: line 61: it is UTF-16LE text, and damaged"), "{said:?}");
}

#[test]
fn folders_of_partitions_have_their_column() {
    let place = Place::new();
    let countries = ["at", "de", "fr"];
    place.write("whole.csv", whole(&countries, "country"));
    write_partitions(&place, "parts", &countries, "parquet");
    write_partitions(&place, "texts", &countries, "csv");
    place.write("parts/_SUCCESS", "");
    let columns = "--task country --target sales --features size,day";
    let fit = format!("{columns} --c 1 --threads 1");
    place.ok(&format!("fit whole.csv {fit} -o whole.st --quiet"));
    let said = place.ok(&format!("fit parts {fit} -o parts.st"));
    assert_eq!(said.matches("column from the names of folders: \"country\"").count(), 1, "{said}");
    place.ok(&format!("fit texts {fit} -o texts.st --quiet"));
    assert_eq!(place.read("parts.st"), place.read("whole.st"));
    assert_eq!(place.read("texts.st"), place.read("whole.st"));
    place.ok(&format!("fit parts {fit} --stream -o stream.st --quiet"));
    place.ok(&format!("fit whole.csv {fit} --stream -o stream-whole.st --quiet"));
    assert_eq!(place.read("stream.st"), place.read("stream-whole.st"));
    let predicted = place.ok("predict whole.st whole.csv");
    assert_eq!(place.ok("predict whole.st parts"), predicted);
    assert_eq!(place.ok("predict whole.st texts/*/part-0.csv"), predicted);
    let one = place.ok("predict whole.st parts/country=fr/part-0.parquet");
    assert_eq!(one.lines().count(), 21, "{one}");
    assert_eq!(place.json("certify parts.st parts")["holds"], true);
    let info = place.json(&format!("data info parts {columns}"));
    assert_eq!((&info["n_tasks"], &info["n_inputs"]), (&3.into(), &60.into()), "{info}");
    // Words, to learn from.
    let said = place.ok("fit texts --target sales --c 1 --threads 1 -o words.st");
    assert!(said.contains("\"country\" (3)"), "{said}");
}

#[test]
fn values_of_folders_are_numbers_where_all_are() {
    let place = Place::new();
    for year in ["2019", "2020", "2021"] {
        let folder = format!("parts/year={year}/place=a%2Fb");
        std::fs::create_dir_all(place.path(&folder)).unwrap();
        let rows: String = (0..10).map(|i| format!("{i},{}\n", 2 * i + i % 3)).collect();
        place.write(&format!("{folder}/x.csv"), format!("a,y\n{rows}"));
    }
    let columns = &place.json("data info parts --target y")["columns"];
    let of = |name: &str| columns.as_array().unwrap().iter().find(|own| own["name"] == name).unwrap().clone();
    assert_eq!(of("year")["type"], "integers", "{columns}");
    assert_eq!(of("place")["examples"][0], "a/b", "{columns}");
    // The split of rows may be in the folders, too.
    for part in ["train", "test"] {
        let folder = format!("split/part={part}");
        std::fs::create_dir_all(place.path(&folder)).unwrap();
        let rows: String = (0..10).map(|i| format!("{i},{}\n", 2 * i + i % 3)).collect();
        place.write(&format!("{folder}/x.csv"), format!("a,y\n{rows}"));
    }
    let said = place.json("fit split --target y --split-column part --split train --c 1 --threads 1 -o m.st");
    assert_eq!(said["n_inputs"], 10, "{said}");
}

/// With letters and their accents as characters of their own, as macOS writes them.
fn decomposed(text: &str) -> String {
    text.replace('\u{f6}', "o\u{308}").replace('\u{fc}', "u\u{308}").replace('\u{e9}', "e\u{301}")
}

#[test]
fn accents_of_macos_are_those_of_others() {
    let place = Place::new();
    let text = whole(&["K\u{f6}ln", "M\u{fc}nchen", "Orl\u{e9}ans"], "st\u{e4}dte")
        .replace("size", "gr\u{f6}\u{df}e");
    let rows = |text: &str| {
        text.lines().skip(1).map(|line| line.to_string() + ",\u{e9}t\u{e9}\n").collect::<String>()
    };
    let text = format!(
        "{},saison\n{}",
        text.lines().next().unwrap(),
        rows(&text).replacen("\u{e9}t\u{e9}", "hiver", 9)
    );
    place.write("a.csv", &text);
    place.write("mac.csv", decomposed(&text));
    let fit = "--target sales --c 1 --threads 1";
    let plain = place.ok(&format!("fit a.csv --task st\u{e4}dte {fit} -o a.st"));
    let said = place.ok(&format!(
        "fit mac.csv --task st\u{e4}dte --drop {} {fit} -o mac.st",
        decomposed("gr\u{f6}\u{df}e")
    ));
    assert!(!said.contains("taken for") && !plain.contains("taken for"), "{said}");
    place.ok(&format!("fit a.csv --task st\u{e4}dte --drop gr\u{f6}* {fit} -o b.st --quiet"));
    assert_eq!(place.ok("predict mac.st a.csv"), place.ok("predict b.st mac.csv"));
    let predicted = place.run("predict a.st mac.csv");
    assert_eq!((predicted.stderr.as_str(), predicted.stdout), ("", place.ok("predict a.st a.csv")));
    place.ok(&format!("model coef b.st --task {}", decomposed("K\u{f6}ln")));
    place.write(
        "groups.csv",
        decomposed("st\u{e4}dte,r\u{e9}gion\nK\u{f6}ln,e\nM\u{fc}nchen,e\nOrl\u{e9}ans,w\n"),
    );
    let said =
        place.ok(&format!("fit a.csv --task st\u{e4}dte --atom groups=groups.csv:r\u{e9}gion {fit} -o g.st"));
    assert!(!said.contains("group of its own"), "{said}");
}

#[test]
fn names_of_columns_may_have_spaces_and_other_capitals() {
    let place = Place::new();
    place.write("plain.csv", whole(&["at", "de"], "country"));
    place.write("odd.csv", whole(&["at", "de"], "Country").replacen("size,day,", " Size,day ,\t", 1));
    let fit = "--c 1 --threads 1";
    place.ok(&format!("fit plain.csv --task country --target sales --drop size {fit} -o plain.st"));
    let said = place.ok(&format!("fit odd.csv --task country --target sales --drop SIZE {fit} -o odd.st"));
    assert!(said.contains("\"country\" is taken for the column \"Country\""), "{said}");
    assert!(said.contains("\"SIZE\" is taken for the column \"Size\""), "{said}");
    let predicted = place.run("predict odd.st plain.csv --task COUNTRY");
    assert!(
        predicted.stderr.contains("note: \"COUNTRY\" is taken for the column \"country\""),
        "{predicted:?}"
    );
    assert_eq!(predicted.stdout.lines().skip(1).collect::<Vec<_>>(), {
        let plain = place.ok("predict plain.st plain.csv");
        plain.lines().skip(1).map(String::from).collect::<Vec<_>>()
    });
    // Which of two columns is meant is not guessed.
    place.write("two.csv", "Age,AGE,y\n1,2,3\n2,1,4\n");
    let said = place.run("fit two.csv --target y --drop age -o m.st");
    assert!(said.code == 3 && said.stderr.contains("there is no column \"age\"; did you mean"), "{said:?}");
}

#[test]
fn lines_of_a_title_are_skipped_aloud() {
    let place = Place::new();
    let table = whole(&["at", "de"], "country");
    place.write("plain.csv", &table);
    let fit = "--task country --target sales --c 1 --threads 1";
    place.ok(&format!("fit plain.csv {fit} -o plain.st --quiet"));
    let titles = [
        ("Sales report\n", 2),
        ("\u{feff}Sales report\n\nmade on 2024-03-01\n\n", 5),
        ("Sales report,,,\nMade by,Ann,,\n,,,\n", 4),
        ("Sales report\nMade by,Ann\nFrom,2024-01-01,to\n", 4),
        ("\"Sales, of \"\"all\"\"\"\r\n\r\n", 3),
    ];
    for (title, line) in titles {
        place.write("title.csv", format!("{title}{table}"));
        let said = place.ok(&format!("fit title.csv {fit} -o title.st"));
        let note = format!("the header is line {line} of the text: what is above it is left out");
        assert!(said.contains(&note), "{title:?}: {said}");
        assert_eq!(place.read("title.st"), place.read("plain.st"), "{title:?}");
        let predicted = place.run("predict plain.st title.csv");
        assert_eq!(
            (&predicted.stdout, predicted.stderr.contains(&note)),
            (&place.ok("predict plain.st plain.csv"), true)
        );
    }
    // Places are those of the file.
    place.write("title.csv", format!("Sales\n\n{}", table.replacen("0,0,", "0,x,", 1)));
    let said = place.run(&format!("fit title.csv {fit} -o title.st"));
    assert!(said.stderr.contains("line 4"), "{said:?}");
    // Words alone do not show where the header is, and an option says it.
    let words = "Towns\n\nname,river,mood\nann,rhine,good\nbob,main,bad\neve,rhine,bad\nada,main,good\n";
    place.write("words.csv", words);
    let said = place.run("fit words.csv --target mood --c 1 -o w.st");
    assert!(said.code == 3 && said.stderr.contains("leave them out with --skip-lines N"), "{said:?}");
    place.ok("fit words.csv --target mood --c 1 --skip-lines 2 -o w.st");
    assert_eq!(place.ok("predict w.st words.csv --skip-lines 2").lines().count(), 5);
}

#[test]
fn no_header_is_taken_for_a_title() {
    let place = Place::new();
    let refused = [
        // Names of rows, as R writes them, are all different.
        "town,size\nr1,Rome,3\nr1,Oslo,NA\n",
        // A header without names for what follows.
        "name\nann,rome,31\nbob,oslo,22\n",
        // A row that is too long.
        "a,b\n1,2\nx,y,z\n1,2,3\n",
    ];
    for text in refused {
        place.write("a.csv", text);
        let said = place.run("data info a.csv");
        assert!(said.code == 3 && said.stderr.contains("and the header has"), "{text:?}: {said:?}");
    }
    let kept = [
        (",,x\na,b,1\nc,d,2\n", "x"),
        ("x,,\nred,b,1\nblue,d,2\n", "x"),
        ("a,b\n1,\n2,\n", "a"),
        ("a\nx\n1\n", "a"),
        ("n,,,\n1,a,b,2\n2,c,d,3\n", "n"),
    ];
    for (text, column) in kept {
        place.write("a.csv", text);
        let info = place.json("data info a.csv");
        let columns = info["columns"].as_array().unwrap();
        assert!(columns.iter().any(|own| own["name"] == column), "{text:?}: {info}");
    }
}

#[test]
fn a_task_may_be_called_na() {
    let place = Place::new();
    place.write("a.csv", whole(&["DE", "NA", "ZA"], "country"));
    let fit = "--task country --target sales --c 1 --threads 1";
    let said = place.run(&format!("fit a.csv {fit} -o a.st"));
    assert!(said.code == 3 && said.stderr.contains("with --missing-words none"), "{said:?}");
    place.ok(&format!("fit a.csv {fit} --missing-words none -o a.st"));
    assert_eq!(place.json("model show a.st")["tasks"][1], "NA");
    // The model keeps it.
    let predicted = place.ok("predict a.st a.csv");
    assert!(predicted.contains("NA,"), "{predicted}");
    place.ok(&format!("fit a.csv {fit} --missing-words country=none -o b.st"));
    assert_eq!(place.ok("predict b.st a.csv"), predicted);
    // Types say what is missing.
    place.ok("data convert a.csv -o a.parquet --task country --target sales --missing-words none --quiet");
    place.ok("data convert a.csv -o a.arrow --task country --target sales --missing-words none --quiet");
    for file in ["a.parquet", "a.arrow"] {
        place.ok(&format!("fit {file} {fit} -o c.st --quiet"));
        assert_eq!(place.ok(&format!("predict c.st {file}")), predicted, "{file}");
        place.ok(&format!("fit {file} {fit} --stream -o s.st --quiet"));
    }
    let said = place.run("predict c.st a.csv");
    assert!(said.code == 3 && said.stderr.contains("with --missing-words none"), "{said:?}");
    assert_eq!(place.ok("predict c.st a.csv --missing-words none"), predicted);
}

#[test]
fn only_given_words_are_missing() {
    let place = Place::new();
    let rows: String = (0..40)
        .map(|i| {
            let size = if i % 16 == 3 { "?".into() } else { (i % 7).to_string() };
            format!("{size},{},{}\n", ["NA", "EU", "none"][i % 3], i % 5 + i % 3)
        })
        .collect();
    place.write("a.csv", format!("size,region,y\n{rows}"));
    let said = place.ok("fit a.csv --target y --c 1 --missing-words ? -o m.st");
    assert!(said.contains("\"region\" (3)"), "NA is a word: {said}");
    let said = place.ok("fit a.csv --target y --c 1 --missing-word ? --missing-words region=none -o m.st");
    assert!(said.contains("\"region\" (3)"), "{said}");
    let said = place.run("fit a.csv --target y --c 1 --missing-words none -o m.st");
    assert!(said.code == 3 && said.stderr.contains("\"?\""), "{said:?}");
    let said = place.run("fit a.csv --target y --missing-words regio=none -o m.st");
    assert!(said.stderr.contains("there is no column \"regio\""), "{said:?}");
}

#[test]
fn columns_of_new_rows_may_have_other_capitals() {
    let place = Place::new();
    place.write("plain.csv", whole(&["at", "de"], "country"));
    place.write(
        "odd.csv",
        whole(&["at", "de"], "country").to_uppercase().replace("AT", "at").replace("DE", "de"),
    );
    let fit = "fit plain.csv --task country --target sales --drop day --c 1 --threads 1 -o m.st --quiet";
    place.ok(fit);
    let said = place.run("predict m.st odd.csv");
    assert!(
        said.stderr.contains("in small and capital letters these are columns of the model: "),
        "{said:?}"
    );
    assert_eq!(said.stdout.lines().count(), place.ok("predict m.st plain.csv").lines().count());
}

#[test]
fn either_of_two_words_can_be_the_positive_one() {
    let place = Place::new();
    let row = |i: i32| format!("{},{},{}\n", i % 7, i % 2, if i * 5 % 11 < 4 { "exitus" } else { "lebt" });
    place.write("d.csv", format!("x,ward,end\n{}", (0..60).map(row).collect::<String>()));
    let fit = "fit d.csv --target end --task ward --loss logistic --kernel linear --c 1 --threads 1 --quiet";
    place.ok(&format!("{fit} -o alive.st"));
    place.ok(&format!("{fit} --positive exitus -o dead.st"));
    let first = |model: &str| -> f64 {
        let text = place.ok(&format!("predict {model} d.csv --proba"));
        text.lines().nth(1).unwrap().rsplit(',').next().unwrap().parse().unwrap()
    };
    assert!((first("alive.st") + first("dead.st") - 1.0).abs() < 1e-5);
    let said = place.run("predict dead.st d.csv --proba").stderr;
    assert!(said.contains("probabilities are those of \"exitus\""), "{said}");
    assert_eq!(place.json("certify dead.st d.csv")["holds"], true);
    let said = place.run(&format!("{fit} --positive tot -o m.st"));
    assert!(
        said.code == 3 && said.stderr.contains("is none of the labels \"exitus\" and \"lebt\""),
        "{said:?}"
    );
}

#[test]
fn folders_that_would_be_left_out_are_an_error() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("all/old")).unwrap();
    std::fs::create_dir_all(place.path("all/.tmp")).unwrap();
    let table = whole(&["at", "de"], "country");
    place.write("all/a.csv", &table);
    place.write("all/.tmp/b.csv", &table);
    let fit = "fit all --task country --target sales --c 1 --threads 1 -o m.st --force";
    place.ok(fit);
    place.write("all/old/b.csv", &table);
    let said = place.run(fit);
    assert!(
        said.code == 3 && said.stderr.contains("for the rows of all folders give the pattern"),
        "{said:?}"
    );
}

#[test]
fn a_table_above_a_table_is_no_title() {
    let place = Place::new();
    let above = "country,sales\nat,1\nde,2\nat,3\nde,4\n";
    place.write("two.csv", format!("{above}{}", whole(&["at", "de"], "country")));
    let said = place.run("fit two.csv --task country --target sales --c 1 -o m.st");
    assert!(said.code == 3 && !said.stderr.contains("is left out"), "{said:?}");
    let wide: Vec<u8> = "a,y\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("wide.csv", wide);
    let said = place.run("fit wide.csv --target y -o m.st");
    assert!(said.code == 3 && said.stderr.contains("UTF-16 without a byte order mark"), "{said:?}");
}
