//! Tests of the command, which runs in a process of its own each time. They are one program, one module for each topic.
//! One module alone: `cargo test -p kinfolk-cli --test cli errors::`.

#![allow(clippy::unwrap_used)] // helpers outside test functions

mod alike;
mod atoms;
mod attacks;
mod common;
mod durability;
mod errors;
mod evaluate;
mod everyday;
mod first_try;
mod folds;
mod formats;
mod golden;
mod help;
#[cfg(unix)]
mod interrupt;
mod intervals;
mod kinship;
mod models;
#[path = "../../../../tests/needs.rs"]
mod needs;
mod new_rows;
mod newcomers;
mod notes;
mod odd_files;
mod offsets;
mod report;
mod safety;
mod said;
mod shared_data;
mod spec;
mod stream;
mod stumbles;
mod tables;
mod trials;
mod truth;
mod units;
mod untold;
