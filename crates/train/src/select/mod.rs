//! Which method, with which parameters: cross-validation on the same folds for all candidates.
//!
//! | Module | Task |
//! |---|---|
//! | `candidates` | from texts such as `fmtl:k=2` and `strength=0.1,1` to what is tried |
//! | `folds` | cutting data into parts that resemble each other |
//! | `keyed_folds` | folds of whole groups, of whole tasks, and in the order of time |
//! | `study`, `training_fold` | the data of a study, and of one fold of it |
//! | `open_folds`, `fold_fits` | folds ready for fits; the fits of all folds, several at a time |
//! | `held_out` | scores of held-out predictions of all folds together |
//! | `search`, `axes` | what is tried of a candidate: all of its settings, or one axis after another |
//! | `kernels`, `screen`, `ridge` | kernels to choose from, without those that are hopeless on some rows |
//! | `growth` | grids of weights, which grow where the best is at their edge |
//! | `cv` | cross-validation: fits, scores, the best of each candidate |
//! | `holdout`, `splits` | winners scored on rows that selection did not see |
//! | `compare`, `noise` | does joint learning help, and which tasks? |
//! | `results` | what was found, as one JSON object |

mod axes;
mod candidates;
mod compare;
mod cv;
mod fold_fits;
pub mod folds;
mod growth;
mod held_out;
mod holdout;
mod kernels;
mod keyed_folds;
mod noise;
mod open_folds;
mod results;
mod ridge;
mod screen;
mod search;
mod splits;
mod study;
mod training_fold;

pub use candidates::{Axis, Candidate, SettingAxes, candidates, candidates_from};
pub use compare::Comparison;
pub use cv::{ReplacedMetric, Row, Selection, cross_validate, cross_validate_on, mean_and_sd};
pub use fold_fits::FoldScorer;
pub use folds::{FoldOrder, FoldRows};
pub use growth::GrownGrid;
pub use held_out::HeldOut;
pub use holdout::{Holdout, HoldoutResult, holdout};
pub use kernels::KernelGrid;
pub use keyed_folds::cut;
pub use results::{BestRow, Refit, SelectionResults, Verdict};
pub use splits::{SplitResult, repeat};
pub use study::{Scored, Study};

pub(crate) use candidates::{POOLED, STL};
pub(crate) use cv::defined_metric;
pub(crate) use kernels::{
    NEXT_GAMMA, must_be_clearly_better, rbf_kernels, rounded, too_many_for_kernels, tries_kernels,
};
pub(crate) use keyed_folds::one_task_per_row;
pub(crate) use ridge::{ROWS_OF_A_LONG_LOOK, ROWS_OF_A_LOOK, ridge_errors};
pub(crate) use study::StudyRows;
pub(crate) use training_fold::TrainingFold;
