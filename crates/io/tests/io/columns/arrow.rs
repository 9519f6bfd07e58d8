//! Arrow files and streams with zstd inside, made by pyarrow; see fixtures/make.py.

use super::common::*;
use kinfolk_io::{Result, read_bytes};
use std::path::Path;

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

fn read_arrow(bytes: &[u8]) -> Result<Vec<Row>> {
    read_bytes(Path::new("a.arrow"), bytes, &columns("shop", "spent"), None).map(|(table, _)| rows(&table))
}

#[test]
fn zstd_inside_changes_nothing() {
    let plain = read_arrow(&bytes("plain.arrow")).unwrap();
    assert_eq!(plain.len(), 60);
    for name in ["zstd.arrow", "zstd_stream.arrow"] {
        assert_eq!(read_arrow(&bytes(name)).unwrap(), plain, "{name}");
    }
}

/// No panic, no memory without end, and never fewer rows without a word.
#[test]
fn broken_files_with_zstd_are_refused() {
    let whole = bytes("zstd.arrow");
    for end in (8..whole.len()).step_by(37) {
        assert!(read_arrow(&whole[..end]).is_err(), "cut after {end} bytes");
    }
    for name in ["zstd.arrow", "zstd_stream.arrow"] {
        let whole = bytes(name);
        for at in (0..whole.len()).step_by(3) {
            let mut broken = whole.clone();
            broken[at] ^= 0xff;
            // Labels and features may differ, or it is refused.
            let _ = read_arrow(&broken);
        }
    }
}
