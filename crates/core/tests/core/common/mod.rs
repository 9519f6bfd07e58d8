//! Small problems in every shape and source, and ways to compare their solutions.

#![allow(dead_code, unreachable_pub, unused_imports, unused_macros)] // every test file uses a part of it
#![allow(clippy::unwrap_used)] // helpers outside test functions

use kinfolk::inputs::{Dense, Gram, Inputs, Sparse};
use kinfolk::kernel::Gamma;
use kinfolk::regularizer::Entrywise;
use kinfolk::{
    Certificate, Dataset, DatasetOptions, Fit, Intercept, Kernel, LossKind, Losses, Matrix, Observations,
    Problem, ProblemSpec, Regularizer, RegularizerKind, Settings, SolverKind, fit,
};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;
use serde::Serialize;
use std::str::FromStr;

/// Settings of property tests: how many cases, and the file for those that fail.
pub fn cases(number: u32, failures: &'static str) -> ProptestConfig {
    ProptestConfig {
        cases: number,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(failures))),
        ..ProptestConfig::default()
    }
}

/// Kinds are the same in text and in JSON.
pub fn names_round_trip<T>(kinds: impl IntoIterator<Item = T>)
where
    T: Copy + PartialEq + std::fmt::Debug + std::fmt::Display + FromStr<Err: std::fmt::Debug> + Serialize,
{
    for kind in kinds {
        assert_eq!(kind.to_string().parse::<T>().unwrap(), kind);
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.to_string());
    }
}

/// Tasks of every sample.
pub const TASKS: usize = 3;
/// Features of every sample.
pub const FEATURES: usize = 5;

/// Numbers from the SplitMix64 sequence: the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [-1, 1), a multiple of 2^-6: single precision holds such numbers, their squares and sums of those
    /// exactly.
    pub fn coarse(&mut self) -> f64 {
        (self.bits() >> 57) as f64 / 64.0 - 1.0
    }

    /// In [-1, 1).
    pub fn fine(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// Which input has which tasks. All shapes have 24 observations of three tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Every task has inputs of its own: 24 inputs.
    Own,
    /// Every input has every task: 8 inputs.
    Shared,
    /// Some labels are missing: 11 inputs with one to three tasks.
    Missing,
}

pub const SHAPES: [Shape; 3] = [Shape::Own, Shape::Shared, Shape::Missing];

/// Inputs (a third of the entries zero), observations and real labels of kindred tasks.
#[derive(Debug, Clone)]
pub struct Sample {
    pub x: Vec<f64>,
    pub input: Vec<u32>,
    pub task: Vec<u32>,
    pub label: Vec<f64>,
}

impl Sample {
    pub fn new(shape: Shape, seed: u64) -> Self {
        let pairs: Vec<(u32, u32)> = match shape {
            Shape::Own => (0..24).map(|i| (i, i % 3)).collect(),
            Shape::Shared => (0..24).map(|o| (o / 3, o % 3)).collect(),
            Shape::Missing => (0..33).map(|o| (o / 3, o % 3)).filter(|(i, t)| (i + 2 * t) % 11 > 2).collect(),
        };
        assert_eq!(pairs.len(), 24);
        let n = pairs.iter().map(|(i, _)| *i as usize + 1).max().unwrap();
        let mut random = Random(seed);
        let x: Vec<f64> = inputs(n, &mut random);
        // A common part, and one of its own for every task.
        let weights: Vec<f64> = (0..FEATURES * (TASKS + 1)).map(|_| random.fine()).collect();
        let label = |&(i, t): &(u32, u32)| {
            let row = &x[i as usize * FEATURES..][..FEATURES];
            let dot = |w: &[f64]| row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
            let (common, own) = weights.split_at(FEATURES);
            dot(common) + 0.7 * dot(&own[t as usize * FEATURES..][..FEATURES])
        };
        let label = pairs.iter().map(|pair| label(pair) + 0.3 * random.fine()).collect();
        let (input, task) = pairs.into_iter().unzip();
        Sample { x, input, task, label }
    }

    pub fn n_inputs(&self) -> usize {
        self.x.len() / FEATURES
    }

    /// The labels as this loss wants them: real, or their signs.
    pub fn labels(&self, loss: &LossKind) -> Vec<f64> {
        let sign = |y: &f64| if *y < 0.0 { -1.0 } else { 1.0 };
        if loss.is_classification() { self.label.iter().map(sign).collect() } else { self.label.clone() }
    }

    pub fn observations(&self, loss: &LossKind) -> Observations {
        self.observations_of(self.n_inputs(), self.labels(loss))
    }

    fn observations_of(&self, n_inputs: usize, label: Vec<f64>) -> Observations {
        Observations::from_triples(n_inputs, TASKS, self.input.clone(), self.task.clone(), label).unwrap()
    }
}

/// Rows of a sample's kind.
pub fn inputs(n: usize, random: &mut Random) -> Vec<f64> {
    (0..n * FEATURES)
        .map(|_| if random.bits().is_multiple_of(3) { 0.0 } else { 2.0 * random.coarse() })
        .collect()
}

/// How the inputs are given and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Dense,
    Single,
    Sparse,
    Precomputed,
    Rbf,
    RbfOnTheFly,
    Bias,
    Cosine,
}

pub const SOURCES: [Source; 8] = [
    Source::Dense,
    Source::Single,
    Source::Sparse,
    Source::Precomputed,
    Source::Rbf,
    Source::RbfOnTheFly,
    Source::Bias,
    Source::Cosine,
];

/// A sample in one source: training inputs and observations, and new inputs to predict.
pub struct Setup {
    pub inputs: Inputs<'static>,
    pub observations: Observations,
    pub options: DatasetOptions,
    pub fresh: Inputs<'static>,
}

/// More inputs than a panel of the Gram matrix has rows: only then can the matrix be too large for the
/// budget.
const MANY: usize = 130;

impl Setup {
    pub fn new(source: Source, sample: &Sample, loss: &LossKind) -> Self {
        let mut random = Random(99);
        let new = inputs(6, &mut random);
        let (mut x, mut n) = (sample.x.clone(), sample.n_inputs());
        let mut options = linear();
        match source {
            Source::Bias => options.bias = 0.5,
            Source::Cosine => options.kernel = Kernel::Cosine,
            Source::Precomputed => options.kernel = Kernel::Precomputed,
            Source::Rbf | Source::RbfOnTheFly => options.kernel = Kernel::Rbf { gamma: Gamma::Value(0.25) },
            Source::Dense | Source::Single | Source::Sparse => {}
        }
        if source == Source::RbfOnTheFly {
            // The added inputs have no observations and change nothing.
            x.extend(inputs(MANY - n, &mut random));
            n = MANY;
            options.memory = 8 * 128 * MANY as u64;
        }
        let observations = sample.observations_of(n, sample.labels(loss));
        let (inputs, fresh) = match source {
            Source::Single => (single(&x), single(&new)),
            Source::Sparse => (sparse(&x), sparse(&new)),
            Source::Precomputed => {
                let gram = Gram::new(products(&x, &x), n).unwrap();
                (gram.into(), Dense::f64_owned(products(&new, &x), 6, n).unwrap().into())
            }
            _ => (dense(&x), dense(&new)),
        };
        Setup { inputs, observations, options, fresh }
    }

    /// A sample of this shape, with dense inputs.
    pub fn dense(shape: Shape, loss: &LossKind) -> Self {
        Setup::new(Source::Dense, &Sample::new(shape, 1), loss)
    }

    pub fn data(&self) -> Dataset<'_> {
        Dataset::new(&self.inputs, &self.observations, self.options.clone()).unwrap()
    }

    /// Solves one problem, whatever it takes.
    pub fn fit(&self, spec: ProblemSpec, settings: &Settings) -> Fit {
        let data = self.data();
        fit(&Problem::new(&data, spec).unwrap(), settings).unwrap()
    }

    pub fn predict(&self, fit: &Fit) -> Matrix {
        fit.model.predict_all(&self.fresh).unwrap()
    }
}

/// Linear kernel, one thread.
pub fn linear() -> DatasetOptions {
    DatasetOptions { threads: 1, ..DatasetOptions::default() }
}

pub fn dense(x: &[f64]) -> Inputs<'static> {
    Dense::f64_owned(x.to_vec(), x.len() / FEATURES, FEATURES).unwrap().into()
}

pub fn single(x: &[f64]) -> Inputs<'static> {
    let narrow = x.iter().map(|&v| v as f32).collect();
    Dense::f32_owned(narrow, x.len() / FEATURES, FEATURES).unwrap().into()
}

pub fn sparse(x: &[f64]) -> Inputs<'static> {
    sparse_of(x, FEATURES)
}

pub fn sparse_of(x: &[f64], cols: usize) -> Inputs<'static> {
    let (indptr, indices, values) = compressed_rows(x, cols);
    Sparse::f64(indptr, indices, values, cols).unwrap().into()
}

/// Compressed sparse rows: where each row starts, columns and values.
pub fn compressed_rows(x: &[f64], cols: usize) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
    for row in x.chunks(cols) {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            indices.push(j as u32);
            values.push(v);
        }
        indptr.push(indices.len());
    }
    (indptr, indices, values)
}

/// All inner products of rows of a and rows of b.
pub fn products(a: &[f64], b: &[f64]) -> Vec<f64> {
    let dot = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(x, z)| x * z).sum::<f64>();
    a.chunks(FEATURES).flat_map(|x| b.chunks(FEATURES).map(move |z| dot(x, z))).collect()
}

pub fn spec(loss: impl Into<Losses>, output: RegularizerKind, c: f64, lambda: f64) -> ProblemSpec {
    ProblemSpec { loss: loss.into(), output, c, lambda, atoms: vec![], intercept: Intercept::None }
}

pub fn power(k: u32) -> RegularizerKind {
    RegularizerKind::Power { k }
}

/// The problem with lambda = 1/2.
pub fn problem_of<'a>(
    data: &'a Dataset<'a>,
    loss: impl Into<Losses>,
    output: RegularizerKind,
    c: f64,
) -> Problem<'a> {
    Problem::new(data, spec(loss, output, c, 0.5)).unwrap()
}

/// Asserts that the intervals [dual, primal] of two solutions of one problem have a common point.
pub fn assert_overlap(what: &str, a: &Certificate, b: &Certificate, relative_rounding: f64) {
    let rounding = relative_rounding * a.primal.abs();
    assert!(a.dual <= b.primal + rounding && b.dual <= a.primal + rounding, "{what}: {a:?} {b:?}");
}

/// One test per source of inputs.
macro_rules! test_sources {
    ($check:ident: $($name:ident => $source:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                $check(Source::$source);
            }
        )*
    };
}
pub(crate) use test_sources;

/// Coordinate ascent to a relative gap.
pub fn sdca(tolerance: f64) -> Settings {
    Settings { tolerance, max_passes: 20_000, solver: SolverKind::Sdca, ..Settings::default() }
}

/// The regulariser of an entrywise kind.
pub fn entrywise(kind: &RegularizerKind) -> Box<dyn Entrywise> {
    match kind.build().unwrap() {
        Regularizer::Entrywise(regularizer) => regularizer.into_entries(),
        Regularizer::Spectral(_) => panic!("{kind} is no sum over entries"),
    }
}

pub fn rows(m: &Matrix) -> Vec<Vec<f64>> {
    (0..m.rows()).map(|r| m.row(r).to_vec()).collect()
}

/// Largest difference of two arrays relative to the largest entry.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = a.iter().chain(b).fold(0.0f64, |m, v| m.max(v.abs()));
    let off = a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(!a.iter().chain(b).any(|v| v.is_nan()), "NaN in {a:?} or {b:?}");
    if off == 0.0 { 0.0 } else { off / size }
}

/// Asserts that two arrays agree relative to their largest entry.
pub fn assert_close(what: &str, a: &[f64], b: &[f64], tolerance: f64) {
    let off = distance(a, b);
    assert!(off <= tolerance, "{what}: {off:e} apart, allowed {tolerance:e}\n{a:?}\n{b:?}");
}
