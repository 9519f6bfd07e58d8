//! Experiments from recipes: what is compared, on which data, by which protocol, is a text; what came out is a list of records; tables,
//! figures and pages are made of records alone.
//!
//! ```text
//! recipe + data -> run -> records.jsonl -> page
//! ```
//!
//! The recipes of the paper's tables and figures are built in ([`Recipe::named`]). A run may be stopped at any time and goes on where it
//! was. Every fit has one thread, and a seed that depends on the number of its split alone: the same recipe and data give the same
//! scores, however many fits run at a time.

mod cut;
mod data;
mod error;
mod expected;
pub mod page;
mod published;
mod recipe;
mod record;
mod run;
mod runtime;
mod stats;
mod unit;

pub use data::{Folder, Origin};
pub use error::{Error, Result};
pub use expected::Expected;
pub use published::{find, published};
pub use recipe::{ITEMS, Kind, Recipe};
pub use record::{Record, Records, Timing};
pub use run::{Options, Outcome, run};
