//! `kinfolk fit`: data in, certified model out.

use crate::args::{ClassWeight, ColumnArgs, Global, InputArgs, OutputName, ProblemArgs, SolverArgs, Weight};
use crate::failure::{Failure, INTERRUPTED, NO, Result};
use crate::report::{Report, as_number};
use crate::text::{self, number, plural};
use crate::training::{Choices, Training, coding_in_words};
use crate::watch::Watch;
use crate::{files, interrupt, taskmatrix};
use clap::Args;
use kinfolk::{
    Dataset, DatasetOptions, Fit, Kernel, OutputKind, Problem, ProblemSpec, ScalingKind, Status, Weights,
    Yardstick, fit_from,
};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk fit school.csv --task school --target score -o school.safetensors
  kinfolk fit digits.npz --k 2 --scale unit -o digits.safetensors
  kinfolk fit mines.npz --class-weight balanced --kernel rbf --tol 1e-2 -o mines.safetensors
  kinfolk fit school.csv --task school --target score --output exp --json -o school-exp.safetensors";

/// Learn all tasks of a file together, and how they are related.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FitArgs {
    /// csv, csv.gz, parquet, npz or svm; see `kinfolk data info`.
    data: PathBuf,
    /// Where to write the model.
    #[arg(short, long, value_name = "MODEL")]
    out: PathBuf,
    /// Fit only the rows of this part, by the split column or array.
    #[arg(long, value_name = "PART")]
    split: Option<i64>,
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
}

/// Everything that decides about a fit besides its data: told, and kept in the model.
#[derive(Debug, Clone, Serialize)]
struct Params {
    method: &'static str,
    loss: String,
    output: &'static str,
    k: Option<u32>,
    c: f64,
    c_rule: &'static str,
    lambda: f64,
    kernel: Kernel,
    scale: ScalingKind,
    bias: f64,
    class_weight: Option<&'static str>,
    split: Option<i64>,
    solver: String,
    tol: f64,
    max_passes: usize,
    max_seconds: Option<f64>,
    memory: u64,
    seed: u64,
    threads: usize,
}

#[derive(Serialize)]
struct Said<'a> {
    status: Status,
    #[serde(serialize_with = "as_number")]
    primal: f64,
    #[serde(serialize_with = "as_number")]
    dual: f64,
    #[serde(serialize_with = "as_number")]
    gap: f64,
    #[serde(serialize_with = "as_number")]
    rel_gap: f64,
    solver: &'static str,
    passes: usize,
    seconds: f64,
    n_inputs: usize,
    n_tasks: usize,
    n_observations: usize,
    params: &'a Params,
    model: &'a Path,
}

pub(crate) fn run(args: FitArgs, global: &Global, report: Report) -> Result<ExitCode> {
    args.check()?;
    files::check_writable(&args.out)?;
    let balanced = args.problem.class_weight == Some(ClassWeight::Balanced);
    let training = Training::read(
        &args.data,
        &Choices {
            columns: &args.columns,
            inputs: &args.inputs,
            loss: &args.problem.loss,
            split: args.split,
            balanced,
        },
    )?;
    let output = args.output(&training)?;
    // From here on there is a model to save.
    interrupt::end_well();
    let options = DatasetOptions {
        kernel: args.inputs.kernel(&training.inputs)?,
        bias: args.inputs.bias,
        memory: args.solver.memory,
        threads: global.threads,
    };
    let data = Dataset::new(&training.inputs, &training.observations, options)?;
    let Weights { c, lambda } = args.weights(&data, &training, &output)?;
    let spec = ProblemSpec { loss: training.loss.clone().into(), output, c, lambda };
    let params = args.params(&data, &spec, &training, global);
    let problem = Problem::new(&data, spec)?;
    let mut watch = Watch::new(args.solver.tol, global.quiet);
    let fit = fit_from(&problem, &args.solver.settings(global.seed), None, &mut watch)?;
    watch.finish();
    let fit = args.save(fit, &training, &params)?;
    let said = args.said(&fit, &training, &params);
    report.done(&said, args.text(&fit, &training, &params))?;
    Ok(match fit.status {
        _ if interrupt::asked() => ExitCode::from(INTERRUPTED),
        Status::Certified => ExitCode::SUCCESS,
        _ if args.strict => ExitCode::from(NO),
        _ => ExitCode::SUCCESS,
    })
}

impl FitArgs {
    /// Options that contradict each other.
    fn check(&self) -> Result<()> {
        let ProblemArgs { output, k, theta, prior, .. } = &self.problem;
        let power = *output == OutputName::Power;
        let with_prior = *output == OutputName::Exp || (power && k.unwrap_or(1) == 1);
        let wrong = [
            (k.is_some() && !power, "--k is for --output power"),
            (*output == OutputName::Fixed && theta.is_none(), "--output fixed needs --theta FILE"),
            (theta.is_some() && *output != OutputName::Fixed, "--theta is for --output fixed; a start is --prior"),
            (prior.is_some() && !with_prior, "--prior is for --output exp, and for power with --k 1"),
        ];
        match wrong.iter().find(|(wrong, _)| *wrong) {
            Some((_, why)) => Err(Failure::usage(why)),
            None => Ok(()),
        }
    }

    fn output(&self, training: &Training) -> Result<OutputKind> {
        let tasks = training.observations.task_names();
        let read = |path: &PathBuf| taskmatrix::read(path, tasks);
        let prior = self.problem.prior.as_ref().map(read).transpose()?;
        Ok(match (self.problem.output, prior) {
            (OutputName::Power, None) => OutputKind::Power { k: self.problem.k.unwrap_or(1) },
            (OutputName::Power, Some(prior)) => OutputKind::Frobenius { prior },
            (OutputName::Exp, prior) => OutputKind::Exp { prior },
            (OutputName::Cosh, _) => OutputKind::Cosh,
            (OutputName::Fixed, _) => match &self.problem.theta {
                Some(path) => OutputKind::Fixed { theta: read(path)? },
                None => return Err(Failure::usage("--output fixed needs --theta FILE")),
            },
        })
    }

    /// C and lambda as said, or as suits the data.
    fn weights(&self, data: &Dataset<'_>, training: &Training, output: &OutputKind) -> Result<Weights> {
        let lambda = self.problem.lambda;
        match self.problem.c {
            Weight::Is(c) => Ok(Weights { c, lambda: lambda.unwrap_or(1.0) }),
            Weight::Auto => {
                let yardstick = Yardstick::new(data, &training.loss.clone().into())?;
                Ok(yardstick.weights(output, lambda, Yardstick::MIDDLE)?)
            }
        }
    }

    fn params(&self, data: &Dataset<'_>, spec: &ProblemSpec, training: &Training, global: &Global) -> Params {
        let k = match spec.output {
            OutputKind::Power { k } => Some(k),
            OutputKind::Frobenius { .. } => Some(1),
            _ => None,
        };
        Params {
            method: "fmtl",
            loss: training.loss.to_string(),
            output: spec.output.name(),
            k,
            c: spec.c,
            c_rule: if self.problem.c == Weight::Auto { "auto" } else { "given" },
            lambda: spec.lambda,
            kernel: data.kernel().clone(),
            scale: training.scaling.kind(),
            bias: self.inputs.bias,
            class_weight: self.problem.class_weight.map(|ClassWeight::Balanced| "balanced"),
            split: self.split,
            solver: self.solver.name(),
            tol: self.solver.tol,
            max_passes: self.solver.max_passes,
            max_seconds: self.solver.max_seconds,
            memory: self.solver.memory,
            seed: global.seed,
            threads: global.threads,
        }
    }

    fn save(&self, mut fit: Fit, training: &Training, params: &Params) -> Result<Fit> {
        fit.model.set_scaling(training.scaling.clone())?;
        let json = |value: serde_json::Result<String>| value.map_err(Failure::output);
        fit.model.attach("recipe", &json(serde_json::to_string(&training.recipe))?)?;
        fit.model.attach("fit", &json(serde_json::to_string(params))?)?;
        files::write_model(&self.out, &fit.model)?;
        Ok(fit)
    }

    fn said<'a>(&'a self, fit: &Fit, training: &Training, params: &'a Params) -> Said<'a> {
        let certificate = &fit.certificate;
        Said {
            status: fit.status,
            primal: certificate.primal,
            dual: certificate.dual,
            gap: certificate.gap,
            rel_gap: certificate.rel_gap(),
            solver: fit.solver,
            passes: fit.passes,
            seconds: fit.seconds,
            n_inputs: training.observations.n_inputs(),
            n_tasks: training.observations.n_tasks(),
            n_observations: training.observations.len(),
            params,
            model: &self.out,
        }
    }

    fn text(&self, fit: &Fit, training: &Training, params: &Params) -> String {
        let (obs, certificate) = (&training.observations, &fit.certificate);
        let mut lines = vec![format!(
            "data     {}, {}, {}, {}",
            plural(obs.n_inputs(), "row"),
            plural(training.inputs.n_features(), "feature"),
            plural(obs.n_tasks(), "task"),
            plural(obs.len(), "label")
        )];
        lines.extend(coding_in_words(&training.recipe.coding).map(|words| format!("labels   {words}")));
        let k = params.k.map_or(String::new(), |k| format!(" k = {k}"));
        let auto = if params.c_rule == "auto" { " (auto)" } else { "" };
        lines.push(format!(
            "problem  {} loss, {}{k}, C = {}{auto}, lambda = {}, {} kernel, bias {}, scale {}",
            params.loss,
            params.output,
            number(params.c, 4),
            number(params.lambda, 4),
            params.kernel,
            number(params.bias, 4),
            params.scale
        ));
        lines.push(format!(
            "fit      {} after {} of {}, {}",
            in_words(fit.status),
            text::plural_es(fit.passes, "pass"),
            fit.solver,
            text::seconds(fit.seconds)
        ));
        lines.push(format!(
            "proof    objective {}, no model below {}, relative gap {:.1e}",
            certificate.primal,
            certificate.dual,
            certificate.rel_gap()
        ));
        lines.push(format!("model    {}\n", self.out.display()));
        lines.join("\n")
    }
}

fn in_words(status: Status) -> &'static str {
    match status {
        Status::Certified => "certified",
        Status::PassLimit => "not certified: pass limit",
        Status::TimeLimit => "not certified: time limit",
        Status::Stopped => "not certified: stopped",
        Status::Stalled => "not certified: stalled",
    }
}
