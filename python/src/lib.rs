//! The engine for Python: arrays in, certified models out. Conversions and names only; nothing is computed
//! here, and nothing of Python is touched while a fit runs, but for signals and progress, by the thread that
//! called.

mod error;
mod features;
mod fit;
mod model;
mod observations;
mod registry;
mod setup;
mod wait;

use pyo3::prelude::*;

/// The compiled part of the package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::fit::{fit_path, strengths};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::observations::Observations;
    #[pymodule_export]
    use super::registry::{is_classification, methods};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
