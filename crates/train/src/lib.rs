//! From a spec and data to a certified model, and the choice between specs.
//!
//! A [`FitSpec`] says what to fit and how; [`train()`] is the one way from it to a [`Trained`] model. A
//! [`Method`] turns data into models; [`registry`] lists them all. [`select`] compares any of them by
//! cross-validation, on the same folds, with the same metric.

mod auto_c;
mod error;
mod from_statistics;
mod importance;
mod method;
mod methods;
mod metric;
mod nan;
mod notes;
mod observer;
mod other_outcomes;
pub mod parallel;
mod params;
mod ranges;
mod repeated_rows;
mod residuals;
pub mod select;
mod spec;
mod task_matrix;
mod train;
mod trained;
mod within_task;

pub use auto_c::{AutoC, Baseline, BaselineScore, HeldOutRows, TriedStrength};
pub use error::{Error, Result};
pub use from_statistics::kept_rows;
pub use importance::{Importance, Importances, Shuffles, SourceColumn, importances, source_columns};
pub use kinfolk::Claim;
pub use method::{FitRequest, Job, Method, MethodInfo, Step, StepWhen, SupportedLosses};
pub use methods::{CONVEX_OKL, Engine, GMTL, Gmtl, MTL_SDCA, MTRL, OKL, Regroup, find, registry};
pub use metric::{Average, Measure, Metric, Predictions, Score, class_probabilities, predict};
pub use observer::{StudyObserver, Unobserved};
pub use other_outcomes::LabelCorrelations;
pub use params::{Allowed, Param, Params, Value};
pub use ranges::{FarOffRows, InputRanges};
pub use residuals::{HeldOutError, NewTaskErrors, Residuals};
pub use spec::{
    ATOM_WEIGHT_GRID, AtomSetting, ClassWeight, DEFAULT_ATOM_WEIGHT, DeviceSetting, FitSpec,
    InterceptSetting, KernelSetting, LossSpec, Memory, MethodSpec, RelationData, RelationKind, ResolvedAtoms,
    SCHEMA_VERSION, TaskKernel, Weight, method_texts,
};
pub use train::{Data, PreparedData, Training, all_losses, train, unscaled};
pub use trained::{
    FREE_PART, FitOutcome, HalfWidths, KinRule, NewTasks, NoIntervals, ThetaPart, Trained, free_correlation,
    percent, shared_correlation, shares, shares_in_words, theta_parts,
};
pub use within_task::DATA_GROUPS;
