//! Tests of the paper's experiments, one module for each topic, as one program.

#![allow(clippy::unwrap_used)] // helpers outside test functions

#[path = "../../../train/tests/train/common/mod.rs"]
mod common;
#[path = "../../../../tests/needs.rs"]
mod needs;
mod one_problem;
mod published;
mod reproduce;
