//! The tables and figures of the paper.
//!
//! An [`Experiment`] is a text: which methods are compared, on which data, by which protocol. Running it writes
//! one record per fit; tables, figures and pages are made from records alone.
//!
//! ```text
//! experiment.toml + data -> run -> records.jsonl -> page
//! ```
//!
//! A run may be stopped at any time; the next one continues it. Every fit uses one thread, and its seed depends
//! only on the number of its split: the same experiment and data give the same scores, however many fits run at
//! a time.

mod data;
mod error;
mod expected;
mod experiment;
mod job;
pub mod page;
mod published;
mod record;
mod run;
mod runtime;
mod split;
mod stats;

pub use data::{Folder, Origin};
pub use error::{Error, Result};
pub use expected::Expected;
pub use experiment::{Experiment, ITEMS, ItemKind};
pub use published::{find, published};
pub use record::{Record, RecordFile, Timing};
pub use run::{Options, RunSummary, run};
