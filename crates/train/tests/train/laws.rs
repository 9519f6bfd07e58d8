//! Laws of a fit with default scaling and free intercepts, for every loss: what must not matter does not.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{LossKind, Losses, Observations, Silent, Start};
use kinfolk_train::{Data, FitSpec, Trained, Weight, train};
use proptest::prelude::*;

const ROWS: usize = 18;
const FEATURES: usize = 3;
const TASKS: usize = 3;

/// Two fits with this relative gap have objective values that differ by this factor at most.
const TOLERANCE: f64 = 1e-10;
const SAME_VALUE: f64 = 1e-8;
/// Theta and weights are strongly convex in the objective: they differ by about the root of the gap.
const SAME_MODEL: f64 = 1e-3;

/// Rows of several tasks, each with a weight.
#[derive(Debug, Clone)]
struct Rows {
    x: Vec<[f64; FEATURES]>,
    task: Vec<u32>,
    y: Vec<f64>,
    weight: Vec<f64>,
}

/// The first rows of each task are one of each class: labels of one class are fitted with an objective of zero, and
/// relative gaps then say nothing.
const BOTH_CLASSES: usize = 2 * TASKS;

fn rows() -> impl Strategy<Value = Rows> {
    let x = prop::collection::vec(prop::array::uniform3(-2.0..2.0f64), ROWS);
    let y = prop::collection::vec(-2.0..2.0f64, ROWS);
    (x, y).prop_map(|(x, mut y)| {
        y[..TASKS].fill(1.0);
        y[TASKS..BOTH_CLASSES].fill(-1.0);
        let task = (0..ROWS as u32).map(|i| i % TASKS as u32).collect();
        Rows { x, task, y, weight: vec![1.0; ROWS] }
    })
}

impl Rows {
    /// Labels as a loss takes them.
    fn labelled_for(&self, loss: &LossKind) -> Rows {
        let sign = |y: &f64| if *y > 0.3 { 1.0 } else { -1.0 };
        match loss.is_classification() {
            true => Rows { y: self.y.iter().map(sign).collect(), ..self.clone() },
            false => self.clone(),
        }
    }

    /// Those rows, in that order.
    fn take(&self, rows: &[usize]) -> Rows {
        Rows {
            x: rows.iter().map(|&i| self.x[i]).collect(),
            task: rows.iter().map(|&i| self.task[i]).collect(),
            y: rows.iter().map(|&i| self.y[i]).collect(),
            weight: rows.iter().map(|&i| self.weight[i]).collect(),
        }
    }

    fn inputs(&self) -> Inputs<'static> {
        let x = self.x.iter().flatten().copied().collect();
        Dense::f64_owned(x, self.x.len(), FEATURES).unwrap().into()
    }

    fn fit(&self, loss: &LossKind) -> Fitted {
        let observations = Observations::multi_task(&self.task, self.y.clone()).unwrap();
        let observations = observations.with_weights(&self.weight).unwrap();
        let spec = FitSpec {
            loss: (&Losses::Same(loss.clone())).into(),
            c: Weight::C(1.0),
            tol: TOLERANCE,
            max_passes: 20_000,
            threads: 1,
            ..FitSpec::default()
        };
        let trained = train(&spec, Data::Arrays(&self.inputs(), &observations), Start::Cold, &mut Silent);
        let trained = trained.unwrap();
        let certificate = trained.model.certificate();
        assert!(certificate.rel_gap() <= 10.0 * TOLERANCE, "{loss}: {certificate}");
        Fitted { trained, loss: loss.clone() }
    }
}

struct Fitted {
    trained: Trained,
    loss: LossKind,
}

impl Fitted {
    fn theta(&self, r: usize, s: usize) -> f64 {
        self.trained.model.theta()[(r, s)]
    }

    /// What each task predicts for each row. For losses with kinks the best intercept need not be unique: their
    /// predictions are taken less their mean over the rows.
    fn predictions(&self, rows: &Rows, back: impl Fn(usize, f64) -> f64) -> Vec<[f64; TASKS]> {
        let all = self.trained.model.predict_all(&rows.inputs()).unwrap();
        let is_unique = matches!(self.loss, LossKind::Squared | LossKind::Logistic);
        let mean = |t: usize| (0..ROWS).map(|i| back(t, all[(i, t)])).sum::<f64>() / ROWS as f64;
        let means: [f64; TASKS] = std::array::from_fn(|t| if is_unique { 0.0 } else { mean(t) });
        (0..ROWS).map(|i| std::array::from_fn(|t| back(t, all[(i, t)]) - means[t])).collect()
    }

    /// Another fit has the same objective, and its task `task(t)` is like our task t.
    fn assert_same(&self, rows: &Rows, other: &Fitted, other_rows: &Rows, task: impl Fn(usize) -> usize) {
        self.assert_same_units(rows, other, other_rows, task, |_, z| z);
    }

    /// The same with other units of labels: `back` takes predictions of the other fit to our units.
    fn assert_same_units(
        &self,
        rows: &Rows,
        other: &Fitted,
        other_rows: &Rows,
        task: impl Fn(usize) -> usize,
        back: impl Fn(usize, f64) -> f64,
    ) {
        let loss = &self.loss;
        let (a, b) = (self.trained.model.certificate().primal, other.trained.model.certificate().primal);
        assert!((a - b).abs() <= SAME_VALUE * a.abs(), "{loss}: objective {b} instead of {a}");
        for (r, s) in (0..TASKS).flat_map(|r| (0..TASKS).map(move |s| (r, s))) {
            let (a, b) = (self.theta(r, s), other.theta(task(r), task(s)));
            assert!((a - b).abs() <= SAME_MODEL * (1.0 + a.abs()), "{loss}: Theta {b} instead of {a}");
        }
        let own = self.predictions(rows, |_, z| z);
        for (own, new) in own.iter().zip(other.predictions(other_rows, back)) {
            for t in 0..TASKS {
                let (a, b) = (own[t], new[task(t)]);
                assert!(
                    (a - b).abs() <= SAME_MODEL * (1.0 + a.abs()),
                    "{loss}: predicted {b} instead of {a}"
                );
            }
        }
    }
}

fn permutation(n: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..n).collect::<Vec<usize>>()).prop_shuffle()
}

/// From 1e-6 to 1e6.
fn unit() -> impl Strategy<Value = f64> {
    (-6.0..6.0f64).prop_map(|exponent| 10f64.powf(exponent))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// Features may be measured in other units, from another zero.
    #[test]
    fn units_and_zeros_of_features_do_not_matter(
        rows in rows(),
        units in prop::array::uniform3(unit()),
        zeros in prop::array::uniform3(-10.0..10.0f64),
    ) {
        for loss in LossKind::all_examples() {
            let rows = rows.labelled_for(&loss);
            let moved = |x: &[f64; FEATURES]| std::array::from_fn(|j| units[j] * (x[j] + zeros[j]));
            let other = Rows { x: rows.x.iter().map(moved).collect(), ..rows.clone() };
            rows.fit(&loss).assert_same(&rows, &other.fit(&loss), &other, |t| t);
        }
    }

    /// Labels of each task may be measured in other units, from another zero: predictions follow.
    #[test]
    fn units_and_zeros_of_labels_do_not_matter(
        rows in rows(),
        units in prop::array::uniform3(unit()),
        zeros in prop::array::uniform3(-10.0..10.0f64),
    ) {
        for loss in LossKind::all_examples().into_iter().filter(|loss| !loss.is_classification()) {
            let moved = |i: usize| {
                let t = rows.task[i] as usize;
                units[t] * (rows.y[i] + zeros[t])
            };
            let other = Rows { y: (0..ROWS).map(moved).collect(), ..rows.clone() };
            let (one, two) = (rows.fit(&loss), other.fit(&loss));
            one.assert_same_units(&rows, &two, &other, |t| t, |t, z| z / units[t] - zeros[t]);
        }
    }

    /// Rows, tasks and features may come in any order.
    #[test]
    fn order_does_not_matter(
        rows in rows(),
        row in permutation(ROWS),
        task in permutation(TASKS),
        feature in permutation(FEATURES),
    ) {
        for loss in LossKind::all_examples() {
            let rows = rows.labelled_for(&loss);
            let one = rows.fit(&loss);
            let renamed = Rows { task: rows.task.iter().map(|&t| task[t as usize] as u32).collect(), ..rows.clone() };
            one.assert_same(&rows, &renamed.fit(&loss), &renamed, |t| task[t]);
            one.assert_same(&rows, &rows.take(&row).fit(&loss), &rows, |t| t);
            let reordered = |x: &[f64; FEATURES]| std::array::from_fn(|j| x[feature[j]]);
            let other = Rows { x: rows.x.iter().map(reordered).collect(), ..rows.clone() };
            one.assert_same(&rows, &other.fit(&loss), &other, |t| t);
        }
    }

    /// A row of weight two is the same as two rows, in scaling, too.
    #[test]
    fn weights_are_repetitions(rows in rows(), times in prop::collection::vec(0..4usize, ROWS)) {
        let times: Vec<usize> =
            times.iter().enumerate().map(|(i, &n)| if i < BOTH_CLASSES { n.max(1) } else { n }).collect();
        for loss in LossKind::all_examples() {
            let rows = rows.labelled_for(&loss);
            let weighted = Rows { weight: times.iter().map(|&n| n as f64).collect(), ..rows.clone() };
            let repeated: Vec<usize> = (0..ROWS).flat_map(|i| vec![i; times[i]]).collect();
            let (one, other) = (weighted.fit(&loss), rows.take(&repeated).fit(&loss));
            one.assert_same(&rows, &other, &rows, |t| t);
        }
    }
}
