//! Learn many related tasks together, and how they are related.

mod error;
pub mod loss;
mod matrix;
pub mod output;
mod psd;

pub use error::{Error, Result};
pub use matrix::Matrix;
