//! What a solver reports, and to whom. Progress bars, records and Ctrl-C are all observers.

use crate::Certificate;
use crate::solver::Snapshot;
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
    /// Seed, and duals in the problem's own units, if the fit can go on from here.
    pub(crate) resumable: Option<(u64, Duals<'a>)>,
    /// Passes and relative gap of the certificate before, where they decide how a resumed fit goes on.
    pub(crate) previous: Option<(usize, f64)>,
}

/// Duals in the problem's own units, and the unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Duals<'a> {
    pub(crate) kappa: &'a [f64],
    pub(crate) unit: f64,
}

impl Progress<'_> {
    /// All that is needed to go on from here another time, to the same bits; a copy of the duals, made when asked for.
    ///
    /// `None` where there is no such point: after a pass that was cut short, or changed nothing, or ended by a limit between
    /// two regular certificates, and from solvers that are as quick to start again, which gives the same bits too. Keep the last one
    /// that is some.
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

/// Listens to a solver.
pub trait Observer: Send {
    /// A new certificate was computed.
    fn progress(&mut self, _progress: &Progress<'_>) -> Flow {
        Flow::Continue
    }

    /// The objective after a round, from iterations that know it but have no certificate yet.
    fn objective(&mut self, _objective: f64) -> Flow {
        Flow::Continue
    }

    /// Asked many times a second: a place to look at a flag set by Ctrl-C. Not during an eigendecomposition, which cannot be
    /// interrupted (a second for 1,000 features, and eight times as long for twice as many).
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
