//! Tables with named columns: csv and parquet, read and written.

#![allow(clippy::unwrap_used)] // helpers outside test functions

mod common;
mod csv;
mod hostile_csv;
mod messy;
#[path = "../../../../tests/needs.rs"]
mod needs;
#[cfg(feature = "parquet")]
mod parquet;
mod recipe;
mod round_trip;
mod writer;
