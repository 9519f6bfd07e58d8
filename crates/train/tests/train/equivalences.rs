//! What is the same under two names: limits, equivalences and laws that tie the methods to each other.

use crate::common::{LOSSES, Toy, near, optimum, own_rows};
use kinfolk::inputs::Dense;
use kinfolk::{Inputs, Kernel, LossKind, Matrix, Observations, RegularizerKind};
use kinfolk_train::Weight;

#[test]
fn limits_and_equivalences() {
    for loss in &LOSSES {
        let toy = own_rows(loss);
        let primal = |method: &str, params: &[(&str, &str)], c: f64| {
            toy.fit(method, params, loss, Weight::C(c), 1.0).certificate().primal
        };
        let alone = primal("stl", &[], 1.0);
        // A common mean that costs much is none: O(1 / mu).
        near(&format!("{loss}: mtl"), primal("mtl", &[("mu", "1e6")], 1.0), alone, 1e-5);
        // A cluster for each task, all costs the same, a group for each task: independent tasks.
        near(&format!("{loss}: cmtl"), primal("cmtl", &[("between", "1"), ("mean", "1")], 1.0), alone, 1e-7);
        near(&format!("{loss}: gmtl"), primal("gmtl", &[("groups", "3")], 1.0), alone, 1e-4);
        // One group is mtrl.
        let one = primal("gmtl", &[("groups", "1")], 1.0);
        near(&format!("{loss}: one group"), one, primal("mtrl", &[], 1.0), 1e-7);
    }
}

/// What fits have in common: the sum of losses at the predictions of a fit.
fn losses_of(toy: &Toy, fit: &kinfolk::Fit, loss: &LossKind) -> f64 {
    let (loss, z) = (loss.build().unwrap(), fit.model.predict_all(&toy.inputs).unwrap());
    let obs = &toy.observations;
    (0..obs.len()).map(|o| loss.value(obs.label(o), z[(obs.input(o), obs.task(o))])).sum()
}

/// Theta times f is C times f, and the objective f times as large.
#[test]
fn given_matrices_scale() {
    for loss in &LOSSES {
        let toy = own_rows(loss);
        let alone = toy.fit("stl", &[], loss, Weight::C(0.6), 1.0);
        let theta = (0..3).map(|r| (0..3).map(|s| if r == s { 3.0 } else { 0.0 }).collect()).collect();
        let scaled = toy.solve(loss, RegularizerKind::Fixed { theta }, 0.2, 1.0);
        near(&loss.to_string(), 3.0 * scaled.certificate().primal, alone.certificate().primal, 1e-7);
        // One model for all, as the limit of a common mean.
        let pooled = toy.fit("pooled", &[], loss, Weight::C(1.0), 1.0).certificate().primal;
        near(
            &format!("{loss}: mtl"),
            toy.fit("mtl", &[("mu", "1e-6")], loss, Weight::C(1.0), 1.0).certificate().primal,
            pooled,
            1e-4,
        );
    }
}

/// Inputs times s are C over s squared, where what is paid for weights is a square: the same predictions.
#[test]
fn units_of_inputs_go_into_c() {
    for loss in &LOSSES {
        let toy = own_rows(loss);
        let large: Vec<f64> = match &toy.inputs {
            Inputs::Dense(x) => x.as_f64().unwrap().iter().map(|x| 4.0 * x).collect(),
            _ => unreachable!(),
        };
        let other = Toy { inputs: Dense::f64_owned(large, 12, 3).unwrap().into(), ..own_rows(loss) };
        for method in ["stl", "mtl", "cmtl", "mtrl", "pooled"] {
            let plain = toy.fit(method, &[], loss, Weight::C(1.0), 1.0);
            let fit = other.fit(method, &[], loss, Weight::C(1.0 / 16.0), 1.0);
            let (a, b) = (
                plain.model.predict_all(&toy.inputs).unwrap(),
                fit.model.predict_all(&other.inputs).unwrap(),
            );
            for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
                assert!((a - b).abs() < 1e-3, "{method} {loss}: {a} {b}");
            }
        }
    }
}

/// One cluster is a common mean, with `mu = T / (1 / mean - 1)`.
#[test]
fn one_cluster_is_a_common_mean() {
    let mu = 3.0 / (1.0 / (0.5 * 0.4) - 1.0);
    let factor = 1.0 + 1.0 / mu;
    for loss in &LOSSES {
        let toy = own_rows(loss);
        let clusters = [("clusters", "1"), ("between", "0.5"), ("mean", "0.4")];
        let one = toy.fit("cmtl", &clusters, loss, Weight::C(1.0), 1.0);
        let mean = toy.fit("mtl", &[("mu", &mu.to_string())], loss, Weight::C(factor), 1.0);
        near(&loss.to_string(), factor * one.certificate().primal, mean.certificate().primal, 1e-7);
    }
}

/// The relaxation is where a conic solver finds it, at or below every partition into as many clusters.
#[test]
fn no_partition_is_below_its_relaxation() {
    let (within, between, of_mean) = (1.0, 0.25, 0.4 * 0.25);
    for loss in &LOSSES {
        let toy = own_rows(loss);
        let params = [("clusters", "2"), ("between", "0.25"), ("mean", "0.4")];
        let relaxed = toy.fit("cmtl", &params, loss, Weight::C(1.0), 1.0).certificate().clone();
        let mut best = f64::INFINITY;
        for alone in 0..3usize {
            let together = |r: usize, s: usize| {
                if (r == alone) != (s == alone) {
                    0.0
                } else if r == alone {
                    1.0
                } else {
                    0.5
                }
            };
            let entry = |r: usize, s: usize| {
                let (u, m, i) = (1.0 / 3.0, together(r, s), f64::from(u8::from(r == s)));
                u / of_mean + (m - u) / between + (i - m) / within
            };
            let theta = (0..3).map(|r| (0..3).map(|s| entry(r, s)).collect()).collect();
            best = best.min(toy.solve(loss, RegularizerKind::Fixed { theta }, 1.0, 1.0).certificate().primal);
        }
        assert!(relaxed.dual <= best * (1.0 + 1e-9), "{loss}: {} above {best}", relaxed.dual);
        near(
            &loss.to_string(),
            relaxed.primal,
            optimum("clusters 2 mean=0.1 between=0.25 within=1", loss),
            1e-7,
        );
    }
}

/// What tasks share costs nothing: independent tasks. And Om is the root of W'W, with trace one.
#[test]
fn relationships_at_their_ends() {
    for loss in &LOSSES {
        let toy = own_rows(loss);
        let alone = toy.fit("stl", &[], loss, Weight::C(1.0), 1.0).certificate().primal;
        let mostly = toy.fit("mtrl", &[("l1", "1e6")], loss, Weight::C(1e6), 1.0).certificate().primal;
        near(&loss.to_string(), mostly / 1e6, alone, 1e-5);
        let fit = toy.fit("mtrl", &[], loss, Weight::C(1.0), 1.0);
        let (theta, products) = (fit.model.theta(), &fit.products);
        let square = theta.times(theta);
        let trace = |m: &Matrix| (0..3).map(|t| m[(t, t)]).sum::<f64>();
        for (a, b) in square.as_slice().iter().zip(products.as_slice()) {
            let (a, b) = (a / trace(&square), b / trace(products));
            assert!((a - b).abs() < 1e-3, "{loss}: {a} {b}");
        }
    }
}

/// Groups that are known: the squared trace norm of each.
#[test]
fn known_groups_meet_their_optima() {
    for loss in &LOSSES {
        let toy = own_rows(loss);
        let output = RegularizerKind::Relationship { l1: 0.0, l2: 1.0, groups: Some(vec![0, 0, 1]) };
        let fit = toy.solve(loss, output, 1.0 / 0.4, 1.0);
        near(
            &loss.to_string(),
            0.4 * fit.certificate().primal,
            optimum("relationship l1=0 l2=0.4 groups=0,0,1", loss),
            1e-7,
        );
        assert!(fit.certificate().rel_gap() <= 1e-6, "{loss}: {}", fit.certificate());
    }
}

/// The lattice of one task is that task, with `Theta = (1 + 1/mu) / b^2`.
#[test]
fn a_lattice_of_one_task() {
    let loss = LossKind::Squared;
    let one = |toy: Toy| Toy {
        observations: Observations::multi_task(&[0; 12], toy.observations.labels().to_vec()).unwrap(),
        kernel: Kernel::Linear,
        inputs: toy.inputs,
    };
    let toy = one(own_rows(&loss));
    let factor = (1.0 + 1.0 / 0.5) / (1.3 * 1.3);
    let lattice = toy.fit("mtfl", &[("mu", "0.5"), ("b", "1.3")], &loss, Weight::C(1.0), 1.0);
    let alone = toy.fit("stl", &[], &loss, Weight::C(factor), 1.0);
    near("mtfl", factor * lattice.certificate().primal, alone.certificate().primal, 1e-6);
}

/// k = 1 is the Schatten norm of the weights with exponent 4/3: `3 lambda / 2 sum (s^2 / 2 lambda)^(2/3)`.
#[test]
fn a_learned_theta_is_a_norm_of_the_weights() {
    for loss in &LOSSES {
        let (toy, lambda) = (own_rows(loss), 0.5);
        let fit = toy.fit("fmtl", &[("k", "1")], loss, Weight::C(1.0), lambda);
        let squares = fit.products.eigen().unwrap().0;
        let norm: f64 = squares.iter().map(|s| (s.max(0.0) / (2.0 * lambda)).powf(2.0 / 3.0)).sum();
        let by_norm = losses_of(&toy, &fit, loss) + 1.5 * lambda * norm;
        near(&loss.to_string(), by_norm, fit.certificate().primal, 1e-6);
    }
}
