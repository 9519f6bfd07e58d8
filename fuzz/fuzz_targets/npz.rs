#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kinfolk_fuzz::read_twice(bytes, "a.npz"));
