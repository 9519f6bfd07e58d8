//! Tests of training and selection, one module for each topic, as one program.
//! One module alone: `cargo test -p kinfolk-train --test train auto_c::`.

#![allow(clippy::unwrap_used)] // helpers outside test functions

mod atoms;
mod auto_c;
mod common;
mod documentation;
mod equivalences;
mod kin;
mod laws;
mod levels;
mod rivals;
mod scores;
mod select;
mod spec;
mod statistics;
