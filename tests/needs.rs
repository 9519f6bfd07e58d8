//! What some tests need and a bare clone may not have: data sets, a Python with packages. Included by
//! `#[path]`.
//!
//! A test without what it needs is skipped, never silently: a line starting with SKIPPED goes to stderr and,
//! since cargo hides the output of tests that pass, into the file that `$KINFOLK_SKIPS` names. `./test`
//! prints that file at its end.

#![allow(dead_code, clippy::unwrap_used, missing_docs)] // each test uses its part

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace, seen from a crate in crates/.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Notes that a test, or a part of it, did not run.
pub(crate) fn skipped(test: &str, why: &str) {
    let line = format!("SKIPPED: {test}: {why}\n");
    eprint!("{line}");
    if let Some(path) = std::env::var_os("KINFOLK_SKIPS") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

/// The data sets: `$KINFOLK_DATA`, else `shared/data` beside the project.
pub(crate) fn data_folder(test: &str) -> Option<PathBuf> {
    let beside = Path::new(ROOT).join("../shared/data");
    let folder = std::env::var_os("KINFOLK_DATA").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        skipped(test, &format!("no data sets: {} is no folder (set KINFOLK_DATA)", folder.display()));
        return None;
    }
    Some(folder)
}

/// One file of them.
pub(crate) fn data_file(test: &str, name: &str) -> Option<PathBuf> {
    let file = data_folder(test)?.join(name);
    if !file.is_file() {
        skipped(test, &format!("there is no {}", file.display()));
        return None;
    }
    Some(file)
}

/// A Python that can import these modules: `$KINFOLK_PYTHON`, which must, else that of the workspace.
pub(crate) fn python(test: &str, modules: &str) -> Option<PathBuf> {
    let works = |python: &Path| {
        let imports = Command::new(python).args(["-c", &format!("import {modules}")]).output();
        imports.is_ok_and(|output| output.status.success())
    };
    if let Some(python) = std::env::var_os("KINFOLK_PYTHON").map(PathBuf::from) {
        assert!(works(&python), "KINFOLK_PYTHON = {python:?} cannot import {modules}");
        return Some(python);
    }
    // Not canonical: a virtual environment is found by the path of its link.
    let python = std::path::absolute(format!("{ROOT}/.venv/bin/python")).unwrap();
    if !works(&python) {
        skipped(test, &format!("no Python with {modules} in .venv, and KINFOLK_PYTHON is not set"));
        return None;
    }
    Some(python)
}
