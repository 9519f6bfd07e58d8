//! What can go wrong with an experiment.

use std::path::{Path, PathBuf};

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An experiment makes no sense.
    #[error("experiment {item}: {why}")]
    Experiment {
        /// Its name.
        item: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file of records or figures cannot be read or written.
    #[error("{}: {why}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A data set cannot be read.
    #[error(transparent)]
    Data(#[from] kinfolk_io::Error),
    /// A fit failed.
    #[error(transparent)]
    Method(Box<kinfolk_train::Error>),
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] kinfolk::Error),
}

impl From<kinfolk_train::Error> for Error {
    fn from(error: kinfolk_train::Error) -> Self {
        Error::Method(Box::new(error))
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A file that cannot be read or written.
    pub fn file(path: &Path, why: impl std::fmt::Display) -> Self {
        Error::File { path: path.to_path_buf(), why: why.to_string() }
    }

    pub(crate) fn experiment(item: &str, why: impl std::fmt::Display) -> Self {
        Error::Experiment { item: item.to_string(), why: why.to_string() }
    }
}
