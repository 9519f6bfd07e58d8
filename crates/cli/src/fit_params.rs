//! What decides about a fit besides its data: told to people and programs, and kept in the model.

use kinfolk::{
    Dataset, DatasetOptions, Kernel, Model, ProblemSpec, RegularizerKind, ScalingKind, Settings, SolverKind,
};
use serde::Serialize;

/// Parameters of a fit.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FitParams {
    /// Name, and parameters if it has any: `fmtl`, `mtl:mu=0.1`.
    pub(crate) method: String,
    pub(crate) loss: String,
    pub(crate) output: &'static str,
    pub(crate) k: Option<u32>,
    pub(crate) c: f64,
    /// `auto` or `given`, or how else it was chosen.
    pub(crate) c_rule: &'static str,
    pub(crate) lambda: f64,
    pub(crate) kernel: Kernel,
    pub(crate) scale: ScalingKind,
    pub(crate) bias: f64,
    pub(crate) class_weight: Option<&'static str>,
    pub(crate) split: Option<i64>,
    pub(crate) solver: SolverKind,
    pub(crate) tol: f64,
    pub(crate) max_passes: usize,
    pub(crate) max_seconds: Option<f64>,
    pub(crate) memory: u64,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

/// What the library does not know.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) method: String,
    pub(crate) c_rule: &'static str,
    pub(crate) scale: ScalingKind,
    pub(crate) balanced: bool,
    pub(crate) split: Option<i64>,
}

impl FitParams {
    /// Of a problem to be solved.
    pub(crate) fn new(spec: &ProblemSpec, data: &Dataset<'_>, settings: &Settings, choice: Choice) -> Self {
        Self::with(spec, data.kernel(), data.options(), settings, choice)
    }

    fn with(
        spec: &ProblemSpec,
        kernel: &Kernel,
        options: &DatasetOptions,
        settings: &Settings,
        choice: Choice,
    ) -> Self {
        let loss = match &spec.loss {
            kinfolk::Losses::Same(loss) => loss.to_string(),
            kinfolk::Losses::PerTask(_) => "one per task".into(),
        };
        FitParams {
            method: choice.method,
            loss,
            output: spec.output.name(),
            k: match spec.output {
                RegularizerKind::Power { k } => Some(k),
                RegularizerKind::Frobenius { .. } => Some(1),
                _ => None,
            },
            c: spec.c,
            c_rule: choice.c_rule,
            lambda: spec.lambda,
            kernel: kernel.clone(),
            scale: choice.scale,
            bias: options.bias,
            class_weight: choice.balanced.then_some("balanced"),
            split: choice.split,
            solver: settings.solver,
            tol: settings.tolerance,
            max_passes: settings.max_passes,
            max_seconds: settings.max_time.map(|time| time.as_secs_f64()),
            memory: options.memory,
            seed: settings.seed,
            threads: options.threads,
        }
    }

    /// Of a model fitted to data that are gone.
    pub(crate) fn of_fitted(
        model: &Model,
        options: &DatasetOptions,
        settings: &Settings,
        choice: Choice,
    ) -> Self {
        Self::with(&model.about().problem, &model.about().kernel, options, settings, choice)
    }

    /// Of a model that was fitted.
    pub(crate) fn of_model(model: &Model, data: &Dataset<'_>, settings: &Settings, choice: Choice) -> Self {
        Self::new(&model.about().problem, data, settings, choice)
    }
}
