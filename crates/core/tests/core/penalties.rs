//! Penalties of Theta as a whole: optima of an outside solver, limits where they meet other methods, and what
//! a model keeps.

#[path = "../../../../tests/golden/optimum.rs"]
mod golden;

use crate::common::{SHAPES, Sample, Setup, Source, assert_close, power, problem_of, spec};
use golden::optimum;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::kernel::Gamma;
use kinfolk::{
    CertifyOptions, Dataset, DatasetOptions, Fit, Form, Kernel, LossKind, Model, Observations, Problem,
    RegularizerKind, Settings, SolverKind, Status, fit,
};

const WEIGHTS: [[f64; 3]; 3] = [[1.0, 0.5, 0.0], [1.0, 0.0, -0.5], [-1.0, 0.5, 0.5]];
const LOSSES: [LossKind; 3] = [LossKind::Squared, LossKind::Hinge, LossKind::Epsilon { epsilon: 0.1 }];

/// Twelve rows of three tasks, all of them formulas; signs of the labels for two classes.
fn twelve(loss: &LossKind) -> (Inputs<'static>, Observations) {
    let input = |i: usize| [0, 1, 2].map(|j| (((i + 1) * (j + 1)) as f64).sin());
    let label = |i: usize| {
        let signal: f64 = input(i).iter().zip(WEIGHTS[i % 3]).map(|(x, w)| x * w).sum();
        signal + 0.1 * ((5 * (i + 1)) as f64).cos()
    };
    let of_kind = |y: f64| if *loss == LossKind::Hinge { y.signum() } else { y };
    let x: Vec<f64> = (0..12).flat_map(input).collect();
    let task: Vec<u32> = (0..12).map(|i| i % 3).collect();
    let y = (0..12).map(|i| of_kind(label(i))).collect();
    (Dense::f64_owned(x, 12, 3).unwrap().into(), Observations::multi_task(&task, y).unwrap())
}

fn tight() -> Settings {
    Settings { tolerance: 1e-9, max_passes: 5000, ..Settings::default() }
}

fn solve(loss: &LossKind, output: RegularizerKind, c: f64, kernel: Kernel) -> Fit {
    let (inputs, obs) = twelve(loss);
    let options = DatasetOptions { threads: 1, kernel, ..DatasetOptions::default() };
    let data = Dataset::new(&inputs, &obs, options).unwrap();
    // lambda = 1/2: the penalty as it is.
    fit(&problem_of(&data, loss.clone(), output, c), &tight()).unwrap()
}

#[test]
fn a_conic_solver_agrees() {
    let clusters = RegularizerKind::Clusters { clusters: 2, mean: 0.2, between: 0.5, within: 2.0 };
    let relationship = |l1| RegularizerKind::Relationship { l1, l2: 0.4, groups: None };
    let groups = RegularizerKind::Relationship { l1: 0.0, l2: 0.4, groups: Some(vec![0, 0, 1]) };
    let golden = [
        (clusters, "clusters 2 mean=0.2 between=0.5 within=2"),
        (relationship(0.0), "relationship l1=0 l2=0.4"),
        (relationship(0.3), "relationship l1=0.3 l2=0.4"),
        (RegularizerKind::Trace { nu: 0.16 }, "trace norm 0.4"),
        (groups, "relationship l1=0 l2=0.4 groups=0,0,1"),
    ];
    for (output, name) in golden {
        for loss in &LOSSES {
            let optimum = optimum(name, loss);
            let fit = solve(loss, output.clone(), 1.0, Kernel::Linear);
            let primal = fit.certificate().primal;
            println!("{output} {loss}: gap {:.1e} after {} rounds", fit.certificate().rel_gap(), fit.passes);
            assert!((primal - optimum).abs() <= 1e-7 * optimum, "{output} {loss}: {primal} is not {optimum}");
            assert!(fit.certificate().rel_gap() <= 1e-6, "{output} {loss}: {}", fit.certificate());
        }
    }
}

#[test]
fn penalties_meet_given_task_matrices_at_their_limits() {
    let kernels = [Kernel::Linear, Kernel::Rbf { gamma: Gamma::Value(0.5) }];
    let fixed = |entry: &dyn Fn(usize, usize) -> f64| RegularizerKind::Fixed {
        theta: (0..3).map(|r| (0..3).map(|s| entry(r, s)).collect()).collect(),
    };
    for (loss, kernel) in LOSSES.iter().flat_map(|loss| kernels.iter().map(move |kernel| (loss, kernel))) {
        let primal = |output| solve(loss, output, 1.3, kernel.clone()).certificate().primal;
        // One cluster is a common mean: Theta = 1/mu + I, mu = T / (1/mean - 1).
        let mean = 0.2;
        let mu = 3.0 / (1.0 / mean - 1.0);
        let common = primal(fixed(&|r, s| 1.0 / mu + if r == s { 1.0 } else { 0.0 }));
        let one = primal(RegularizerKind::Clusters { clusters: 1, mean, between: 0.5, within: 1.0 });
        assert!((one - common).abs() <= 1e-7 * common, "{loss} {kernel:?}: {one} {common}");
        // Everything costs the same: independent tasks.
        let alone = primal(fixed(&|r, s| if r == s { 1.0 } else { 0.0 }));
        let same = primal(RegularizerKind::Clusters { clusters: 2, mean: 1.0, between: 1.0, within: 1.0 });
        assert!((same - alone).abs() <= 1e-7 * alone, "{loss} {kernel:?}: {same} {alone}");
        // A group for each task: independent tasks too.
        let apart = primal(RegularizerKind::Relationship { l1: 0.0, l2: 1.0, groups: Some(vec![2, 0, 1]) });
        assert!((apart - alone).abs() <= 1e-7 * alone, "{loss} {kernel:?}: {apart} {alone}");
        // The relationship at no cost: independent tasks of weight l1.
        let free = primal(RegularizerKind::Relationship { l1: 1.0, l2: 1e-9, groups: None });
        assert!((free - alone).abs() <= 1e-6 * alone, "{loss} {kernel:?}: {free} {alone}");
    }
}

#[test]
fn the_relaxation_costs_no_more_than_any_partition() {
    // All partitions of three tasks into two clusters, as given task matrices.
    let (mean, between, within) = (0.2, 0.5, 2.0);
    let relaxed = solve(
        &LossKind::Hinge,
        RegularizerKind::Clusters { clusters: 2, mean, between, within },
        1.0,
        Kernel::Linear,
    );
    for alone in 0..3 {
        let in_cluster = |r: usize, s: usize| match (r == alone, s == alone) {
            (true, true) => 1.0,
            (false, false) => 0.5,
            _ => 0.0,
        };
        let entry = |r: usize, s: usize| {
            let (m, u) = (in_cluster(r, s), 1.0 / 3.0);
            u / mean + (m - u) / between + (if r == s { 1.0 } else { 0.0 } - m) / within
        };
        let theta = (0..3).map(|r| (0..3).map(|s| entry(r, s)).collect()).collect();
        let hard = solve(&LossKind::Hinge, RegularizerKind::Fixed { theta }, 1.0, Kernel::Linear);
        assert!(relaxed.certificate().dual <= hard.certificate().primal * (1.0 + 1e-9));
    }
}

/// Every loss on every kind of data, certified.
#[test]
fn every_loss_and_shape_is_certified() {
    for shape in SHAPES {
        for loss in LossKind::all_examples() {
            let setup = Setup::new(Source::Dense, &Sample::new(shape, 3), &loss);
            for output in RegularizerKind::spectral_examples() {
                let settings = Settings { tolerance: 1e-6, max_passes: 3000, ..Settings::default() };
                let fit = setup.fit(spec(loss.clone(), output.clone(), 1.0, 0.5), &settings);
                assert_eq!(
                    fit.status(),
                    Status::Certified,
                    "{shape:?} {loss} {output}: {}",
                    fit.certificate()
                );
                assert_eq!(fit.certificate().form, Form::Weights);
                assert_eq!(fit.solver, "admm");
            }
        }
    }
}

#[test]
fn a_model_keeps_what_its_certificate_needs() {
    for kernel in [Kernel::Linear, Kernel::Rbf { gamma: Gamma::Value(0.5) }] {
        let (inputs, obs) = twelve(&LossKind::Hinge);
        let fit = solve(&LossKind::Hinge, RegularizerKind::Trace { nu: 0.16 }, 1.0, kernel);
        let bytes = fit.model.to_bytes().unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        let again = model.certify(&inputs, &obs, &CertifyOptions::default()).unwrap();
        let old = fit.certificate();
        assert_close("values", &[again.primal, again.dual], &[old.primal, old.dual], 1e-12);
        // Theta is that of the weights, and predictions are those of the weights.
        let theta = fit.model.theta();
        assert!((0..3).all(|t| theta[(t, t)] >= 0.0));
        let predictions = model.predict_all(&inputs).unwrap();
        assert_eq!(predictions.as_slice(), fit.model.predict_all(&inputs).unwrap().as_slice());
    }
}

#[test]
fn other_solvers_say_that_they_cannot() {
    let (inputs, obs) = twelve(&LossKind::Hinge);
    let data = Dataset::new(&inputs, &obs, DatasetOptions::default()).unwrap();
    let problem = |output| problem_of(&data, LossKind::Hinge, output, 1.0);
    let settings = |solver| Settings { solver, ..Settings::default() };
    for solver in SolverKind::ALL {
        let said = fit(&problem(RegularizerKind::Trace { nu: 1.0 }), &settings(solver));
        match solver {
            SolverKind::Auto | SolverKind::Admm => assert!(said.is_ok()),
            _ => assert!(said.unwrap_err().to_string().contains("no sum over its entries"), "{solver}"),
        }
    }
    let said = fit(&problem(power(1)), &settings(SolverKind::Admm)).unwrap_err();
    assert!(said.to_string().contains("entry by entry"), "{said}");
}

#[test]
fn bad_parameters_are_named() {
    let (inputs, obs) = twelve(&LossKind::Hinge);
    let data = Dataset::new(&inputs, &obs, DatasetOptions::default()).unwrap();
    let said = |output| Problem::new(&data, spec(LossKind::Hinge, output, 1.0, 0.5)).unwrap_err().to_string();
    assert!(said(RegularizerKind::Trace { nu: 0.0 }).contains("nu"));
    assert!(said(RegularizerKind::Relationship { l1: -1.0, l2: 1.0, groups: None }).contains("l1"));
    assert!(said(RegularizerKind::Relationship { l1: 0.0, l2: 0.0, groups: None }).contains("l2"));
    assert!(
        said(RegularizerKind::Relationship { l1: 0.0, l2: 1.0, groups: Some(vec![0]) }).contains("groups")
    );
    let clusters =
        |clusters, mean, between, within| RegularizerKind::Clusters { clusters, mean, between, within };
    assert!(said(clusters(4, 0.1, 0.2, 1.0)).contains("number of tasks"));
    assert!(said(clusters(0, 0.1, 0.2, 1.0)).contains("at least 1"));
    assert!(said(clusters(2, 0.3, 0.2, 1.0)).contains("between"));
    assert!(said(clusters(2, 0.1, 2.0, 1.0)).contains("within"));
}
