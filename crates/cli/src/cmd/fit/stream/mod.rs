//! `kinfolk fit --stream`: files that are read in chunks and never held in memory.
//!
//! The first pass adds up statistics. For the squared loss they are all that the fit needs, and the second pass
//! certifies the model from the rows. For other losses some of the rows give a first model, and all of them are read
//! again for each question that Newton's method asks.

mod labels;
mod pass;
mod rows;

use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::limits::Need;
use crate::report::Report;
use crate::watch::Watch;
use crate::{interrupt, text};
use kinfolk::{Certificate, CertifyOptions, LossKind, Start, Statistics, StatisticsOptions};
use kinfolk_io::{ColumnRoles, LabelEncoding, LookThrough, Schema, Storage};
use kinfolk_train::{Data, FitSpec, Trained, Training};
use labels::FoundLabels;
use pass::StreamPass;
use rows::{StreamState, StreamedRows};
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// Fits a spec to files.
pub(super) fn fit(data: &DataFiles, spec: &FitSpec, report: Report) -> Result<Trained> {
    StreamedData::read(data, spec, report)?.fit(data, spec, report)
}

/// What one pass over the rows of files finds out.
pub(crate) struct StreamedData {
    pub(crate) statistics: Statistics,
    pub(crate) schema: Schema,
    /// Of the pass.
    seconds: f64,
}

impl StreamedData {
    /// Reads all rows once.
    pub(crate) fn read(data: &DataFiles, spec: &FitSpec, report: Report) -> Result<Self> {
        check(spec)?;
        check_files(data)?;
        let read = match first_passes(data, spec, LookThrough::Start, report) {
            Err(failure) if failure.is_cured_by_look => {
                report.note(format!(
                    "{failure}: all rows are looked through before, to fill in what is missing"
                ));
                first_passes(data, spec, LookThrough::All, report)?
            }
            other => other?,
        };
        tracing::info!("{}: {} tasks", data.in_words(), read.statistics.tasks().len());
        Ok(read)
    }

    /// Fits a spec to all rows, which are read again to certify the model.
    pub(crate) fn fit(&self, data: &DataFiles, spec: &FitSpec, report: Report) -> Result<Trained> {
        fit_read(data, spec, self, report)
    }
}

fn fit_read(data: &DataFiles, spec: &FitSpec, read: &StreamedData, report: Report) -> Result<Trained> {
    let StreamedData { statistics, schema, .. } = read;
    let rows = StreamedRows {
        data,
        split: spec.split,
        schema,
        tasks: statistics.tasks(),
        threads: spec.threads,
        report,
        state: Mutex::default(),
    };
    let trained = of_rows(spec, data, read, &rows, report);
    let StreamState { failure, questions, seconds, .. } =
        rows.state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(failure) = failure {
        return Err(failure);
    }
    if questions > 0 {
        report.note(format!("{questions} more passes over the rows, in {}", text::seconds(seconds)));
    }
    let mut trained = trained?;
    if is_squared(&trained) {
        second_pass(data, spec, report, &mut trained)?;
    }
    Ok(trained)
}

fn is_squared(trained: &Trained) -> bool {
    trained.model.about().problem.loss == LossKind::Squared.into()
}

/// A fit of rows that are asked as often as their loss needs it.
fn of_rows(
    spec: &FitSpec,
    data: &DataFiles,
    read: &StreamedData,
    rows: &StreamedRows<'_>,
    report: Report,
) -> Result<Trained> {
    let schema = rows.schema.clone();
    let mut training = Training::new(spec, Data::Rows(&read.statistics, rows))
        .map_err(|error| Failure::of_data(error, data.first()))?;
    training.schema = schema;
    if training.losses != LossKind::Squared.into() {
        let each = text::seconds(read.seconds);
        report.note(format!(
            "the rows are read again as often as Newton's method asks about them, some ten times or more: {each} each"
        ));
    }
    // From here on Ctrl-C ends with the model reached.
    interrupt::end_well();
    let mut watch = Watch::new(spec, report.quiet, None);
    let trained = training.fit(spec, Start::Cold, &mut watch);
    watch.finish();
    Ok(trained?)
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
fn first_passes(data: &DataFiles, spec: &FitSpec, look: LookThrough, report: Report) -> Result<StreamedData> {
    let found = labels::look_through(data, spec, look, report)?;
    first_pass(data, spec, &found, look, report)
}

fn first_pass(
    data: &DataFiles,
    spec: &FitSpec,
    found: &FoundLabels,
    look: LookThrough,
    report: Report,
) -> Result<StreamedData> {
    let mut source = kinfolk_io::open_looking(data.paths(), &spec.columns_to_read(), look)?;
    let rows = source.n_rows().map_or(String::new(), |n| format!(", {n} rows"));
    let files = text::plural(data.paths().len(), "file");
    let squared = found.encoding == LabelEncoding::Numbers
        && matches!(
            &spec.loss,
            kinfolk_train::LossSpec::Auto | kinfolk_train::LossSpec::Same(LossKind::Squared)
        );
    let passes = if squared { ": two passes" } else { "" };
    report.note(format!("{files}, {}{rows}{passes}", text::bytes(data.bytes())));
    let options =
        StatisticsOptions { memory: spec.memory.0, threads: spec.threads, ..StatisticsOptions::default() };
    let mut statistics = Statistics::new(&options);
    let name = if squared { "pass 1 of 2, statistics" } else { "pass 1, statistics" };
    let pass = StreamPass { data, split: spec.split, name: name.into(), threads: spec.threads, report };
    let end = pass.run(&mut *source, |table| {
        let observations = match &found.classes {
            Some(classes) => table.observations_in(&found.encoding, classes)?,
            None => table.observations(&found.encoding)?,
        };
        if statistics.n_inputs() == 0 {
            Need::sums(&table.inputs, &observations).check()?;
        }
        statistics.update(&table.inputs, &observations)?;
        Ok(true)
    })?;
    if end.unlabelled > 0 {
        let are = if end.unlabelled == 1 { "row without a label is" } else { "rows without a label are" };
        report.note(format!("{} {are} left out", end.unlabelled));
    }
    pass.note(&end);
    if statistics.n_inputs() == 0 {
        return Err(Failure::input("there are no rows with a label").about(data.first()));
    }
    found.encoding.note().into_iter().for_each(|note| report.note(note));
    let mut schema = source.schema();
    schema.n_features = statistics.n_features();
    schema.storage = if statistics.is_sparse() { Storage::Sparse } else { Storage::Dense };
    schema.label_encoding = found.encoding.clone();
    Ok(StreamedData { statistics, schema, seconds: end.seconds })
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

/// The certificate of a model from statistics, or of rows that were asked, by passes over its rows; `None` if Ctrl-C
/// ended it.
pub(crate) fn certificate(
    data: &DataFiles,
    columns: &ColumnRoles,
    options: &CertifyOptions,
    report: Report,
    trained: &Trained,
) -> Result<Option<Certificate>> {
    let mut parts = trained.model.certify_parts(options)?;
    let passes = if is_squared(trained) { ["pass 2 of 2", ""] } else { ["pass 1 of 2", "pass 2 of 2"] };
    for pass in passes {
        let mut source = trained.open(data.paths(), columns)?;
        let name = format!("{pass}, certificate");
        let (split, threads) = (trained.spec.split, options.threads);
        let pass = StreamPass { data, split, name, threads, report };
        let end = pass.run(&mut *source, |table| {
            let encoding = &trained.schema.label_encoding;
            let observations = table.observations_in(encoding, trained.model.tasks())?;
            parts.add(&table.inputs, &observations)?;
            Ok(true)
        })?;
        if end.stopped {
            return Ok(None);
        }
        pass.note(&end);
        if !parts.again().map_err(|error| Failure::from(error).about(data.first()))? {
            break;
        }
    }
    Ok(Some(parts.finish().map_err(|error| Failure::from(error).about(data.first()))?))
}
