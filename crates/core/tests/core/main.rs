//! Tests of the library through its public interface, one module for each topic. They are one program: forty would take
//! minutes to build. One module alone: `cargo test -p kinfolk --test core atoms::`.

#![allow(clippy::unwrap_used)] // helpers outside test functions

mod atoms;
mod bad_input;
mod banded;
mod borrowed;
mod certificate;
mod combinations;
mod common;
mod determinism;
mod device;
mod functions;
mod golden;
mod inputs;
mod intercepts;
mod interior;
mod interrupt;
mod kernel_parameters;
mod kernels;
mod laws_loss;
mod laws_output;
mod limits;
mod metrics;
mod mixed_losses;
mod model_file;
mod offsets;
mod penalties;
mod recheck;
mod resume;
mod rows;
mod scales;
mod scaling;
mod solvers;
mod statistics;
mod subspace;
mod target_scaling;
