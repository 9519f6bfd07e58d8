#![no_main]
//! The target that the variable KINFOLK_TARGET names.

use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("KINFOLK_TARGET").unwrap_or_default();
    let known = kinfolk_fuzz::TARGETS.iter().find(|target| target.0 == name);
    let names: Vec<&str> = kinfolk_fuzz::TARGETS.iter().map(|target| target.0).collect();
    known.unwrap_or_else(|| panic!("KINFOLK_TARGET must be one of {}", names.join(", "))).1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| TARGET(bytes));
