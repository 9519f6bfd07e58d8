//! Tables whose columns have names (csv, parquet, ...): what a column is used for, and what its cells mean.
//!
//! ```text
//! ColumnCursor (one per format) + ColumnRoles -> ColumnLayout -> ColumnSurvey -> Feature per column -> Schema
//! ColumnCursor + Schema                       -> ColumnLayout -> RowBuffer -> Table
//! ```
//!
//! **For fitting** the caller's [`ColumnRoles`](crate::ColumnRoles) say what each column is for; each column
//! has one role. All columns without one are features. A first pass through the file finds out what they hold, and
//! `decide` what they become: numbers stay numbers (`true` and `false` are 1 and 0), dates become days, words one
//! feature
//! each, missing values are filled in. That is the recipe, a [`Feature`](crate::Feature) per column, kept in the
//! [`Schema`](crate::Schema).
//!
//! **Lists of numbers**, such as embeddings, become a column for each number before anything else (`lists`).
//! So do folders of the path that are called `column=value` (`partitions`).
//!
//! **For prediction** the schema of the training file says it all: features are found by
//! name, in any order, other columns are ignored, and task, target, weight, offset and split may be absent. A
//! caller's `ColumnRoles` may name other columns for those five; then they must be there.
//!
//! **Missing values** are an empty cell, a null, or one of `NA`, `N/A`, `NaN`, `null`, `None`, `<NA>`, `#N/A`, `-` and
//! the like in upper or lower case; but `none` is a word like any other in a column of words. Features and labels may
//! be missing; tasks, weights, offsets and splits may not.
//!
//! **Names** (tasks, classes, words) are taken as they are written, and spaces count; but `1.0` is `1`, since programs
//! write whole numbers in both ways.

mod blocks;
pub(crate) mod cells;
mod cursor;
mod date_styles;
mod decide;
mod decimals;
mod encoder;
mod feature_columns;
mod fold_column;
mod layout;
mod lists;
mod messages;
mod names;
mod number_form;
mod odd_words;
mod partitions;
mod patterns;
mod profile;
mod remarks;
mod rows;
mod source;
mod survey;
mod target_values;
mod units;

#[cfg(feature = "parquet")]
pub(crate) use blocks::{CellBlock, ColumnBlock, ColumnBlocks, VisitRow};
pub(crate) use cursor::{ColumnCursor, ColumnType, RowPlace, VisitCell};
pub(crate) use layout::{ColumnLayout, ColumnUse, LabelKind, TargetColumns};
pub(crate) use lists::with_lists_as_columns;
pub(crate) use names::ColumnNames;
pub use partitions::is_partition;
pub(crate) use partitions::with_partitions;
pub(crate) use profile::profile;
pub use profile::{ColumnProfile, FileProfile};
pub(crate) use rows::{Precision, RowBuffer};
pub use source::LookThrough;
pub(crate) use source::{NamedCursor, dropped_rows_in_words, empty_rows_in_words, open, open_labels, texts};
