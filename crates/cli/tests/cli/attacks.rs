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
