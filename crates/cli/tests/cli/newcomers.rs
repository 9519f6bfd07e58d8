//! Files of people who know nothing but the page in front: read aloud, and the same scores as from clean files.

use crate::common::Place;

/// A number with a decimal comma and points between thousands.
fn comma(hundredths: u32) -> String {
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    match whole {
        0..1000 => format!("{whole},{rest:02}"),
        _ => format!("{}.{:03},{rest:02}", whole / 1000, whole % 1000),
    }
}

/// Weekly sales of a chain of 6 shops, as an export and clean: shops are codes, dates have two styles, temperatures
/// come from two loggers, visitors have points between thousands.
fn chain() -> (String, String) {
    let mut export =
        String::from("Loja;Semana;Pre\u{e7}o;Promo\u{e7}\u{e3}o;Temperatura;Visitantes;Vendas\r\n");
    let mut clean = String::from("Loja,Semana,Pre\u{e7}o,Promo\u{e7}\u{e3}o,Temperatura,Visitantes,Vendas\n");
    for i in 0..120u32 {
        let (shop, week) = (i % 6, i / 6);
        let (day, month) = (1 + week % 28, 1 + week / 10);
        let (price, temp, visitors) = (300 + i * 7919 % 3000, 150 + i * 31 % 170, 200 + i * 104_729 % 2300);
        let promo = i * 17 % 5 < 2;
        let sales =
            50_000 + 10_000 * shop + price * (1 + shop / 3) * 3 + visitors * 10 + 4_000 * u32::from(promo);
        let date = match i % 3 {
            0 => format!("2024-{month:02}-{day:02}"),
            _ => format!("{day:02}/{month:02}/2024"),
        };
        let logger = if shop < 3 { "." } else { "," };
        let thousands =
            |n: u32| if n < 1000 { n.to_string() } else { format!("{}.{:03}", n / 1000, n % 1000) };
        export += &format!(
            "{:04};{date};R$ {};{};{}{logger}{};{};R$ {}\r\n",
            58 + 100 * shop,
            comma(price),
            if promo { "sim" } else { "n\u{e3}o" },
            temp / 10,
            temp % 10,
            thousands(visitors),
            comma(sales)
        );
        clean += &format!(
            "{:04},2024-{month:02}-{day:02},{}.{:02},{},{}.{},{visitors},{}.{:02}\n",
            58 + 100 * shop,
            price / 100,
            price % 100,
            u32::from(promo),
            temp / 10,
            temp % 10,
            sales / 100,
            sales % 100
        );
    }
    (export, clean)
}

#[test]
fn a_chain_with_two_decimal_signs_has_the_scores_of_its_clean_file() {
    let place = Place::new();
    let (export, clean) = chain();
    place.write("export.csv", &export);
    place.write("clean.csv", &clean);
    let fit = "--target Vendas --task Loja --kernel linear --threads 1";
    // What could be either is asked for, with the words that say it.
    let said = place.run(&format!("fit export.csv {fit} -o m.st"));
    assert_eq!(said.code, 3);
    let asked = "column \"Visitantes\": \"1.429\" can be read in two ways";
    let cure = "--decimal \"Visitantes=,\" (thousands have points)";
    assert!(said.stderr.contains(asked) && said.stderr.contains(cure), "{}", said.stderr);
    let said = place.ok(&format!("fit export.csv {fit} --decimal Visitantes=, -o m.st"));
    for note in [
        "a decimal comma in \"Pre\u{e7}o\", \"Vendas\", \"Visitantes\", and with a decimal point elsewhere",
        "each number is read with its own decimal sign in \"Temperatura\"",
        "without the sign of money beside them: \"Pre\u{e7}o\", \"Vendas\"",
        "column \"Semana\" has two styles of dates",
    ] {
        assert!(said.contains(note), "{note}: {said}");
    }
    place.ok(&format!("fit clean.csv {fit} -o clean.st"));
    assert_eq!(place.ok("predict m.st export.csv"), place.ok("predict clean.st clean.csv"));
    // New rows with points are another form, which is told and can be said.
    let points: String =
        clean.lines().map(|line| line.replace(",1,", ",sim,").replace(",0,", ",n\u{e3}o,") + "\n").collect();
    place.write("points.csv", points);
    let said = place.run("predict m.st points.csv");
    assert!(said.code == 3 && said.stderr.contains("column \"Pre\u{e7}o\""), "{}", said.stderr);
    assert_eq!(place.ok("predict m.st points.csv --decimal ."), place.ok("predict clean.st clean.csv"));
    // Where codes are learned from like numbers, that is said. A file that lost the zeros has no other shops.
    let said = place.ok("fit clean.csv --target Vendas --c 1 -o pooled.st --force");
    assert!(
        said.contains("column \"Loja\" has zeros in front of numbers, as codes have (\"0058\")"),
        "{said}"
    );
    place.write("lost.csv", export.replace("\r\n0058;", "\r\n58;"));
    let lost = place.run("predict m.st lost.csv");
    assert!(
        lost.code == 3 && lost.stderr.contains("task \"58\" is unknown; the tasks are 0058"),
        "{}",
        lost.stderr
    );
    let info = place.ok("data info export.csv");
    assert!(info.contains("unclear: \"1.429\" can be read") && info.contains(cure), "{info}");
    let info = place.ok("data info export.csv --decimal Visitantes=,");
    assert!(info.contains("--decimal \"Visitantes=,\" --target Vendas --task Loja"), "{info}");
}

#[test]
fn json_lines_of_python_are_read_with_what_is_inside() {
    let place = Place::new();
    let (mut lines, mut table) = (String::new(), String::from("device,reading.hum,reading.time,temp\n"));
    for i in 0..60u32 {
        let (device, hum) = (7 + i % 3, f64::from(i * 7919 % 600) / 10.0 + 20.0);
        let temp = 10.0 + hum * f64::from(i % 3) / 7.0;
        let (hour, zone) = (i % 20, if i % 2 == 0 { "+02:00" } else { "+01:00" });
        let time = format!("2024-03-{:02}T{hour:02}:30:00{zone}", 1 + i / 3);
        let written = match i % 10 {
            0 => "NaN".into(),
            1 => "null".into(),
            _ => hum.to_string(),
        };
        let id = if i < 30 { format!("\"{device}\"") } else { device.to_string() };
        lines += &format!(
            "{{\"device\": {id}, \"reading\": {{\"time\": \"{time}\", \"hum\": {written}}}, \"temp\": {temp}}}\n"
        );
        let cell = if i % 10 < 2 { String::new() } else { hum.to_string() };
        table += &format!("{device},{cell},{time},{temp}\n");
    }
    place.write("log.jsonl", &lines);
    place.write("log.csv", table);
    let fit = "--target temp --task device --threads 1";
    let said = place.ok(&format!("fit log.jsonl {fit} -o lines.st"));
    let note = "objects inside of lines became columns: \"reading.hum\", \"reading.time\"";
    assert!(said.contains(note) && said.contains("times with a zone became UTC"), "{said}");
    place.ok(&format!("fit log.csv {fit} -o table.st"));
    assert_eq!(place.read("lines.st"), place.read("table.st"));
    place.write("odd.jsonl", lines.replacen("NaN", "Infinity", 1));
    let said = place.run(&format!("fit odd.jsonl {fit} -o odd.st")).stderr;
    assert!(said.contains("line 1, column \"reading.hum\": \"Infinity\" is not a finite number"), "{said}");
}
