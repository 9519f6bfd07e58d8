//! What a solver reports during a fit. Progress bars, records and Ctrl-C are observers.

use crate::Certificate;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// End with the model reached: [`crate::Status::Stopped`].
    Stop,
}

/// The state of a fit when a certificate was computed.
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
    /// Seed, and duals in the problem's own units, if the fit can be resumed from here.
    pub(crate) resumable: Option<(u64, Duals<'a>)>,
    /// Passes and relative gap of the previous certificate, where they decide how a resumed fit goes on.
    pub(crate) previous: Option<(usize, f64)>,
}

/// Duals in the problem's own units, and the unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Duals<'a> {
    pub(crate) kappa: &'a [f64],
    pub(crate) unit: f64,
}

impl Progress<'_> {
    /// A copy of the state, from which the fit can be resumed to the same bits.
    ///
    /// Returns `None` if the state cannot be resumed exactly (interrupted pass, no progress, unscheduled
    /// check) or the solver restarts deterministically. Keep the latest `Some`.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.resumable.map(|(seed, Duals { kappa, unit })| Snapshot {
            solver: self.solver.into(),
            seed,
            passes: self.passes,
            previous: self.previous,
            alpha: kappa.iter().map(|k| k * unit).collect(),
        })
    }
}

/// A state of a fit from which it can be resumed, to the same bits: [`Progress::snapshot`] makes it,
/// [`Start::Resume`](crate::Start::Resume) takes it.
///
/// As JSON: `{"solver": "sdca", "seed": 0, "passes": 12, "alpha": [0.5, ...]}`; numbers come back to the last
/// bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Name of the solver.
    pub solver: String,
    /// Its seed.
    pub seed: u64,
    /// Passes made so far.
    pub passes: usize,
    /// Passes and relative gap of the previous certificate, where the pace decides which solver goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<(usize, f64)>,
    /// The duals, in the paper's scale and observation order.
    pub alpha: Vec<f64>,
}

/// Gets progress reports of a solver and may stop it.
pub trait Observer: Send {
    /// A new certificate was computed.
    fn progress(&mut self, _progress: &Progress<'_>) -> Flow {
        Flow::Continue
    }

    /// The objective after a round that has no certificate.
    fn objective(&mut self, _objective: f64) -> Flow {
        Flow::Continue
    }

    /// Called many times a second: a place to look at a flag set by Ctrl-C. Not called during an
    /// eigendecomposition, which cannot be interrupted (a second for 1,000 features, and eight times as long
    /// for twice as many).
    fn poll(&mut self) -> Flow {
        Flow::Continue
    }

    /// A choice the solver made, in words ("spectral: squared loss on shared inputs").
    fn note(&mut self, _text: &str) {}
}

/// Ignores all reports.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
