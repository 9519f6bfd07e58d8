//! One file per command: its options, what it does, what it says.

pub(crate) mod certify;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod man;
pub(crate) mod methods;
pub(crate) mod model;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod select;
pub(crate) mod theta;
