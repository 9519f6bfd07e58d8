//! `docs/methods.md` is what the registry says. `KINFOLK_BLESS=1` writes it.

#![allow(clippy::unwrap_used)]

#[test]
fn the_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/methods.md");
    let page = kinfolk_train::markdown();
    if std::env::var_os("KINFOLK_BLESS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/methods.md is not what the registry says: run this test with KINFOLK_BLESS=1"
    );
}
