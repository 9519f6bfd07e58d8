//! Every method on the same toy problem through one body, and each against what is known of it.

use crate::common::{LOSSES, Toy, near, optimum, own_rows};
use kinfolk::inputs::Dense;
use kinfolk::kernel::Gamma;
use kinfolk::{Fit, Kernel, LossKind, Matrix, Observations, Settings, Status};
use kinfolk_train::{Claim, Params, Weight, registry};

#[test]
fn every_method_fits_every_loss_it_can_do() {
    let settings = Settings { tolerance: 1e-6, max_passes: 5000, ..Settings::default() };
    for method in registry() {
        for loss in &LOSSES {
            for kernel in [Kernel::Linear, Kernel::Rbf { gamma: Gamma::Value(0.5) }] {
                let toy = Toy { kernel: kernel.clone(), ..own_rows(loss) };
                let fit = toy.try_fit(method.name(), &[], loss, Weight::Relative(1.0), 1.0, &settings);
                let what = format!("{} {loss} {kernel:?}", method.name());
                if method.info().losses == kinfolk_train::SupportedLosses::Squared
                    && *loss != LossKind::Squared
                {
                    let said = fit.unwrap_err().to_string();
                    assert!(said.contains(method.name()) && said.contains("the squared loss only"), "{said}");
                    continue;
                }
                let fit = fit.unwrap();
                assert_eq!(fit.status(), Status::Certified, "{what}: {}", fit.certificate());
                if method.name() == "mtfl" {
                    let (objective, bound) = search_bound(&fit);
                    near(&format!("{what}: bound of the search"), bound, objective, 1e-6);
                }
                let predictions = fit.model.predict_all(&toy.inputs).unwrap();
                assert!(predictions.as_slice().iter().all(|z| z.is_finite()), "{what}");
                let theta = fit.model.theta();
                assert_eq!((theta.rows(), theta.cols()), (3, 3));
                assert!(theta.eigen().unwrap().0[0] >= -1e-9 * theta[(0, 0)].abs(), "{what}: {theta:?}");
            }
        }
        let defaults = Params::parse(method.name(), method.params(), &[]).unwrap();
        let optimal = method.claim(&defaults) == Claim::Optimal;
        assert_eq!(optimal, !["gmtl", "mtfl"].contains(&method.name()));
    }
}

/// The objective and the bound that the search over groups states in its remark.
fn search_bound(fit: &Fit) -> (f64, f64) {
    let remark = fit.model.remark().expect("mtfl remarks its bound");
    let numbers = remark.strip_prefix("bound of the search over groups: objective ").expect(remark);
    let (objective, bound) = numbers.split_once(", with any groups not below ").expect(remark);
    (objective.parse().expect(remark), bound.parse().expect(remark))
}

/// Optima of a conic solver. Methods here fix one of their weights at 1; its value in the table goes into C
/// and the objective.
#[test]
fn optima_are_met() {
    /// Method, parameters, the weight that is 1 here, lambda, and the name of the problem.
    type Golden<'a> = (&'a str, &'a [(&'a str, &'a str)], f64, f64, &'a str);
    let golden: [Golden<'_>; 9] = [
        ("stl", &[], 1.0, 1.0, "independent"),
        // Theta = 1/2 + I over its diagonal.
        ("mtl", &[("mu", "2")], 1.0 / 1.5, 1.0, "mean mu=2"),
        (
            "cmtl",
            &[("clusters", "2"), ("between", "0.25"), ("mean", "0.4")],
            2.0,
            1.0,
            "clusters 2 mean=0.2 between=0.5 within=2",
        ),
        ("mtrl", &[("l1", "0")], 0.4, 1.0, "relationship l1=0 l2=0.4"),
        ("mtrl", &[("l1", "0.75")], 0.4, 1.0, "relationship l1=0.3 l2=0.4"),
        ("mtl-sdca", &[], 0.4, 1.0, "trace norm 0.4"),
        ("convex-okl", &[("structure", "trace")], 0.4, 1.0, "trace norm 0.4"),
        ("convex-okl", &[], 1.0, 0.5, "learned k=1 lambda=0.5"),
        ("fmtl", &[("k", "2")], 1.0, 0.5, "learned k=2 lambda=0.5"),
    ];
    for (method, params, weight, lambda, problem) in golden {
        for loss in &LOSSES {
            let fit = own_rows(loss).fit(method, params, loss, Weight::C(1.0 / weight), lambda);
            near(
                &format!("{method} {params:?} {loss}"),
                weight * fit.certificate().primal,
                optimum(problem, loss),
                1e-7,
            );
            assert!(fit.certificate().rel_gap() <= 1e-6, "{method} {loss}: {}", fit.certificate());
        }
    }
}

/// One base kernel, mu = 0.5, all seven groups of three tasks.
#[test]
fn the_lattice_of_groups_meets_its_optima() {
    let lattices = [("with-groups", "1.3"), ("apart", "1.3"), ("apart", "0.5")];
    for ((alone, b), loss) in
        lattices.iter().flat_map(|lattice| LOSSES.iter().map(move |loss| (*lattice, loss)))
    {
        let params = [("mu", "0.5"), ("b", b), ("alone", alone)];
        let settings = Settings { tolerance: 1e-8, max_passes: 5000, ..Settings::default() };
        let fit = own_rows(loss).try_fit("mtfl", &params, loss, Weight::C(1.0), 1.0, &settings).unwrap();
        let optimum = optimum(&format!("lattice mu=0.5 b={b} {alone}"), loss);
        near(&format!("mtfl {alone} {b} {loss}"), fit.certificate().primal, optimum, 1e-7);
        assert!(fit.certificate().rel_gap() <= 1e-6, "{alone} {b} {loss}: {}", fit.certificate());
        let (objective, bound) = search_bound(&fit);
        near(&format!("mtfl {alone} {b} {loss}: objective over all groups"), objective, optimum, 1e-7);
        near(&format!("mtfl {alone} {b} {loss}: bound over all groups"), bound, optimum, 1e-6);
    }
}

/// Tasks in another order give Theta in that order.
#[test]
fn the_order_of_tasks_does_not_matter() {
    let order = [2u32, 0, 1];
    let loss = LossKind::Squared;
    let toy = own_rows(&loss);
    let obs = &toy.observations;
    let task: Vec<u32> = (0..12).map(|o| order[obs.task(o)]).collect();
    let turned = Toy {
        observations: Observations::multi_task(&task, obs.labels().to_vec()).unwrap(),
        ..own_rows(&loss)
    };
    for method in registry().iter().filter(|method| method.name() != "gmtl") {
        let fit = |toy: &Toy| toy.fit(method.name(), &[], &loss, Weight::C(1.0), 1.0);
        let (plain, other) = (fit(&toy), fit(&turned));
        near(method.name(), other.certificate().primal, plain.certificate().primal, 1e-7);
        let entry = |m: &Matrix, r: usize, s: usize| m[(r, s)];
        for r in 0..3 {
            for s in 0..3 {
                let (a, b) = (
                    entry(plain.model.theta(), r, s),
                    entry(other.model.theta(), order[r] as usize, order[s] as usize),
                );
                assert!(
                    (a - b).abs() < 1e-3 * plain.model.theta()[(0, 0)].max(1.0),
                    "{}: {a} {b}",
                    method.name()
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_done_is_said_by_name() {
    let loss = LossKind::Squared;
    let settings = Settings::default();
    let said = |params: &[(&str, &str)], toy: &Toy, loss: &LossKind| {
        toy.try_fit("okl", params, loss, Weight::C(1.0), 1.0, &settings).unwrap_err().to_string()
    };
    let published = said(&[("form", "published")], &own_rows(&loss), &loss);
    assert!(published.contains("there is no parameter \"form\""), "{published}");
    let hinge = said(&[], &own_rows(&LossKind::Hinge), &LossKind::Hinge);
    assert!(hinge.contains("squared loss") && hinge.contains("fmtl:k=1"), "{hinge}");
}

/// Twelve tasks in three groups, each task with fewer rows than features: whom Theta holds nearest is of the
/// same group.
#[test]
fn groups_are_found_among_many_tasks() {
    let (tasks, rows, features) = (12, 8, 9);
    // Fractional parts of multiples of irrational numbers, from -1 to 1.
    let spread = |i: usize, root: f64| 2.0 * (i as f64 * root.sqrt()).fract() - 1.0;
    let n = tasks * rows;
    let x: Vec<f64> = (0..n * features).map(|i| spread(i * i + 1, 7.0)).collect();
    // Each group uses three features, each task all a little.
    let weight = |task: usize, j: usize| {
        f64::from(u8::from(j / 3 == task % 3)) + 0.1 * spread(task * features + j + 1, 3.0)
    };
    let task: Vec<u32> = (0..n).map(|i| (i / rows) as u32).collect();
    let signal = |i: usize| (0..features).map(|j| x[i * features + j] * weight(i / rows, j)).sum();
    let y: Vec<f64> = (0..n).map(signal).collect();
    let toy = Toy {
        observations: Observations::multi_task(&task, y).unwrap(),
        inputs: Dense::f64_owned(x, n, features).unwrap().into(),
        kernel: Kernel::Linear,
    };
    let methods: [(&str, &[(&str, &str)]); 3] =
        [("cmtl", &[]), ("mtfl", &[("mu", "0.1"), ("b", "1.5")]), ("gmtl", &[("restarts", "2")])];
    for (method, params) in methods {
        let fit = toy
            .try_fit(method, params, &LossKind::Squared, Weight::Relative(1.0), 1.0, &Settings::default())
            .unwrap();
        let theta = fit.model.theta();
        let near = |r: usize, s: usize| theta[(r, s)].abs() / (theta[(r, r)] * theta[(s, s)]).sqrt();
        for r in 0..tasks {
            let others = (0..tasks).filter(|&s| s != r);
            let nearest = others.max_by(|&a, &b| near(r, a).total_cmp(&near(r, b))).unwrap();
            assert_eq!(nearest % 3, r % 3, "{method}: task {r} is nearest to {nearest}");
        }
    }
}
