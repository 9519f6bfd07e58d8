//! Tables with named columns: csv and parquet, read and written.

#[cfg(feature = "parquet")]
mod arrow;
mod common;
mod csv;
mod hostile_csv;
#[cfg(feature = "parquet")]
mod lists;
mod messy;
mod odd_cells;
#[cfg(feature = "parquet")]
mod parquet;
mod recipe;
mod round_trip;
#[cfg(feature = "parquet")]
mod typed;
mod writer;
