//! The list of solvers, settings of a fit, and why a fit ended.

use super::{Admm, Auto, InteriorPoint, Newton, Proximal, Sdca, Solver, Spectral, VisitOrder};
use crate::names::display_and_parse_names;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::time::Duration;

/// Which solver. [`SolverKind::about`] says what each one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[allow(missing_docs)] // described in SOLVERS
pub enum SolverKind {
    #[default]
    Auto,
    Sdca,
    SdcaSequential,
    Spectral,
    Newton,
    Proximal,
    InteriorPoint,
    #[serde(alias = "splitting")]
    Admm,
}

/// What users see of a solver.
struct SolverEntry {
    kind: SolverKind,
    name: &'static str,
    about: &'static str,
    suits: &'static str,
    build: fn() -> Box<dyn Solver>,
}

/// The one list of solvers, in the order of [`SolverKind`]. Parsers, help texts and documentation are made
/// from it.
const SOLVERS: [SolverEntry; 8] = [
    SolverEntry {
        kind: SolverKind::Auto,
        name: "auto",
        about: "chooses a solver and switches if another one is faster",
        suits: "every problem",
        build: || Box::new(Auto),
    },
    SolverEntry {
        kind: SolverKind::Sdca,
        name: "sdca",
        about: "dual coordinate ascent in blocks of inputs",
        suits: "all losses; slow where regularisation is weak",
        build: || Box::new(Sdca::default()),
    },
    SolverEntry {
        kind: SolverKind::SdcaSequential,
        name: "sdca-sequential",
        about: "dual coordinate ascent one observation at a time, as printed in the paper",
        suits: "all losses; for comparison",
        build: || Box::new(Sdca { order: VisitOrder::Sequential, ..Sdca::default() }),
    },
    SolverEntry {
        kind: SolverKind::Spectral,
        name: "spectral",
        about: "solves in the eigenbasis of the inputs",
        suits: "the squared loss, if every input has a label for every task",
        build: || Box::new(Spectral),
    },
    SolverEntry {
        kind: SolverKind::Newton,
        name: "newton",
        about: "Newton's method",
        suits: "smooth losses",
        build: || Box::new(Newton),
    },
    SolverEntry {
        kind: SolverKind::Proximal,
        name: "proximal",
        about: "proximal point steps around Newton's method",
        suits: "losses with kinks",
        build: || Box::new(Proximal),
    },
    SolverEntry {
        kind: SolverKind::InteriorPoint,
        name: "interior-point",
        about: "interior point method",
        suits: "all losses but the logistic one, if the tasks have at most 6000 features together",
        build: || Box::new(InteriorPoint),
    },
    SolverEntry {
        kind: SolverKind::Admm,
        name: "admm",
        about: "alternating direction method of multipliers",
        suits: "penalties of Theta as a whole",
        build: || Box::new(Admm::new(&Auto)),
    },
];

impl SolverKind {
    /// All of them.
    pub const ALL: [SolverKind; SOLVERS.len()] = {
        let (mut all, mut i) = ([SolverKind::Auto; SOLVERS.len()], 0);
        while i < all.len() {
            all[i] = SOLVERS[i].kind;
            assert!(all[i] as usize == i, "the list has the order of the enum");
            i += 1;
        }
        all
    };

    fn entry(self) -> &'static SolverEntry {
        &SOLVERS[self as usize]
    }

    /// Its name in options, files and messages.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// What it is, in a few words.
    pub fn about(self) -> &'static str {
        self.entry().about
    }

    /// The problems it is for.
    pub fn suits(self) -> &'static str {
        self.entry().suits
    }

    /// The solver.
    pub fn build(self) -> Box<dyn Solver> {
        (self.entry().build)()
    }
}

// "splitting" is the name of version 0.1.
display_and_parse_names!(SolverKind, "solver", "splitting" => "admm");

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

/// Settings that were checked. Solvers take only these.
#[derive(Debug, Clone)]
pub struct CheckedSettings {
    settings: Settings,
    /// Passes of earlier solvers.
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

/// Why a fit ended. Each comes with a usable model and its true certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The gap is within the tolerance, and so is what rounding may change.
    Certified,
    /// `max_passes` were made.
    PassLimit,
    /// `max_time` is over.
    TimeLimit,
    /// An observer said stop.
    Stopped,
    /// The solver made no further progress in double precision.
    Stalled,
    /// A method computed the point without a solver, and it was only certified here.
    HandedOver,
    /// The gap is within the tolerance, but rounding in double precision may change it by more.
    Imprecise,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 7] = [
        Status::Certified,
        Status::PassLimit,
        Status::TimeLimit,
        Status::Stopped,
        Status::Stalled,
        Status::HandedOver,
        Status::Imprecise,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Status::Certified => "certified",
            Status::PassLimit => "pass-limit",
            Status::TimeLimit => "time-limit",
            Status::Stopped => "stopped",
            Status::Stalled => "stalled",
            Status::HandedOver => "handed-over",
            Status::Imprecise => "imprecise",
        }
    }

    /// What it means, for people.
    pub fn words(self) -> &'static str {
        match self {
            Status::Certified => "certified",
            Status::PassLimit => "pass limit",
            Status::TimeLimit => "time limit",
            Status::Stopped => "stopped",
            Status::Stalled => "made no progress",
            Status::HandedOver => "handed over by a method",
            Status::Imprecise => "beyond double precision",
        }
    }
}

display_and_parse_names!(Status, "status");

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
