//! Every method on the same toy problem through one body, and each against what is known of it.

#![allow(clippy::unwrap_used)] // helpers outside test functions

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::kernel::Gamma;
use kinfolk::{
    Dataset, DatasetOptions, Fit, Kernel, LossKind, Losses, Matrix, Observations, Settings, Silent, Status,
    Yardstick,
};
use kinfolk_methods::{Claim, Job, Params, Point, find, registry};

const WEIGHTS: [[f64; 3]; 3] = [[1.0, 0.5, 0.0], [1.0, 0.0, -0.5], [-1.0, 0.5, 0.5]];
const LOSSES: [LossKind; 3] = [LossKind::Squared, LossKind::Hinge, LossKind::Epsilon { epsilon: 0.1 }];

/// Inputs and observations, all of them formulas.
struct Toy {
    inputs: Inputs<'static>,
    observations: Observations,
    kernel: Kernel,
}

fn input(i: usize) -> [f64; 3] {
    [0, 1, 2].map(|j| (((i + 1) * (j + 1)) as f64).sin())
}

fn label(i: usize, task: usize, phase: usize) -> f64 {
    let signal: f64 = input(i).iter().zip(WEIGHTS[task]).map(|(x, w)| x * w).sum();
    signal + 0.1 * ((5 * (i + 1) + phase) as f64).cos()
}

/// Twelve rows, task i mod 3; signs of the labels for two classes.
fn own_rows(loss: &LossKind) -> Toy {
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
fn shared_rows() -> Toy {
    let x: Vec<f64> = (0..6).flat_map(input).collect();
    let y: Vec<f64> = (0..18).map(|o| label(o / 3, o % 3, o % 3)).collect();
    Toy {
        inputs: Dense::f64_owned(x, 6, 3).unwrap().into(),
        observations: Observations::multi_output(&y, 6, 3).unwrap(),
        kernel: Kernel::Linear,
    }
}

impl Toy {
    fn fit(&self, method: &str, params: &[(&str, &str)], loss: &LossKind, point: Point, lambda: f64) -> Fit {
        let settings = Settings { tolerance: 1e-9, max_passes: 5000, ..Settings::default() };
        self.try_fit(method, params, loss, point, lambda, &settings).unwrap()
    }

    fn try_fit(
        &self,
        method: &str,
        params: &[(&str, &str)],
        loss: &LossKind,
        point: Point,
        lambda: f64,
        settings: &Settings,
    ) -> kinfolk_methods::Result<Fit> {
        let method = find(method)?;
        let params = Params::parse(method.name(), method.params(), params)?;
        let options = DatasetOptions { kernel: self.kernel.clone(), threads: 1, ..DatasetOptions::default() };
        let data = Dataset::new(&self.inputs, &self.observations, options)?;
        let loss = Losses::from(loss.clone());
        let yardstick = Yardstick::new(&data, &loss)?;
        let job = Job { data: &data, loss: &loss, yardstick: &yardstick, lambda: Some(lambda), settings };
        method.fit(&job, &params, point, None, &mut Silent)
    }
}

fn near(what: &str, got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance * want.abs(), "{what}: {got} is not {want}");
}

#[test]
fn every_method_fits_every_loss_it_can_do() {
    let settings = Settings { tolerance: 1e-6, max_passes: 5000, ..Settings::default() };
    for method in registry() {
        for loss in &LOSSES {
            for kernel in [Kernel::Linear, Kernel::Rbf { gamma: Gamma::Value(0.5) }] {
                let toy = Toy { kernel: kernel.clone(), ..own_rows(loss) };
                let fit = toy.try_fit(method.name(), &[], loss, Point::Strength(1.0), 1.0, &settings);
                let what = format!("{} {loss} {kernel:?}", method.name());
                if method.losses() == kinfolk_methods::Losses::Squared && *loss != LossKind::Squared {
                    let said = fit.unwrap_err().to_string();
                    assert!(said.contains(method.name()) && said.contains("the squared loss only"), "{said}");
                    continue;
                }
                let fit = fit.unwrap();
                assert_eq!(fit.status, Status::Certified, "{what}: {}", fit.certificate);
                let predictions = fit.model.predict_all(&toy.inputs).unwrap();
                assert!(predictions.as_slice().iter().all(|z| z.is_finite()), "{what}");
                let theta = fit.model.theta();
                assert_eq!((theta.rows(), theta.cols()), (3, 3));
                assert!(theta.eigen().unwrap().0[0] >= -1e-9 * theta[(0, 0)].abs(), "{what}: {theta:?}");
            }
        }
        let defaults = Params::parse(method.name(), method.params(), &[]).unwrap();
        let convex = method.claim(&defaults) == Claim::Optimal;
        assert_eq!(convex, method.name() != "gmtl");
    }
}

/// Optima of an outside solver. Methods here fix one of their weights at 1; its value in the table goes into C and the objective.
#[test]
fn optima_are_met() {
    /// Method, parameters, the weight that is 1 here, lambda, and the optimum for each loss.
    type Golden<'a> = (&'a str, &'a [(&'a str, &'a str)], f64, f64, [f64; 3]);
    let golden: [Golden<'_>; 9] = [
        ("stl", &[], 1.0, 1.0, [0.926564149, 4.517630018, 1.061400641]),
        // Theta = 1/2 + I over its diagonal.
        ("mtl", &[("mu", "2")], 1.0 / 1.5, 1.0, [0.591241938, 3.840732141, 0.597069524]),
        (
            "cmtl",
            &[("clusters", "2"), ("between", "0.25"), ("mean", "0.4")],
            2.0,
            1.0,
            [0.350772210, 3.057070231, 0.327274791],
        ),
        ("mtrl", &[("l1", "0")], 0.4, 1.0, [0.727485342, 4.152824472, 0.783486914]),
        ("mtrl", &[("l1", "0.75")], 0.4, 1.0, [0.981231453, 4.736594793, 1.155483008]),
        ("mtl-sdca", &[], 0.4, 1.0, [0.815596329, 3.046913357, 0.791700405]),
        ("convex-okl", &[("structure", "trace")], 0.4, 1.0, [0.815596329, 3.046913357, 0.791700405]),
        ("convex-okl", &[], 1.0, 0.5, [1.396084354, 4.966971131, 1.537854296]),
        ("fmtl", &[("k", "2")], 1.0, 0.5, [1.512307501, 5.064349601, 1.662054520]),
    ];
    for (method, params, weight, lambda, optima) in golden {
        for (loss, optimum) in LOSSES.iter().zip(optima) {
            let fit = own_rows(loss).fit(method, params, loss, Point::C(1.0 / weight), lambda);
            near(&format!("{method} {params:?} {loss}"), weight * fit.certificate.primal, optimum, 1e-7);
            assert!(fit.certificate.rel_gap() <= 1e-6, "{method} {loss}: {}", fit.certificate);
        }
    }
}

/// One base kernel, mu = 0.5, b = 1.3, all seven groups of three tasks.
#[test]
fn the_lattice_of_groups_meets_its_optima() {
    let params = [("mu", "0.5"), ("b", "1.3")];
    for (loss, optimum) in [(LossKind::Squared, 1.13235633), (LossKind::Hinge, 5.40973412)] {
        let settings = Settings { tolerance: 1e-8, max_passes: 5000, ..Settings::default() };
        let fit = own_rows(&loss).try_fit("mtfl", &params, &loss, Point::C(1.0), 1.0, &settings).unwrap();
        near(&format!("mtfl {loss}"), fit.certificate.primal, optimum, 1e-7);
        assert!(fit.certificate.rel_gap() <= 1e-6, "{loss}: {}", fit.certificate);
    }
}

/// Three parametrisations of one problem, and the published iterations of two of them.
#[test]
fn okl_convex_okl_and_fmtl_are_one_problem() {
    let toy = shared_rows();
    let loss = LossKind::Squared;
    let published: &[(&str, &str)] = &[("form", "published")];
    let fits = [
        ("fmtl", &[("k", "1")][..]),
        ("okl", &[]),
        ("convex-okl", &[]),
        ("okl", published),
        ("convex-okl", published),
    ];
    let first = toy.fit("fmtl", &[("k", "1")], &loss, Point::C(1.0), 0.5);
    near("optimum", first.certificate.primal, 1.805425753, 1e-8);
    for (method, params) in fits {
        let fit = toy.fit(method, params, &loss, Point::C(1.0), 0.5);
        near(&format!("{method} {params:?}"), fit.certificate.primal, first.certificate.primal, 1e-6);
        for (a, b) in fit.model.theta().as_slice().iter().zip(first.model.theta().as_slice()) {
            assert!((a - b).abs() < 1e-3, "{method} {params:?}: Theta {a} instead of {b}");
        }
    }
    // The original's own objective: ld = lambda^(1/3) / C, ours is lambda^(1/3) times theirs.
    near("in its own scale", first.certificate.primal / 0.5f64.cbrt(), 2.274693911, 1e-8);
}

#[test]
fn limits_and_equivalences() {
    for loss in &LOSSES {
        let toy = own_rows(loss);
        let primal = |method: &str, params: &[(&str, &str)], c: f64| {
            toy.fit(method, params, loss, Point::C(c), 1.0).certificate.primal
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
        // Published iterations end at or above the optimum.
        for method in ["mtrl", "mtl-sdca"] {
            let form = if method == "mtrl" { "published" } else { "alternating" };
            let (fast, slow) = (primal(method, &[], 1.0), primal(method, &[("form", form)], 1.0));
            assert!(slow >= fast * (1.0 - 1e-8), "{loss} {method}: {slow} below {fast}");
            assert!(slow <= 1.2 * fast, "{loss} {method}: {slow} far above {fast}");
        }
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
        let fit = |toy: &Toy| toy.fit(method.name(), &[], &loss, Point::C(1.0), 1.0);
        let (plain, other) = (fit(&toy), fit(&turned));
        near(method.name(), other.certificate.primal, plain.certificate.primal, 1e-7);
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
        toy.try_fit("okl", params, loss, Point::C(1.0), 1.0, &settings).unwrap_err().to_string()
    };
    let own = said(&[("form", "published")], &own_rows(&loss), &loss);
    assert!(own.contains("okl") && own.contains("convex-okl"), "{own}");
    let hinge = said(&[], &own_rows(&LossKind::Hinge), &LossKind::Hinge);
    assert!(hinge.contains("squared loss") && hinge.contains("fmtl:k=1"), "{hinge}");
}
