//! `kinfolk select`: which method, with which parameters, by cross-validation.

mod print;
pub(crate) mod progress;
mod splits;

use crate::args::{Global, SpecArgs, positive};
use crate::cmd::fit::stream::StreamedData;
use crate::data_files::DataFiles;
use crate::failure::{Failure, INTERRUPTED, Result};
use crate::limits::Need;
use crate::outputs::{CommandFiles, OutputKind, Written};
use crate::report::Report;
use crate::watch::Watch;
use crate::{files, interrupt};
use clap::Args;
use kinfolk::Kernel;
use kinfolk_train::select::{self, Axis, Candidate, KernelGrid, Refit, Scored, SelectionResults, Study};
use kinfolk_train::{FitSpec, Metric, ResolvedAtoms, Trained, Training, method_texts};
use progress::Bar;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  kinfolk select school.csv --task school --target score --compare -o school.safetensors
  kinfolk select mines.npz --compare --results mines.json -o best.safetensors
  kinfolk select digits.npz --method fmtl:k=1,fmtl:k=4,stl --folds 3 --grid strength=0.1,1,10
  kinfolk select school.csv --task school --target score --method mtl --grid mu=0.1,1
  kinfolk select school.csv --task school --target score --method fmtl --atom groups=districts.csv
  kinfolk select school.csv --task school --target score --folds-by group:age --folds 3
  kinfolk select mines.npz --method stl,fmtl:k=1 --folds 3 --splits 2 --train-share 0.5";

/// Choose a method and its parameters by cross-validation, and fit the winner.
///
/// Every task has its share of each fold, unless groups or times decide (--folds-by). Fits go along the grid, each
/// from the solution of the one before, and several run at a time. C is tried on a scale without units, the strength,
/// which means the same for any data and method, unless --grid c=... is given.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SelectArgs {
    #[arg(required = true, help = crate::files::data_formats())]
    data: Vec<PathBuf>,
    /// Where to write the winner, fitted to all rows.
    #[arg(short, long, value_name = "MODEL")]
    out: Option<PathBuf>,
    /// Write all that was found, for `kinfolk report --select`: the same JSON object that --json prints.
    #[arg(long, value_name = "FILE", conflicts_with = "splits")]
    results: Option<PathBuf>,
    /// Methods to choose from, see `kinfolk methods`, with their parameters as for `kinfolk fit`:
    /// stl,fmtl:output=power,k=2 [default: that of --spec, or kin].
    #[arg(long, value_name = "NAME,...")]
    method: Option<String>,
    /// Also independent tasks and one model for all, and a verdict in words.
    #[arg(long)]
    compare: bool,
    /// Values to try: strength=..., c=..., kernel=linear,rbf:0.1, a parameter of a method, or weights of an atom by its
    /// name. May be repeated. All combinations are tried if all values are given; else one parameter is searched after
    /// another.
    #[arg(long, value_name = "NAME=VALUE,...")]
    grid: Vec<Axis>,
    /// Number of folds.
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,
    /// Keep all rows of a task in one fold: how well are tasks predicted that had no rows? They get the mean of the
    /// others. As many folds as tasks leave out one task at a time.
    #[arg(long, conflicts_with = "folds_by")]
    whole_tasks: bool,
    /// Divide the data into folds this many times, and choose by all of them: less depends on chance if rows are few.
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeats: usize,
    /// together: choose by the score of all rows, each predicted by the fit of the fold that left it out, for
    /// numbers against the mean of the task's training rows; by-fold: by the mean of the scores of the folds, each
    /// as if it were all there is.
    #[arg(long, value_enum, default_value = "together")]
    scored: ScoredChoice,
    #[arg(long, value_name = "NAME", help = metric_help())]
    metric: Option<Metric>,
    /// Select on this many random training parts, and score each method's winner on the rest.
    #[arg(long, value_name = "N", requires = "train_share")]
    splits: Option<NonZeroUsize>,
    /// Share of the rows of each task in a training part.
    #[arg(long, value_name = "P", requires = "splits", value_parser = positive)]
    train_share: Option<f64>,
    /// Print every setting, not only the best of each method.
    #[arg(long)]
    all: bool,
    /// Read the files in chunks and never hold them in memory: choose on some of the rows, fit the winner to all of
    /// them. For linear functions, as `kinfolk fit --stream`.
    #[arg(long)]
    stream: bool,
    #[command(flatten)]
    spec: SpecArgs,
}

fn metric_help() -> String {
    format!(
        "{}: the mean over tasks, or with pooled- before it the score of all rows together (for classes that is the \
         usual one, and mean- is the mean over classes) [default: what suits the labels: pooled-r2, auc or \
         class-accuracy]",
        Metric::names().join(", ")
    )
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ScoredChoice {
    ByFold,
    Together,
}

impl From<ScoredChoice> for Scored {
    fn from(choice: ScoredChoice) -> Self {
        match choice {
            ScoredChoice::ByFold => Scored::ByFold,
            ScoredChoice::Together => Scored::Together,
        }
    }
}

/// Of a time limit, the share that the search may take; the rest is for the fit to all rows.
const SEARCH_SHARE: f64 = 0.8;

/// What that fit has at least.
const SHORTEST_FIT_SECONDS: f64 = 0.1;

pub(crate) fn run(args: SelectArgs, global: &Global, report: Report) -> Result<ExitCode> {
    if args.splits.is_some() && args.out.is_some() {
        return Err(Failure::usage(
            "--splits scores the choice of each method and fits no model to all rows, so -o has nothing to write; \
             leave out one of them",
        ));
    }
    let mut spec = args.spec.spec(global)?;
    if args.whole_tasks {
        spec.folds_by = None;
    }
    let data = DataFiles::find(&args.data)?;
    CommandFiles::default()
        .reads(data.paths())
        .reads(&args.spec.files(&spec))
        .writes(&args.out, OutputKind::Model)
        .writes(&args.results, OutputKind::Results)
        .check(global)?;
    let methods = args.method.as_deref().map_or_else(|| vec![spec.method_text()], method_texts);
    let grid = Axis::with_atoms(&args.grid, &spec.atoms);
    // Options are checked before files are read.
    let all = candidates(&methods, args.compare.then_some(&BaselinesThatSuit::default()), &grid)?;
    let streamed = if args.stream { Some(streamed(&data, &mut spec, &all, report)?) } else { None };
    let training = match &streamed {
        Some(read) => kinfolk_train::kept_rows(&spec, &read.statistics, &read.schema)?,
        None => in_memory(&data, &spec, report)?,
    };
    if let Some(read) = &streamed {
        let (kept, all) = (training.inputs.n_inputs(), read.statistics.n_inputs());
        report.note(format!("settings are chosen on {kept} rows of {all}, and the winner is fitted to all"));
    }
    Need::check_buffers()?;
    Need::fit(&spec, &training.inputs, &training.observations).check()?;
    training.notes.iter().for_each(|note| report.note(note));
    let tasks = training.observations.task_names();
    let spec = spec.with_files_read(tasks)?;
    let atoms = ResolvedAtoms::new(&spec.atoms, tasks, &spec.columns)?;
    atoms.notes.iter().for_each(|note| report.note(note));
    let mut study = Study::new(&training.inputs, &training.observations, training.losses.clone(), spec);
    study.metric = args.metric;
    study.whole_tasks = args.whole_tasks;
    study.fold_keys.clone_from(&training.fold_keys);
    (study.folds, study.repeats, study.scored) = (args.folds, args.repeats, args.scored.into());
    let suit = BaselinesThatSuit::new(&study)?;
    if args.compare {
        suit.notes().for_each(|note| report.note(note));
    }
    let candidates = candidates(&methods, args.compare.then_some(&suit), &grid)?;
    interrupt::end_well();
    if let (Some(n), Some(share)) = (args.splits, args.train_share) {
        return splits::run(&study, &candidates, n.get(), share, report);
    }
    let began = Instant::now();
    let limit = study.spec.max_seconds.take();
    let deadline = limit.and_then(|seconds| Duration::try_from_secs_f64(SEARCH_SHARE * seconds).ok());
    let bar = Bar::new(report.quiet).until(deadline.and_then(|limit| began.checked_add(limit)));
    // Rows of a stream are scaled as they were asked for.
    let drawn = if streamed.is_none() { study.settle_levels(&bar) } else { Ok(None) };
    let selection = select::cross_validate(&study, &candidates, &bar);
    bar.finish();
    if let Some(intercept) = drawn? {
        report.note(format!(
            "intercept {intercept} predicts held-out rows better than free, and is that of all settings"
        ));
    }
    let Some(selection) = selection? else { return stopped(report) };
    study.spec.max_seconds =
        limit.map(|seconds| (seconds - began.elapsed().as_secs_f64()).max(SHORTEST_FIT_SECONDS));
    let winner = &selection.rows[selection.winner];
    let mut results = SelectionResults::new(&study, &selection);
    results.notes.iter().for_each(|note| report.note(note));
    let mut written = Written::default();
    if let (Some(_), true) = (&args.out, interrupt::asked()) {
        report.note(format!(
            "stopped before the last fit: no model was written; the best so far is {}",
            winner.method
        ));
    } else if let Some(out) = &args.out {
        let mut trained = match &streamed {
            Some(read) => {
                let mut trained = read.fit(&data, &study.spec_of(winner), report)?;
                winner.give_errors_to(&mut trained);
                trained
            }
            None => {
                let mut watch = Watch::new(&study.spec, report.quiet, None);
                let trained = study.refit(winner, &training.schema, &mut watch);
                watch.finish();
                trained?
            }
        };
        trained.outcome.selection_score = Some(results.score_in_words(suit.whole_tasks));
        written.add(save(&mut results, &trained, out));
    }
    if let Some(path) = &args.results {
        let bytes = serde_json::to_vec(&results).map_err(Failure::output);
        written.add(bytes.and_then(|bytes| files::write(path, &bytes)));
    }
    report.answer(&results, print::text(&results, args.all))?;
    written.finish()?;
    Ok(if interrupt::asked() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// All rows, in memory.
fn in_memory(data: &DataFiles, spec: &FitSpec, report: Report) -> Result<Training<'static>> {
    let cure = "--stream chooses on some of the rows, or give fewer rows or columns (--drop)";
    Need::rows(data, &spec.columns_to_read(), cure).check().map_err(|failure| failure.about(data.first()))?;
    let (table, schema) = kinfolk_io::read_all(data.paths(), &spec.columns_to_read(), None)?;
    schema.notes().iter().for_each(|note| report.note(note));
    kinfolk_train::unscaled(spec, table, schema).map_err(|error| Failure::of_data(error, data.first()))
}

/// What a pass over all rows finds out. Functions are linear then.
fn streamed(
    data: &DataFiles,
    spec: &mut FitSpec,
    candidates: &[Candidate],
    report: Report,
) -> Result<StreamedData> {
    let is_curved = |kernel: &Kernel| *kernel != Kernel::Linear;
    let in_grid = |candidate: &Candidate| match &candidate.kernels {
        KernelGrid::These(kernels) => kernels.iter().any(is_curved),
        _ => false,
    };
    if spec.kernel.as_ref().is_some_and(is_curved) || candidates.iter().any(in_grid) {
        return Err(Failure::usage(
            "--stream is for the linear kernel: leave out other kernels, or --stream",
        ));
    }
    spec.kernel = Some(Kernel::Linear);
    StreamedData::read(data, spec, report)
}

/// Which baselines can be compared with.
#[derive(Debug, Clone, Default)]
pub(crate) struct BaselinesThatSuit {
    /// Whether folds hold out whole tasks.
    whole_tasks: bool,
    /// Whether tasks have the same rows.
    shared_rows: bool,
}

impl BaselinesThatSuit {
    pub(crate) fn new(study: &Study<'_>) -> Result<Self> {
        let observations = study.observations;
        Ok(BaselinesThatSuit {
            whole_tasks: study.holds_out_whole_tasks()?,
            shared_rows: observations.len() > observations.n_inputs(),
        })
    }

    fn suits(&self, baseline: &str) -> bool {
        !(self.whole_tasks && baseline == "stl" || self.shared_rows && baseline == "pooled")
    }

    /// What is left out, and why.
    fn notes(&self) -> impl Iterator<Item = &'static str> {
        let alone =
            "no comparison with tasks alone (stl): folds hold out whole tasks, which these cannot predict";
        let pooled = "no comparison with one model for all (pooled): tasks have the same rows, so it would predict the \
                      same for each";
        [(self.whole_tasks, alone), (self.shared_rows, pooled)]
            .into_iter()
            .filter(|(is, _)| *is)
            .map(|(_, why)| why)
    }
}

/// Those that are named, and the baselines if they are to be compared with.
pub(crate) fn candidates(
    methods: &[String],
    baselines: Option<&BaselinesThatSuit>,
    grid: &[Axis],
) -> Result<Vec<Candidate>> {
    let mut methods = methods.to_vec();
    if let Some(suit) = baselines {
        let all = kinfolk_train::registry().iter().map(|method| method.info());
        let all = all.filter(|info| info.is_baseline && suit.suits(info.name));
        methods.extend(all.map(|info| info.name.to_string()));
    }
    select::candidates(&methods, grid).map_err(Failure::usage)
}

/// Writes a setting that was fitted to all rows, and takes it into the results.
pub(crate) fn save(results: &mut SelectionResults, trained: &Trained, out: &Path) -> Result<()> {
    files::write(out, &trained.to_bytes().map_err(Failure::output)?)?;
    (results.fit, results.model) = (Some(Refit::from(trained)), Some(out.to_path_buf()));
    Ok(())
}

/// Nothing was compared before Ctrl-C, or before the time was over.
fn stopped(report: Report) -> Result<ExitCode> {
    if !interrupt::asked() {
        let why =
            "the time was over before any settings were compared: raise --max-seconds, or give fewer rows";
        return Err(Failure::input(why));
    }
    report.note("stopped before any settings were compared: nothing is selected, nothing was written");
    Ok(ExitCode::from(INTERRUPTED))
}
