//! When to stop, and with what.

use super::{Admm, Auto, InteriorPoint, Newton, Proximal, Sdca, Solver, Spectral, VisitOrder};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::time::Duration;
use std::{fmt, str::FromStr};

/// Which solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SolverKind {
    /// The one that fits the problem.
    #[default]
    Auto,
    /// Dual coordinate ascent in blocks.
    Sdca,
    /// Dual coordinate ascent one observation at a time, as printed in the paper.
    SdcaSequential,
    /// Squared loss with shared inputs, in the eigenbasis of the inputs.
    Spectral,
    /// Smooth losses: Newton's method.
    Newton,
    /// Losses with kinks: proximal point steps around Newton's method.
    Proximal,
    /// Any loss but the logistic one, while a direct system of all tasks' features is small enough to factorise.
    InteriorPoint,
    /// Penalties of Theta as a whole: alternating direction method of multipliers.
    #[serde(alias = "splitting")]
    Admm,
}

impl SolverKind {
    /// All of them.
    pub const ALL: [SolverKind; 8] = [
        SolverKind::Auto,
        SolverKind::Sdca,
        SolverKind::SdcaSequential,
        SolverKind::Spectral,
        SolverKind::Newton,
        SolverKind::Proximal,
        SolverKind::InteriorPoint,
        SolverKind::Admm,
    ];

    fn name(self) -> &'static str {
        match self {
            SolverKind::Auto => "auto",
            SolverKind::Sdca => "sdca",
            SolverKind::SdcaSequential => "sdca-sequential",
            SolverKind::Spectral => "spectral",
            SolverKind::Newton => "newton",
            SolverKind::Proximal => "proximal",
            SolverKind::InteriorPoint => "interior-point",
            SolverKind::Admm => "admm",
        }
    }

    /// The solver.
    pub fn build(self) -> Box<dyn Solver> {
        match self {
            SolverKind::Auto => Box::new(Auto),
            SolverKind::Sdca => Box::new(Sdca::default()),
            SolverKind::SdcaSequential => Box::new(Sdca { order: VisitOrder::Sequential, ..Sdca::default() }),
            SolverKind::Spectral => Box::new(Spectral),
            SolverKind::Newton => Box::new(Newton),
            SolverKind::Proximal => Box::new(Proximal),
            SolverKind::InteriorPoint => Box::new(InteriorPoint),
            SolverKind::Admm => Box::new(Admm::new(&Auto)),
        }
    }
}

impl fmt::Display for SolverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SolverKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        // The name of version 0.1.
        let text = if text == "splitting" { "admm" } else { text };
        by_name("solver", text, &Self::ALL.map(|kind| (kind.name(), kind)))
    }
}

/// The one of this name.
fn by_name<T: Copy>(what: &'static str, text: &str, all: &[(&'static str, T)]) -> Result<T> {
    all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        Error::Parse { what, text: text.into(), why: format!("it is one of {}", names.join(", ")) }
    })
}

/// Settings of a fit.
///
/// | name | default | range |
/// |---|---|---|
/// | `tolerance` | 1e-3 | relative gap to reach, > 0 |
/// | `max_passes` | 1000 | passes over the data, or iterations; those before a fit was resumed count |
/// | `max_time` | none | ends at the next poll after it; only this call counts |
/// | `seed` | 0 | of every random choice; the order of a pass depends on it and the number of the pass alone |
/// | `solver` | auto | |
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Relative gap at which to stop.
    pub tolerance: f64,
    /// Passes over the data after which to stop.
    pub max_passes: usize,
    /// Time after which to stop.
    pub max_time: Option<Duration>,
    /// Seed of every random choice: same seed, same number of threads, same bits.
    pub seed: u64,
    /// Which solver.
    pub solver: SolverKind,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { tolerance: 1e-3, max_passes: 1000, max_time: None, seed: 0, solver: SolverKind::Auto }
    }
}

/// Settings that were found in range. Solvers take only these.
#[derive(Debug, Clone)]
pub struct CheckedSettings {
    settings: Settings,
    /// By solvers tried before.
    passes_made: usize,
}

impl Settings {
    /// Checks the ranges.
    pub fn check(self) -> Result<CheckedSettings> {
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            let expected = "must be positive and finite";
            return Err(Error::Parameter { name: "tolerance", value: self.tolerance, expected });
        }
        Ok(CheckedSettings { settings: self, passes_made: 0 })
    }
}

impl CheckedSettings {
    /// The same after this much time and this many passes of the whole fit.
    pub(crate) fn after(&self, elapsed: Duration, passes_made: usize) -> CheckedSettings {
        let mut settings = self.settings.clone();
        settings.max_time = settings.max_time.map(|limit| limit.saturating_sub(elapsed));
        CheckedSettings { settings, passes_made }
    }

    pub(crate) fn passes_made(&self) -> usize {
        self.passes_made
    }
}

impl Deref for CheckedSettings {
    type Target = Settings;
    fn deref(&self) -> &Settings {
        &self.settings
    }
}

/// Why a solver ended. Every one of these comes with a usable model and its true certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The gap is within the tolerance.
    Certified,
    /// `max_passes` were made.
    PassLimit,
    /// `max_time` is over.
    TimeLimit,
    /// An observer said stop.
    Stopped,
    /// No further progress in double precision.
    Stalled,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 5] =
        [Status::Certified, Status::PassLimit, Status::TimeLimit, Status::Stopped, Status::Stalled];

    fn name(self) -> &'static str {
        match self {
            Status::Certified => "certified",
            Status::PassLimit => "pass-limit",
            Status::TimeLimit => "time-limit",
            Status::Stopped => "stopped",
            Status::Stalled => "stalled",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Status {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        by_name("status", text, &Self::ALL.map(|status| (status.name(), status)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json_and_of_solvers() {
        for kind in SolverKind::ALL {
            assert_eq!(kind.to_string().parse::<SolverKind>().unwrap(), kind);
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.to_string());
            assert_eq!(kind.build().name(), kind.to_string());
        }
        for status in Status::ALL {
            assert_eq!(status.to_string().parse::<Status>().unwrap(), status);
            assert_eq!(serde_json::to_value(status).unwrap(), status.to_string());
        }
        let error = "simplex".parse::<SolverKind>().unwrap_err().to_string();
        assert_eq!(
            error,
            "solver \"simplex\" is not understood: \
             it is one of auto, sdca, sdca-sequential, spectral, newton, proximal, interior-point, admm"
        );
        assert_eq!("splitting".parse::<SolverKind>().unwrap(), SolverKind::Admm);
        assert_eq!(serde_json::from_str::<SolverKind>("\"splitting\"").unwrap(), SolverKind::Admm);
    }
}
