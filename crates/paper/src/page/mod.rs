//! A page with all tables and figures, made of records alone.

mod claim;
mod overall;
mod table;
mod theta;
mod words;

use crate::experiment::{Experiment, ITEMS, ItemKind};
use crate::record::{Record, RecordFile};
use crate::{Expected, Origin, Result};
use std::fmt::Write;
use std::path::Path;

/// A page and what it shows.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its text.
    pub markdown: String,
    /// Pictures that it links.
    pub pictures: Vec<Picture>,
    /// How it links them: the folder of pictures, seen from the page.
    folder: String,
}

impl Page {
    /// Shows a picture.
    pub(crate) fn show(&mut self, name: String, svg: String, alt: &str, text: &mut String) {
        let _ = writeln!(text, "\n![{alt}]({}/{name})", self.folder);
        self.pictures.push(Picture { name, svg });
    }
}

/// Names of files from names of sets: letters, digits and dashes.
pub(crate) fn slug(name: &str) -> String {
    let letters: String =
        name.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    letters.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// A picture.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Its file, in the folder of pictures.
    pub name: String,
    /// Its contents.
    pub svg: String,
}

const TOP: &str = "\
# The paper, reproduced

Every number on this page was written by `kinfolk-paper` from the records in `paper/results`: one line of JSON for each
fit, with everything that was tried. [paper/README.md](../paper/README.md) says how to run the experiments and how to
write this page again. The protocol of each item, and what the paper reports, are in `paper/ITEM/`. Scores are in
percent, with their standard deviation over splits; differences to the paper are in standard errors of the two means,
and gains over other methods are means of differences split by split, with their standard errors.
";

/// The page of all records in a folder, with its pictures in another, seen from the page.
///
/// # Errors
/// If records cannot be read.
pub fn of_folder(folder: &Path, pictures: &str) -> Result<Page> {
    let mut page = Page { markdown: TOP.to_string(), pictures: vec![], folder: pictures.to_string() };
    let mut sections = String::new();
    let mut short = String::new();
    let mut differences = vec![];
    for item in ITEMS {
        let path = folder.join(format!("{item}.jsonl"));
        if !path.is_file() {
            continue;
        }
        let experiment = Experiment::named(item)?;
        let _ = write!(sections, "\n## {}\n\n{}", experiment.title, experiment.about.trim_start());
        if experiment.kind == ItemKind::Runtime {
            crate::runtime::page(
                &experiment,
                &RecordFile::open(&path)?.all,
                &mut sections,
                &mut short,
                &mut page,
            );
            continue;
        }
        let records: Vec<Record> = RecordFile::open(&path)?.all;
        if records.iter().any(|record| record.origin == Origin::Generated) {
            sections.push_str(
                "\nSome rows are of a quick run on generated data: they only show that it works.\n",
            );
        }
        match experiment.kind {
            ItemKind::Theta => theta::section(&experiment, &records, &mut sections, &mut page)?,
            _ => {
                let expected = Expected::of(item)?;
                table::section(&experiment, &records, &expected, &mut sections);
                differences.extend(claim::section(
                    &experiment,
                    &records,
                    &expected,
                    &mut sections,
                    &mut short,
                ));
            }
        }
        let seconds: f64 = records.iter().map(|record| record.seconds + record.choosing).sum();
        let fits: usize = records.iter().map(|record| 1 + record.tried.len()).sum();
        let _ = writeln!(
            sections,
            "\n{} of {} units of these sets are done: {fits} settings, {} of fitting, each on one thread.",
            records.len(),
            wanted(&experiment, &records),
            words::duration(seconds)
        );
    }
    if !short.is_empty() {
        let _ = write!(page.markdown, "\n## In short\n\n{short}");
    }
    overall::section(&differences, &mut page.markdown);
    page.markdown.push_str(&sections);
    Ok(page)
}

/// Units of all sets that have records.
fn wanted(experiment: &Experiment, records: &[Record]) -> usize {
    let begun = experiment.sets.iter().filter(|set| records.iter().any(|record| record.set == set.name));
    begun.map(|set| experiment.splits_of(set) * experiment.methods_on(set).count()).sum()
}
