//! What must hold for any bytes: a result or an error of one line, and no panic. Errors are fine; panics are not.
//!
//! Targets whose names end in `-made` are aware of structure: the bytes are choices, from which a file is made that is
//! right in most places.

mod arrays;
#[cfg(feature = "models")]
mod models;
#[cfg(feature = "models")]
mod pages;
mod readers;
#[cfg(feature = "models")]
mod specs;
mod texts;

/// The name of a target and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("csv", |bytes| readers::read_named(bytes, "a.csv")),
    ("tsv", |bytes| readers::read_named(bytes, "a.tsv")),
    ("jsonl", |bytes| readers::read_named(bytes, "a.jsonl")),
    #[cfg(feature = "columns")]
    ("parquet", |bytes| readers::read_named(bytes, "a.parquet")),
    #[cfg(feature = "columns")]
    ("arrow", |bytes| readers::read_named(bytes, "a.arrow")),
    ("npy", |bytes| readers::read_twice(bytes, "a.npy")),
    ("npz", |bytes| readers::read_twice(bytes, "a.npz")),
    ("svm", |bytes| readers::read_twice(bytes, "a.svm")),
    ("gzip", |bytes| readers::read_named(bytes, "a.csv.gz")),
    ("zstd", |bytes| readers::read_named(bytes, "a.csv.zst")),
    ("bzip2", |bytes| readers::read_named(bytes, "a.csv.bz2")),
    ("csv-made", texts::csv),
    ("jsonl-made", texts::jsonl),
    ("svm-made", texts::svm),
    ("npy-made", arrays::npy),
    ("npz-made", arrays::npz),
    #[cfg(feature = "models")]
    ("model", models::loaded),
    #[cfg(feature = "models")]
    ("model-made", models::patched),
    #[cfg(feature = "models")]
    ("spec", specs::parsed),
    #[cfg(feature = "models")]
    ("page", pages::named),
];
