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
