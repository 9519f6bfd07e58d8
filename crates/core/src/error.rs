//! Everything that can be wrong with what a caller hands in, each with the place and the value.
//!
//! Ending early is not an error: see [`crate::Status`]. An [`Error`] means that there is no usable answer.

/// `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why no answer could be given. Rows and columns count from zero, as in the caller's arrays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to learn from.
    #[error("{what} is empty")]
    Empty {
        /// The empty thing.
        what: &'static str,
    },

    /// Two arrays that must have the same length do not.
    #[error("{what} has length {got}, expected {expected}")]
    Length {
        /// The array of the wrong length.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length that fits the rest.
        expected: usize,
    },

    /// NaN or infinity among the inputs.
    #[error("input row {row}, column {column}: {value} is not a finite number")]
    NonFiniteInput {
        /// Row of the first such entry.
        row: usize,
        /// Its column.
        column: usize,
        /// Its value.
        value: f64,
    },

    /// An input so large that its square is not a number.
    #[error(
        "input row {row}: its kernel value with itself is {value}, outside the range of double precision"
    )]
    KernelRange {
        /// Row of the first such input.
        row: usize,
        /// k(x, x).
        value: f64,
    },

    /// A label that the loss of its task cannot take.
    #[error(
        "observation {row} (task {task}): label {value} does not suit the {loss} loss, which expects {expected}"
    )]
    Label {
        /// Observation.
        row: usize,
        /// Name of its task.
        task: String,
        /// The label.
        value: f64,
        /// Name of the loss.
        loss: &'static str,
        /// What the loss takes and how to convert.
        expected: &'static str,
    },

    /// Labels so large that their losses are not numbers.
    #[error(
        "observation {row} (task {task}): label {value:e} is too large: the {loss} losses of all labels do not add up \
         to a finite number; scale the labels"
    )]
    LabelRange {
        /// The observation with the largest loss.
        row: usize,
        /// Name of its task.
        task: String,
        /// The label.
        value: f64,
        /// Name of the loss.
        loss: &'static str,
    },

    /// A task index beyond the last task.
    #[error("observation {row}: task {task} is out of range, there are {n_tasks} tasks")]
    TaskOutOfRange {
        /// Observation.
        row: usize,
        /// The index given.
        task: usize,
        /// Number of tasks.
        n_tasks: usize,
    },

    /// An input index beyond the last input.
    #[error("observation {row}: input {input} is out of range, there are {n_inputs} inputs")]
    InputOutOfRange {
        /// Observation.
        row: usize,
        /// The index given.
        input: usize,
        /// Number of inputs.
        n_inputs: usize,
    },

    /// A task name that the model does not know.
    #[error("task {name:?} is unknown; the tasks are {known}")]
    UnknownTask {
        /// The name asked for.
        name: String,
        /// The first few known names.
        known: String,
    },

    /// Two tasks of the same name.
    #[error("task name {name:?} is given twice, to tasks {first} and {second}")]
    DuplicateTask {
        /// The name.
        name: String,
        /// First task so named.
        first: usize,
        /// Second task so named.
        second: usize,
    },

    /// A weight that is negative, infinite or NaN.
    #[error("observation weight {row}: {value} is not a non-negative finite number")]
    Weight {
        /// Observation or task.
        row: usize,
        /// The weight.
        value: f64,
    },

    /// An offset that is infinite or NaN.
    #[error("observation offset {row}: {value} is not a finite number")]
    Offset {
        /// Observation.
        row: usize,
        /// The offset.
        value: f64,
    },

    /// Every observation has weight zero.
    #[error("all observation weights are zero")]
    AllWeightsZero,

    /// A parameter outside its range.
    #[error("{name} = {value}: {expected}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its range.
        expected: &'static str,
    },

    /// A name, with or without a parameter, that stands for nothing.
    #[error("{what} {text:?} is not understood: {why}")]
    Parse {
        /// What was to be named.
        what: &'static str,
        /// The text given.
        text: String,
        /// What is wrong with it, or what is known instead.
        why: String,
    },

    /// The function given for a regulariser is not convex.
    #[error("the series is not convex: its second derivative at z = {z} is {value}")]
    NotConvex {
        /// Where it shows.
        z: f64,
        /// The second derivative there, negative.
        value: f64,
    },

    /// A Gram matrix that is not symmetric.
    #[error(
        "Gram matrix is not symmetric: entry ({row}, {column}) is {value}, entry ({column}, {row}) is {mirror}"
    )]
    GramAsymmetric {
        /// Row of the first such entry.
        row: usize,
        /// Its column.
        column: usize,
        /// Its value.
        value: f64,
        /// The value on the other side of the diagonal.
        mirror: f64,
    },

    /// A matrix that must have as many columns as rows.
    #[error("{what} has {rows} rows and {columns} columns, expected as many columns as rows")]
    NotSquare {
        /// Which matrix.
        what: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },

    /// An entry of a matrix outside its range.
    #[error("{what}: entry ({row}, {column}) is {value}, {expected}")]
    Entry {
        /// Which matrix.
        what: &'static str,
        /// Row of the first such entry.
        row: usize,
        /// Its column.
        column: usize,
        /// Its value.
        value: f64,
        /// Its range.
        expected: &'static str,
    },

    /// A matrix that should be symmetric and is not, beyond rounding.
    #[error(
        "{what} is not symmetric: entry ({row}, {column}) is {value}, entry ({column}, {row}) is {mirror}"
    )]
    Asymmetric {
        /// Which matrix.
        what: &'static str,
        /// Row of the first such entry.
        row: usize,
        /// Its column.
        column: usize,
        /// Its value.
        value: f64,
        /// The value on the other side of the diagonal.
        mirror: f64,
    },

    /// A matrix that should be positive semidefinite and is not, beyond rounding.
    #[error("{what} is not positive semidefinite: {detail}")]
    NotPsd {
        /// Which matrix.
        what: &'static str,
        /// Row, column and value that show it.
        detail: String,
    },

    /// A sparse matrix whose index arrays contradict each other.
    #[error("sparse input row {row}: {detail}")]
    Sparse {
        /// Row.
        row: usize,
        /// What is wrong, with the value.
        detail: String,
    },

    /// Inputs of a different kind or width than the model was fitted on.
    #[error("{0}")]
    Incompatible(String),

    /// A device failed.
    #[error("{device}: {reason}")]
    Device {
        /// Its name.
        device: String,
        /// What happened.
        reason: String,
    },

    /// The work does not fit the memory budget, not even in blocks.
    #[error("{what} needs {needed} bytes of memory, the budget is {budget} bytes")]
    Memory {
        /// The work.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },

    /// A solver that cannot solve this kind of problem.
    #[error("solver {solver} cannot solve this problem: {why}")]
    Unsuitable {
        /// Name of the solver.
        solver: &'static str,
        /// Why, and what can.
        why: String,
    },

    /// A regulariser of Theta as a whole where a sum over its entries is needed.
    #[error("the {regularizer} regulariser of Theta is no sum over its entries")]
    NotEntrywise {
        /// Its name.
        regularizer: &'static str,
    },

    /// A relation between tasks that cannot be used.
    #[error("atom {name:?}: {why}")]
    Atom {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },

    /// A certificate term that must not be negative came out negative beyond rounding: a bug in a loss or
    /// regulariser.
    #[error("observation {observation}: its term of the duality gap is {term}, which must not be negative")]
    NegativeGap {
        /// Observation.
        observation: usize,
        /// The term.
        term: f64,
    },

    /// A dual variable outside the domain of its loss.
    #[error("observation {observation}: dual variable {value} is outside [{low}, {high}]")]
    Infeasible {
        /// Observation.
        observation: usize,
        /// Its dual variable.
        value: f64,
        /// Lower end of its domain.
        low: f64,
        /// Upper end of its domain.
        high: f64,
    },

    /// Duals of a task that do not add up to zero although its intercept is free.
    #[error("task {task:?}: its dual variables add up to {sum}, which a free intercept does not allow")]
    DualSum {
        /// Name of the task.
        task: String,
        /// The sum.
        sum: f64,
    },

    /// Work that an [`Interrupt`](crate::backend::Interrupt) ended. Fits do not return it: they end with a
    /// [`Status`](crate::Status).
    #[error("interrupted")]
    Interrupted,

    /// A model file that cannot be read, or a model that cannot be written.
    #[error("model file: {0}")]
    Model(String),

    /// Reading or writing failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}
