//! `kinfolk fit --stream`: files that are read in chunks and never held in memory, for the squared loss.
//!
//! The first pass adds up statistics, which are all that the fit needs. The second certifies the model from the rows.

use crate::chunks;
use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::report::Report;
use crate::watch::{PassWatch, Watch};
use crate::{interrupt, text, training};
use kinfolk::{Certificate, CertifyOptions, Start, Statistics, StatisticsOptions};
use kinfolk_io::{ColumnRoles, LabelEncoding, Schema, Source, Storage, Table, Targets};
use kinfolk_train::{Data, FitSpec, Trained, Training};
use std::fs;
use std::path::{Path, PathBuf};

/// A pass over the rows of files.
struct StreamPass<'a> {
    data: &'a DataFiles,
    spec: &'a FitSpec,
    number: usize,
    what: &'static str,
    report: Report,
}

/// Fits a spec to files in two passes.
pub(super) fn fit(data: &DataFiles, spec: &FitSpec, report: Report) -> Result<Trained> {
    check(spec)?;
    check_files(data)?;
    let (statistics, schema) = first_pass(data, spec, report)?;
    tracing::info!("{}: {} tasks", data.in_words(), statistics.tasks().len());
    // From here on Ctrl-C ends with the model reached.
    interrupt::end_well();
    let mut training = Training::new(spec, Data::Statistics(&statistics))
        .map_err(|error| Failure::of_data(error, data.first()))?;
    training.schema = schema;
    let mut watch = Watch::new(spec.tol, report.quiet, None);
    let trained = training.fit(spec, Start::Cold, &mut watch);
    watch.finish();
    let mut trained = trained?;
    second_pass(data, spec, report, &mut trained)?;
    Ok(trained)
}

fn check(spec: &FitSpec) -> Result<()> {
    match &spec.folds_by {
        Some(_) => Err(Failure::usage("--folds-by needs all rows in memory: leave out --stream, or give C")),
        None => Ok(()),
    }
}

/// `Err` if a file can be read only once.
fn check_files(data: &DataFiles) -> Result<()> {
    let is_once = |path: &&PathBuf| fs::metadata(path).is_ok_and(|file| !file.is_file());
    match data.paths().iter().find(|path| path.as_os_str() == "-" || is_once(path)) {
        Some(path) => {
            Err(Failure::usage("--stream reads it twice, and it can be read once only: leave out --stream")
                .about(path))
        }
        None => Ok(()),
    }
}

/// Statistics of all rows, and how they are read.
fn first_pass(data: &DataFiles, spec: &FitSpec, report: Report) -> Result<(Statistics, Schema)> {
    let mut source = kinfolk_io::open_all(data.paths(), &spec.columns_to_read(), None)?;
    let rows = source.n_rows().map_or(String::new(), |n| format!(", {n} rows"));
    let files = text::plural(data.paths().len(), "file");
    report.note(format!("{files}, {}{rows}: two passes", text::bytes(data.bytes())));
    let options =
        StatisticsOptions { memory: spec.memory.0, threads: spec.threads, ..StatisticsOptions::default() };
    let mut statistics = Statistics::new(&options);
    let pass = StreamPass { data, spec, number: 1, what: "statistics", report };
    pass.run(&mut *source, |table| {
        let observations = table.observations(&LabelEncoding::Numbers)?;
        Ok(statistics.update(&table.inputs, &observations)?)
    })?;
    if statistics.n_inputs() == 0 {
        return Err(Failure::input("there are no rows with a label").about(data.first()));
    }
    let mut schema = source.schema();
    schema.n_features = statistics.n_features();
    schema.storage = if statistics.is_sparse() { Storage::Sparse } else { Storage::Dense };
    schema.label_encoding = LabelEncoding::Numbers;
    Ok((statistics, schema))
}

/// Certifies a model from the rows. Ctrl-C leaves the certificate of the statistics.
fn second_pass(data: &DataFiles, spec: &FitSpec, report: Report, trained: &mut Trained) -> Result<()> {
    let options = CertifyOptions { memory: spec.memory.0, threads: spec.threads, device: None };
    match certificate(data, &ColumnRoles::default(), &options, report, trained)? {
        Some(certificate) => Ok(trained.model.set_certificate(certificate, spec.tol)?),
        None => {
            report.note("stopped: the certificate is about the statistics, and not yet from the rows");
            Ok(())
        }
    }
}

/// The certificate of a model from statistics, by a pass over its rows; `None` if Ctrl-C ended it.
pub(crate) fn certificate(
    data: &DataFiles,
    columns: &ColumnRoles,
    options: &CertifyOptions,
    report: Report,
    trained: &Trained,
) -> Result<Option<Certificate>> {
    let mut source = trained.open(data.paths(), columns)?;
    let mut parts = trained.model.certify_parts(options)?;
    let pass = StreamPass { data, spec: &trained.spec, number: 2, what: "certificate", report };
    let stopped = pass.run(&mut *source, |table| {
        let observations = table.observations_in(&LabelEncoding::Numbers, trained.model.tasks())?;
        Ok(parts.add(&table.inputs, &observations)?)
    })?;
    if stopped {
        return Ok(None);
    }
    Ok(Some(parts.finish().map_err(|error| Failure::from(error).about(data.first()))?))
}

impl StreamPass<'_> {
    /// Visits all rows with a label; whether Ctrl-C ended it early.
    fn run(&self, source: &mut dyn Source, mut visit: impl FnMut(&Table) -> Result<()>) -> Result<bool> {
        let name = format!("pass {} of 2, {}", self.number, self.what);
        let mut watch = PassWatch::new(name, source.n_rows(), self.report.quiet);
        let (mut rows, mut unlabelled) = (0usize, 0usize);
        let stopped = chunks::for_each_ahead(source, |table| {
            let (first, n) = (rows, table.n_rows());
            rows += n;
            let about = |failure: Failure| failure.about(Path::new(&self.data.in_words()));
            if let Some(table) = training::part_of_chunk(table, self.spec.split).map_err(about)? {
                let (table, missing) = table.labelled();
                unlabelled += missing;
                check_numbers(&table).map_err(about)?;
                if table.n_rows() > 0 {
                    visit(&table).map_err(|failure| about(failure.in_rows(first, first + n - 1)))?;
                }
            }
            watch.seen(rows);
            Ok(!interrupt::asked())
        })?;
        let seconds = watch.finish();
        if self.number == 1 && unlabelled > 0 {
            let are = if unlabelled == 1 { "row without a label is" } else { "rows without a label are" };
            self.report.note(format!("{unlabelled} {are} left out"));
        }
        if !stopped {
            let speed = rows as f64 / seconds.max(1e-9);
            let time = text::seconds(seconds);
            self.report.note(format!(
                "pass {} of 2, {}: {rows} rows in {time}, {speed:.0} a second",
                self.number, self.what
            ));
        }
        Ok(stopped)
    }
}

/// `Err` if labels are classes.
fn check_numbers(table: &Table) -> Result<()> {
    let why = "its labels are classes, and --stream is for numbers with the squared loss; leave it out";
    match &table.targets {
        Targets::Classes(_) => Err(Failure::input(why)),
        Targets::Tasks { label: Some(kinfolk_io::Labels::Words(_)), .. } => Err(Failure::input(why)),
        _ => Ok(()),
    }
}
