//! What a solver reports, and to whom. Progress bars, records and Ctrl-C are all observers.

use crate::Certificate;
use std::time::Duration;

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// End with the model reached: [`crate::Status::Stopped`].
    Stop,
}

/// Where a solver stands.
#[derive(Debug, Clone)]
pub struct Progress<'a> {
    /// Name of the solver.
    pub solver: &'static str,
    /// Passes over the data, or iterations, so far.
    pub passes: usize,
    /// Time since the start.
    pub elapsed: Duration,
    /// The certificate just computed.
    pub certificate: &'a Certificate,
}

/// Listens to a solver.
pub trait Observer: Send {
    /// A new certificate was computed.
    fn progress(&mut self, _progress: &Progress<'_>) -> Flow {
        Flow::Continue
    }

    /// Asked many times a second: a place to look at a flag set by Ctrl-C.
    fn poll(&mut self) -> Flow {
        Flow::Continue
    }

    /// A choice the solver made, in words ("spectral: squared loss on shared inputs").
    fn note(&mut self, _text: &str) {}
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
