//! One small fit of every kind.

use super::envelope::{Parts, Tensor};
use kinfolk::inputs::{Dense, Gram, Inputs, Sparse};
use kinfolk::kernel::Gamma;
use kinfolk::regularizer::{AtomKind, AtomSpec};
use kinfolk::{
    CertifyOptions, Dataset, DatasetOptions, Intercept, Kernel, LossKind, Losses, Matrix, Model,
    Observations, Problem, ProblemSpec, RegularizerKind, Scaling, ScalingKind, Settings, TargetScale,
    TargetScaling, TaskNames, certify, fit,
};

pub(crate) const TASKS: usize = 3;
pub(crate) const INPUTS: usize = 14;
pub(crate) const FEATURES: usize = 4;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) inputs: Inputs<'static>,
    /// Inputs to predict.
    pub(crate) new: Inputs<'static>,
    pub(crate) observations: Observations,
    pub(crate) model: Model,
}

/// What to fit on what.
pub(crate) struct Recipe {
    pub(crate) inputs: Inputs<'static>,
    pub(crate) observations: Observations,
    pub(crate) kernel: Kernel,
    pub(crate) bias: f64,
    pub(crate) scaling: ScalingKind,
    /// Of labels, and whether they are centred.
    pub(crate) target_scale: (TargetScale, bool),
    pub(crate) loss: Losses,
    pub(crate) output: RegularizerKind,
    pub(crate) atoms: Vec<AtomSpec>,
    pub(crate) tolerance: f64,
}

impl Recipe {
    pub(crate) fn fit(self, name: &'static str) -> Case {
        let Recipe {
            inputs,
            observations,
            kernel,
            bias,
            scaling,
            target_scale,
            loss,
            output,
            atoms,
            tolerance,
        } = self;
        let weights = observations.input_weights();
        let scaling = Scaling::fit_weighted(scaling, &inputs, weights.as_deref()).unwrap();
        let targets = TargetScaling::fit(target_scale.0, &observations, &loss, target_scale.1).unwrap();
        let mut model = {
            let inputs = scaling.apply(&inputs).unwrap();
            let options = DatasetOptions { kernel, bias, threads: 1, ..DatasetOptions::default() };
            let scaled = targets.as_ref().map(|targets| targets.apply(&observations).unwrap());
            let data = Dataset::new(&inputs, scaled.as_ref().unwrap_or(&observations), options).unwrap();
            let spec = ProblemSpec { loss, output, c: 0.7, lambda: 0.3, atoms, intercept: Intercept::None };
            let problem = Problem::new(&data, spec).unwrap();
            fit(&problem, &Settings { tolerance, ..Settings::default() }).unwrap().model
        };
        model.set_scaling(scaling).unwrap();
        model.set_target_scaling(targets).unwrap();
        let new = match &inputs {
            Inputs::Gram(_) => Dense::f64_owned(numbers(7, 5 * INPUTS), 5, INPUTS).unwrap().into(),
            _ => Dense::f64_owned(numbers(7, 5 * FEATURES), 5, FEATURES).unwrap().into(),
        };
        Case { name, inputs, new, observations, model }
    }
}

/// Numbers between -1 and 1 that look random.
pub(crate) fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

pub(crate) fn dense() -> Inputs<'static> {
    Dense::f64_owned(numbers(1, INPUTS * FEATURES), INPUTS, FEATURES).unwrap().into()
}

pub(crate) fn dense_f32() -> Inputs<'static> {
    let values = numbers(1, INPUTS * FEATURES).iter().map(|x| *x as f32).collect();
    Dense::f32_owned(values, INPUTS, FEATURES).unwrap().into()
}

fn sparse_parts() -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
    for row in numbers(1, INPUTS * FEATURES).chunks(FEATURES) {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| x.abs() > 0.4) {
            indices.push(j as u32);
            values.push(*x);
        }
        indptr.push(indices.len());
    }
    (indptr, indices, values)
}

pub(crate) fn sparse() -> Inputs<'static> {
    let (indptr, indices, values) = sparse_parts();
    Sparse::f64(indptr, indices, values, FEATURES).unwrap().into()
}

pub(crate) fn sparse_f32() -> Inputs<'static> {
    let (indptr, indices, values) = sparse_parts();
    let values: Vec<f32> = values.iter().map(|x| *x as f32).collect();
    Sparse::f32(indptr, indices, values, FEATURES).unwrap().into()
}

pub(crate) fn gram() -> Inputs<'static> {
    let x = numbers(1, INPUTS * FEATURES);
    let row = |i: usize| &x[i * FEATURES..(i + 1) * FEATURES];
    let dot = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum::<f64>();
    let values: Vec<f64> = (0..INPUTS * INPUTS).map(|k| dot(k / INPUTS, k % INPUTS)).collect();
    Gram::new(values, INPUTS).unwrap().into()
}

/// Each input belongs to one task.
pub(crate) fn own_inputs(sign: bool) -> Observations {
    let task: Vec<u32> = (0..INPUTS as u32).map(|i| i % TASKS as u32).collect();
    let label = numbers(2, INPUTS).iter().map(|y| if sign { y.signum() } else { *y }).collect();
    Observations::multi_task(&task, label).unwrap()
}

/// Each input belongs to all tasks.
pub(crate) fn shared_inputs() -> Observations {
    Observations::multi_output(&numbers(3, INPUTS * TASKS), INPUTS, TASKS).unwrap()
}

pub(crate) fn strings() -> TaskNames {
    TaskNames::Strings(vec!["oak \"and\" elm\n".into(), "🌲 naïve \u{0}".into(), String::new()])
}

fn prior(off_diagonal: f64) -> Vec<Vec<f64>> {
    let entry = |r, s| if r == s { 1.0 / 3.0 } else { off_diagonal };
    (0..TASKS).map(|r| (0..TASKS).map(|s| entry(r, s)).collect()).collect()
}

pub(crate) fn recipe(inputs: Inputs<'static>, observations: Observations, loss: LossKind) -> Recipe {
    Recipe {
        inputs,
        observations,
        kernel: Kernel::Linear,
        bias: 0.0,
        scaling: ScalingKind::None,
        target_scale: (TargetScale::None, false),
        loss: loss.into(),
        output: RegularizerKind::Power { k: 2 },
        atoms: vec![],
        tolerance: 1e-4,
    }
}

pub(crate) fn linear() -> Case {
    let observations = own_inputs(true).with_task_names(strings()).unwrap();
    recipe(dense(), observations, LossKind::Hinge).fit("linear, dense")
}

pub(crate) fn sparse_rbf() -> Case {
    let kernel = Kernel::Rbf { gamma: Gamma::Scale };
    let observations = own_inputs(true).with_weights(&weights()).unwrap();
    Recipe { kernel, ..recipe(sparse_f32(), observations, LossKind::Hinge) }.fit("rbf, sparse f32, weights")
}

pub(crate) fn dense_rbf() -> Case {
    let integers = TaskNames::Integers(vec![i64::MIN, -1, i64::MAX]);
    let observations = own_inputs(false).with_task_names(integers).unwrap();
    let output = RegularizerKind::Exp { prior: Some(prior(0.1)) };
    let kernel = Kernel::Rbf { gamma: Gamma::Auto };
    let loss = LossKind::Huber { delta: 0.1 };
    Recipe { kernel, bias: 0.5, output, ..recipe(dense(), observations, loss) }
        .fit("rbf, dense, exp with prior")
}

/// Standard scaling, and something attached.
pub(crate) fn scaled() -> Case {
    let recipe = recipe(dense_f32(), own_inputs(true), LossKind::Hinge);
    let mut case = Recipe { scaling: ScalingKind::Standard, bias: 1.0, ..recipe }.fit("standard scaling");
    case.model.attach("cli.columns", r#" ["a \"b\"", "\u00e9", "日本"] "#).unwrap();
    case.model.attach("notes", "{\n  \"x\": 1.0e2 }").unwrap();
    case
}

/// Labels in units of their spread, with weights and offsets.
pub(crate) fn scaled_labels(scale: TargetScale, centred: bool) -> Case {
    let observations = own_inputs(false).with_weights(&weights()).unwrap();
    let labels = observations.labels().iter().map(|y| 100.0 * y + 1e4).collect();
    let observations = observations.with_labels(labels).unwrap().with_offsets(numbers(11, INPUTS)).unwrap();
    let recipe = recipe(dense(), observations, LossKind::Epsilon { epsilon: 0.1 });
    Recipe { target_scale: (scale, centred), bias: 1.0, ..recipe }.fit("scaled labels")
}

pub(crate) fn one_thread() -> CertifyOptions {
    CertifyOptions { threads: 1, ..CertifyOptions::default() }
}

pub(crate) fn weights() -> Vec<f64> {
    (0..INPUTS).map(|i| [1.0, 0.1, 0.0, 2.5][i % 4]).collect()
}

/// The squared loss on shared inputs.
pub(crate) fn shared() -> Case {
    Recipe { bias: 2.0, ..recipe(dense(), shared_inputs(), LossKind::Squared) }.fit("shared inputs")
}

/// The same with a primal point that is not induced by the duals. Solvers rarely leave one, so it is put in
/// by hand, with the Theta and the weights that belong to it.
pub(crate) fn two_point() -> Case {
    let Case { inputs, new, observations, model, .. } = shared();
    let (rows, alpha) = (FEATURES + 1, model.alpha().unwrap());
    let v = Matrix::from_vec(numbers(9, rows * TASKS), rows, TASKS).unwrap();
    let certificate = {
        let options = DatasetOptions { bias: 2.0, threads: 1, ..DatasetOptions::default() };
        let data = Dataset::new(&inputs, &observations, options).unwrap();
        certify(&Problem::new(&data, model.about().problem.clone()).unwrap(), alpha, Some(&v)).unwrap()
    };
    let mut parts = Parts::of(&model.to_bytes().unwrap());
    parts.about["certificate"] = serde_json::to_value(&certificate).unwrap();
    parts.tensors.insert("v".into(), Tensor::doubles(&[rows, TASKS], v.as_slice()));
    // Theta = phi'(V'V / 2 lambda) with phi*(Theta) = |Theta|^(4/3) / 2, and W = V Theta.
    let product =
        |a: &dyn Fn(usize, usize) -> f64, b: &dyn Fn(usize, usize) -> f64, n: usize, r: usize, s: usize| {
            (0..n).map(|j| a(r, j) * b(j, s)).sum::<f64>()
        };
    let (by_row, by_column) = (|j: usize, s: usize| v[(j, s)], |r: usize, j: usize| v[(j, r)]);
    let lambda = model.about().problem.lambda;
    let theta =
        |r: usize, s: usize| (1.5 * product(&by_column, &by_row, rows, r, s) / (2.0 * lambda)).powi(3);
    let table = |n: usize, entry: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..n * TASKS).map(|i| entry(i / TASKS, i % TASKS)).collect()
    };
    let weights = table(rows, &|j, s| product(&by_row, &theta, TASKS, j, s));
    parts.tensors.insert("theta".into(), Tensor::doubles(&[TASKS, TASKS], &table(TASKS, &theta)));
    parts.tensors.insert("weights".into(), Tensor::doubles(&[rows, TASKS], &weights));
    let model = Model::from_bytes(&parts.seal()).unwrap();
    Case { name: "two points", inputs, new, observations, model }
}

/// An atom of each kind.
pub(crate) fn with_atoms() -> Case {
    let atoms = vec![
        AtomSpec::new("common", 3.0, AtomKind::Common),
        AtomSpec::new("own \"tasks\"", 0.1, AtomKind::Own),
        AtomSpec::new("région", 2.0, AtomKind::Groups { groups: vec![1, 0, 1] }),
        AtomSpec::new("likeness", 1.0 / 3.0, AtomKind::Matrix { rows: prior(0.1) }),
    ];
    Recipe { atoms, ..recipe(dense(), own_inputs(true), LossKind::Hinge) }.fit("atoms")
}

/// Nothing to learn: no input is remembered.
pub(crate) fn zeros(inputs: Inputs<'static>) -> Case {
    let task: Vec<u32> = (0..INPUTS as u32).map(|i| i % TASKS as u32).collect();
    let observations = Observations::multi_task(&task, vec![0.0; INPUTS]).unwrap();
    let kernel = Kernel::Rbf { gamma: Gamma::Value(0.5) };
    Recipe { kernel, ..recipe(inputs, observations, LossKind::Squared) }.fit("rbf, all labels zero")
}

pub(crate) fn all() -> Vec<Case> {
    let fixed = RegularizerKind::Fixed { theta: prior(-0.1) };
    let polynomial = Kernel::Polynomial { degree: 2, gamma: Gamma::Value(0.1), coef0: 0.3 };
    let per_task =
        Losses::PerTask(vec![LossKind::Squared, LossKind::Epsilon { epsilon: 0.1 }, LossKind::Squared]);
    let more_names = TaskNames::Strings(vec!["a".into(), "b".into(), "c".into(), "unseen".into()]);
    vec![
        linear(),
        sparse_rbf(),
        dense_rbf(),
        shared(),
        two_point(),
        scaled(),
        with_atoms(),
        zeros(dense()),
        zeros(sparse()),
        scaled_labels(TargetScale::Task, true),
        scaled_labels(TargetScale::Common, true),
        scaled_labels(TargetScale::Task, false),
        Recipe {
            scaling: ScalingKind::Standard,
            ..recipe(dense(), own_inputs(true).with_weights(&weights()).unwrap(), LossKind::Hinge)
        }
        .fit("standard scaling, weights"),
        Recipe {
            target_scale: (TargetScale::Task, true),
            kernel: Kernel::Rbf { gamma: Gamma::Scale },
            scaling: ScalingKind::Spread,
            ..recipe(sparse(), own_inputs(false), LossKind::Squared)
        }
        .fit("spread scaling, scaled labels, rbf"),
        Recipe { scaling: ScalingKind::Unit, ..recipe(sparse_f32(), own_inputs(true), LossKind::Hinge) }
            .fit("unit scaling, sparse"),
        Recipe {
            scaling: ScalingKind::Standard,
            kernel: Kernel::Rbf { gamma: Gamma::Scale },
            ..recipe(dense(), own_inputs(false), LossKind::Squared)
        }
        .fit("standard scaling, rbf"),
        recipe(sparse(), shared_inputs(), LossKind::Squared).fit("linear, sparse, shared inputs"),
        Recipe { bias: 1.0, ..recipe(sparse_f32(), own_inputs(true), LossKind::Logistic) }
            .fit("linear, sparse f32, bias"),
        Recipe {
            kernel: Kernel::Cosine,
            bias: 0.1,
            ..recipe(dense_f32(), own_inputs(true), LossKind::Hinge)
        }
        .fit("cosine, dense f32, bias"),
        Recipe { kernel: Kernel::Cosine, ..recipe(sparse(), own_inputs(false), LossKind::Absolute) }
            .fit("cosine, sparse"),
        Recipe {
            kernel: Kernel::Precomputed,
            output: fixed,
            ..recipe(gram(), own_inputs(true), LossKind::Hinge)
        }
        .fit("precomputed, fixed"),
        Recipe {
            kernel: Kernel::Precomputed,
            bias: 1.0,
            ..recipe(gram(), shared_inputs(), LossKind::Squared)
        }
        .fit("precomputed, shared inputs, bias"),
        Recipe { kernel: polynomial, ..recipe(dense_f32(), own_inputs(false), LossKind::Squared) }
            .fit("polynomial, dense f32"),
        Recipe {
            kernel: Kernel::Laplacian { gamma: Gamma::Value(0.7) },
            output: RegularizerKind::Cosh,
            ..recipe(sparse(), own_inputs(false), LossKind::SquaredEpsilon { epsilon: 0.01 })
        }
        .fit("laplacian, sparse, cosh"),
        Recipe { loss: per_task, ..recipe(dense_f32(), own_inputs(false), LossKind::Squared) }
            .fit("a loss for each task"),
        Recipe {
            output: RegularizerKind::Frobenius { prior: prior(0.2) },
            ..recipe(dense(), own_inputs(false), LossKind::Quantile { q: 0.3 })
        }
        .fit("frobenius"),
        Recipe {
            output: RegularizerKind::Trace { nu: 0.5 },
            ..recipe(dense(), own_inputs(false), LossKind::Squared)
        }
        .fit("trace norm, linear"),
        Recipe {
            output: RegularizerKind::Relationship { l1: 0.1, l2: 1.0, groups: None },
            kernel: Kernel::Rbf { gamma: Gamma::Auto },
            ..recipe(dense(), own_inputs(true), LossKind::Hinge)
        }
        .fit("task relationships, rbf"),
        Recipe {
            output: RegularizerKind::Series { coefficients: vec![0.1, 0.5, 0.0, 0.25] },
            ..recipe(
                dense(),
                own_inputs(true).with_task_names(more_names).unwrap(),
                LossKind::SmoothedHinge { gamma: 0.5 },
            )
        }
        .fit("series, a task without observations"),
    ]
}
