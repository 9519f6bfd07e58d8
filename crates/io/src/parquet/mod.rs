//! `.parquet`: columns of numbers and words, in groups of rows.
//!
//! Columns may be integers of any size, signed or not, floating point numbers, booleans or text, with or without nulls (a
//! null is a missing value), compressed with snappy, gzip, zstd or lz4. Nested columns, dates and decimals cannot be used:
//! they have to be dropped. A column `__index_level_0__`, in which pandas keeps an index, is left out unless it is named.
//! Features are stored in single precision if the type of every feature column fits into it, else in double.
//!
//! Chunks of rows are read from all columns in parallel, a page of each at a time, so that memory holds a chunk and a page
//! per column, however large the file is.

#[cfg(feature = "parquet")]
mod bits;
#[cfg(feature = "parquet")]
mod codec;
#[cfg(feature = "parquet")]
mod column;
#[cfg(feature = "parquet")]
mod delta;
#[cfg(not(feature = "parquet"))]
mod disabled;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod rows;
#[cfg(feature = "parquet")]
mod schema;
#[cfg(feature = "parquet")]
mod source;
#[cfg(feature = "parquet")]
mod strings;
#[cfg(feature = "parquet")]
mod values;

#[cfg(not(feature = "parquet"))]
pub use disabled::ParquetSource;
#[cfg(feature = "parquet")]
pub use source::ParquetSource;
