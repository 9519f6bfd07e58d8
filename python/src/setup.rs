//! What to fit, and how: what the command takes as options.

use kinfolk::{
    CScale, Dataset, DatasetOptions, Kernel, LossKind, Losses, RegularizerKind, ScalingKind, Settings,
    SolverKind, Weights,
};
use kinfolk_train::{Job, Params, Point, find};
use serde::Deserialize;
use std::time::Duration;

/// Everything but data.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setup {
    /// One, or one for each task.
    loss: Vec<String>,
    method: String,
    /// Parameters of the method, as text.
    params: Vec<(String, String)>,
    /// In place of the method: a regulariser with matrices of the caller.
    output: Option<RegularizerKind>,
    lambda: Option<f64>,
    kernel: Kernel,
    bias: f64,
    pub(crate) scale: ScalingKind,
    solver: SolverKind,
    tol: f64,
    max_passes: usize,
    max_seconds: Option<f64>,
    memory: u64,
    threads: usize,
    seed: u64,
}

/// A fit of the registry, or of the engine with a matrix of the caller.
pub(crate) enum Plan {
    Method(&'static dyn kinfolk_train::Method, Params),
    Engine(RegularizerKind),
}

impl Setup {
    pub(crate) fn is_gram(&self) -> bool {
        self.kernel == Kernel::Precomputed
    }

    pub(crate) fn losses(&self) -> kinfolk::Result<Losses> {
        let kinds: Vec<LossKind> = self.loss.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        Ok(match &kinds[..] {
            [one] => one.clone().into(),
            _ => Losses::PerTask(kinds),
        })
    }

    pub(crate) fn options(&self) -> DatasetOptions {
        DatasetOptions {
            kernel: self.kernel.clone(),
            bias: self.bias,
            memory: self.memory,
            threads: self.threads,
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            tolerance: self.tol,
            max_passes: self.max_passes,
            max_time: self.max_seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()),
            seed: self.seed,
            solver: self.solver,
        }
    }

    pub(crate) fn lambda(&self) -> Option<f64> {
        self.lambda
    }

    pub(crate) fn plan(&self) -> kinfolk_train::Result<Plan> {
        if let Some(output) = &self.output {
            return Ok(Plan::Engine(output.clone()));
        }
        let method = find(&self.method)?;
        let given: Vec<(&str, &str)> = self.params.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let params = Params::parse(method.name(), method.params(), &given)?;
        Ok(Plan::Method(method, params))
    }
}

impl Plan {
    /// C and lambda of strengths.
    pub(crate) fn weights(
        &self,
        setup: &Setup,
        data: &Dataset<'_>,
        strengths: &[f64],
    ) -> kinfolk_train::Result<Vec<Weights>> {
        let (loss, settings, lambda) = (setup.losses()?, setup.settings(), setup.lambda);
        let c_scale = CScale::new(data, &loss)?;
        let job = Job { data, loss: &loss, c_scale: &c_scale, lambda, settings: &settings };
        let of_strength = |&g: &f64| match self {
            Plan::Engine(output) => Ok(c_scale.weights(output, lambda, g)?),
            Plan::Method(method, params) => method.weights(&job, params, Point::Strength(g)),
        };
        strengths.iter().map(of_strength).collect()
    }
}
