//! Texts that callers keep with a model.

use super::envelope::Parts;
use super::fixtures;
use kinfolk::{Error, Model};
use proptest::prelude::*;

#[test]
fn texts_come_back_as_they_were() {
    let model = fixtures::scaled().model;
    assert_eq!(model.attachment("cli.columns"), Some(r#"["a \"b\"", "\u00e9", "日本"]"#));
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let all = |model: &Model| {
        model.attachments().map(|(key, text)| (key.to_string(), text.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(all(&loaded), all(&model));
    assert_eq!(loaded.attachment("notes"), Some("{\n  \"x\": 1.0e2 }"));
    assert_eq!(loaded.attachment("other"), None);
}

#[test]
fn one_key_one_text() {
    let mut model = fixtures::linear().model;
    let without = model.to_bytes().unwrap();
    model.attach("a", "1").unwrap();
    model.attach("a", "[2]").unwrap();
    assert_eq!(model.attachments().collect::<Vec<_>>(), [("a", "[2]")]);
    assert!(model.detach("a") && !model.detach("a"));
    assert_eq!(model.to_bytes().unwrap(), without);
}

#[test]
fn what_others_attached_is_passed_on() {
    let mut parts = Parts::of(&fixtures::linear().model.to_bytes().unwrap());
    parts.attachments = Some(r#"{"of some other program":{"deep":[{}]}}"#.into());
    let mut model = Model::from_bytes(&parts.seal()).unwrap();
    model.attach("mine", "null").unwrap();
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(
        again.attachments().collect::<Vec<_>>(),
        [("mine", "null"), ("of some other program", r#"{"deep":[{}]}"#)]
    );
}

#[test]
fn only_sound_json_of_bounded_size() {
    let mut model = fixtures::linear().model;
    let depth = "[".repeat(1000) + &"]".repeat(1000);
    for wrong in ["", " ", "{", "{'a': 1}", "1 2", "NaN", "\"\u{1}\"", "\"\\ud800\"", "1e999", &depth] {
        let error = model.attach("key", wrong).unwrap_err();
        assert!(matches!(error, Error::Parse { .. }), "{error}");
        assert!(
            error.to_string().starts_with("attachment \"key\" is not understood: not valid JSON"),
            "{error}"
        );
        assert_eq!(error.to_string().lines().count(), 1);
    }
    for key in ["", &"k".repeat(101)] {
        assert!(model.attach(key, "1").unwrap_err().to_string().ends_with("a key has 1 to 100 bytes"));
    }
    assert_eq!(model.attachments().count(), 0);
    let mebibyte = format!("\"{}\"", "\n\"".replace('\n', "x").repeat(1 << 19).replace('"', "\\\""));
    for i in 0..10 {
        model.attach(&format!("{i}"), &mebibyte).unwrap();
    }
    let error = model.attach("11", &mebibyte).unwrap_err().to_string();
    assert!(error.contains("more than 16 MiB"), "{error}");
    model.attach("9", &mebibyte).unwrap(); // in place of the old one
    let bytes = model.to_bytes().unwrap();
    assert_eq!(Model::from_bytes(&bytes).unwrap().attachment("9"), Some(mebibyte.as_str()));
}

#[test]
fn forged_attachments_are_refused() {
    let refusal = |text: &str| {
        let mut parts = Parts::of(&fixtures::linear().model.to_bytes().unwrap());
        parts.attachments = Some(text.into());
        match Model::from_bytes(&parts.seal()) {
            Err(Error::Model(why)) => why,
            other => panic!("{text}: {other:?}"),
        }
    };
    for (text, why) in [
        ("[1]", "attachments: "),
        ("\"a\"", "attachments: "),
        (r#"{"": 1}"#, "a key has 1 to 100 bytes"),
        (r#"{"a": 1e999}"#, "not valid JSON: number out of range"),
    ] {
        assert!(refusal(text).contains(why), "{text}: {}", refusal(text));
    }
    let many: String = (0..200_000).map(|i| format!(r#""{i}":0,"#)).collect();
    let bytes = {
        let mut parts = Parts::of(&fixtures::linear().model.to_bytes().unwrap());
        parts.attachments = Some(format!("{{{}}}", many.trim_end_matches(',')));
        parts.seal()
    };
    assert_eq!(Model::from_bytes(&bytes).unwrap().attachments().count(), 200_000);
}

proptest! {
    #[test]
    fn any_json_survives(key in ".{1,25}", text in any::<String>(), number in any::<f64>()) {
        let mut model = LINEAR.with(Clone::clone);
        let json = serde_json::json!({"text": text, "list": [number, null, {"key": key}]}).to_string();
        model.attach(&key, &json).unwrap();
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        prop_assert_eq!(loaded.attachment(&key), Some(json.as_str()));
    }
}

thread_local! {
    static LINEAR: Model = fixtures::linear().model;
}
