//! Tables whose columns have names (csv, parquet): what a column is used for, and what its cells mean.
//!
//! ```text
//! ColumnNames + ColumnRoles or Schema -> ColumnLayout -> FirstPass, where it is needed -> RowBuffer -> Table
//! ```
//!
//! **For fitting** the caller's [`ColumnRoles`](crate::ColumnRoles) say what each column is for; each column
//! has one role. All columns without one are features, and must hold numbers (`true` and `false` are 1 and
//! 0). A first pass collects the values of one-hot columns and, in csv, finds out whether the target holds
//! numbers or words.
//!
//! **For prediction** the [`Schema`](crate::Schema) of the training file says it all: features are found by
//! name, in any order, other columns are ignored, and task, target, weight, offset and split may be absent. A
//! caller's `ColumnRoles` may name other columns for those five; then they must be there.
//!
//! **Missing values.** A label of a wide table may be missing: an empty cell, a null, or one of `NA`, `N/A`,
//! `NaN`, `null`, `None`, `<NA>` in upper or lower case. So may the label of any row in prediction. Features,
//! tasks, weights, offsets, splits and labels for fitting may not.
//!
//! **Names** (tasks, classes, values of one-hot columns) are taken as they are written: `1.0` is not `1`, and
//! spaces count.

pub(crate) mod cells;
mod first_pass;
mod layout;
mod messages;
mod names;
mod one_hot;
mod rows;

pub(crate) use first_pass::FirstPass;
pub(crate) use layout::{ColumnLayout, ColumnUse, LabelKind, TargetColumns};
pub(crate) use names::ColumnNames;
pub(crate) use one_hot::OneHot;
pub(crate) use rows::{Precision, RowBuffer};
