//! What can go wrong between a spec and its fit.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// From the engine.
    #[error(transparent)]
    Engine(#[from] kinfolk::Error),

    /// From reading a file.
    #[error(transparent)]
    Io(#[from] kinfolk_io::Error),

    /// A spec that is not understood, or makes no sense.
    #[error("{0}")]
    Spec(String),

    /// Ended by its observer before there was a model to keep.
    #[error("{0}")]
    Stopped(&'static str),

    /// A device that was asked for and cannot be used.
    #[error("{0}; --device cpu does without it")]
    Device(String),

    /// A file that has no task matrix for the tasks of the data.
    #[error("{}: {why}", .file.display())]
    TaskMatrix {
        /// The file.
        file: std::path::PathBuf,
        /// What is wrong.
        why: String,
    },

    /// No such method.
    #[error("there is no method {name:?}; the methods are {known}")]
    UnknownMethod {
        /// What was asked for.
        name: String,
        /// All names.
        known: String,
    },

    /// A parameter that the method does not have, or a value it cannot have.
    #[error("method {method}: {why}")]
    Param {
        /// The method.
        method: &'static str,
        /// What is wrong.
        why: String,
    },

    /// A study that cannot be done.
    #[error("{0}")]
    Study(String),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
