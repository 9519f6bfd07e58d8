//! Learn many related tasks together, and how they are related.
#![doc = include_str!("../../../docs/problem.md")]

pub mod algebra;
pub mod backend;
mod c_scale;
pub mod certificate;
mod dataset;
mod design;
mod device_losses;
mod error;
mod fit;
mod fit_rows;
pub mod fs;
pub mod inputs;
mod intercept;
mod interrupt;
pub mod kernel;
mod linalg;
pub mod loss;
mod matrix;
pub mod metrics;
pub mod model;
mod names;
mod observations;
mod observer;
mod pool;
mod problem;
pub mod regularizer;
pub mod rows;
mod scaling;
mod scaling_tensors;
pub mod serde_f64;
pub mod solver;
mod special;
mod statistics;
mod step;
mod target_scaling;
mod tasks;
mod tensors;

pub use c_scale::{CScale, Weights};
pub use certificate::{Certificate, Form, certify};
pub use dataset::{Dataset, DatasetOptions, check_weights};
pub use error::{Error, Result};
pub use fit::{Fit, Fitter, certify_duals, fit};
pub use fit_rows::fit_rows;
pub use fs::{AtomicFile, read_file, remove_unfinished, write_atomically};
pub use inputs::Inputs;
pub use intercept::Intercept;
pub use kernel::Kernel;
pub use loss::LossKind;
pub use matrix::Matrix;
pub use model::{CertificateSummary, CertifyOptions, CertifyParts, Claim, Mismatch, Model, ModelCheck};
pub use observations::Observations;
pub use observer::{Flow, Observer, Progress, Silent, Snapshot};
pub use problem::{Losses, Problem, ProblemSpec};
pub use regularizer::{Regularizer, RegularizerKind};
pub use scaling::{Scaling, ScalingKind};
pub use solver::{Settings, SolverKind, Start, Status};
pub use statistics::{Statistics, StatisticsOptions, Surrogate};
pub use target_scaling::{TargetScale, TargetScaling};
pub use tasks::TaskNames;

/// The README's code, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
