//! The toy problem that all methods are tried on.

#![allow(dead_code, unused_imports, clippy::unwrap_used, missing_docs)] // each test file uses its part

#[path = "../../../../../tests/golden/optimum.rs"]
mod golden;

pub(crate) use golden::optimum;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{
    Dataset, DatasetOptions, Fit, Intercept, Kernel, LossKind, Losses, Observations, Observer, Problem,
    ProblemSpec, RegularizerKind, Settings, Silent, Start, fit,
};
use kinfolk_train::{Method, Params, PreparedData, Weight, find};

const WEIGHTS: [[f64; 3]; 3] = [[1.0, 0.5, 0.0], [1.0, 0.0, -0.5], [-1.0, 0.5, 0.5]];
pub(crate) const LOSSES: [LossKind; 3] =
    [LossKind::Squared, LossKind::Hinge, LossKind::Epsilon { epsilon: 0.1 }];

/// Inputs and observations, all of them formulas.
pub(crate) struct Toy {
    pub(crate) inputs: Inputs<'static>,
    pub(crate) observations: Observations,
    pub(crate) kernel: Kernel,
}

fn input(i: usize) -> [f64; 3] {
    [0, 1, 2].map(|j| (((i + 1) * (j + 1)) as f64).sin())
}

fn label(i: usize, task: usize, phase: usize) -> f64 {
    let signal: f64 = input(i).iter().zip(WEIGHTS[task]).map(|(x, w)| x * w).sum();
    signal + 0.1 * ((5 * (i + 1) + phase) as f64).cos()
}

/// Twelve rows, task i mod 3; signs of the labels for two classes.
pub(crate) fn own_rows(loss: &LossKind) -> Toy {
    let x: Vec<f64> = (0..12).flat_map(input).collect();
    let of_kind = |y: f64| if *loss == LossKind::Hinge { y.signum() } else { y };
    let y = (0..12).map(|i| of_kind(label(i, i % 3, 0))).collect();
    let task: Vec<u32> = (0..12).map(|i| i % 3).collect();
    Toy {
        inputs: Dense::f64_owned(x, 12, 3).unwrap().into(),
        observations: Observations::multi_task(&task, y).unwrap(),
        kernel: Kernel::Linear,
    }
}

/// Six inputs with labels for all three tasks.
pub(crate) fn shared_rows() -> Toy {
    let x: Vec<f64> = (0..6).flat_map(input).collect();
    let y: Vec<f64> = (0..18).map(|o| label(o / 3, o % 3, o % 3)).collect();
    Toy {
        inputs: Dense::f64_owned(x, 6, 3).unwrap().into(),
        observations: Observations::multi_output(&y, 6, 3).unwrap(),
        kernel: Kernel::Linear,
    }
}

/// Parameters of a method: names and values.
type Pairs<'a> = &'a [(&'a str, &'a str)];

impl Toy {
    pub(crate) fn fit(
        &self,
        method: &str,
        params: Pairs<'_>,
        loss: &LossKind,
        c: Weight,
        lambda: f64,
    ) -> Fit {
        let settings = Settings { tolerance: 1e-9, max_passes: 5000, ..Settings::default() };
        self.try_fit(method, params, loss, c, lambda, &settings).unwrap()
    }

    pub(crate) fn try_fit(
        &self,
        method: &str,
        params: Pairs<'_>,
        loss: &LossKind,
        c: Weight,
        lambda: f64,
        settings: &Settings,
    ) -> kinfolk_train::Result<Fit> {
        self.fit_method(find(method)?, params, (loss, c, lambda), settings, &mut Silent)
    }

    /// The same for a method that need not be in the registry, with an observer.
    pub(crate) fn fit_method(
        &self,
        method: &dyn Method,
        params: Pairs<'_>,
        (loss, c, lambda): (&LossKind, Weight, f64),
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> kinfolk_train::Result<Fit> {
        let params = Params::parse(method.name(), method.params(), params)?;
        let options = DatasetOptions { kernel: self.kernel.clone(), threads: 1, ..DatasetOptions::default() };
        let data = Dataset::new(&self.inputs, &self.observations, options)?;
        let loss = Losses::from(loss.clone());
        let prepared = PreparedData::new(&data, &loss, Intercept::None);
        method.fit(&prepared.job(Some(lambda), settings), &params, c, Start::Cold, observer)
    }
}

pub(crate) fn near(what: &str, got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance * want.abs(), "{what}: {got} is not {want}");
}

impl Toy {
    /// A problem of the engine's own.
    pub(crate) fn solve(&self, loss: &LossKind, output: RegularizerKind, c: f64, lambda: f64) -> Fit {
        let options = DatasetOptions { kernel: self.kernel.clone(), threads: 1, ..DatasetOptions::default() };
        let data = Dataset::new(&self.inputs, &self.observations, options).unwrap();
        let spec = ProblemSpec {
            loss: loss.clone().into(),
            output,
            c,
            lambda,
            atoms: vec![],
            intercept: Intercept::None,
        };
        let settings = Settings { tolerance: 1e-9, max_passes: 5000, ..Settings::default() };
        fit(&Problem::new(&data, spec).unwrap(), &settings).unwrap()
    }
}
