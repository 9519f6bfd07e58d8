//! The extension module of the Python package: arrays in, certified models out. It only converts; the engine
//! computes. While a fit runs, only the calling thread uses Python, for signals and progress.

mod background;
mod error;
mod features;
mod fit;
mod frame;
mod model;
mod observations;
mod registry;
mod report;
mod rows;
mod select;
mod statistics;

use pyo3::prelude::*;

/// The compiled part of the package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::fit::{fit_path, resolve_weights};
    #[pymodule_export]
    use super::frame::{describe_recipe, encode_frame};
    #[pymodule_export]
    use super::model::PyModel;
    #[pymodule_export]
    use super::observations::PyObservations;
    #[pymodule_export]
    use super::registry::{describe, is_classification, methods};
    #[pymodule_export]
    use super::report::report;
    #[pymodule_export]
    use super::rows::{PyRowsPart, memory_bytes};
    #[pymodule_export]
    use super::select::{cross_validate, drawn_levels, splits};
    #[pymodule_export]
    use super::statistics::{PyStatistics, certified, certify_part, fit_statistics};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
