//! Which method, with which parameters: cross-validation on the same folds for all candidates.
//!
//! | Module | Task |
//! |---|---|
//! | `candidates` | from texts such as `fmtl:k=2` and `strength=0.1,1` to what is tried |
//! | `folds` | cutting data into parts that resemble each other |
//! | `study`, `training_fold` | the data of a study, and of one fold of it |
//! | `cv` | all fits of a cross-validation, several at a time |
//! | `holdout`, `splits` | winners scored on rows that selection did not see |
//! | `compare` | does joint learning help, and which tasks? |
//! | `results` | what was found, as one JSON object |

mod candidates;
mod compare;
mod cv;
pub mod folds;
mod holdout;
mod results;
mod splits;
mod study;
mod training_fold;

pub use candidates::{Axis, Candidate, candidates, candidates_from};
pub use compare::Comparison;
pub use cv::{FoldScorer, Row, Selection, cross_validate, cross_validate_on, mean_and_sd};
pub use folds::FoldRows;
pub use holdout::{Holdout, HoldoutResult, holdout};
pub use results::{BestRow, Refit, SelectionResults, Verdict};
pub use splits::{SplitResult, repeat};
pub use study::{Scored, Study};
