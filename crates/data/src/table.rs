//! What a file holds, before it is a learning problem.

use crate::Keys;
use kinfolk::{Inputs, Matrix, TaskNames};

/// Rows of a file.
///
/// Inputs are dense or sparse by their contents, not by the format they came in: sparse if at most a tenth of the numbers
/// is not zero. So the same numbers give the same model to the last bit, whatever file they are in.
#[derive(Debug)]
pub struct Table {
    /// Features, or kernel values (array `K`): a Gram matrix when read for fitting, rows against the training inputs when
    /// read for prediction.
    pub inputs: Inputs<'static>,
    /// Names of the features, if the file has them.
    pub features: Option<Vec<String>>,
    /// What is to be learned, if the file says.
    pub targets: Targets,
    /// One weight per row.
    pub weight: Option<Vec<f64>>,
    /// Part of each row (0 = train, 1 = test, 2 = validation by custom).
    pub split: Option<Vec<i64>>,
}

/// The labels of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// There are none: good enough for prediction.
    None,
    /// Each row belongs to one task and has one label.
    Tasks {
        /// Task of each row.
        task: Keys,
        /// Label of each row; `None` if the file has tasks only, for prediction.
        label: Option<Labels>,
    },
    /// Each row has one class.
    Classes(Keys),
    /// Each row has a label for every task, or none (NaN) for some.
    Wide {
        /// Rows x tasks.
        label: Matrix,
        /// Names of the tasks.
        tasks: TaskNames,
    },
}

/// Labels of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Labels {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Words: "yes", "no".
    Words(Keys),
}
