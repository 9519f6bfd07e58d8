//! Tables whose columns have names (csv, parquet): what a column is used for, and what its cells mean.
//!
//! ```text
//! header + Columns or Recipe -> Layout -> (a first reading settles what only the whole file can tell) -> chunks of Rows -> Table
//! ```
//!
//! **For fitting** the caller's [`Columns`](crate::Columns) say what each column is for; each column has one role. All
//! columns without one are features, and must hold numbers (`true` and `false` are 1 and 0). A first reading collects the
//! values of one-hot columns and, in csv, finds out whether the target holds numbers or words.
//!
//! **For prediction** the [`Recipe`](crate::Recipe) of the training file says it all: features are found by name, in any
//! order, other columns are ignored, and task, target, weight and split may be absent. A caller's `Columns` may name other
//! columns for those four; then they must be there.
//!
//! **Missing values.** A label of a wide table may be missing: an empty cell, a null, or one of `NA`, `N/A`, `NaN`, `null`,
//! `None`, `<NA>` in upper or lower case. So may the label of any row in prediction. Features, tasks, weights, splits and
//! labels for fitting may not.
//!
//! **Names** (tasks, classes, values of one-hot columns) are taken as they are written: `1.0` is not `1`, and spaces count.

pub(crate) mod cells;
mod header;
mod keys;
mod layout;
mod one_hot;
mod rows;
mod survey;
mod why;

pub(crate) use header::{Header, listed};
pub(crate) use layout::{Kind, Layout, Target};
pub(crate) use one_hot::OneHot;
pub(crate) use rows::{Precision, Rows};
pub(crate) use survey::Survey;
pub(crate) use why::Why;
