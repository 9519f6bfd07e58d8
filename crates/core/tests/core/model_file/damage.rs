//! Files that were cut, flipped or never whole: an error or the same model, and never a panic.

use super::envelope::{crc32, file};
use super::fixtures;
use kinfolk::{Error, Model};
use proptest::prelude::*;

fn small_files() -> Vec<Vec<u8>> {
    let [linear, scaled] = [fixtures::linear().model, fixtures::scaled().model];
    let models = [linear, fixtures::sparse_rbf().model, fixtures::dense_rbf().model, scaled];
    models.iter().map(|model| model.to_bytes().unwrap()).collect()
}

fn refusal(bytes: &[u8]) -> String {
    match Model::from_bytes(bytes) {
        Err(Error::Model(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_truncation_is_refused() {
    for bytes in small_files() {
        for length in 0..bytes.len() {
            let why = refusal(&bytes[..length]);
            assert!(why.contains("truncated"), "{length} of {} bytes: {why}", bytes.len());
        }
        assert_eq!(refusal(&[&bytes[..], b"more"].concat()), "4 bytes after the last tensor");
    }
}

#[test]
fn every_flipped_bit_is_found_or_does_not_matter() {
    for original in small_files() {
        let mut bytes = original.clone();
        for i in 0..bytes.len() {
            for bit in 0..8 {
                bytes[i] ^= 1 << bit;
                match Model::from_bytes(&bytes) {
                    Err(Error::Model(_)) => {}
                    Err(other) => panic!("byte {i}, bit {bit}: {other:?}"),
                    Ok(model) => assert_eq!(model.to_bytes().unwrap(), original, "byte {i}, bit {bit}"),
                }
                bytes[i] ^= 1 << bit;
            }
        }
    }
}

#[test]
fn damage_in_the_numbers_is_told_by_tensor() {
    let mut bytes = fixtures::linear().model.to_bytes().unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(refusal(&bytes), "tensor weights: it does not match its checksum: the file is damaged");
    let bytes = fixtures::linear().model.to_bytes().unwrap();
    let text = r#"\"c\":0.7"#;
    let start = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let mut damaged = bytes.clone();
    damaged[start + text.len() - 1] = b'9';
    assert_eq!(refusal(&damaged), "about: it does not match its checksum: the file is damaged");
}

#[test]
fn headers_that_lie() {
    assert!(refusal(b"").contains("it has 0 bytes"));
    assert!(refusal(&u64::MAX.to_le_bytes()).contains("longer than any"));
    assert!(refusal(&[&99_000_000u64.to_le_bytes()[..], b"{}"].concat()).contains("2 bytes follow"));
    assert!(refusal(&file(b"", b"")).starts_with("header: EOF"));
    assert!(refusal(&file(b"{\"\xff\xfe\": 1}", b"")).starts_with("header: invalid utf-8"));
    assert!(refusal(&file(b"[1, 2]", b"")).starts_with("header: "));
    assert!(refusal(&file(&[b'['; 100_000], b"")).starts_with("header: "));
    assert!(refusal(&file("{\"a\":".repeat(50_000).as_bytes(), b"")).starts_with("header: "));
    assert!(refusal(&file(b"{}", b"")).contains("not a model of kinfolk"));
    assert!(refusal(&file(br#"{"__metadata__": {"format": "pt"}}"#, b"")).contains("not a model of kinfolk"));
    assert!(refusal(&file(br#"{"__metadata__": {"kinfolk": "{"}}"#, b"")).starts_with("metadata: EOF"));
    assert!(refusal(&file(br#"{"__metadata__": {"kinfolk": 1}}"#, b"")).starts_with("header: invalid type"));
    let deep = format!(r#"{{"__metadata__": {{"kinfolk": "{}"}}}}"#, "[".repeat(100_000));
    assert!(refusal(&file(deep.as_bytes(), b"")).starts_with("metadata: "));
}

#[test]
fn sizes_that_overflow() {
    let tensor = |shape: &str, offsets: &str| {
        let header =
            format!(r#"{{"theta": {{"dtype": "U8", "shape": {shape}, "data_offsets": {offsets}}}}}"#);
        refusal(&file(header.as_bytes(), b""))
    };
    assert!(tensor("[4294967296, 4294967296]", "[0, 0]").contains("overflow"));
    assert!(tensor("[18446744073709551615]", "[0, 18446744073709551615]").contains("overflow"));
    assert!(tensor("[18446744073709551616]", "[0, 0]").starts_with("header: "));
    assert!(tensor("[1]", "[1, 0]").contains("offset"));
    assert!(tensor("[8]", "[0, 8]").contains("truncated"));
    // Tensors that together reach the last address there is, where the sums of the safetensors crate
    // overflow.
    let (mut header, mut start) = (String::from("{"), 0u64);
    while start < u64::MAX {
        let size = (u64::MAX - start).min((1 << 61) - 1);
        let end = start + size;
        let comma = if start == 0 { "" } else { "," };
        header += &format!(
            r#"{comma}"t{start}": {{"dtype": "U8", "shape": [{size}], "data_offsets": [{start}, {end}]}}"#
        );
        start = end;
    }
    assert!(refusal(&file((header + "}").as_bytes(), b"")).starts_with("truncated"));
}

#[test]
fn an_about_of_great_depth() {
    let depth = "[".repeat(50_000) + &"]".repeat(50_000);
    let envelope = format!(
        r#"{{"format_version":1,"kinfolk_version":"0","tensors":{{}},"about_crc32":{},"about":{depth}}}"#,
        crc32(depth.as_bytes())
    );
    let header = serde_json::json!({"__metadata__": {"kinfolk": envelope}}).to_string();
    let why = refusal(&file(header.as_bytes(), b""));
    assert!(why.starts_with("about: ") && !why.contains("checksum"), "{why}");
}

proptest! {
    #[test]
    fn overwritten_stretches_are_found(
        which in 0usize..4, start in 0usize..4000, stretch in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let original = &small_files_once()[which];
        let mut bytes = original.clone();
        let start = start % bytes.len();
        let end = bytes.len().min(start + stretch.len());
        bytes[start..end].copy_from_slice(&stretch[..end - start]);
        match Model::from_bytes(&bytes) {
            Err(error) => prop_assert!(matches!(error, Error::Model(_)), "{error:?}"),
            Ok(model) => prop_assert_eq!(&model.to_bytes().unwrap(), original),
        }
    }
}

fn small_files_once() -> &'static [Vec<u8>] {
    static FILES: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
    FILES.get_or_init(small_files)
}
