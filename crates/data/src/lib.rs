//! Tables in, tables out: files of many kinds become the inputs and observations of a learning problem.
//!
//! ```text
//! file -> Source (chunks of rows) -> Table -> inputs, Observations
//! ```
//!
//! Every format is read through one door, [`open`], a chunk of rows at a time; [`read`] puts the chunks together. What a
//! table means for learning (which column is the task, how "yes" and "no" become +1 and -1) is a [`Recipe`], kept in the
//! model file so that nobody has to repeat it at prediction.

mod assemble;
mod bytes;
mod coding;
mod csv;
mod digits;
mod error;
mod generate;
mod keys;
mod named;
mod npy;
mod npz;
mod observations;
mod recipe;
mod source;
mod storage;
mod svm;
mod table;
mod text;
mod write;

pub use csv::CsvSource;
pub use digits::digits;
pub use error::{Error, Result};
pub use generate::{Generator, Kinship, Truth};
pub use keys::Keys;
pub use recipe::{Coding, Columns, Feature, Recipe, Storage};
pub use source::{Format, Source, open, read, read_bytes};
pub use table::{Labels, Table, Targets};
pub use write::write_table;
