//! Solvers on a device, here one that is only pretended: the same solutions as in memory, with the large matrices left
//! where they are.

use crate::common::*;
use kinfolk::algebra::{
    AnswerSums, Answers, Device, DeviceArray, DeviceHandle, DeviceMatrix, LossTable, Op, TermSums,
};
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::kernel::{Gamma, Kernel};
use kinfolk::regularizer::{AtomKind, AtomSpec};
use kinfolk::{
    Dataset, DatasetOptions, Error, Fit, Intercept, LossKind, Matrix, Observations, Problem, ProblemSpec,
    RegularizerKind, Settings, SolverKind, Start, Status, certify, fit,
};
use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A device that computes in memory, counts what is downloaded, and can fail.
#[derive(Debug)]
struct Pretended {
    memory: u64,
    /// Numbers of the largest matrix that is small.
    small: usize,
    large_downloads: AtomicUsize,
    products: AtomicUsize,
    /// The product that fails.
    failing_product: Option<usize>,
    failure: Mutex<Option<String>>,
}

impl Pretended {
    fn new(small: usize) -> Self {
        Pretended {
            memory: u64::MAX,
            small,
            large_downloads: AtomicUsize::new(0),
            products: AtomicUsize::new(0),
            failing_product: None,
            failure: Mutex::new(None),
        }
    }
}

#[derive(Debug)]
struct Array(Matrix);

impl DeviceArray for Array {
    fn copy(&self) -> Box<dyn DeviceArray> {
        Box::new(Array(self.0.clone()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

fn of(m: &DeviceMatrix) -> &Matrix {
    &m.array.as_any().downcast_ref::<Array>().unwrap().0
}

fn of_mut(m: &mut DeviceMatrix) -> &mut Matrix {
    &mut m.array.as_any_mut().downcast_mut::<Array>().unwrap().0
}

fn on_device(m: Matrix) -> DeviceMatrix {
    DeviceMatrix { rows: m.rows(), cols: m.cols(), array: Box::new(Array(m)) }
}

fn each(x: &mut DeviceMatrix, change: impl Fn(usize, usize, &mut f64)) {
    for i in 0..x.rows {
        of_mut(x).row_mut(i).iter_mut().enumerate().for_each(|(j, x)| change(i, j, x));
    }
}

impl Device for Pretended {
    fn name(&self) -> String {
        "pretended".into()
    }
    fn memory(&self) -> u64 {
        self.memory
    }
    fn error(&self) -> Option<String> {
        self.failure.lock().unwrap().take()
    }
    fn upload(&self, values: &[f64], rows: usize, cols: usize) -> DeviceMatrix {
        on_device(Matrix::from_vec(values.to_vec(), rows, cols).unwrap())
    }
    fn upload_single(&self, values: &[f32], rows: usize, cols: usize) -> DeviceMatrix {
        self.upload(&values.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>(), rows, cols)
    }
    fn download(&self, m: &DeviceMatrix) -> Vec<f64> {
        if m.rows * m.cols > self.small {
            self.large_downloads.fetch_add(1, Ordering::Relaxed);
        }
        of(m).as_slice().to_vec()
    }
    fn product(&self, a: &DeviceMatrix, op_a: Op, b: &DeviceMatrix, op_b: Op) -> DeviceMatrix {
        let turned = |m: &DeviceMatrix, op: Op| match op {
            Op::Plain => of(m).clone(),
            Op::Transposed => of(m).transposed(),
        };
        let mut product = turned(a, op_a).times(&turned(b, op_b));
        if self.failing_product == Some(self.products.fetch_add(1, Ordering::Relaxed)) {
            *self.failure.lock().unwrap() = Some("its memory is used up".into());
            product.scale(f64::NAN);
        }
        on_device(product)
    }
    fn gram(&self, a: &DeviceMatrix) -> DeviceMatrix {
        self.product(a, Op::Transposed, a, Op::Plain)
    }
    fn add_scaled(&self, y: &mut DeviceMatrix, factor: f64, x: &DeviceMatrix) {
        of_mut(y).add_scaled(factor, of(x));
    }
    fn scale(&self, x: &mut DeviceMatrix, factor: f64) {
        of_mut(x).scale(factor);
    }
    fn scale_columns(&self, x: &mut DeviceMatrix, factors: &[f64]) {
        each(x, |_, j, x| *x *= factors[j]);
    }
    fn scale_rows(&self, x: &mut DeviceMatrix, factors: &[f64]) {
        each(x, |i, _, x| *x *= factors[i]);
    }
    fn multiply(&self, x: &mut DeviceMatrix, by: &DeviceMatrix) {
        each(x, |i, j, x| *x *= of(by)[(i, j)]);
    }
    fn add_to_columns(&self, x: &mut DeviceMatrix, values: &[f64]) {
        each(x, |_, j, x| *x += values[j]);
    }
    fn add_outer(&self, x: &mut DeviceMatrix, factor: f64, rows: &[f64], columns: &[f64]) {
        each(x, |i, j, x| *x += factor * rows[i] * columns[j]);
    }
    fn divide_shifted(&self, x: &mut DeviceMatrix, rows: &[f64], columns: &[f64]) {
        each(x, |i, j, x| *x /= 1.0 + rows[i] * columns[j]);
    }
    fn column_products(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> Vec<f64> {
        let product = of(a).transposed().times(of(b));
        (0..a.cols).map(|j| product[(j, j)]).collect()
    }
    fn row_products(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> Vec<f64> {
        let dot = |i: usize| of(a).row(i).iter().zip(of(b).row(i)).map(|(a, b)| a * b).sum();
        (0..a.rows).map(dot).collect()
    }
    fn eigen(&self, m: &DeviceMatrix) -> (Vec<f64>, DeviceMatrix) {
        let (values, vectors) = of(m).eigen().unwrap();
        (values, on_device(vectors))
    }
    /// The inverse is as good as a factor.
    fn shifted_cholesky(&self, m: &DeviceMatrix, shift: f64) -> Option<DeviceMatrix> {
        let (values, vectors) = of(m).eigen().unwrap();
        let mut scaled = vectors.clone();
        for i in 0..m.rows {
            scaled.row_mut(i).iter_mut().zip(&values).for_each(|(x, l)| *x /= l + shift);
        }
        values.iter().all(|l| l + shift > 0.0).then(|| on_device(scaled.times(&vectors.transposed())))
    }
    fn solve(&self, factor: &DeviceMatrix, x: &mut DeviceMatrix) {
        *of_mut(x) = of(factor).times(of(x));
    }
    fn root(&self, m: &DeviceMatrix, shift: f64) -> Option<DeviceMatrix> {
        let (m, n) = (of(m), m.rows);
        let mut root = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                let own = m[(i, j)] + if i == j { shift } else { 0.0 };
                let rest = own - (0..j).map(|k| root[(i, k)] * root[(j, k)]).sum::<f64>();
                root[(i, j)] = if i == j { rest.sqrt() } else { rest / root[(j, j)] };
                if !root[(i, j)].is_finite() || (i == j && rest <= 0.0) {
                    return None;
                }
            }
        }
        Some(on_device(root))
    }
    fn gaussian(&self, x: &mut DeviceMatrix, squares: &[f64], gamma: f64, shift: f64, scale: f64) {
        each(x, |i, j, x| {
            let distance = if i == j { 0.0 } else { squares[i] + squares[j] - 2.0 * *x };
            *x = scale * ((-gamma * distance.max(0.0)).exp() + shift);
        });
    }
    fn loss_sums(&self, table: &LossTable<'_>) -> AnswerSums {
        self.loss_answers(table).sums
    }
    fn loss_answers(&self, table: &LossTable<'_>) -> Answers {
        let zeros = || Matrix::zeros(table.labels.rows, table.labels.cols);
        let (mut kappa, mut curvature) = (zeros(), zeros());
        let [value, dual, size, bend] = column_sums(table, |i, j, y, z| {
            let at = table.form.answer(y, z, table.mu, table.centre.map_or(0.0, |centre| of(centre)[(i, j)]));
            kappa[(i, j)] = table.weight * at.dual;
            curvature[(i, j)] = table.weight * at.curvature;
            [at.value, at.dual, at.dual.abs(), at.curvature].map(|x| table.weight * x)
        });
        let sums = AnswerSums { value, kappa: dual, size, curvature: bend };
        Answers { sums, kappa: on_device(kappa), curvature: on_device(curvature) }
    }
    fn loss_terms(&self, table: &LossTable<'_>, kappa: &DeviceMatrix) -> TermSums {
        let [gap, value, conj, dual, size, odd] = column_sums(table, |i, j, y, z| {
            let kappa = of(kappa)[(i, j)];
            let (low, high) = table.form.domain(y);
            let quotient = -kappa / table.weight;
            let u = quotient.max(low).min(high);
            let [value, conj, term] = table.form.terms(y, z, u);
            let plain = z.is_finite() && (quotient - u).abs() <= 1e-15 * u.abs() && term >= 0.0;
            let [term, value, conj] = [term, value, conj].map(|x| table.weight * x);
            [term, value, conj, kappa, kappa.abs(), f64::from(u8::from(!plain))]
        });
        TermSums { gap, value, conj, kappa: dual, size, odd }
    }
}

/// Sums over the rows of some numbers of each observation.
fn column_sums<const N: usize>(
    table: &LossTable<'_>,
    mut terms: impl FnMut(usize, usize, f64, f64) -> [f64; N],
) -> [Vec<f64>; N] {
    let mut sums = [(); N].map(|()| vec![0.0; table.labels.cols]);
    for i in 0..table.labels.rows {
        for j in 0..table.labels.cols {
            let (y, z) = (of(table.labels)[(i, j)], of(table.scores)[(i, j)] + table.intercept[j]);
            terms(i, j, y, z).iter().zip(&mut sums).for_each(|(term, sums)| sums[j] += term);
        }
    }
    sums
}

const ROWS: usize = 240;
const FEATURES: usize = 40;
const TASKS: usize = 5;

fn table() -> (Inputs<'static>, Observations) {
    let mut random = Random(23);
    let x: Vec<f64> =
        (0..ROWS * FEATURES).map(|i| 1.0 + random.fine() / (1.0 + (i % FEATURES) as f64)).collect();
    let weights: Vec<f64> = (0..FEATURES * (TASKS + 1)).map(|_| random.fine()).collect();
    let (common, own) = weights.split_at(FEATURES);
    let mut labels = vec![];
    for row in x.chunks(FEATURES) {
        let dot = |w: &[f64]| row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        labels.extend(own.chunks(FEATURES).map(|own| dot(common) + 0.4 * dot(own)));
    }
    labels.iter_mut().for_each(|y| *y += 3.0 + 0.1 * random.fine());
    let observations = Observations::multi_output(&labels, ROWS, TASKS).unwrap();
    (Dense::f64_owned(x, ROWS, FEATURES).unwrap().into(), observations)
}

fn options(device: Option<Arc<Pretended>>) -> DatasetOptions {
    let device = device.map(|device| DeviceHandle(device as Arc<dyn Device>));
    DatasetOptions { device, threads: 1, ..DatasetOptions::default() }
}

fn settings() -> Settings {
    Settings { solver: SolverKind::Spectral, tolerance: 1e-8, ..Settings::default() }
}

fn specs() -> Vec<ProblemSpec> {
    let mut specs = vec![];
    for intercept in [Intercept::Free, Intercept::None] {
        for c in [1e-3, 1.0, 1e3] {
            for k in [1, 2] {
                specs.push(ProblemSpec { intercept, ..spec(LossKind::Squared, power(k), c, 1.0) });
            }
            let atoms = vec![
                AtomSpec::new("common", 10.0, AtomKind::Common),
                AtomSpec::new("own", 3.0, AtomKind::Own),
            ];
            let exp = spec(LossKind::Squared, RegularizerKind::Exp { prior: None }, c, 1.0);
            specs.push(ProblemSpec { intercept, atoms, ..spec(LossKind::Squared, power(1), c, 1.0) });
            specs.push(ProblemSpec { intercept, ..exp });
        }
    }
    specs
}

fn solved(data: &Dataset<'_>, spec: &ProblemSpec) -> Fit {
    fit(&Problem::new(data, spec.clone()).unwrap(), &settings()).unwrap()
}

/// Certified, the same optimum as in memory; the certificate of the device's duals holds in memory and the other way
/// round, and nothing large is downloaded but what the certificate needs at the end.
#[test]
fn solutions_are_those_in_memory() {
    let (inputs, observations) = table();
    let memory = Dataset::new(&inputs, &observations, options(None)).unwrap();
    for spec in specs() {
        let pretended = Arc::new(Pretended::new(FEATURES * TASKS - 1));
        let device = Dataset::new(&inputs, &observations, options(Some(pretended.clone()))).unwrap();
        let (there, here) = (solved(&device, &spec), solved(&memory, &spec));
        let what = format!("{:?} C {}", spec.output, spec.c);
        assert_eq!((there.status(), here.status()), (Status::Certified, Status::Certified), "{what}");
        let (a, b) = (there.certificate(), here.certificate());
        assert!((a.primal - b.primal).abs() <= 1e-7 * b.primal.abs(), "{what}: {a} {b}");
        let downloads = pretended.large_downloads.load(Ordering::Relaxed);
        assert!(downloads <= 8, "{what}: {downloads} large downloads");
        for (fit, other) in [(&there, &memory), (&here, &device)] {
            let problem = Problem::new(other, spec.clone()).unwrap();
            let again = certify(&problem, fit.model.alpha().unwrap(), None).unwrap();
            assert!(again.rel_gap() <= 1e-4, "{what}: {again}");
        }
    }
}

/// Every loss is solved on the device, to the same optimum as in memory, and starts from the other place's duals end at
/// once.
#[test]
fn other_losses_are_solved_there() {
    let (inputs, numbers) = table();
    let classes: Vec<f64> = numbers
        .labels()
        .iter()
        .enumerate()
        .map(|(o, y)| if y + (o % 3) as f64 > 4.0 { 1.0 } else { -1.0 })
        .collect();
    let classes = Observations::multi_output(&classes, ROWS, TASKS).unwrap();
    for loss in LossKind::all_examples() {
        let observations = if loss.is_classification() { &classes } else { &numbers };
        for (intercept, k, c) in
            [(Intercept::Free, 1, 1.0), (Intercept::None, 2, 0.1), (Intercept::Free, 1, 1e3)]
        {
            let spec = ProblemSpec { intercept, ..spec(loss.clone(), power(k), c, 1.0) };
            let memory = Dataset::new(&inputs, observations, options(None)).unwrap();
            let pretended = Arc::new(Pretended::new(FEATURES * TASKS - 1));
            let device = Dataset::new(&inputs, observations, options(Some(pretended.clone()))).unwrap();
            let what = format!("{loss:?}, k {k}, {intercept:?}");
            let tolerance = 1e-6;
            let fitted = |data: &Dataset<'_>, start: Start<'_>| {
                let problem = Problem::new(data, spec.clone()).unwrap();
                let settings = Settings { tolerance, ..Settings::default() };
                kinfolk::Fitter::new(&settings).start(start).fit(&problem).unwrap()
            };
            let (there, here) = (fitted(&device, Start::Cold), fitted(&memory, Start::Cold));
            assert_eq!((there.status(), here.status()), (Status::Certified, Status::Certified), "{what}");
            assert!(["spectral", "newton", "proximal"].contains(&there.solver), "{what}: {}", there.solver);
            let (a, b) = (there.certificate(), here.certificate());
            assert!((a.primal - b.primal).abs() <= 2.0 * tolerance * b.primal.abs(), "{what}: {a} {b}");
            let problem = Problem::new(&memory, spec.clone()).unwrap();
            let again = certify(&problem, there.model.alpha().unwrap(), there.model.v()).unwrap();
            assert!(again.rel_gap() <= 1.01 * tolerance, "{what}: {again}");
        }
    }
}

/// RBF kernels have their matrix on the device, and a root of it for features: the same optima as in memory, and the
/// certificate of their duals holds there.
#[test]
fn kernels_are_solved_there() {
    let (inputs, numbers) = table();
    let signs: Vec<f64> = numbers.labels().iter().map(|y| if *y > 4.0 { 1.0 } else { -1.0 }).collect();
    let classes = Observations::multi_output(&signs, ROWS, TASKS).unwrap();
    let kernel = Kernel::Rbf { gamma: Gamma::Value(0.05) };
    let losses = [
        LossKind::Squared,
        LossKind::Huber { delta: 0.5 },
        LossKind::Epsilon { epsilon: 0.1 },
        LossKind::Logistic,
        LossKind::Hinge,
    ];
    for loss in losses {
        let observations = if loss.is_classification() { &classes } else { &numbers };
        for (intercept, k, c) in
            [(Intercept::Free, 1, 10.0), (Intercept::None, 2, 0.1), (Intercept::Free, 2, 1e3)]
        {
            let data = |device: Option<Arc<Pretended>>| {
                let options = DatasetOptions { kernel: kernel.clone(), ..options(device) };
                Dataset::new(&inputs, observations, options).unwrap()
            };
            let pretended = Arc::new(Pretended::new(ROWS * TASKS));
            let (memory, device) = (data(None), data(Some(pretended.clone())));
            let spec = ProblemSpec { intercept, ..spec(loss.clone(), power(k), c, 1.0) };
            let what = format!("{loss:?}, k {k}, {intercept:?}, C {c}");
            let tolerance = 1e-6;
            let fitted = |data: &Dataset<'_>| {
                let settings = Settings { tolerance, ..Settings::default() };
                fit(&Problem::new(data, spec.clone()).unwrap(), &settings).unwrap()
            };
            let (there, here) = (fitted(&device), fitted(&memory));
            assert_eq!((there.status(), here.status()), (Status::Certified, Status::Certified), "{what}");
            // Few rows with weak regularisation are left to another solver, in memory.
            let is_there = ["spectral", "newton", "proximal"].contains(&there.solver);
            assert!(is_there || c > 10.0, "{what}: {}", there.solver);
            let (a, b) = (there.certificate(), here.certificate());
            assert!((a.primal - b.primal).abs() <= 2.0 * tolerance * b.primal.abs(), "{what}: {a} {b}");
            let problem = Problem::new(&memory, spec.clone()).unwrap();
            let again = certify(&problem, there.model.alpha().unwrap(), there.model.v()).unwrap();
            assert!(again.rel_gap() <= 1.01 * tolerance, "{what}: {again}");
            assert_eq!(pretended.large_downloads.load(Ordering::Relaxed), 0, "{what}");
        }
    }
}

/// Kernels that the device does not compute are left to the processor, however little memory it has.
#[test]
fn other_kernels_stay_in_memory() {
    let (inputs, observations) = table();
    let far = Kernel::Rbf { gamma: Gamma::Value(1e3) };
    for kernel in [Kernel::Laplacian { gamma: Gamma::Value(0.1) }, far] {
        let small = Pretended { memory: 1000, ..Pretended::new(1) };
        let options = DatasetOptions { kernel, ..options(Some(Arc::new(small))) };
        let data = Dataset::new(&inputs, &observations, options).unwrap();
        assert_eq!(solved(&data, &spec(LossKind::Squared, power(1), 1.0, 1.0)).status(), Status::Certified);
    }
}

/// From the duals of the other place the fit ends at once.
#[test]
fn warm_starts_cross_over() {
    let (inputs, observations) = table();
    let memory = Dataset::new(&inputs, &observations, options(None)).unwrap();
    let device = options(Some(Arc::new(Pretended::new(1))));
    let device = Dataset::new(&inputs, &observations, device).unwrap();
    for (from, to) in [(&memory, &device), (&device, &memory)] {
        let near = solved(from, &spec(LossKind::Squared, power(2), 1.0, 1.0));
        let problem = Problem::new(to, spec(LossKind::Squared, power(2), 1.0, 1.0)).unwrap();
        let loose = Settings { tolerance: 1e-6, ..settings() };
        let start = Start::Warm(near.model.alpha().unwrap());
        let warm = kinfolk::Fitter::new(&loose).start(start).fit(&problem).unwrap();
        assert_eq!(warm.status(), Status::Certified);
        assert!(warm.passes <= 1, "{} passes", warm.passes);
    }
}

/// A device that fails, at whatever moment, is an error that names it; none that says so too late.
#[test]
fn failures_are_errors() {
    let (inputs, observations) = table();
    for (loss, failing) in [0, 1, 5, 12, 30]
        .map(|failing| (LossKind::Squared, failing))
        .into_iter()
        .chain([0, 3, 20, 60, 100].map(|failing| (LossKind::Huber { delta: 1.0 }, failing)))
    {
        let pretended = Pretended { failing_product: Some(failing), ..Pretended::new(1) };
        let options = options(Some(Arc::new(pretended)));
        let outcome = Dataset::new(&inputs, &observations, options).and_then(|data| {
            let problem = Problem::new(&data, spec(loss.clone(), power(2), 1.0, 1.0))?;
            fit(&problem, &Settings { solver: SolverKind::Auto, ..settings() }).map(|_| ())
        });
        match outcome {
            Err(Error::Device { device, reason }) => {
                assert_eq!((&*device, &*reason), ("pretended", "its memory is used up"));
            }
            other => panic!("product {failing}: {other:?}"),
        }
    }
}

#[test]
fn too_little_memory_is_said_with_bytes() {
    let (inputs, observations) = table();
    let small = Pretended { memory: 1000, ..Pretended::new(1) };
    let outcome = Dataset::new(&inputs, &observations, options(Some(Arc::new(small))));
    assert!(matches!(outcome, Err(Error::Memory { budget: 1000, needed, .. }) if needed > 1000));
}
