//! Tests of reading and writing, one module for each topic, as one program.
//! One module alone: `cargo test -p kinfolk-io --test io columns::csv::`.

#![allow(clippy::unwrap_used)] // helpers outside test functions

mod columns;
mod common;
mod frames;
mod hostile;
#[path = "../../../../tests/needs.rs"]
mod needs;
mod numpy;
mod reading;
mod round_trip;
mod shared_data;
mod texts;
