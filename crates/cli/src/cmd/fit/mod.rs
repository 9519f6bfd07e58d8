//! `kinfolk fit`: data in, certified model out.

mod intervals;
pub(crate) mod print;
pub(crate) mod stream;

use crate::args::{Global, MethodArgs, SpecArgs};
use crate::checkpoint::{self, Fingerprint, Saver};
use crate::data_files::DataFiles;
use crate::failure::{Failure, INTERRUPTED, NO, Result};
use crate::limits::Need;
use crate::outputs::{CommandFiles, OutputKind, Written};
use crate::report::Report;
use crate::watch::Watch;
use crate::{files, interrupt, text, trace};
use clap::Args;
use kinfolk::{ScalingKind, Start, Status};
use kinfolk_train::{Data, FitSpec, Trained, Training, Weight};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  kinfolk fit school.csv --task school --target score -o school.safetensors
  kinfolk fit digits.npz --method fmtl:k=2 --scale unit -o digits.safetensors
  kinfolk fit mines.npz --class-weight balanced --kernel rbf --tol 1e-2 -o mines.safetensors
  kinfolk fit school.csv --task school --target score --method mtl:mu=0.1 -o school-mtl.safetensors
  kinfolk fit school.csv --task school --target score --atom groups=districts.csv:district -o d.st
  kinfolk fit mines.npz -o mines.safetensors --trace mines-trace.csv
  kinfolk fit school.csv --task school --target score --stream --memory 2GB -o sums.st
  kinfolk fit mines.npz -o mines.safetensors --checkpoint mines.checkpoint --resume --json";

/// Learn all tasks of a file together, and how they are related.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FitArgs {
    #[arg(required = true, help = crate::files::data_formats())]
    data: Vec<PathBuf>,
    /// Where to write the model.
    #[arg(short, long, value_name = "MODEL")]
    out: PathBuf,
    /// Write every certificate of the fit as csv (passes, seconds, primal, dual, gap), for `kinfolk report --trace`.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// With a given C: also fit this many folds, whose held-out rows tell how large errors are, for predict --interval.
    /// With --c auto the folds that choose C do.
    #[arg(long, value_name = "K", conflicts_with = "stream", value_parser = clap::value_parser!(u32).range(2..))]
    interval_folds: Option<u32>,
    /// End with exit code 1 unless the gap is within the tolerance.
    #[arg(long)]
    strict: bool,
    /// Read the files in chunks, in two passes, and never hold them in memory: for numbers with the squared loss and
    /// the linear kernel. The first pass adds up statistics, the second certifies the model from the rows.
    #[arg(long, conflicts_with_all = ["checkpoint", "resume"])]
    stream: bool,
    #[command(flatten)]
    method: MethodArgs,
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    long_run: LongRunArgs,
}

/// For fits that may be killed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Long runs")]
struct LongRunArgs {
    /// Save the state of the fit in this file from time to time.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Seconds between two saves.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = crate::args::not_negative)]
    checkpoint_every: f64,
    /// Continue from the checkpoint, if there is one; the result is the same.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
}

pub(crate) fn run(args: FitArgs, global: &Global, report: Report) -> Result<ExitCode> {
    let mut spec = args.spec.spec(global)?;
    args.method.apply(&mut spec)?;
    args.long_run.check(&spec)?;
    if spec.folds_by.is_some() && spec.c != Weight::Auto && args.interval_folds.is_none() {
        report.note("--folds-by has no effect: C is given, so no rows are held out");
    }
    let data = DataFiles::find(&args.data)?;
    CommandFiles::default()
        .reads(data.paths())
        .reads(&args.spec.files(&spec))
        .writes([&args.out], OutputKind::Model)
        .writes(&args.trace, OutputKind::Trace)
        .writes(&args.long_run.checkpoint, OutputKind::Checkpoint)
        .check(global)?;
    let mut written = Written::default();
    let mut trained = match args.stream {
        true => stream::fit(&data, &spec, report)?,
        false => in_memory(&data, &spec, &args.long_run, &mut written, report)?,
    };
    match args.interval_folds {
        Some(_) if spec.c == Weight::Auto => {
            report.note("--interval-folds has no effect: C is auto, and its folds tell how large errors are");
        }
        Some(folds) => intervals::measure(&data, &spec, folds as usize, &mut trained, report)?,
        None => {}
    }
    let bytes = trained.to_bytes().map_err(Failure::output);
    let has_model = written.add(bytes.and_then(|bytes| files::write(&args.out, &bytes)));
    if let Some(path) = &args.trace {
        written.add(trace::write(path, &trained.trace));
    }
    if has_model {
        let output = print::FitOutput::new(&trained, &args.out);
        let text = print::with_file_name(print::text(&trained, &args.out), &data);
        report.done(&output, text + &print::next_steps(&data, &args.out))?;
    }
    written.finish()?;
    Ok(match trained.model.status() {
        Some(Status::Stopped) => ExitCode::from(INTERRUPTED),
        // Something that came before or after the model's own fit was left out.
        _ if interrupt::asked() => ExitCode::from(INTERRUPTED),
        Some(Status::Certified) => ExitCode::SUCCESS,
        _ if args.strict => ExitCode::from(NO),
        _ => ExitCode::SUCCESS,
    })
}

/// Files up to this size fit the memory of every machine.
const SMALL_FILES_BYTES: u64 = 1 << 30;

fn in_memory(
    data: &DataFiles,
    spec: &FitSpec,
    long_run: &LongRunArgs,
    written: &mut Written,
    report: Report,
) -> Result<Trained> {
    let cure = "--stream reads them in chunks (squared loss), or fit fewer rows";
    Need::rows(data, &spec.columns_to_read(), cure).check().map_err(|failure| failure.about(data.first()))?;
    if data.bytes() > spec.memory.0.max(SMALL_FILES_BYTES) {
        let (size, budget) = (text::bytes(data.bytes()), text::bytes(spec.memory.0));
        report.note(format!(
            "the files have {size}, more than --memory {budget}, and are read into memory; --stream does without"
        ));
    }
    let training = read(data, spec)?;
    // Their contents, not their names, are what a checkpoint belongs to.
    let spec = spec.with_files_read(training.observations.task_names())?;
    // From here on Ctrl-C ends with the model reached.
    interrupt::end_well();
    long_run.fit(&spec, &training, written, report)
}

/// The data of a file, as a spec asks for them.
fn read(data: &DataFiles, spec: &FitSpec) -> Result<Training<'static>> {
    let (table, schema) = kinfolk_io::read_all(data.paths(), &spec.columns_to_read(), None)?;
    if spec.scale != ScalingKind::None {
        Need::scales(&table.inputs).check().map_err(|failure| failure.about(data.first()))?;
    }
    let training = Training::new(spec, Data::Table(Box::new((table, schema))))
        .map_err(|error| Failure::of_data(error, data.first()))?;
    Need::check_buffers()?;
    Need::fit(spec, &training.inputs, &training.observations).check()?;
    let (n, d, kind) = (training.inputs.n_inputs(), training.inputs.n_features(), training.inputs.kind());
    tracing::info!(
        "{}: {n} rows, {d} features, {kind}, {} tasks",
        data.in_words(),
        training.observations.n_tasks()
    );
    Ok(training)
}

impl LongRunArgs {
    /// `Err` if a fit of this method cannot be resumed.
    fn check(&self, spec: &FitSpec) -> Result<()> {
        if self.checkpoint.is_none() || spec.method.method().info().is_resumable {
            return Ok(());
        }
        let name = spec.method.name();
        Err(Failure::usage(format!(
            "--checkpoint: {name} solves many problems in turn and cannot be resumed"
        )))
    }

    fn fit(
        &self,
        spec: &FitSpec,
        training: &Training<'_>,
        written: &mut Written,
        report: Report,
    ) -> Result<Trained> {
        let Some(path) = &self.checkpoint else {
            let mut watch = Watch::new(spec, report.quiet, None);
            let trained = training.fit(spec, Start::Cold, &mut watch);
            watch.finish();
            return Ok(trained?);
        };
        let fingerprint = Fingerprint::new(&training.inputs, &training.observations, spec);
        let snapshot = match self.resume {
            true => checkpoint::load(path, &fingerprint)?,
            false => None,
        };
        match &snapshot {
            Some(snapshot) => {
                report.note(format!("resumed after pass {} of {}", snapshot.passes, path.display()))
            }
            None if self.resume => {
                report.note(format!("there is no {}: starting from the beginning", path.display()))
            }
            None => {}
        }
        let every = Duration::try_from_secs_f64(self.checkpoint_every).unwrap_or(Duration::MAX);
        let mut saver = Saver::new(path, every, fingerprint);
        let start = snapshot.as_ref().map_or(Start::Cold, Start::Resume);
        let mut watch = Watch::new(spec, report.quiet, Some(&mut saver));
        let trained = training.fit(spec, start, &mut watch);
        watch.finish();
        let trained = trained?;
        match saver.finish() {
            Ok(true) => {}
            Ok(false) => {
                let solver = &trained.outcome.solver;
                report.note(format!(
                    "no checkpoint was written: {solver} cannot be resumed, only started again"
                ));
            }
            // The model is there all the same.
            Err(failure) => {
                written.add(Err(failure));
            }
        }
        Ok(trained)
    }
}
