//! `kinfolk select`: which method, with which parameters, by cross-validation.

mod progress;
mod splits;
mod words;

use crate::args::{ClassWeight, ColumnArgs, Global, InputArgs, LossChoice, SolverArgs, loss, positive};
use crate::failure::{Failure, INTERRUPTED, Result, of_method};
use crate::fit_params::{Choice, FitParams};
use crate::report::Report;
use crate::training::{Choices, Training};
use crate::watch::Watch;
use crate::{files, fitted, interrupt, results};
use clap::Args;
use kinfolk::{DatasetOptions, Fit, ScalingKind};
use kinfolk_train::Metric;
use kinfolk_train::select::{self, Axis, Candidate, Row, Scored, Study};
use progress::Bar;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk select school.csv --task school --target score --compare -o school.safetensors
  kinfolk select mines.npz --compare --results mines.json -o best.safetensors
  kinfolk select digits.npz --method fmtl:k=1,fmtl:k=4,stl --folds 3 --grid strength=0.1,1,10
  kinfolk select school.csv --task school --target score --method mtl --grid mu=0.1,1
  kinfolk select mines.npz --method stl,fmtl:k=1 --folds 3 --splits 2 --train-share 0.5";

/// Choose a method and its parameters by cross-validation, and fit the winner.
///
/// Folds are stratified inside each task. Fits go along the grid, each from the solution of the last, several at a time. C is
/// laid out on a scale without units, the strength, that means the same for any data and method, unless --grid c=... is given.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SelectArgs {
    #[arg(help = crate::files::data_formats())]
    data: PathBuf,
    /// Where to write the winner, fitted to all rows.
    #[arg(short, long, value_name = "MODEL")]
    out: Option<PathBuf>,
    /// Write all that was found, for `kinfolk report --select`: the same JSON object that --json prints.
    #[arg(long, value_name = "FILE", conflicts_with = "splits")]
    results: Option<PathBuf>,
    /// Methods to choose from, see `kinfolk methods`; parameters after a colon, `;` between them: fmtl:output=power;k=2.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "fmtl")]
    method: Vec<String>,
    /// Also independent tasks and one model for all, and a verdict in words.
    #[arg(long)]
    compare: bool,
    /// Values to try: strength=..., c=..., or a parameter of a method. May be repeated.
    #[arg(long, value_name = "NAME=VALUE,...")]
    grid: Vec<Axis>,
    /// Number of folds.
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,
    /// Cut the data into folds anew this many times, and choose by all of them: less luck where rows are few.
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeats: usize,
    /// by-fold: choose by the mean of the scores of the folds; together: by the score of all rows, each predicted by the fit of the fold
    /// that left it out.
    #[arg(long, value_enum, default_value = "by-fold")]
    scored: ScoredChoice,
    /// auc, accuracy, balanced-accuracy, log-loss, explained-variance, rmse or class-accuracy [default: what fits the labels].
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Select on this many random training parts, and score each method's winner on the rest.
    #[arg(long, value_name = "N", requires = "train_share", conflicts_with = "out")]
    splits: Option<usize>,
    /// Share of the rows of each task in a training part.
    #[arg(long, value_name = "P", requires = "splits", value_parser = positive)]
    train_share: Option<f64>,
    /// Tell of every setting, not only of the best of each method.
    #[arg(long)]
    all: bool,
    /// Use only the rows of this part, by the split column or array.
    #[arg(long, value_name = "PART", allow_negative_numbers = true)]
    split: Option<i64>,
    /// As for `kinfolk fit`.
    #[arg(long, default_value = "auto", value_parser = loss, help_heading = "Problem")]
    loss: LossChoice,
    /// Weight of the regulariser, where it is a parameter of its own (exp, cosh) [default: what suits the data].
    #[arg(long, value_name = "X", value_parser = positive, help_heading = "Problem")]
    lambda: Option<f64>,
    /// Weights of classes: balanced gives both classes of each task the same weight.
    #[arg(long, value_enum, help_heading = "Problem")]
    class_weight: Option<ClassWeight>,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    solver: SolverArgs,
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

pub(crate) fn run(args: SelectArgs, global: &Global, report: Report) -> Result<ExitCode> {
    for path in args.out.iter().chain(&args.results) {
        files::check_writable(path)?;
    }
    let candidates = args.candidates()?;
    let metric: Option<Metric> =
        args.metric.as_deref().map(str::parse).transpose().map_err(Failure::usage)?;
    let training = Training::read(&args.data, &args.choices())?;
    let study = Study {
        inputs: &training.inputs,
        observations: &training.observations,
        loss: training.loss.clone().into(),
        options: DatasetOptions {
            kernel: args.inputs.kernel(&training.inputs)?,
            bias: args.inputs.bias,
            memory: args.solver.memory,
            threads: global.threads,
        },
        scaling: args.inputs.scale,
        balanced: args.class_weight.is_some(),
        lambda: args.lambda,
        settings: args.solver.settings(global.seed),
        metric: metric.unwrap_or_else(|| Metric::default_for(&training.observations)),
        folds: args.folds,
        repeats: args.repeats,
        scored: args.scored.into(),
        seed: global.seed,
    };
    interrupt::end_well();
    if let (Some(n), Some(share)) = (args.splits, args.train_share) {
        return splits::run(&study, &candidates, n, share, report);
    }
    let bar = Bar::new(report.quiet);
    let selection = select::cross_validate(&study, &candidates, &bar);
    bar.finish();
    let Some(selection) = selection.map_err(of_method)? else { return Ok(stopped(report)) };
    let winner = &selection.rows[selection.winner];
    if let Some(remark) = words::at_the_edge(winner, &candidates[winner.candidate()]) {
        report.note(remark);
    }
    let fit = match &args.out {
        Some(out) => Some(args.refit(&study, winner, &candidates, &training, out, report)?),
        None => None,
    };
    let tasks = training.observations.task_names();
    let told = results::Told {
        selection: &selection,
        verdicts: results::verdicts(&selection, tasks),
        tasks,
        folds: args.folds,
        repeats: args.repeats,
        scored: study.scored,
        fit: fit.as_ref().map(|fit| (winner, fit)),
        model: args.out.as_deref(),
    };
    let said = results::said(&told);
    if let Some(path) = &args.results {
        files::write(path, &serde_json::to_vec(&said).map_err(Failure::output)?)?;
    }
    report.answer(&said, words::text(&told, args.all))?;
    Ok(if interrupt::asked() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

fn stopped(report: Report) -> ExitCode {
    report.note("stopped before the last fit: nothing is selected, nothing was written");
    ExitCode::from(INTERRUPTED)
}

impl SelectArgs {
    fn candidates(&self) -> Result<Vec<Candidate>> {
        let mut methods = self.method.clone();
        if self.compare {
            methods.extend(["stl".into(), "pooled".into()]);
        }
        select::candidates(&methods, &self.grid).map_err(Failure::usage)
    }

    /// Scaling and weights are left to the folds, which look at their training rows alone.
    fn choices(&self) -> Choices<'_> {
        Choices {
            columns: &self.columns,
            scale: ScalingKind::None,
            loss: &self.loss,
            split: self.split,
            balanced: false,
        }
    }

    /// Fits the winner to all rows and writes it.
    fn refit(
        &self,
        study: &Study<'_>,
        winner: &Row,
        candidates: &[Candidate],
        training: &Training,
        out: &Path,
        report: Report,
    ) -> Result<Fit> {
        let mut watch = Watch::new(self.solver.tol, report.quiet, None);
        let fit = select::refit(study, winner, &candidates[winner.candidate()], &mut watch);
        watch.finish();
        let mut fit = fit.map_err(of_method)?;
        let method = match winner.params.is_empty() {
            true => winner.method.to_string(),
            false => format!("{}:{}", winner.method, winner.params.to_string().replace(", ", ";")),
        };
        let choice = Choice {
            method,
            c_rule: "selected",
            scale: study.scaling,
            balanced: study.balanced,
            split: self.split,
        };
        let params = FitParams::of_fitted(&fit.model, &study.options, &study.settings, choice);
        fitted::save(out, &mut fit.model, &training.recipe, &params)?;
        Ok(fit)
    }
}
