//! The default method: its limits, its choice of weights and kernels, and what its shares say.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{Kernel, Observations, Silent, Start, Status};
use kinfolk_io::Schema;
use kinfolk_train::select::{Axis, Candidate, Row, Selection, Study, candidates, cross_validate};
use kinfolk_train::{Data, FitSpec, Trained, Training, Unobserved, Weight, predict, train};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const FEATURES: usize = 4;

/// Tasks with coefficients `common + own`, of these sizes, and labels that are this function of inputs times them.
fn world(tasks: usize, rows: usize, [common, own]: [f64; 2], bend: fn(f64) -> f64, seed: u64) -> Toy {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let shared: Vec<f64> = (0..FEATURES).map(|_| common * normal()).collect();
    let w: Vec<Vec<f64>> = (0..tasks).map(|_| shared.iter().map(|c| c + own * normal()).collect()).collect();
    let n = tasks * rows;
    let x: Vec<f64> = (0..n * FEATURES).map(|_| normal()).collect();
    let task: Vec<u32> = (0..n).map(|i| (i % tasks) as u32).collect();
    let value =
        |i: usize| -> f64 { (0..FEATURES).map(|j| bend(x[i * FEATURES + j]) * w[i % tasks][j]).sum() };
    let y = (0..n).map(|i| value(i) + 0.5 * normal()).collect();
    Toy {
        inputs: Dense::f64_owned(x, n, FEATURES).unwrap().into(),
        observations: Observations::multi_task(&task, y).unwrap(),
    }
}

struct Toy {
    inputs: Inputs<'static>,
    observations: Observations,
}

impl Toy {
    fn fit(&self, method: &str) -> Trained {
        let method = method.parse().unwrap();
        let spec = FitSpec { method, c: Weight::Relative(1.0), threads: 1, tol: 1e-8, ..FitSpec::default() };
        let data = Data::Arrays(&self.inputs, &self.observations);
        let trained = train(&spec, data, Start::Cold, &mut Silent).unwrap();
        assert_eq!(trained.model.status(), Some(Status::Certified), "{}", spec.method);
        trained
    }

    fn predictions(&self, method: &str) -> Vec<f64> {
        predict(&self.fit(method).model, &self.inputs, &self.observations).unwrap()
    }

    fn study(&self, kernel: Option<Kernel>) -> Study<'_> {
        let spec = FitSpec { threads: 2, tol: 1e-2, kernel, ..FitSpec::default() };
        let losses = Training::losses_of(&spec, &self.observations);
        Study { folds: 3, ..Study::new(&self.inputs, &self.observations, losses, spec) }
    }

    fn select(&self, kernel: Option<Kernel>, axes: &[&str]) -> Selection {
        cross_validate(&self.study(kernel), &kin(axes), &Unobserved).unwrap().unwrap()
    }
}

fn kin(axes: &[&str]) -> Vec<Candidate> {
    let axes: Vec<Axis> = axes.iter().map(|axis| axis.parse().unwrap()).collect();
    candidates(&["kin".into()], &axes).unwrap()
}

fn near(a: &[f64], b: &[f64], tolerance: f64) {
    let size = b.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let off = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= tolerance * size, "{off} of {size}");
}

fn straight(x: f64) -> f64 {
    x
}

#[test]
fn without_weights_it_is_fmtl() {
    let toy = world(4, 8, [1.0, 1.0], straight, 1);
    near(&toy.predictions("kin:common=0,own=0,k=2"), &toy.predictions("fmtl:k=2"), 1e-12);
}

#[test]
fn a_single_task_needs_no_atoms() {
    let toy = world(1, 20, [1.0, 1.0], straight, 2);
    near(&toy.predictions("kin"), &toy.predictions("fmtl"), 1e-12);
    assert!(toy.fit("kin").model.atoms().is_empty());
}

#[test]
fn large_weights_give_one_model_for_all_and_independent_tasks() {
    let toy = world(4, 10, [1.0, 1.0], straight, 3);
    let theta = |method: &str| {
        let model = toy.fit(method).model;
        let size = model.theta()[(0, 0)];
        let entries: Vec<f64> = model.theta().as_slice().iter().map(|x| x / size).collect();
        entries
    };
    near(&theta("kin:common=1e9,own=0"), &[1.0; 16], 1e-4);
    let identity: Vec<f64> = (0..16).map(|i| if i % 5 == 0 { 1.0 } else { 0.0 }).collect();
    near(&theta("kin:own=1e9,common=0"), &identity, 1e-4);
}

#[test]
fn shares_tell_what_tasks_have_in_common() {
    let mut right = 0;
    for seed in 0..10 {
        let parts = if seed % 2 == 0 { [1.0, 0.3] } else { [0.0, 1.0] };
        let model = world(8, 12, parts, straight, seed).fit("kin:common=10,own=10").model;
        let atoms = model.atoms();
        assert_eq!([atoms[0].name, atoms[1].name], ["common", "own"]);
        assert!(atoms.iter().map(|atom| atom.share).sum::<f64>() <= 1.0);
        right += usize::from((atoms[0].share > atoms[1].share) == (seed % 2 == 0));
    }
    assert_eq!(right, 10);
}

#[test]
fn selection_finds_what_suits_the_tasks_without_trying_all_combinations() {
    let linear = Some(Kernel::Linear);
    let number = |row: &Row, name: &str| row.method.params().number(name).unwrap();
    // One model for all, against which the search starts with some weight.
    let same = world(10, 6, [1.0, 0.0], straight, 5).select(linear.clone(), &[]);
    let winner = &same.rows[same.winner];
    assert!(number(winner, "common") >= 10.0, "{}", winner.method);
    let mut settings: Vec<String> = same.rows.iter().map(|row| row.method.to_string()).collect();
    settings.dedup();
    assert!((5..20).contains(&settings.len()), "{settings:?}");
    // The product is tried where all values are given.
    let all = world(3, 6, [1.0, 0.0], straight, 5)
        .select(linear, &["k=1,2", "common=0,1", "own=0,1,2", "strength=1"]);
    assert_eq!(all.rows.len(), 2 * 2 * 3);
}

#[test]
fn the_kernel_is_chosen_and_the_model_has_it() {
    let bent = world(5, 30, [1.0, 0.2], |x| 2.0 * (2.0 * x).sin(), 6);
    let study = bent.study(None);
    let found = cross_validate(&study, &kin(&[]), &Unobserved).unwrap().unwrap();
    let winner = &found.rows[found.winner];
    assert!(matches!(winner.kernel, Some(Kernel::Rbf { .. })), "{:?}", winner.kernel);
    let schema = Schema::new(study.spec.columns.clone(), None, FEATURES);
    let trained = study.refit(winner, &schema, &mut Silent).unwrap();
    assert_eq!(Some(&trained.model.about().kernel), winner.kernel.as_ref());
    // A kernel that is given is the only one.
    let given = bent.select(Some(Kernel::Linear), &[]);
    assert!(given.rows.iter().all(|row| row.kernel.is_none()));
    let axis = bent.select(None, &["kernel=linear,rbf:0.5", "k=1", "common=10", "own=0", "strength=1"]);
    let kernels: Vec<String> = axis.rows.iter().map(|row| row.kernel.as_ref().unwrap().to_string()).collect();
    assert_eq!(kernels, ["linear", "rbf:0.5"]);
}
