//! Tables with named columns: csv and parquet, read and written.

#[cfg(feature = "parquet")]
mod arrow;
mod common;
mod csv;
mod hostile_csv;
#[cfg(feature = "parquet")]
mod lists;
mod messy;
#[cfg(feature = "parquet")]
mod parquet;
mod recipe;
mod round_trip;
mod writer;
