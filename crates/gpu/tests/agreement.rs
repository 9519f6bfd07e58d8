//! A device against memory, on random problems. Without a device this says so and checks nothing else.

#![allow(clippy::unwrap_used)] // helpers outside test functions

use kinfolk::algebra::{DeviceHandle, LossTable, Op};
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::loss::LossDerivatives;
use kinfolk::{
    Dataset, DatasetOptions, Intercept, LossKind, Matrix, Observations, Problem, ProblemSpec,
    RegularizerKind, Settings, SolverKind, Start, Status,
};
use std::io::Write;

fn device() -> Option<DeviceHandle> {
    match kinfolk_gpu::open(0, None) {
        Ok(device) => Some(device),
        Err(error) => {
            let line = format!("SKIPPED: agreement of a GPU with the processor: {error}\n");
            let file = std::env::var_os("KINFOLK_SKIPS");
            let file = file.and_then(|path| std::fs::OpenOptions::new().append(true).open(path).ok());
            match file {
                Some(mut file) => file.write_all(line.as_bytes()).unwrap_or_default(),
                None => eprint!("{line}"),
            }
            None
        }
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }

    fn matrix(&mut self, rows: usize, cols: usize) -> Matrix {
        Matrix::from_vec((0..rows * cols).map(|_| self.next()).collect(), rows, cols).unwrap()
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[((self.next() + 1.0) / 2.0 * all.len() as f64) as usize % all.len()]
    }
}

fn close(what: &str, got: &[f64], want: &[f64], tolerance: f64) {
    let size = want.iter().fold(1e-300f64, |a, b| a.max(b.abs()));
    assert_eq!(got.len(), want.len(), "{what}");
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= tolerance * size, "{what}: {got} instead of {want}");
    }
}

/// Without a device the error says what is missing, and nothing panics.
#[test]
fn a_missing_device_is_an_error_in_one_line() {
    if let Err(error) = kinfolk_gpu::open(0, None) {
        assert!(!error.to_string().contains('\n') && error.to_string().len() > 20, "{error}");
    }
    assert!(kinfolk_gpu::open(4096, None).is_err());
}

/// Every operation of the device is that of matrices in memory.
#[test]
fn operations_agree() {
    let Some(handle) = device() else { return };
    let (device, mut random) = (&*handle.0, Random(5));
    let upload = |m: &Matrix| device.upload(m.as_slice(), m.rows(), m.cols());
    for (n, d, t) in [(1, 1, 1), (7, 3, 2), (300, 129, 33), (1000, 260, 70)] {
        let (x, v, w) = (random.matrix(n, d), random.matrix(d, t), random.matrix(d, t));
        let (on_x, on_v, on_w) = (upload(&x), upload(&v), upload(&w));
        let product = device.product(&on_x, Op::Plain, &on_v, Op::Plain);
        close("product", &device.download(&product), x.times(&v).as_slice(), 1e-12);
        let back = device.product(&on_x, Op::Transposed, &product, Op::Plain);
        close("transposed", &device.download(&back), x.transposed().times(&x.times(&v)).as_slice(), 1e-12);
        let outer = device.product(&on_v, Op::Plain, &on_w, Op::Transposed);
        close("second transposed", &device.download(&outer), v.times(&w.transposed()).as_slice(), 1e-12);
        let (gram, on_gram) = (x.transposed().times(&x), device.gram(&on_x));
        close("gram", &device.download(&on_gram), gram.as_slice(), 1e-12);
        let sums: Vec<f64> = (0..t).map(|j| (0..d).map(|i| v[(i, j)] * w[(i, j)]).sum()).collect();
        close("columns", &device.column_products(&on_v, &on_w), &sums, 1e-12);
        let sums: Vec<f64> = (0..d).map(|i| (0..t).map(|j| v[(i, j)] * w[(i, j)]).sum()).collect();
        close("rows", &device.row_products(&on_v, &on_w), &sums, 1e-12);
        let (r, c) = (random.matrix(d, 1).into_vec(), random.matrix(1, t).into_vec());
        let mut changed = on_v.clone();
        device.scale_rows(&mut changed, &r);
        device.scale_columns(&mut changed, &c);
        device.add_scaled(&mut changed, 0.5, &on_w);
        device.scale(&mut changed, 3.0);
        device.add_outer(&mut changed, -2.0, &r, &c);
        device.add_to_columns(&mut changed, &c);
        device.multiply(&mut changed, &on_w);
        let positive: Vec<f64> = r.iter().map(|x| x.abs()).collect();
        let columns: Vec<f64> = c.iter().map(|x| x.abs()).collect();
        device.divide_shifted(&mut changed, &positive, &columns);
        let mut want = v.clone();
        for i in 0..d {
            for j in 0..t {
                let x = 3.0 * (v[(i, j)] * r[i] * c[j] + 0.5 * w[(i, j)]) - 2.0 * r[i] * c[j];
                let x = (x + c[j]) * w[(i, j)];
                want[(i, j)] = x / (1.0 + positive[i] * columns[j]);
            }
        }
        close("element-wise", &device.download(&changed), want.as_slice(), 1e-12);
        let factor = device.shifted_cholesky(&on_gram, 0.7).expect("a factor");
        let mut solved = on_v.clone();
        device.solve(&factor, &mut solved);
        let solved = Matrix::from_vec(device.download(&solved), d, t).unwrap();
        let mut again = gram.times(&solved);
        again.add_scaled(0.7, &solved);
        close("solve", again.as_slice(), v.as_slice(), 1e-9);
        assert!(device.shifted_cholesky(&on_gram, -1e6).is_none());
        let (values, vectors) = device.eigen(&on_gram);
        let vectors = Matrix::from_vec(device.download(&vectors), d, d).unwrap();
        close("eigenvalues", &values, &gram.eigen().unwrap().0, 1e-11);
        let mut images = vectors.clone();
        for i in 0..d {
            images.row_mut(i).iter_mut().zip(&values).for_each(|(x, l)| *x *= l);
        }
        close("eigenvectors", gram.times(&vectors).as_slice(), images.as_slice(), 1e-11);
        assert_eq!(device.error(), None);
    }
}

/// Sums over the rows of what a function makes of label, prediction and dual, for each column.
fn sums_of([y, z, kappa]: [&Matrix; 3], intercept: &[f64], of: impl Fn(f64, f64, f64) -> f64) -> Vec<f64> {
    let column =
        |j: usize| (0..y.rows()).map(|i| of(y[(i, j)], z[(i, j)] + intercept[j], kappa[(i, j)])).sum();
    (0..y.cols()).map(column).collect()
}

/// Kernels of losses repeat the formulas of the core, for every loss.
#[test]
fn losses_agree() {
    let Some(handle) = device() else { return };
    let (device, mut random) = (&*handle.0, Random(29));
    let upload = |m: &Matrix| device.upload(m.as_slice(), m.rows(), m.cols());
    for (kind, (n, t)) in
        LossKind::all_examples().into_iter().zip([(1, 1), (5, 3), (1000, 70)].into_iter().cycle())
    {
        let loss = kind.build().unwrap();
        let (form, weight) = (loss.form().unwrap(), 0.7);
        let (mut y, mut z, mut kappa) = (random.matrix(n, t), random.matrix(n, t), random.matrix(n, t));
        z.scale(3.0);
        for i in 0..n {
            for j in 0..t {
                if loss.is_classification() {
                    y[(i, j)] = 1.0f64.copysign(y[(i, j)]);
                }
                let (low, high) = form.domain(y[(i, j)]);
                let share = 0.5 * (kappa[(i, j)] + 1.0);
                kappa[(i, j)] = -weight * (low.max(-2.0) * share + high.min(2.0) * (1.0 - share));
            }
        }
        let intercept = random.matrix(1, t).into_vec();
        let (labels, scores, duals) = (upload(&y), upload(&z), upload(&kappa));
        for mu in [0.0, 0.3] {
            let centre = (mu > 0.0).then(|| random.matrix(n, t));
            let there = centre.as_ref().map(upload);
            let (labels, scores, centre_there) = (&labels, &scores, there.as_ref());
            let table =
                LossTable { form, labels, scores, intercept: &intercept, weight, mu, centre: centre_there };
            let answers = device.loss_answers(&table);
            assert_eq!(device.loss_sums(&table), answers.sums);
            let zeros = Matrix::zeros(n, t);
            let all = [&y, &z, centre.as_ref().unwrap_or(&zeros)];
            let what = |name: &str| format!("{}, mu {mu}: {name}", loss.name());
            let sums = &answers.sums;
            for (name, got, of) in [
                ("values", &sums.value, (|at| at.value) as fn(LossDerivatives) -> f64),
                ("duals", &sums.kappa, |at| at.dual),
                ("sizes", &sums.size, |at| at.dual.abs()),
                ("curvatures", &sums.curvature, |at| at.curvature),
            ] {
                let want =
                    sums_of(all, &intercept, |y, z, centre| weight * of(form.answer(y, z, mu, centre)));
                close(&what(name), got, &want, 1e-12);
            }
            let mut flat = vec![];
            for i in 0..n {
                let at = |j| form.answer(y[(i, j)], z[(i, j)] + intercept[j], mu, all[2][(i, j)]);
                flat.extend((0..t).map(|j| weight * at(j).dual));
            }
            close(&what("every dual"), &device.download(&answers.kappa), &flat, 1e-14);
        }
        let (labels, scores, intercept) = (&labels, &scores, &intercept[..]);
        let table = LossTable { form, labels, scores, intercept, weight, mu: 0.0, centre: None };
        let terms = device.loss_terms(&table, &duals);
        for (k, got) in [&terms.value, &terms.conj, &terms.gap].into_iter().enumerate() {
            let term = |y: f64, z: f64, kappa: f64| weight * form.terms(y, z, -kappa / weight)[k];
            let want = sums_of([&y, &z, &kappa], intercept, term);
            close(&format!("{}: term {k}", loss.name()), got, &want, 1e-11);
        }
        let sums = sums_of([&y, &z, &kappa], intercept, |_, _, kappa| kappa);
        close(&format!("{}: sums of duals", loss.name()), &terms.kappa, &sums, 1e-12);
        let sizes = sums_of([&y, &z, &kappa], intercept, |_, _, kappa| kappa.abs());
        close(&format!("{}: sums of sizes", loss.name()), &terms.size, &sizes, 1e-12);
        assert!(terms.odd.iter().all(|odd| *odd == 0.0), "{}: {:?}", loss.name(), terms.odd);
        let mut outside = kappa.clone();
        outside[(n - 1, t - 1)] = f64::NAN;
        assert_eq!(device.loss_terms(&table, &upload(&outside)).odd[t - 1], 1.0);
        assert_eq!(device.error(), None);
    }
}

/// Large arrays travel in pieces.
#[test]
fn large_copies_arrive() {
    let Some(handle) = device() else { return };
    for n in [524_287, 524_288, 2_000_003] {
        let values: Vec<f64> = (0..n).map(|i| i as f64 + 0.5).collect();
        let single: Vec<f32> = (0..n).map(|i| i as f32).collect();
        assert!(handle.0.download(&handle.0.upload(&values, n, 1)) == values);
        let widened: Vec<f64> = single.iter().map(|x| f64::from(*x)).collect();
        assert!(handle.0.download(&handle.0.upload_single(&single, n, 1)) == widened);
    }
    assert_eq!(handle.0.error(), None);
}

/// Losses of classes and numbers: certified on the device, the same optimum as in memory, the same bits twice.
#[test]
fn fits_of_other_losses_agree() {
    let Some(handle) = device() else { return };
    let mut random = Random(31);
    for (trial, loss) in LossKind::all_examples().into_iter().cycle().take(20).enumerate() {
        let (n, d, t) = (random.one_of(&[120, 400]), random.one_of(&[3, 20, 40]), random.one_of(&[2, 6, 20]));
        let x = random.matrix(n, d);
        let mut labels = x.times(&random.matrix(d, t));
        labels.add_scaled(1.0, &random.matrix(n, t));
        if loss.is_classification() {
            labels.as_mut_slice().iter_mut().for_each(|y| *y = 1.0f64.copysign(*y));
        }
        let inputs: Inputs<'_> = Dense::f64(x.as_slice(), n, d).unwrap().into();
        let observations = Observations::multi_output(labels.as_slice(), n, t).unwrap();
        let spec = ProblemSpec {
            loss: loss.clone().into(),
            output: RegularizerKind::Power { k: random.one_of(&[1u32, 2]) },
            c: 10f64.powf(random.next()),
            intercept: random.one_of(&[Intercept::Free, Intercept::None]),
            ..ProblemSpec::default()
        };
        let tolerance = 1e-6;
        let fitted = |device: Option<DeviceHandle>| {
            let options = DatasetOptions { device, ..DatasetOptions::default() };
            let data = Dataset::new(&inputs, &observations, options).unwrap();
            let problem = Problem::new(&data, spec.clone()).unwrap();
            kinfolk::fit(&problem, &Settings { tolerance, ..Settings::default() }).unwrap()
        };
        let (there, here) = (fitted(Some(handle.clone())), fitted(None));
        let what = format!("trial {trial}: {n} x {d} x {t}, {loss:?}, {:?}, C {}", spec.output, spec.c);
        assert_eq!((there.status(), here.status()), (Status::Certified, Status::Certified), "{what}");
        assert!(there.solver != "sdca", "{what}");
        let (a, b) = (there.certificate(), here.certificate());
        close(&format!("{what}: primal"), &[a.primal], &[b.primal], 2.0 * tolerance);
        assert!(a.dual <= b.primal * (1.0 + 1e-12) && b.dual <= a.primal * (1.0 + 1e-12), "{what}: {a} {b}");
        let twice = fitted(Some(handle.clone()));
        assert_eq!(twice.model.alpha(), there.model.alpha(), "{what}: other bits");
    }
}

/// Primal and dual values, warm starts from the other place, and the same bits twice.
#[test]
fn fits_agree() {
    let Some(handle) = device() else { return };
    let mut random = Random(11);
    for trial in 0..200 {
        let (n, d, t) =
            (random.one_of(&[60, 200, 500]), random.one_of(&[3, 20, 55]), random.one_of(&[1, 2, 6, 30]));
        let x = random.matrix(n, d);
        let truth = random.matrix(d, t);
        let mut labels = x.times(&truth);
        labels.add_scaled(0.3, &random.matrix(n, t));
        let single: Vec<f32> = x.as_slice().iter().map(|x| *x as f32).collect();
        let inputs: Inputs<'_> = match trial % 2 {
            0 => Dense::f64(x.as_slice(), n, d).unwrap().into(),
            _ => Dense::f32(&single, n, d).unwrap().into(),
        };
        let observations = Observations::multi_output(labels.as_slice(), n, t).unwrap();
        let output = random.one_of(&[1u32, 2, 4]);
        let spec = ProblemSpec {
            loss: LossKind::Squared.into(),
            output: RegularizerKind::Power { k: output },
            c: 10f64.powf(3.0 * random.next()),
            intercept: random.one_of(&[Intercept::Free, Intercept::None]),
            ..ProblemSpec::default()
        };
        let settings = Settings { solver: SolverKind::Spectral, tolerance: 1e-10, ..Settings::default() };
        let fitted = |device: Option<DeviceHandle>, start: Start<'_>, tolerance: f64| {
            let options = DatasetOptions { device, ..DatasetOptions::default() };
            let data = Dataset::new(&inputs, &observations, options).unwrap();
            let problem = Problem::new(&data, spec.clone()).unwrap();
            let settings = Settings { tolerance, ..settings };
            kinfolk::Fitter::new(&settings).start(start).fit(&problem).unwrap()
        };
        let (there, here) =
            (fitted(Some(handle.clone()), Start::Cold, 1e-10), fitted(None, Start::Cold, 1e-10));
        let what = format!("trial {trial}: {n} x {d} x {t}, k {output}, C {}", spec.c);
        assert_eq!(there.status(), Status::Certified, "{what}");
        let (a, b) = (there.certificate(), here.certificate());
        close(&format!("{what}: primal"), &[a.primal], &[b.primal], 1e-9);
        close(&format!("{what}: dual"), &[a.dual], &[b.dual], 1e-9);
        let warm = fitted(Some(handle.clone()), Start::Warm(here.model.alpha().unwrap()), 1e-8);
        assert!(warm.status() == Status::Certified && warm.passes <= 1, "{what}: {} passes", warm.passes);
        let twice = fitted(Some(handle.clone()), Start::Cold, 1e-10);
        assert_eq!(twice.model.alpha(), there.model.alpha(), "{what}: other bits");
    }
}
