//! Data files on the command line: several of them, patterns and folders, or standard input.

use crate::failure::{Failure, Result, argument};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// Files that are read one after the other, as if they were one.
#[derive(Debug, Clone)]
pub(crate) struct DataFiles {
    files: Vec<PathBuf>,
    /// What named them.
    arguments: Vec<PathBuf>,
}

impl DataFiles {
    /// The files that arguments name: a file, a pattern that the shell left alone, a folder, or `-`.
    pub(crate) fn find(arguments: &[PathBuf]) -> Result<Self> {
        let mut files = vec![];
        for argument in arguments {
            match argument.to_str() {
                _ if argument.is_dir() => files.extend(in_folder(argument)?),
                Some(pattern) if !argument.exists() && pattern.contains(['*', '?', '[']) => {
                    files.extend(fitting(argument, pattern)?);
                }
                _ => files.push(argument.clone()),
            }
        }
        Ok(DataFiles { files, arguments: arguments.to_vec() })
    }

    /// What named them, as one would type it in a shell: patterns and folders as they were given.
    pub(crate) fn as_given(&self) -> String {
        let words = self.arguments.iter().map(|path| argument(&path.display().to_string()));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Whether rows come from standard input, which is gone after the command.
    pub(crate) fn has_stdin(&self) -> bool {
        self.files.iter().any(|path| path.as_os_str() == "-")
    }

    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.files
    }

    /// The first one, which stands for all in messages.
    pub(crate) fn first(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Their size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|path| std::fs::metadata(path).map_or(0, |metadata| metadata.len())).sum()
    }

    /// One name, or the first and how many more.
    pub(crate) fn in_words(&self) -> String {
        let first =
            if self.first() == Path::new("-") { "stdin".into() } else { self.first().display().to_string() };
        match self.files.len() {
            0 | 1 => first,
            2 => format!("{first} and 1 more file"),
            n => format!("{first} and {} more files", n - 1),
        }
    }
}

/// A name, or a list of several.
impl Serialize for DataFiles {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self.files.as_slice() {
            [one] => one.serialize(to),
            several => several.serialize(to),
        }
    }
}

/// The files of a folder that can be read, by name, and those of its folders that are called `column=value`.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    add_files(folder, &mut files)?;
    files.sort();
    match files.is_empty() {
        true => Err(Failure::input("the folder has no data files").about(folder)),
        false => Ok(files),
    }
}

/// Other folders inside are an error if they have data files: rows would be missing without a word.
fn add_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let wrong = |error: std::io::Error| Failure::input(error).about(folder);
    let is_data = |path: &Path| path.is_file() && kinfolk_io::format_of(path).is_ok();
    let is_hidden = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(['.', '_']))
    };
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if is_data(&path) {
            files.push(path);
        } else if path.is_dir() && kinfolk_io::is_partition(&path) {
            add_files(&path, files)?;
        } else if path.is_dir() && !is_hidden(&path) {
            let mut inside = std::fs::read_dir(&path).map_err(wrong)?.filter_map(std::result::Result::ok);
            if inside.any(|entry| is_data(&entry.path())) {
                let all = folder.join("**").join("*");
                return Err(Failure::input(format!(
                    "a folder with data files that is not called column=value: for the rows of all folders give the \
                     pattern {:?}",
                    all.display().to_string()
                ))
                .about(&path));
            }
        }
    }
    Ok(())
}

fn fitting(argument: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let wrong = |why: String| Failure::input(why).about(argument);
    let found = glob::glob(pattern).map_err(|error| wrong(error.to_string()))?;
    let files: Vec<PathBuf> = found.filter_map(|path| path.ok()).filter(|path| path.is_file()).collect();
    match files.is_empty() {
        true => Err(wrong("no file fits".into())),
        false => Ok(files),
    }
}
