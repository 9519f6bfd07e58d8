//! A pass over the rows of files.

use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::report::Report;
use crate::watch::PassWatch;
use crate::{chunks, interrupt, text, training};
use kinfolk_io::{ReadThreads, Source, Table};
use std::path::Path;

/// A pass over the rows of files.
pub(super) struct StreamPass<'a> {
    pub(super) data: &'a DataFiles,
    /// The part of the rows, if the files have several.
    pub(super) split: Option<i64>,
    /// Such as "pass 1 of 2, statistics".
    pub(super) name: String,
    /// Threads that read; 0 = one per core.
    pub(super) threads: usize,
    pub(super) report: Report,
}

/// What a pass found besides what its visitor did.
pub(super) struct PassEnd {
    /// Whether Ctrl-C or the visitor ended it early.
    pub(super) stopped: bool,
    pub(super) rows: usize,
    pub(super) unlabelled: usize,
    pub(super) seconds: f64,
}

impl StreamPass<'_> {
    /// Visits all rows with a label, until the visitor says no.
    pub(super) fn run(
        &self,
        source: &mut dyn Source,
        mut visit: impl FnMut(&Table) -> Result<bool>,
    ) -> Result<PassEnd> {
        source.use_threads(&ReadThreads::new(self.threads)?);
        let mut watch = PassWatch::new(self.name.clone(), source.n_rows(), self.report.quiet);
        let (mut rows, mut unlabelled) = (0usize, 0usize);
        let stopped = chunks::for_each_ahead(source, |table| {
            let (first, n) = (rows, table.n_rows());
            rows += n;
            let mut go_on = true;
            let about = |failure: Failure| failure.about(Path::new(&self.data.in_words()));
            if let Some(table) = training::part_of_chunk(table, self.split).map_err(about)? {
                let (table, missing) = table.labelled();
                unlabelled += missing;
                if table.n_rows() > 0 {
                    go_on = visit(&table).map_err(|failure| about(failure.in_rows(first, first + n - 1)))?;
                }
            }
            watch.seen(rows);
            Ok(go_on && !interrupt::asked())
        })?;
        Ok(PassEnd { stopped, rows, unlabelled, seconds: watch.finish() })
    }

    /// Says how long it took.
    pub(super) fn note(&self, end: &PassEnd) {
        let (rows, time) = (end.rows, text::seconds(end.seconds));
        let speed = end.rows as f64 / end.seconds.max(1e-9);
        self.report.note(format!("{}: {rows} rows in {time}, {speed:.0} a second", self.name));
    }
}
