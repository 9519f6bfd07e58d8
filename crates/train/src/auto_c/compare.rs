//! Simple predictions on the same folds: is joint learning worth it?

use crate::nan;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Differences of this many standard errors are beyond noise.
pub(super) const BEYOND_NOISE: f64 = 2.0;

/// Standard errors by which another setting must be better to be taken: few rows should not lead far from a safe one.
pub(super) const WORTH_A_STEP: f64 = 1.0;

/// Standard errors by which a curved function must be better. It is the best of about three widths, and chance helps
/// the best of three: one in twenty is as lucky as that, not one in six as with one standard error.
pub(super) const WORTH_A_CURVE: f64 = 1.64;

/// Share of the held-out loss that a curved function must save: straight ones have coefficients that people can read.
pub(super) const MIN_GAIN_OF_A_CURVE: f64 = 0.02;

/// Share of the held-out loss by which a simple prediction must be better for a warning: less makes no difference to
/// anybody, however sure it is.
pub(super) const WORTH_A_WARNING: f64 = 0.02;

/// What a model is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// The mean label of each task, without inputs.
    TaskMean,
    /// The mean label of all rows, where whole tasks were held out.
    OverallMean,
    /// The most frequent class of each task, or of all rows, without inputs.
    Majority,
    /// Each task by itself, at the strength that is best for it.
    TasksAlone,
    /// One model for the rows of all tasks, at the strength that is best for it.
    OneForAll,
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Baseline::TaskMean => "each task's mean",
            Baseline::OverallMean => "mean of all rows",
            Baseline::Majority => "majority",
            Baseline::TasksAlone => "tasks alone",
            Baseline::OneForAll => "one model for all",
        })
    }
}

/// How a baseline did on the same held-out rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineScore {
    /// Which one.
    pub baseline: Baseline,
    /// Its score. NaN if it is undefined.
    #[serde(deserialize_with = "nan::from_null")]
    pub score: f64,
    /// Whether its held-out loss is smaller than that of the model, beyond noise.
    pub is_better: bool,
}
