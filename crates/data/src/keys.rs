//! A column of names: tasks, classes.

use kinfolk::TaskNames;

/// Names of rows: which of the `names` each row has.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys {
    /// One per row.
    pub index: Vec<u32>,
    /// In the order of the file if it lists them, else increasing; some may be without rows.
    pub names: TaskNames,
}
