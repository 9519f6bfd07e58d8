#![no_main]

use kinfolk_data::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kinfolk_fuzz::read_named(bytes, Format::Csv));
