#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kinfolk_fuzz::read_named(bytes, "a.parquet"));
