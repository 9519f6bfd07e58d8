//! Which method, which regulariser, which C.

use super::FitArgs;
use crate::args::{OutputName, ProblemArgs, Weight};
use crate::failure::{Failure, Result};
use crate::fit_params::Choice;
use crate::taskmatrix;
use crate::training::Training;
use kinfolk::{
    CScale, Dataset, Fit, LossKind, Losses, Observer, RegularizerKind, Settings, TaskNames, Weights,
};
use kinfolk_train::{Job, Method, Params, Point};
use std::path::PathBuf;

/// What to fit, before the data are read.
pub(super) enum Plan {
    /// The engine with a regulariser of the caller's choice.
    Engine(Output),
    /// Another method of the registry.
    Method(&'static dyn Method, Params),
}

/// A regulariser whose matrices are still in their files.
pub(super) enum Output {
    Power { k: u32 },
    Exp,
    Cosh,
    Fixed { theta: PathBuf },
    PowerWithPrior { prior: PathBuf },
    ExpWithPrior { prior: PathBuf },
}

impl Plan {
    /// `Err` if options contradict each other.
    pub(super) fn new(args: &FitArgs) -> Result<Plan> {
        let ProblemArgs { method, output, k, theta, prior, .. } = &args.problem;
        let (name, given) =
            method.as_deref().map_or(("fmtl", ""), |text| text.split_once(':').unwrap_or((text, "")));
        if name == "fmtl" {
            let why = "parameters of fmtl have options of their own: --output, --k";
            return if given.is_empty() {
                Ok(Plan::Engine(Output::new(&args.problem)?))
            } else {
                Err(Failure::usage(why))
            };
        }
        let method = kinfolk_train::find(name).map_err(Failure::usage)?;
        let options = [
            ("--output", output.is_some()),
            ("--k", k.is_some()),
            ("--theta", theta.is_some()),
            ("--prior", prior.is_some()),
        ];
        let checkpoint = ("--checkpoint", args.long_run.checkpoint.is_some());
        if let Some((option, _)) = options.iter().chain([&checkpoint]).find(|(_, given)| *given) {
            return Err(Failure::usage(format!("{option} is for the method fmtl, not for {name}")));
        }
        let mut pairs = vec![];
        for part in given.split(';').filter(|part| !part.trim().is_empty()) {
            let pair = part.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            pairs.push(
                pair.ok_or_else(|| Failure::usage(format!("method {name}: {part:?} is not NAME=VALUE")))?,
            );
        }
        let params = Params::parse(method.name(), method.params(), &pairs).map_err(Failure::usage)?;
        Ok(Plan::Method(method, params))
    }

    pub(super) fn choice(&self, args: &FitArgs) -> Choice {
        let method = match self {
            Plan::Engine(_) => "fmtl".into(),
            Plan::Method(method, params) if params.is_empty() => method.name().into(),
            Plan::Method(method, params) => format!("{}:{params}", method.name()),
        };
        let c_rule = if args.problem.c == Weight::Auto { "auto" } else { "given" };
        Choice { method, c_rule, scale: args.inputs.scale, balanced: args.balanced(), split: args.split }
    }

    /// Fits a method of the registry.
    pub(super) fn fit_method(
        &self,
        args: &FitArgs,
        training: &Training,
        data: &Dataset<'_>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let Plan::Method(method, params) = self else {
            return Err(Failure::output("the engine is not a method of the registry"));
        };
        let loss: Losses = training.loss.clone().into();
        let c_scale = CScale::new(data, &loss)?;
        let job = Job { data, loss: &loss, c_scale: &c_scale, lambda: args.problem.lambda, settings };
        let point = match args.problem.c {
            Weight::Is(c) => Point::C(c),
            Weight::Auto => Point::Strength(CScale::MIDDLE),
        };
        method.fit(&job, params, point, None, observer).map_err(crate::failure::of_method)
    }
}

impl Output {
    fn new(args: &ProblemArgs) -> Result<Output> {
        let ProblemArgs { output, k, theta, prior, .. } = args.clone();
        let name = output.unwrap_or(OutputName::Power);
        let usage = |why: &str| Err(Failure::usage(why));
        if k.is_some() && name != OutputName::Power {
            return usage("--k is for --output power");
        }
        if theta.is_some() && name != OutputName::Fixed {
            return usage("--theta is for --output fixed; a matrix to start from is a --prior");
        }
        match (name, prior, theta) {
            (OutputName::Power, None, _) => Ok(Output::Power { k: k.unwrap_or(1) }),
            (OutputName::Power, Some(prior), _) if k.unwrap_or(1) == 1 => {
                Ok(Output::PowerWithPrior { prior })
            }
            (OutputName::Exp, None, _) => Ok(Output::Exp),
            (OutputName::Exp, Some(prior), _) => Ok(Output::ExpWithPrior { prior }),
            (OutputName::Cosh, None, _) => Ok(Output::Cosh),
            (OutputName::Fixed, None, Some(theta)) => Ok(Output::Fixed { theta }),
            (OutputName::Fixed, None, None) => usage("--output fixed needs --theta FILE"),
            (_, Some(_), _) => usage("--prior is for --output exp, and for power with --k 1"),
        }
    }

    /// With its matrices, for these tasks.
    pub(super) fn read(&self, tasks: &TaskNames) -> Result<RegularizerKind> {
        Ok(match self {
            Output::Power { k } => RegularizerKind::Power { k: *k },
            Output::Exp => RegularizerKind::Exp { prior: None },
            Output::Cosh => RegularizerKind::Cosh,
            Output::Fixed { theta } => RegularizerKind::Fixed { theta: taskmatrix::read(theta, tasks)? },
            Output::PowerWithPrior { prior } => {
                RegularizerKind::Frobenius { prior: taskmatrix::read(prior, tasks)? }
            }
            Output::ExpWithPrior { prior } => {
                RegularizerKind::Exp { prior: Some(taskmatrix::read(prior, tasks)?) }
            }
        })
    }
}

/// C and lambda as said, or as suits the data.
pub(super) fn weights(
    args: &ProblemArgs,
    data: &Dataset<'_>,
    loss: &LossKind,
    output: &RegularizerKind,
) -> Result<Weights> {
    match args.c {
        Weight::Is(c) => Ok(Weights { c, lambda: args.lambda.unwrap_or(1.0) }),
        Weight::Auto => {
            let c_scale = CScale::new(data, &loss.clone().into())?;
            Ok(c_scale.weights(output, args.lambda, CScale::MIDDLE)?)
        }
    }
}
