//! Laws of statistics: any cutting and merging of the rows gives the same model as the rows themselves.

use crate::common::{Random, cases};
use kinfolk::inputs::{Dense, Inputs, Sparse};
use kinfolk::{
    CertifyOptions, Dataset, DatasetOptions, Error, Intercept, Model, Observations, Problem, ProblemSpec,
    RegularizerKind, Scaling, ScalingKind, Settings, Statistics, StatisticsOptions, Status, TargetScale,
    TaskNames, fit,
};
use proptest::prelude::*;

/// Which rows have which labels.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rows {
    Own,
    Shared,
    Missing,
}

/// Rows of three kindred tasks, each with its labels and its weight.
#[derive(Debug, Clone)]
struct Data {
    d: usize,
    x: Vec<f64>,
    /// Task and label of each label of each row.
    labels: Vec<Vec<(u32, f64)>>,
    weights: Vec<f64>,
}

const TASKS: usize = 3;

impl Data {
    fn new(rows: Rows, n: usize, d: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let common: Vec<f64> = (0..d).map(|_| random.fine()).collect();
        let own: Vec<f64> = (0..TASKS * d).map(|_| 0.3 * random.fine()).collect();
        let (mut x, mut labels, mut weights) = (vec![], vec![], vec![]);
        for i in 0..n {
            let mut row: Vec<f64> = (0..d).map(|j| random.fine() * (1.0 + j as f64)).collect();
            // One feature has two values, one of them rare.
            row[d - 1] = f64::from(u8::from(i % 7 == 3));
            let mut label = |t: usize| {
                let z: f64 = (0..d).map(|j| row[j] * (common[j] + own[t * d + j])).sum();
                (t as u32, z + 0.5 * random.fine() + t as f64)
            };
            labels.push(match rows {
                Rows::Own => vec![label(i % TASKS)],
                Rows::Shared => (0..TASKS).map(label).collect(),
                Rows::Missing => (0..TASKS).filter(|t| (i + t) % 4 != 0).map(label).collect(),
            });
            x.extend(row);
            weights.push(1.0 + (i % 3) as f64);
        }
        Data { d, x, labels, weights }
    }

    fn len(&self) -> usize {
        self.labels.len()
    }

    /// Features and labels shifted.
    fn shifted(mut self, by: f64) -> Self {
        self.x.iter_mut().for_each(|x| *x += by);
        self.labels.iter_mut().flatten().for_each(|(_, y)| *y += by);
        self
    }

    fn inputs(&self, rows: &[usize]) -> Inputs<'static> {
        let x = rows.iter().flat_map(|&i| self.x[i * self.d..(i + 1) * self.d].to_vec()).collect();
        Dense::f64_owned(x, rows.len(), self.d).unwrap().into()
    }

    fn observations(&self, rows: &[usize]) -> Observations {
        let all = || {
            rows.iter().enumerate().flat_map(|(new, &i)| self.labels[i].iter().map(move |own| (new, i, own)))
        };
        let (input, task) =
            (all().map(|(new, ..)| new as u32).collect(), all().map(|(.., own)| own.0).collect());
        let label = all().map(|(.., own)| own.1).collect();
        let weights: Vec<f64> = all().map(|(_, i, _)| self.weights[i]).collect();
        let observations = Observations::from_triples(rows.len(), TASKS, input, task, label).unwrap();
        observations.with_weights(&weights).unwrap()
    }

    fn all(&self) -> Vec<usize> {
        (0..self.len()).collect()
    }

    fn statistics(&self, rows: &[usize], threads: usize) -> Statistics {
        let mut own = Statistics::new(&StatisticsOptions { threads, ..StatisticsOptions::default() });
        own.update(&self.inputs(rows), &self.observations(rows)).unwrap();
        own
    }

    /// Cut into parts at random places and merged in a random order.
    fn cut(&self, parts: usize, seed: u64) -> Statistics {
        let mut random = Random(seed);
        let mut part_of = vec![vec![]; parts];
        (0..self.len()).for_each(|i| part_of[random.bits() as usize % parts].push(i));
        let mut all: Vec<Statistics> =
            part_of.iter().filter(|rows| !rows.is_empty()).map(|rows| self.statistics(rows, 1)).collect();
        while all.len() > 1 {
            let one = all.swap_remove(random.bits() as usize % all.len());
            let other = random.bits() as usize % all.len();
            all[other].merge(one).unwrap();
        }
        all.remove(0)
    }
}

fn problem_spec(intercept: Intercept) -> ProblemSpec {
    ProblemSpec { output: RegularizerKind::Power { k: 2 }, c: 0.3, intercept, ..ProblemSpec::default() }
}

/// As far as double precision goes: a smaller gap than there can be.
/// Predictions are as close as the root of the gap.
fn tight() -> Settings {
    Settings { tolerance: 1e-23, ..Settings::default() }
}

/// The model of statistics, scaled as by default.
fn model_of(statistics: &Statistics, intercept: Intercept, settings: &Settings) -> Model {
    let scaling = statistics.scaling(ScalingKind::Auto).unwrap();
    let centred = intercept == Intercept::Free;
    let targets =
        statistics.target_scaling(TargetScale::Task, &problem_spec(intercept).loss, centred).unwrap();
    let small = statistics.surrogate(&scaling, targets.as_ref()).unwrap();
    let data = Dataset::new(&small.inputs, &small.observations, DatasetOptions::default()).unwrap();
    let mut model = fit(&Problem::new(&data, problem_spec(intercept)).unwrap(), settings).unwrap().model;
    model.set_statistics(statistics, &data).unwrap();
    model.set_scaling(scaling).unwrap();
    model.set_target_scaling(targets).unwrap();
    model
}

/// The model of the rows themselves.
fn model_of_rows(data: &Data, intercept: Intercept, settings: &Settings) -> Model {
    let (inputs, observations) = (data.inputs(&data.all()), data.observations(&data.all()));
    let weights = observations.input_weights();
    let scaling = Scaling::fit_weighted(ScalingKind::Auto, &inputs, weights.as_deref()).unwrap();
    let spec = problem_spec(intercept);
    let centred = intercept == Intercept::Free;
    let targets = kinfolk::TargetScaling::fit(TargetScale::Task, &observations, &spec.loss, centred).unwrap();
    let scaled = targets.as_ref().unwrap().apply(&observations).unwrap();
    let inputs = scaling.apply(&inputs).unwrap();
    let rows = Dataset::new(&inputs, &scaled, DatasetOptions::default()).unwrap();
    let mut model = fit(&Problem::new(&rows, spec).unwrap(), settings).unwrap().model;
    model.set_scaling(scaling).unwrap();
    model.set_target_scaling(targets).unwrap();
    model
}

/// The largest difference of predictions for the rows, in units of their spread about the label's own.
fn distance(data: &Data, one: &Model, other: &Model) -> f64 {
    let inputs = data.inputs(&data.all());
    let (one, other) = (one.predict_all(&inputs).unwrap(), other.predict_all(&inputs).unwrap());
    let mean = one.as_slice().iter().sum::<f64>() / one.as_slice().len() as f64;
    let size = one.as_slice().iter().map(|z| (z - mean).abs()).fold(0.0, f64::max);
    let apart = one.as_slice().iter().zip(other.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    apart / size
}

fn any_rows() -> impl Strategy<Value = Rows> {
    prop_oneof![Just(Rows::Own), Just(Rows::Shared), Just(Rows::Missing)]
}

fn any_intercept() -> impl Strategy<Value = Intercept> {
    prop_oneof![Just(Intercept::Free), Just(Intercept::None), Just(Intercept::Ridge(2.0))]
}

proptest! {
    #![proptest_config(cases(24, "tests/core/statistics.proptest-regressions"))]

    #[test]
    fn any_cutting_and_merging_gives_the_same_model(
        rows in any_rows(), intercept in any_intercept(), seed in 0u64..1000, d in 1usize..7,
    ) {
        let data = Data::new(rows, 1200, d, seed);
        let whole = model_of(&data.cut(1, seed), intercept, &tight());
        for parts in [3, 16, 1000] {
            let cut = model_of(&data.cut(parts, seed + 1), intercept, &tight());
            let apart = distance(&data, &whole, &cut);
            prop_assert!(apart <= 1e-10, "{parts} parts: {apart:e}");
        }
    }

    #[test]
    fn statistics_give_the_model_of_the_rows(
        rows in any_rows(), intercept in any_intercept(), seed in 0u64..1000, n in 4usize..80, d in 1usize..9,
    ) {
        let data = Data::new(rows, n, d, seed);
        let settings = Settings { tolerance: 1e-12, ..Settings::default() };
        let of_rows = model_of_rows(&data, intercept, &settings);
        // The duals of rows are functions of the point: their gap is up to 200 times that of the sums.
        let model = model_of(&data.cut(2, seed), intercept, &tight());
        let (a, b) = (of_rows.certificate(), model.certificate());
        prop_assert!((a.primal - b.primal).abs() <= 1e-10 * a.primal, "{a} and {b}");
        // The rows certify what the statistics found.
        let (inputs, observations) = (data.inputs(&data.all()), data.observations(&data.all()));
        let checked = model.check(&inputs, &observations, &CertifyOptions::default()).unwrap();
        prop_assert!(checked.mismatches.is_empty(), "{:?}", checked.mismatches);
        prop_assert!(checked.certificate.rel_gap() <= 1e-10, "{}", checked.certificate);
        prop_assert!((checked.certificate.primal - a.primal).abs() <= 1e-10 * a.primal);
        // So do the rows in parts.
        let mut parts = model.certify_parts(&CertifyOptions::default()).unwrap();
        for part in data.all().chunks(7) {
            parts.add(&data.inputs(part), &data.observations(part)).unwrap();
        }
        let certificate = parts.finish().unwrap();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-11 * checked.certificate.primal;
        prop_assert!(close(certificate.primal, checked.certificate.primal), "{certificate}");
        prop_assert!(close(certificate.dual, checked.certificate.dual), "{certificate}");
        prop_assert!(close(certificate.gap, checked.certificate.gap), "{certificate}");
    }
}

#[test]
fn equal_cuttings_give_equal_bits_for_any_number_of_threads() {
    for rows in [Rows::Own, Rows::Shared, Rows::Missing] {
        let data = Data::new(rows, 20_000, 4, 5);
        let bytes = |threads: usize| data.statistics(&data.all(), threads).to_bytes().unwrap();
        assert!(bytes(1) == bytes(2) && bytes(1) == bytes(3));
        assert!(data.cut(16, 3).to_bytes().unwrap() == data.cut(16, 3).to_bytes().unwrap());
    }
}

/// With means of 1e6, spreads of 1 have ten digits: three more may be lost, and are not.
#[test]
fn large_means_lose_no_more_than_three_digits() {
    for rows in [Rows::Own, Rows::Shared, Rows::Missing] {
        // Multiples of 2^-20: shifting them is exact.
        let mut data = Data::new(rows, 600, 4, 9);
        let coarse = |x: &mut f64| *x = (*x * 1048576.0).round() / 1048576.0;
        data.x.iter_mut().for_each(coarse);
        data.labels.iter_mut().flatten().for_each(|(_, y)| coarse(y));
        let shifted = data.clone().shifted(1e6);
        let (near, far) = (
            model_of(&data.cut(16, 1), Intercept::Free, &tight()),
            model_of(&shifted.cut(16, 1), Intercept::Free, &tight()),
        );
        let a = near.predict_all(&data.inputs(&data.all())).unwrap();
        let b = far.predict_all(&shifted.inputs(&data.all())).unwrap();
        let apart =
            a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - (b - 1e6)).abs()).fold(0.0, f64::max);
        assert!(apart <= 1e-8, "{rows:?}: {apart:e}");
        let (inputs, observations) = (shifted.inputs(&data.all()), shifted.observations(&data.all()));
        let certificate = far.certify(&inputs, &observations, &CertifyOptions::default()).unwrap();
        assert!(certificate.rel_gap() <= 1e-9, "{rows:?}: {certificate}");
    }
}

#[test]
fn hostile_data_have_models() {
    for scale in [1e-150, 1.0, 1e150] {
        for (n, d) in [(1, 1), (2, 3), (5, 2), (40, 1)] {
            for rows in [Rows::Own, Rows::Shared] {
                let mut data = Data::new(rows, n, d, 4);
                data.x.iter_mut().for_each(|x| *x *= scale);
                data.labels.iter_mut().flatten().for_each(|(_, y)| *y *= scale);
                data.x.iter_mut().step_by(d).for_each(|x| *x = 3.0 * scale); // a constant feature
                let model = model_of(&data.cut(2, 1), Intercept::Free, &Settings::default());
                let (inputs, observations) = (data.inputs(&data.all()), data.observations(&data.all()));
                let certificate = model.certify(&inputs, &observations, &CertifyOptions::default()).unwrap();
                assert!(
                    certificate.rel_gap() <= 2e-3 || certificate.gap <= 1e-12,
                    "{scale} {n} {d}: {certificate}"
                );
                assert_eq!(model.status(), Some(Status::Certified));
            }
        }
    }
}

#[test]
fn equal_labels_and_equal_rows_are_no_obstacle() {
    let mut data = Data::new(Rows::Own, 30, 2, 3);
    data.labels.iter_mut().flatten().for_each(|(_, y)| *y = 7.0);
    let model = model_of(&data.cut(3, 1), Intercept::Free, &Settings::default());
    let predictions = model.predict_all(&data.inputs(&data.all())).unwrap();
    assert!(predictions.as_slice().iter().all(|z| (z - 7.0).abs() <= 1e-9));
    let mut data = Data::new(Rows::Shared, 30, 2, 3);
    data.x = data.x[..2].repeat(30);
    let model = model_of(&data.cut(3, 1), Intercept::Free, &Settings::default());
    assert!(model.weights().unwrap().as_slice().iter().all(|w| w.abs() <= 1e-7));
}

#[test]
fn tasks_that_come_later_are_sorted_in() {
    let names = |names: &[&str]| TaskNames::Strings(names.iter().map(|name| name.to_string()).collect());
    let batch = |tasks: &[&str], y: f64| {
        let n = tasks.len();
        let x: Vec<f64> = (0..2 * n).map(|i| (i as f64 * 0.7).sin()).collect();
        let observations = Observations::multi_task(&(0..n as u32).collect::<Vec<_>>(), vec![y; n]).unwrap();
        let mut own = Statistics::new(&StatisticsOptions::default());
        let inputs = Inputs::from(Dense::f64_owned(x, n, 2).unwrap());
        own.update(&inputs, &observations.with_task_names(names(tasks)).unwrap()).unwrap();
        own
    };
    let mut all = batch(&["oak", "elm"], 1.0);
    all.merge(batch(&["fir", "oak"], 2.0)).unwrap();
    assert_eq!(*all.tasks(), names(&["elm", "fir", "oak"]));
    assert_eq!((all.task_counts(), all.n_inputs(), all.is_complete()), (vec![1, 1, 2], 4, false));
    let sample = all.surrogate(&Scaling::None, None).unwrap().sample.unwrap().1;
    assert_eq!((sample.task_counts(), sample.len()), (vec![1, 1, 2], 4));
    let mut numbers = Statistics::new(&StatisticsOptions::default());
    let one = Inputs::from(Dense::f64(&[1.0, 2.0], 1, 2).unwrap());
    numbers.update(&one, &Observations::multi_task(&[0], vec![1.0]).unwrap()).unwrap();
    let message = numbers.merge(all).unwrap_err().to_string();
    assert!(message.contains("by numbers in some rows and by words in others"), "{message}");
}

/// As in a table that is read at once: 7 is "7" where others have words.
#[test]
fn names_that_are_numbers_in_some_rows_are_texts() {
    let batch = |names: TaskNames| {
        let mut own = Statistics::new(&StatisticsOptions::default());
        let inputs = Inputs::from(Dense::f64(&[1.0, 2.0, 0.5, 1.0], 2, 2).unwrap());
        let observations = Observations::multi_task(&[0, 1], vec![1.0, 2.0]).unwrap();
        own.update(&inputs, &observations.with_task_names(names).unwrap()).unwrap();
        own
    };
    let words = || TaskNames::Strings(vec!["7".into(), "oak".into()]);
    for [first, second] in
        [[TaskNames::Integers(vec![7, 12]), words()], [words(), TaskNames::Integers(vec![7, 12])]]
    {
        let mut all = batch(first);
        all.merge(batch(second)).unwrap();
        assert_eq!(*all.tasks(), TaskNames::Strings(vec!["12".into(), "7".into(), "oak".into()]));
        assert_eq!(all.task_counts(), [1, 2, 1]);
    }
}

#[test]
fn bad_rows_are_refused_and_add_nothing() {
    let mut own = Statistics::new(&StatisticsOptions::default());
    let inputs = Inputs::from(Dense::f64(&[1.0, 2.0, 3.0, 5.0], 2, 2).unwrap());
    own.update(&inputs, &Observations::multi_task(&[0, 1], vec![1.0, 2.0]).unwrap()).unwrap();
    let before = own.to_bytes().unwrap();
    let narrow = Inputs::from(Dense::f64(&[1.0, 2.0], 2, 1).unwrap());
    let two = Observations::multi_task(&[0, 1], vec![1.0, 2.0]).unwrap();
    let message = own.update(&narrow, &two).unwrap_err().to_string();
    assert!(message.contains("the rows so far have 2 features, these have 1"), "{message}");
    let wrong = Observations::multi_task(&[0, 1], vec![1.0, f64::INFINITY]).unwrap();
    assert!(matches!(own.update(&inputs, &wrong), Err(Error::Label { row: 1, .. })));
    let three = Observations::multi_task(&[0, 1, 2], vec![1.0; 3]).unwrap();
    assert!(matches!(own.update(&inputs, &three), Err(Error::Length { .. })));
    assert!(own.to_bytes().unwrap() == before);
    let tiny = StatisticsOptions { memory: 100, ..StatisticsOptions::default() };
    let error =
        Statistics::new(&tiny).update(&inputs, &Observations::multi_task(&[0, 5], vec![1.0; 2]).unwrap());
    assert!(matches!(error, Err(Error::Memory { .. })));
    assert!(Statistics::new(&tiny).surrogate(&Scaling::None, None).is_err());
    assert!(own.scaling(ScalingKind::Unit).is_err());
}

#[test]
fn files_keep_every_bit_and_damage_is_noticed() {
    for rows in [Rows::Own, Rows::Shared, Rows::Missing] {
        let data = Data::new(rows, 50, 3, 2);
        let own = data.cut(3, 1);
        let bytes = own.to_bytes().unwrap();
        let read = Statistics::from_bytes(&bytes).unwrap();
        assert!(read.to_bytes().unwrap() == bytes);
        let (a, b) = (model_of(&own, Intercept::Free, &tight()), model_of(&read, Intercept::Free, &tight()));
        assert!(a.to_bytes().unwrap() == b.to_bytes().unwrap());
        for place in (0..bytes.len()).step_by(61) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 4;
            let read = Statistics::from_bytes(&damaged);
            assert!(read.is_err() || read.unwrap().to_bytes().unwrap() == bytes, "byte {place}");
        }
        assert!(Statistics::from_bytes(&bytes[..bytes.len() / 2]).is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.safetensors");
        own.save(&path).unwrap();
        assert!(Statistics::load(&path).unwrap().to_bytes().unwrap() == bytes);
        assert!(Model::load(&path).unwrap_err().to_string().contains("not a model of kinfolk"));
    }
}

#[test]
fn models_from_statistics_keep_their_certificate_in_files() {
    let data = Data::new(Rows::Missing, 60, 3, 2);
    let model = model_of(&data.cut(3, 1), Intercept::Free, &tight());
    let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert!(read.about().from_statistics && read.alpha().is_none());
    let (inputs, observations) = (data.inputs(&data.all()), data.observations(&data.all()));
    let options = CertifyOptions::default();
    assert_eq!(
        read.certify(&inputs, &observations, &options).unwrap().gap,
        model.certify(&inputs, &observations, &options).unwrap().gap
    );
    // Rows that are missing, or others, are noticed.
    let some: Vec<usize> = (0..40).collect();
    let mut parts = model.certify_parts(&options).unwrap();
    parts.add(&data.inputs(&some), &data.observations(&some)).unwrap();
    assert!(parts.finish().unwrap_err().to_string().contains("fitted on 60 inputs, the parts given have 40"));
    let others = Data::new(Rows::Missing, 60, 3, 3);
    let certificate = model.certify(&others.inputs(&data.all()), &others.observations(&data.all()), &options);
    assert!(certificate.unwrap().rel_gap() > 1e-6);
}

#[test]
fn the_same_rows_are_kept_for_any_cutting() {
    let data = Data::new(Rows::Own, 500, 3, 8);
    let few = |parts: usize| {
        let mut all = Statistics::new(&StatisticsOptions { sample_rows: 40, ..StatisticsOptions::default() });
        for rows in data.all().chunks(500 / parts) {
            all.update(&data.inputs(rows), &data.observations(rows)).unwrap();
        }
        all.surrogate(&Scaling::None, None).unwrap().sample.unwrap()
    };
    let (a, b) = (few(1), few(20));
    assert_eq!((a.1.n_inputs(), a.1.labels()), (40, b.1.labels()));
}

#[test]
fn sparse_rows_have_the_moments_of_dense_ones() {
    let mut data = Data::new(Rows::Shared, 40, 4, 6);
    data.x.iter_mut().enumerate().filter(|(i, _)| i % 3 == 0).for_each(|(_, x)| *x = 0.0);
    let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
    for row in data.x.chunks(4) {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            indices.push(j as u32);
            values.push(*x);
        }
        indptr.push(indices.len());
    }
    let sparse = Inputs::from(Sparse::f64(&indptr, &indices, &values, 4).unwrap());
    let mut own = Statistics::new(&StatisticsOptions::default());
    own.update(&sparse, &data.observations(&data.all())).unwrap();
    let dense = data.statistics(&data.all(), 1);
    assert_eq!(own.scaling(ScalingKind::Spread).unwrap(), dense.scaling(ScalingKind::Spread).unwrap());
    let factor = |statistics: &Statistics| {
        let scaling = statistics.scaling(ScalingKind::Auto).unwrap();
        assert_eq!(scaling.kind(), ScalingKind::Mixed);
        scaling.mean_and_factor().unwrap().1.to_vec()
    };
    assert_eq!(factor(&own), factor(&dense));
    assert_eq!(factor(&own)[3], 2.0);
    assert!(own.scaling(ScalingKind::Standard).is_err());
}
