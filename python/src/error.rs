//! Errors of the engine as Python exceptions.

use kinfolk::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use std::io::ErrorKind;

/// MemoryError, OSError or ValueError.
pub(crate) fn of_engine(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(text),
        // Of the code Python makes FileNotFoundError, PermissionError and so on.
        Error::Io { path, source } => match code(&source) {
            Some(code) => PyOSError::new_err((code, in_words(&source), path)),
            None => PyOSError::new_err(text),
        },
        _ => PyValueError::new_err(text),
    }
}

/// The code of the system's error. Where another error holds it, only its kind is left: these codes are the same on all
/// systems.
fn code(error: &std::io::Error) -> Option<i32> {
    error.raw_os_error().or(match error.kind() {
        ErrorKind::NotFound => Some(2),
        ErrorKind::PermissionDenied => Some(13),
        ErrorKind::AlreadyExists => Some(17),
        ErrorKind::NotADirectory => Some(20),
        _ => None,
    })
}

/// The system's words without its code, which Python prints too.
fn in_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}

pub(crate) fn of_method(error: kinfolk_train::Error) -> PyErr {
    match error {
        kinfolk_train::Error::Engine(error) => of_engine(error),
        other => PyValueError::new_err(other.to_string()),
    }
}

pub(crate) fn value(text: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(text.to_string())
}
