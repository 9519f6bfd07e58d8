//! `kinfolk fit`: data in, certified model out.

mod plan;
mod words;

use crate::args::{ClassWeight, ColumnArgs, Global, InputArgs, ProblemArgs, SolverArgs};
use crate::checkpoint::{self, Fingerprint, Saver};
use crate::failure::{INTERRUPTED, NO, Result};
use crate::fit_params::FitParams;
use crate::report::Report;
use crate::training::{Choices, Training};
use crate::watch::Watch;
use crate::{files, fitted, interrupt, trace};
use clap::Args;
use kinfolk::{Dataset, DatasetOptions, Fit, Fitter, Problem, ProblemSpec, Settings, Start, Status};
use plan::Plan;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use words::Told;

const EXAMPLES: &str = "\
Examples:
  kinfolk fit school.csv --task school --target score -o school.safetensors
  kinfolk fit digits.npz --k 2 --scale unit -o digits.safetensors
  kinfolk fit mines.npz --class-weight balanced --kernel rbf --tol 1e-2 -o mines.safetensors
  kinfolk fit school.csv --task school --target score --method mtl:mu=0.1 -o school-mtl.safetensors
  kinfolk fit mines.npz -o mines.safetensors --trace mines-trace.csv
  kinfolk fit mines.npz -o mines.safetensors --checkpoint mines.checkpoint --resume --json";

/// Learn all tasks of a file together, and how they are related.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FitArgs {
    #[arg(help = crate::files::data_formats())]
    data: PathBuf,
    /// Where to write the model.
    #[arg(short, long, value_name = "MODEL")]
    out: PathBuf,
    /// Fit only the rows of this part, by the split column or array.
    #[arg(long, value_name = "PART", allow_negative_numbers = true)]
    split: Option<i64>,
    /// Write every certificate on the way as csv (passes, seconds, primal, dual, gap), for `kinfolk report --trace`.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// End with exit code 1 unless the gap is within the tolerance.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    problem: ProblemArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    solver: SolverArgs,
    #[command(flatten)]
    long_run: LongRunArgs,
}

/// For fits that may be killed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Long runs")]
struct LongRunArgs {
    /// Write down now and then where the fit stands.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// How often.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = crate::args::not_negative)]
    checkpoint_every: f64,
    /// Go on from the checkpoint, if there is one, to the same answer.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
}

pub(crate) fn run(args: FitArgs, global: &Global, report: Report) -> Result<ExitCode> {
    let plan = Plan::new(&args)?;
    for path in std::iter::once(&args.out).chain(&args.trace) {
        files::check_writable(path)?;
    }
    let training = Training::read(&args.data, &args.choices())?;
    let options = DatasetOptions {
        kernel: args.inputs.kernel(&training.inputs)?,
        bias: args.inputs.bias,
        memory: args.solver.memory,
        threads: global.threads,
    };
    // From here on Ctrl-C ends with the model reached.
    interrupt::end_well();
    let data = Dataset::new(&training.inputs, &training.observations, options)?;
    let settings = args.solver.settings(global.seed);
    let started = Instant::now();
    let (fit, params) = args.fit(&plan, &training, &data, &settings, report)?;
    let seconds = started.elapsed().as_secs_f64();
    let fit = args.save(fit, &training, &params)?;
    if let Some(path) = &args.trace {
        trace::write(path, &fit.trace)?;
    }
    let told = Told { fit: &fit, seconds, training: &training, params: &params, model: &args.out };
    report.done(&words::said(&told), words::text(&told))?;
    Ok(match fit.status() {
        Status::Certified => ExitCode::SUCCESS,
        Status::Stopped => ExitCode::from(INTERRUPTED),
        _ if args.strict => ExitCode::from(NO),
        _ => ExitCode::SUCCESS,
    })
}

impl FitArgs {
    fn balanced(&self) -> bool {
        self.problem.class_weight == Some(ClassWeight::Balanced)
    }

    fn choices(&self) -> Choices<'_> {
        Choices {
            columns: &self.columns,
            scale: self.inputs.scale,
            loss: &self.problem.loss,
            split: self.split,
            balanced: self.balanced(),
        }
    }

    fn fit(
        &self,
        plan: &Plan,
        training: &Training,
        data: &Dataset<'_>,
        settings: &Settings,
        report: Report,
    ) -> Result<(Fit, FitParams)> {
        let choice = plan.choice(self);
        let Plan::Engine(output) = plan else {
            let mut watch = Watch::new(settings.tolerance, report.quiet, None);
            let fit = plan.fit_method(self, training, data, settings, &mut watch)?;
            watch.finish();
            let params = FitParams::of_model(&fit.model, data, settings, choice);
            return Ok((fit, params));
        };
        let output = output.read(training.observations.task_names())?;
        let weights = plan::weights(&self.problem, data, &training.loss, &output)?;
        let spec =
            ProblemSpec { loss: training.loss.clone().into(), output, c: weights.c, lambda: weights.lambda };
        let params = FitParams::new(&spec, data, settings, choice);
        tracing::info!("C = {}, lambda = {}, {}, {} loss", spec.c, spec.lambda, spec.output, params.loss);
        let problem = Problem::new(data, spec)?;
        let fit = self.fit_with_checkpoints(&problem, training, &params, settings, report)?;
        Ok((fit, params))
    }

    fn fit_with_checkpoints(
        &self,
        problem: &Problem<'_>,
        training: &Training,
        params: &FitParams,
        settings: &Settings,
        report: Report,
    ) -> Result<Fit> {
        let Some(path) = &self.long_run.checkpoint else {
            let mut watch = Watch::new(settings.tolerance, report.quiet, None);
            let fit = Fitter::new(settings).observer(&mut watch).fit(problem)?;
            watch.finish();
            return Ok(fit);
        };
        files::check_writable(path)?;
        let fingerprint = Fingerprint::new(&training.inputs, &training.observations, params);
        let snapshot = match self.long_run.resume {
            true => checkpoint::load(path, &fingerprint)?,
            false => None,
        };
        match &snapshot {
            Some(snapshot) => {
                report.note(format!("resumed after pass {} of {}", snapshot.passes, path.display()))
            }
            None if self.long_run.resume => {
                report.note(format!("there is no {}: starting afresh", path.display()))
            }
            None => {}
        }
        let every = Duration::try_from_secs_f64(self.long_run.checkpoint_every).unwrap_or(Duration::MAX);
        let mut saver = Saver::new(path, every, fingerprint);
        let start = snapshot.as_ref().map_or(Start::Cold, Start::Resume);
        let mut watch = Watch::new(settings.tolerance, report.quiet, Some(&mut saver));
        let fit = Fitter::new(settings).start(start).observer(&mut watch).fit(problem)?;
        watch.finish();
        if !saver.finish()? {
            report.note(format!("no checkpoint was written: {} is as quick to start again", fit.solver));
        }
        Ok(fit)
    }

    fn save(&self, mut fit: Fit, training: &Training, params: &FitParams) -> Result<Fit> {
        fit.model.set_scaling(training.scaling.clone())?;
        fitted::save(&self.out, &mut fit.model, &training.recipe, params)?;
        Ok(fit)
    }
}
