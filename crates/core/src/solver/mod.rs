//! Solvers. Callers use the trait [`Solver`]; an iterative method implements [`Algorithm`], and the driver in
//! `run.rs` makes a solver of it. Every solver returns duals, and sometimes a primal point; the certificate
//! says how good they are.
//!
//! Some solvers use others: [`Auto`] uses all of them. [`Proximal`] takes Newton steps; [`Newton`] starts
//! from [`Spectral`] or [`Sdca`]. [`Admm`] gets the solver of its inner problem as an argument.

mod admm;
mod auto;
mod clock;
mod finish;
mod incumbent;
mod interior;
mod newton;
mod newton_system;
mod proximal;
pub(crate) mod rows;
mod run;
mod sdca;
mod settings;
mod snapshot;
mod spectral;
pub(crate) mod start;

pub use admm::Admm;
pub use auto::Auto;
pub use interior::InteriorPoint;
pub use newton::Newton;
#[doc(hidden)]
pub use newton_system::newton_work_so_far;
pub use proximal::Proximal;
pub use run::{Algorithm, SolverOutcome, SolverRun};
pub use sdca::{Sdca, VisitOrder};
pub use settings::{CheckedSettings, Settings, SolverKind, Status};
pub use snapshot::Start;
pub use spectral::Spectral;

pub use crate::observer::Snapshot;

pub(crate) use clock::{Clock, Poll};
pub(crate) use incumbent::Incumbent;

use crate::certificate::{Graded, relative_gap};
use crate::{Certificate, Matrix, Observer, Problem, Result};
use serde::{Deserialize, Serialize};

/// What a solver found, in the problem's own units.
#[derive(Debug, Clone)]
pub struct Solution {
    /// Dual variables kappa = alpha / unit, in observation order.
    pub kappa: Vec<f64>,
    /// Coordinates of the primal point, if it is not the one induced by the duals.
    pub v: Option<Matrix>,
    pub(crate) graded: Graded,
    /// Why the solver ended.
    pub status: Status,
    /// Which solver it was.
    pub solver: &'static str,
    /// Passes over the data, or iterations.
    pub passes: usize,
    /// Every certificate on the way.
    pub trace: Vec<TracePoint>,
    /// Why this solver, in words, if one was chosen.
    pub reason: Option<String>,
}

impl Solution {
    /// The certificate of the duals and the primal point, in the caller's units.
    pub fn certificate(&self) -> &Certificate {
        &self.graded.certificate
    }
}

/// A certificate that was computed during a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// Passes so far.
    pub passes: usize,
    /// Seconds so far.
    pub seconds: f64,
    /// Primal value.
    #[serde(with = "crate::serde_f64::number")]
    pub primal: f64,
    /// Dual value.
    #[serde(with = "crate::serde_f64::number")]
    pub dual: f64,
    /// Gap.
    #[serde(with = "crate::serde_f64::number")]
    pub gap: f64,
}

impl TracePoint {
    /// gap / max(|primal|, |dual|), as [`Certificate::rel_gap`].
    pub fn rel_gap(&self) -> f64 {
        relative_gap(self.primal, self.dual, self.gap)
    }
}

/// Gap, then primal value: gaps may be infinite while one of two models is still usable. Smaller is better.
fn badness(certificate: &Certificate) -> (f64, f64) {
    (certificate.gap, certificate.primal)
}

/// `Err` if the regulariser is spectral: most solvers need a sum over the entries of Theta.
fn needs_entries(problem: &Problem<'_>) -> std::result::Result<(), String> {
    problem.entrywise().map(|_| ()).map_err(|error| error.to_string())
}

/// What a solver is asked to solve.
#[derive(Debug, Clone, Copy)]
pub struct SolveRequest<'a, 'p> {
    /// The problem.
    pub problem: &'a Problem<'p>,
    /// When to stop.
    pub settings: &'a CheckedSettings,
    /// Where to begin.
    pub start: Start<'a>,
}

/// Something that solves problems.
pub trait Solver: Send + Sync + std::fmt::Debug {
    /// Name in messages and files.
    fn name(&self) -> &'static str;

    /// `Err(why)` if this solver cannot solve such a problem.
    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String>;

    /// Bytes of memory needed besides the data set.
    fn memory(&self, problem: &Problem<'_>) -> u64;

    /// Solves.
    fn solve(&self, request: SolveRequest<'_, '_>, observer: &mut dyn Observer) -> Result<Solution>;
}
