#![no_main]

use kinfolk_io::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kinfolk_fuzz::read_named(bytes, Format::Csv));
