//! Rows that are elsewhere: in files, in other processes, on other machines.
//!
//! A solver that does not hold the rows asks [`Question`]s about them, and each part of the rows answers with numbers
//! that add up. A question says everything that its answer depends on besides the rows: nothing is kept between two
//! questions but the rows themselves, so any process can answer, and one that was lost is replaced by one that reads
//! its rows again. The duals of rows are functions of the point too (`solver/rows` says how, for losses with kinks), so
//! nobody stores them.
//!
//! | Module | Task |
//! |---|---|
//! | `question` | what can be asked, and as bytes |
//! | `setting` | losses, weight, scaling, tasks: what turns rows of a file into observations of the problem |
//! | `answers` | what some rows answer |
//! | `sums` | the answers of all rows, taken apart |
//! | `resident` | rows in memory, cut into parts: the simplest [`Rows`] |

mod answers;
mod question;
mod resident;
mod setting;
mod sums;

pub(crate) use answers::{answering_duals, observed_curvatures};
pub use question::{GradeAt, Question, RowsPoint, TaskSquares};
pub use resident::ResidentRows;
pub use setting::{PreparedRows, RowsSetting};
pub(crate) use sums::{BalanceSums, CurveSums, GradeSums, LookSums, balancing_factors};

use crate::Result;

/// All rows of a fit, wherever they are.
///
/// Questions come one at a time. Answers of parts are added up in an order that depends on the list of parts alone, so
/// that the bits of a fit do not depend on who answers first.
pub trait Rows: Sync {
    /// What the questions that follow are about. Called once, before the first of them.
    ///
    /// # Errors
    /// If the rows cannot be reached.
    fn begin(&self, setting: &RowsSetting) -> Result<()>;

    /// The sum of the answers of all parts.
    ///
    /// # Errors
    /// If rows cannot be read; [`Error::Interrupted`](crate::Error::Interrupted) to end the fit with what it has.
    fn ask(&self, question: &Question) -> Result<Vec<f64>>;

    /// Whether rows are read again for each question: questions then should be few.
    fn reads_again(&self) -> bool;
}

impl std::fmt::Debug for dyn Rows + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rows")
    }
}

/// Adds an answer to a sum of answers, which may be none yet.
///
/// # Errors
/// [`Error::Incompatible`](crate::Error::Incompatible) if they are answers to different questions.
pub fn add_answer(sum: &mut Option<Vec<f64>>, answer: Vec<f64>) -> Result<()> {
    match sum {
        None => *sum = Some(answer),
        Some(sum) if sum.len() == answer.len() => crate::linalg::axpy(sum, 1.0, &answer),
        Some(sum) => {
            let (got, expected) = (answer.len(), sum.len());
            let why = format!("an answer about rows has {got} numbers, another one {expected}");
            return Err(crate::Error::Incompatible(why));
        }
    }
    Ok(())
}
