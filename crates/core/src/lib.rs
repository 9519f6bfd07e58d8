//! Learn many related tasks together, and how they are related.

mod error;
pub mod inputs;
pub mod kernel;
mod lanes;
pub mod loss;
mod matrix;
pub mod output;

pub use error::{Error, Result};
pub use matrix::Matrix;
