//! `C = auto`: the choice is close to the best one, does not depend on units, and always exists.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::kernel::Gamma;
use kinfolk::{
    CScale, Flow, Intercept, Kernel, LossKind, Losses, Model, Observations, Observer, ScalingKind, Silent,
    Start, Status, TargetScale,
};
use kinfolk_train::{
    AutoC, Baseline, ClassWeight, Data, FitSpec, LossSpec, MethodSpec, Metric, Trained, Weight, predict,
    train,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

/// Tasks with weights that are partly common.
struct RandomTasks {
    weights: Vec<Vec<f64>>,
    noise: f64,
    is_classification: bool,
    rng: ChaCha8Rng,
}

/// Sum of twelve uniform numbers, less six: nearly normal.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

impl RandomTasks {
    fn new(seed: u64, n_tasks: usize, n_features: usize, related: f64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let common: Vec<f64> = (0..n_features).map(|_| normal(&mut rng)).collect();
        let mut own = |c: &f64| related * c + (1.0 - related * related).sqrt() * normal(&mut rng);
        let weights = (0..n_tasks).map(|_| common.iter().map(&mut own).collect()).collect();
        RandomTasks { weights, noise: (n_features as f64).sqrt(), is_classification: false, rng }
    }

    /// The same with two classes.
    fn classes(self) -> Self {
        RandomTasks { is_classification: true, ..self }
    }

    fn draw(&mut self, rows_per_task: usize) -> (Inputs<'static>, Observations) {
        let (n_tasks, n_features) = (self.weights.len(), self.weights[0].len());
        let n = n_tasks * rows_per_task;
        let x: Vec<f64> = (0..n * n_features).map(|_| normal(&mut self.rng)).collect();
        let task: Vec<u32> = (0..n).map(|i| (i % n_tasks) as u32).collect();
        let mut label = |i: usize| {
            let row = x[i * n_features..][..n_features].iter();
            let signal: f64 = row.zip(&self.weights[i % n_tasks]).map(|(x, w)| x * w).sum();
            let value = signal + self.noise * normal(&mut self.rng);
            if self.is_classification { 1f64.copysign(value) } else { value }
        };
        let labels = (0..n).map(&mut label).collect();
        let observations = Observations::multi_task(&task, labels).unwrap();
        (Dense::f64_owned(x, n, n_features).unwrap().into(), observations)
    }
}

/// Free intercepts, everything scaled.
fn spec() -> FitSpec {
    FitSpec {
        scale: ScalingKind::Auto,
        target_scale: TargetScale::Task,
        intercept: Some(Intercept::Free),
        bias: 0.0,
        threads: 1,
        ..FitSpec::default()
    }
}

fn fit(spec: &FitSpec, (inputs, observations): &(Inputs<'static>, Observations)) -> Trained {
    train(spec, Data::Arrays(inputs, observations), Start::Cold, &mut Silent).unwrap()
}

/// The method with its weights.
fn used(trained: &Trained) -> MethodSpec {
    trained.spec.method.with_weights_of(&trained.model)
}

fn choice(trained: &Trained) -> &AutoC {
    trained.outcome.auto_c.as_ref().unwrap()
}

fn score(trained: &Trained, (inputs, observations): &(Inputs<'static>, Observations)) -> f64 {
    let predictions = predict(&trained.model, inputs, observations).unwrap();
    let losses = Losses::Same(LossKind::Squared);
    Metric::default_for(observations).score(observations, &losses, &predictions).unwrap().value
}

#[test]
fn the_choice_is_close_to_the_best_strength() {
    let mut regrets = vec![];
    for seed in 0..24 {
        let related = [0.0, 0.9][seed as usize % 2];
        let (n_tasks, n_features) = ([2, 6][seed as usize / 2 % 2], [4, 20][seed as usize / 4 % 2]);
        let tasks = RandomTasks::new(seed, n_tasks, n_features, related);
        let mut tasks = if seed < 12 { tasks } else { tasks.classes() };
        let loss: LossSpec = if seed < 12 { "squared" } else { "logistic" }.parse().unwrap();
        let spec = FitSpec { loss, ..spec() };
        let (train, test) = (tasks.draw(40), tasks.draw(300));
        let at =
            |strength| score(&fit(&FitSpec { c: Weight::Relative(strength), ..spec.clone() }, &train), &test);
        let best = CScale::grid().map(at).into_iter().fold(f64::MIN, f64::max);
        regrets.push(best - score(&fit(&spec, &train), &test));
    }
    let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
    assert!(mean < 0.02, "{mean}: {regrets:?}");
}

#[test]
fn units_and_offsets_of_labels_do_not_matter() {
    let data = RandomTasks::new(1, 3, 5, 0.5).draw(15);
    let plain = fit(&spec(), &data);
    for (offset, unit) in [(10.0, 1.0), (1000.0, 1.0), (0.0, 1e-6), (0.0, 1e6)] {
        let labels = data.1.labels().iter().map(|y| unit * (y + offset)).collect();
        let other = (data.0.clone(), data.1.clone().with_labels(labels).unwrap());
        let moved = fit(&spec(), &other);
        assert_eq!(choice(&moved).strength, choice(&plain).strength, "{offset} {unit}");
        assert!((choice(&moved).score - choice(&plain).score).abs() < 1e-3, "{offset} {unit}");
    }
}

#[test]
fn threads_do_not_matter_and_the_seed_decides() {
    let data = RandomTasks::new(2, 4, 6, 0.5).classes().draw(20);
    let of = |threads, seed| choice(&fit(&FitSpec { threads, seed, ..spec() }, &data)).clone();
    assert_eq!(of(1, 0), of(2, 0));
    assert_eq!(of(1, 7), of(1, 7));
    assert_ne!(of(1, 0).tried, of(1, 7).tried);
}

#[test]
fn of_many_tasks_some_are_looked_at_and_the_choice_is_close_to_the_best() {
    let mut world = RandomTasks::new(8, 600, 5, 0.7);
    let (data, test) = (world.draw(4), world.draw(20));
    let trained = fit(&spec(), &data);
    let chosen = choice(&trained);
    assert_eq!(chosen.rows, 1000);
    assert!(chosen.in_words().contains("250 of 600 tasks"), "{}", chosen.in_words());
    let metric: Metric = "pooled-r2".parse().unwrap();
    let score = |trained: &Trained| {
        let predictions = predict(&trained.model, &test.0, &test.1).unwrap();
        metric.score(&test.1, &Losses::Same(LossKind::Squared), &predictions).unwrap().value
    };
    let at = |strength: f64| score(&fit(&FitSpec { c: Weight::Relative(strength), ..spec() }, &data));
    let best = [0.1, 0.3, 1.0, 3.0, 10.0].map(at).into_iter().fold(f64::MIN, f64::max);
    assert!(score(&trained) > best - 0.01, "{} instead of {best}", score(&trained));
}

#[test]
fn a_model_keeps_how_its_c_was_chosen() {
    let data = RandomTasks::new(3, 3, 5, 0.9).draw(15);
    let trained = fit(&spec(), &data);
    let chosen = choice(&trained).clone();
    assert!(chosen.tried.len() >= 3 && chosen.folds == 5 && chosen.rows == 45, "{chosen:?}");
    assert!(chosen.tried.windows(2).all(|pair| pair[0].strength < pair[1].strength));
    let best = chosen.tried.iter().map(|tried| tried.score).fold(f64::MIN, f64::max);
    assert!((chosen.score - best).abs() < 1e-12, "{chosen:?}");
    let kinds: Vec<Baseline> = chosen.baselines.iter().map(|found| found.baseline).collect();
    assert_eq!(kinds, [Baseline::TaskMean, Baseline::TasksAlone, Baseline::OneForAll]);
    assert!(chosen.baselines[0].score.abs() < 1e-12);
    let model = Model::from_bytes(&trained.to_bytes().unwrap()).unwrap();
    let read = Trained::from_model(model).unwrap();
    assert_eq!(read.outcome.auto_c, Some(chosen.clone()));
    assert_eq!(read.spec.c, Weight::Auto);
    let method = used(&trained);
    let by_hand = fit(&FitSpec { c: Weight::Relative(chosen.strength), method, ..spec() }, &data);
    assert_eq!(by_hand.model.about().problem.c, trained.model.about().problem.c);
    assert_eq!(by_hand.outcome.auto_c, None);
}

/// A baseline is as good as the same method is when it is what is fitted: it has its own strength.
#[test]
fn baselines_have_the_strength_that_is_best_for_them() {
    for (seed, related) in [(5, 0.0), (6, 0.95)] {
        let data = RandomTasks::new(seed, 5, 12, related).draw(20);
        let joint = fit(&spec(), &data);
        for (kind, method) in [(Baseline::TasksAlone, "stl"), (Baseline::OneForAll, "pooled")] {
            let method = MethodSpec::new(method, &[]).unwrap();
            let own = choice(&fit(&FitSpec { method, ..spec() }, &data)).score;
            let found = choice(&joint).baselines.iter().find(|found| found.baseline == kind).unwrap();
            // The two searches start elsewhere, and end within a few tenths of a decade.
            assert!((found.score - own).abs() < 0.01, "{kind}: {} and {own}", found.score);
        }
    }
}

#[test]
fn simpler_predictions_that_are_better_are_said() {
    let mut unrelated = RandomTasks::new(4, 4, 3, 0.0);
    unrelated.noise = 0.1;
    let data = unrelated.draw(30);
    let trained = fit(&FitSpec { method: "pooled".parse().unwrap(), ..spec() }, &data);
    let warning = choice(&trained).warning().unwrap();
    assert!(warning.contains("tasks alone"), "{warning}");
    assert_eq!(choice(&fit(&spec(), &data)).warning(), None);
}

/// Where tasks alone or one model for all is better on held-out rows, the weight of the common part moves.
#[test]
fn the_weight_of_the_common_part_follows_what_held_out_rows_say() {
    let common = |trained: &Trained| used(trained).params().number("common").unwrap();
    let mut opposite = RandomTasks::new(17, 6, 12, 0.0);
    let first = opposite.weights[0].clone();
    opposite.weights[1] = first.iter().map(|w| -w).collect();
    let opposite = opposite.draw(20);
    let [some, all] = [0.5, 1.0].map(|related| RandomTasks::new(17, 6, 12, related).draw(20));
    let weights = [&opposite, &some, &all].map(|data| common(&fit(&spec(), data)));
    assert_eq!(weights, [0.0, 100.0, 1000.0]);
    let trained = fit(&spec(), &opposite);
    let note = choice(&trained).note.as_deref().unwrap();
    assert_eq!(note, "kin:common=0,k=1,own=10 predicts better than kin:common=100,k=1,own=10");
    assert_eq!(trained.outcome.residuals.is_some(), choice(&trained).score.is_finite());
    // What is given stays, and so does the value that suits the form of the data without a choice of C.
    for (method, c, expected) in [
        ("kin:common=100", Weight::Auto, 100.0),
        ("kin", Weight::C(1.0), 100.0),
        ("kin:common=7", Weight::Auto, 7.0),
    ] {
        let method: MethodSpec = method.parse().unwrap();
        assert_eq!(common(&fit(&FitSpec { method, c, ..spec() }, &opposite)), expected);
    }
}

/// Columns of a table measure different things: nothing says that they share one function.
#[test]
fn columns_of_a_table_have_no_common_part_by_default() {
    let (inputs, one) = RandomTasks::new(3, 1, 4, 0.0).draw(30);
    let labels: Vec<f64> = one.labels().iter().flat_map(|y| [*y, 1.0 - y, y * y]).collect();
    let table = Observations::multi_output(&labels, 30, 3).unwrap();
    for c in [Weight::Auto, Weight::C(1.0)] {
        let trained = fit(&FitSpec { c, ..spec() }, &(inputs.clone(), table.clone()));
        assert_eq!(used(&trained).to_string(), "kin:common=0,k=1,own=10");
        assert_eq!(trained.spec.method, MethodSpec::default());
    }
}

#[test]
fn few_rows_and_labels_that_do_not_differ_have_a_sound_fit() {
    let sound = |name: &str, task: &[u32], labels: &[f64], loss: &str| {
        let x: Vec<f64> = (0..2 * task.len()).map(|i| ((i * i) as f64).sin()).collect();
        let inputs = Dense::f64_owned(x, task.len(), 2).unwrap().into();
        let data = (inputs, Observations::multi_task(task, labels.to_vec()).unwrap());
        let trained = fit(&FitSpec { loss: loss.parse().unwrap(), ..spec() }, &data);
        assert!(trained.model.theta().as_slice().iter().all(|x| x.is_finite()), "{name}");
        let predictions = predict(&trained.model, &data.0, &data.1).unwrap();
        assert!(predictions.iter().all(|x| x.is_finite()), "{name}: {predictions:?}");
        let chosen = choice(&trained).clone();
        assert!(chosen.strength.is_finite() && chosen.strength > 0.0, "{name}: {chosen:?}");
        chosen
    };
    for (name, task, labels) in [
        ("one row", &[0][..], &[1.0][..]),
        ("two rows", &[0, 0], &[1.0, -1.0]),
        ("a row for each task", &[0, 1, 2, 3, 4, 5, 6], &[1.0, 2.0, 3.0, 1.0, 5.0, 4.0, 2.0]),
        ("equal labels", &[0, 0, 0, 0, 1, 1, 1, 1], &[2.0; 8]),
    ] {
        let chosen = sound(name, task, labels, "squared");
        assert_eq!((chosen.strength, chosen.metric), (CScale::MIDDLE, None), "{name}");
        assert!(chosen.in_words().starts_with("the middle of the scale: "), "{name}: {chosen:?}");
    }
    sound("one class", &[0, 0, 0, 0, 1, 1, 1, 1], &[1.0; 8], "hinge");
    sound(
        "one positive",
        &[0, 0, 0, 0, 1, 1, 1, 1],
        &[1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0],
        "logistic",
    );
}

#[test]
fn rows_without_weight_are_not_looked_at() {
    let (inputs, observations) = RandomTasks::new(5, 2, 3, 0.5).draw(20);
    let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 4 != 3)).collect();
    let data = (inputs, observations.with_weights(&weights).unwrap());
    assert_eq!(choice(&fit(&spec(), &data)).rows, 30);
}

#[test]
fn a_weight_of_two_is_a_repetition_and_the_order_of_rows_does_not_matter() {
    for seed in 0..4 {
        let tasks = RandomTasks::new(seed, 3, 4, 0.5);
        let (is_classification, mut tasks) =
            if seed % 2 == 0 { (false, tasks) } else { (true, tasks.classes()) };
        let loss: LossSpec = if is_classification { "logistic" } else { "squared" }.parse().unwrap();
        let (inputs, observations) = tasks.draw(12);
        let spec = FitSpec { loss, tol: 1e-10, ..spec() };
        let weights: Vec<f64> = (0..36).map(|i| f64::from(i * 7 % 4)).collect();
        let weighted = (inputs.clone(), observations.clone().with_weights(&weights).unwrap());
        let repeated: Vec<u32> =
            (0..36).rev().flat_map(|i| vec![i as u32; weights[i as usize] as usize]).collect();
        let repeated = (inputs.select_rows(&repeated), observations.select_inputs(&repeated).unwrap());
        let (weighted, repeated) = (fit(&spec, &weighted), fit(&spec, &repeated));
        assert_eq!(choice(&weighted).strength, choice(&repeated).strength, "{seed}");
        assert!((choice(&weighted).score - choice(&repeated).score).abs() < 1e-9, "{seed}");
        let (c, other) = (weighted.model.about().problem.c, repeated.model.about().problem.c);
        assert!((c - other).abs() < 1e-9 * c, "{seed}: {c} {other}");
        let [a, b] = [&weighted, &repeated].map(|fit| predict(&fit.model, &inputs, &observations).unwrap());
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4), "{seed}: {a:?} {b:?}");
    }
}

/// Says stop when it has been asked so often.
struct StopAfter(usize);

impl Observer for StopAfter {
    fn poll(&mut self) -> Flow {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn a_stop_during_the_choice_ends_with_a_model() {
    let (inputs, observations) = RandomTasks::new(6, 8, 30, 0.5).classes().draw(200);
    for polls in [1, 10, 30] {
        let began = Instant::now();
        let data = Data::Arrays(&inputs, &observations);
        let trained = train(&spec(), data, Start::Cold, &mut StopAfter(polls)).unwrap();
        assert_eq!(trained.model.status(), Some(Status::Stopped), "{polls}");
        assert!(began.elapsed() < Duration::from_secs(2), "{polls}: {:?}", began.elapsed());
        assert!(choice(&trained).note.is_some(), "{:?}", trained.outcome.auto_c);
    }
}

/// Tasks whose function is a wave in two features, with a phase of its own.
fn waves(seed: u64, n_tasks: usize, rows_per_task: usize) -> (Inputs<'static>, Observations) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let n = n_tasks * rows_per_task;
    let x: Vec<f64> = (0..2 * n).map(|_| normal(&mut rng)).collect();
    let task: Vec<u32> = (0..n).map(|i| (i % n_tasks) as u32).collect();
    let label =
        |i: usize| (2.0 * x[2 * i] + 0.1 * task[i] as f64).sin() * x[2 * i + 1] + 0.1 * normal(&mut rng);
    let labels = (0..n).map(label).collect();
    let observations = Observations::multi_task(&task, labels).unwrap();
    (Dense::f64_owned(x, n, 2).unwrap().into(), observations)
}

#[test]
fn curved_functions_have_a_curved_kernel_where_it_is_left_to_the_data() {
    let data = waves(1, 4, 40);
    let trained = fit(&spec(), &data);
    let kernel = &trained.model.about().kernel;
    assert!(matches!(kernel, Kernel::Rbf { .. }) && trained.spec.kernel.is_none(), "{kernel}");
    assert_eq!(trained.spec_mismatches(), []);
    let note = choice(&trained).note.clone().unwrap();
    assert!(note.contains("predicts better than linear"), "{note}");
    let linear = fit(&FitSpec { kernel: Some(Kernel::Linear), ..spec() }, &data);
    assert!(choice(&trained).score > choice(&linear).score + 0.3);
    // The spec that the model keeps leaves the kernel open as it was asked for, and leads to the same model.
    let again = fit(&trained.spec, &data);
    assert_eq!(choice(&again).note, choice(&trained).note);
    assert_eq!(again.model.alpha(), trained.model.alpha());
    // C, or the kernel, is given.
    let fixed = fit(&FitSpec { c: Weight::C(1.0), ..spec() }, &data);
    assert_eq!([&linear, &fixed].map(|fit| &fit.model.about().kernel), [&Kernel::Linear; 2]);
    assert_eq!(fixed.spec.kernel, None);
    // The paper's method stays as it is.
    let paper = fit(&FitSpec { method: "fmtl:k=2".parse().unwrap(), ..spec() }, &data);
    assert_eq!(paper.model.about().kernel, Kernel::Linear);
}

/// The look at some rows proposes a width; the folds decide.
#[test]
fn the_next_widths_predict_no_better_than_the_one_that_is_taken() {
    for seed in 1..5 {
        let data = waves(seed, 4, 40);
        let trained = fit(&spec(), &data);
        let Kernel::Rbf { gamma: Gamma::Value(gamma) } = trained.model.about().kernel else {
            panic!("no RBF kernel")
        };
        for factor in [1.0 / 3.0, 3.0] {
            let kernel = Some(Kernel::Rbf { gamma: Gamma::Value(factor * gamma) });
            let next = fit(&FitSpec { kernel, ..spec() }, &data);
            let (own, other) = (choice(&trained).score, choice(&next).score);
            assert!(other < own + 0.01, "seed {seed}: {own} with {gamma}, {other} with {factor} times that");
        }
    }
}

#[test]
fn rows_that_are_too_many_for_a_kernel_have_a_hint() {
    let many = fit(&spec(), &waves(3, 4, 400));
    assert!(matches!(many.model.about().kernel, Kernel::Rbf { .. }));
    let trained = fit(&spec(), &waves(3, 4, 1600));
    assert_eq!(trained.model.about().kernel, Kernel::Linear);
    let hint = |note: &&String| {
        note.starts_with("curved functions may predict better, by a look at 500 rows: kernel rbf:")
    };
    assert!(trained.outcome.notes.iter().find(hint).is_some(), "{:?}", trained.outcome.notes);
    let straight = fit(&spec(), &RandomTasks::new(4, 4, 8, 0.7).draw(400));
    assert_eq!(straight.outcome.notes, Vec::<String>::new());
}

#[test]
fn units_do_not_decide_about_the_kernel() {
    let (inputs, observations) = waves(2, 3, 30);
    let Inputs::Dense(dense) = &inputs else { panic!("dense inputs") };
    let mut x = vec![0.0; 2 * 90];
    dense.load_range(0..90, &mut x);
    let expected = fit(&spec(), &(inputs.clone(), observations.clone()));
    let other: Vec<f64> =
        x.iter().enumerate().map(|(i, x)| if i % 2 == 0 { 1e6 * x } else { x + 1e3 }).collect();
    let found = fit(&spec(), &(Dense::f64_owned(other, 90, 2).unwrap().into(), observations));
    assert!(matches!(expected.model.about().kernel, Kernel::Rbf { .. }));
    assert_eq!(found.model.about().kernel, expected.model.about().kernel);
}

#[test]
fn straight_functions_keep_the_linear_kernel() {
    for seed in 0..5 {
        let trained = fit(&spec(), &RandomTasks::new(seed, 5, 8, 0.7).draw(30));
        assert_eq!(trained.model.about().kernel, Kernel::Linear, "seed {seed}");
    }
}

#[test]
fn balanced_classes_are_chosen_by_what_is_right() {
    // Ten classes, of which some have few rows.
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (d, counts) = (8, [60, 60, 60, 40, 40, 20, 10, 10, 5, 5]);
    let classes: Vec<u32> = counts.iter().zip(0..).flat_map(|(n, class)| vec![class; *n]).collect();
    let centres: Vec<f64> = (0..counts.len() * d).map(|_| normal(&mut rng)).collect();
    let place = |class: u32, j: usize| centres[class as usize * d + j];
    let x: Vec<f64> = classes
        .iter()
        .flat_map(|&class| (0..d).map(move |j| (class, j)))
        .map(|(class, j)| place(class, j) + normal(&mut rng))
        .collect();
    let n = classes.len();
    let data = (
        Dense::f64_owned(x, n, d).unwrap().into(),
        Observations::multi_class(&classes, counts.len()).unwrap(),
    );
    let balanced =
        FitSpec { class_weight: Some(ClassWeight::Balanced), kernel: Some(Kernel::Linear), ..spec() };
    let trained = fit(&balanced, &data);
    let found = choice(&trained);
    assert_eq!(found.metric.unwrap().to_string(), "mean-class-accuracy");
    let best = found.tried.iter().map(|tried| tried.score).fold(0.0, f64::max);
    assert!(found.score > 0.4 && found.score > best - 0.05, "{found:?}");
}
