//! Tables in, tables out: files of many formats become the inputs and observations of a learning problem.
//!
//! ```text
//! file -> Source (chunks of rows) -> Table -> inputs, Observations
//! ```
//!
//! Every format is read by [`open`], a chunk of rows at a time; [`read`] puts the chunks together. What a
//! table means for learning (which column is the task, how "yes" and "no" become +1 and -1) is a [`Schema`].
//! It is stored in the model file, so that prediction needs no options. The formats are in one table, see
//! [`FileFormat`].
//!
//! | File | Inputs | Targets | Besides |
//! |---|---|---|---|
//! | `.npz` | array `X`, or kernel values `K` | see below | `feature_names`, `weight`, `offset`, `split` |
//! | `.npy` | the array | none | |
//! | `.csv`, `.csv.gz`, `.parquet` | columns of numbers, one-hot words | see [`ColumnRoles`] | the same |
//! | `.svm`, `.svmlight`, `.libsvm` (also `.gz`) | `index:value`, from 1 | label, `qid:` = task | in comments |
//!
//! Targets of an npz file are `y` (and `task`, with `task_names`), or `label` (with `class_names`), or `Y`
//! with a column for each task and NaN for missing labels. Comments of a svm file have a meaning if
//! [`write_table`] wrote it.
//!
//! # The same data, the same model
//!
//! Formats differ in what they can say; tables do not. Whether inputs are dense or sparse, in single or
//! double precision, depends on the numbers alone ([`Table`]), and names of tasks and classes come in
//! increasing order ([`Categorical`]). A table that is [written](write_table) comes back the same from every
//! format that can hold it.
//!
//! # Bad files
//!
//! An [`Error`] is one line with the file, the line or row, the column and the value, and with [`Hint`]s on
//! what to do. Memory grows with the data that come, not with what a header claims. Limits: 2^32 - 2 rows,
//! 2^31 features, 16,384 characters in a name of an npz file, 256 MiB in a line of text, and compressed data
//! may not grow to more than 256 MiB and 250 times their size at once. Pickled arrays are never read.

#[macro_use]
mod error;
#[macro_use]
mod names;
mod nearest;

mod assemble;
mod categories;
mod columns;
mod dates;
mod decimal;
mod dense_or_sparse;
mod digits;
mod families;
mod feature;
mod folds_by;
mod format;
mod frame;
mod generate;
mod label_encoding;
mod months;
mod observations;
mod read_threads;
mod schema;
mod schema_notes;
mod source;
mod spelling;
mod table;
mod text;
mod text_table;
mod two_values;

pub use categories::Categorical;
pub use columns::cells::{folded, part_in_words, split as part_number};
pub use columns::{ColumnProfile, FileProfile, LookThrough, is_partition};
pub use dates::{DateOrder, DatePart};
pub use digits::digits;
pub use error::{Error, Hint, Result};
pub use families::family;
pub use feature::{Decimal, Feature, MAX_LEVELS, Missing, NewGaps};
pub use folds_by::{FoldKeys, FoldsBy};
pub use format::{
    CellKind, Cells, FileFormat, TableWriter, columns_as, columns_of, format_names, format_of, npy_bytes,
    open, open_all, open_bytes, open_labels, open_looking, output_format_names, profile, read_array,
    read_texts, write_table, write_table_as,
};
pub use frame::{FrameCells, FrameColumn, FrameReading, FrameValue, read_frame};
pub use generate::{Generator, GroundTruth, Kinship};
pub use nearest::meant as meant_name;
pub use read_threads::ReadThreads;
pub use schema::{ColumnRoles, LabelEncoding, LeftOut, Role, Schema, Storage, TargetValues};
pub use source::{Source, read, read_all, read_bytes};
pub use table::{KeptColumn, Labels, Table, Targets};
pub use text::{is_unprintable, nfc, tidy_name};
pub use text_table::{ChooseColumns, TextTable};
