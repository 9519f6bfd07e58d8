//! A CUDA device as the core sees it.

use crate::ffi::{ColumnSums, Cuda, LossArrays, Numbers, Outcome};
use kinfolk::algebra::{AnswerSums, Answers, Device, DeviceArray, DeviceMatrix, LossTable, Op, TermSums};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard};

/// A CUDA device. Operations of several threads take turns.
#[derive(Debug)]
pub struct CudaDevice {
    name: String,
    memory: u64,
    cuda: Mutex<Cuda>,
    failure: Arc<FirstError>,
}

/// The first error since somebody asked.
#[derive(Debug, Default)]
struct FirstError(Mutex<Option<String>>);

impl FirstError {
    fn note(&self, reason: String) {
        lock(&self.0).get_or_insert(reason);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Numbers, or nothing after an error.
#[derive(Debug)]
struct CudaArray {
    numbers: Option<Numbers>,
    failure: Arc<FirstError>,
}

impl DeviceArray for CudaArray {
    fn copy(&self) -> Box<dyn DeviceArray> {
        let copied = self.numbers.as_ref().map(|numbers| numbers.try_clone());
        let numbers = match copied {
            Some(Err(error)) => {
                self.failure.note(format!("{error:?}"));
                None
            }
            other => other.and_then(Result::ok),
        };
        Box::new(CudaArray { numbers, failure: self.failure.clone() })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl CudaDevice {
    pub(crate) fn new(cuda: Cuda, ordinal: usize) -> Outcome<Self> {
        let words = |error| format!("{error:?}");
        let name = format!("cuda:{ordinal} ({})", cuda.context.name().map_err(words)?);
        let memory = cuda.context.mem_get_info().map_err(words)?.0 as u64;
        Ok(CudaDevice { name, memory, cuda: Mutex::new(cuda), failure: Arc::default() })
    }

    /// Allows matrices to take so many bytes at most.
    pub(crate) fn limit_memory(&mut self, bytes: u64) {
        self.memory = self.memory.min(bytes);
    }

    /// Keeps the result of an operation, or its error.
    fn keep<T>(&self, outcome: Outcome<T>) -> Option<T> {
        outcome.map_err(|reason| self.failure.note(reason)).ok()
    }

    fn matrix(&self, numbers: Option<Numbers>, rows: usize, cols: usize) -> DeviceMatrix {
        DeviceMatrix { rows, cols, array: Box::new(CudaArray { numbers, failure: self.failure.clone() }) }
    }
}

/// The numbers of a matrix that this crate made.
fn numbers(m: &DeviceMatrix) -> Option<&Numbers> {
    m.array.as_any().downcast_ref::<CudaArray>().and_then(|array| array.numbers.as_ref())
}

fn numbers_mut(m: &mut DeviceMatrix) -> Option<&mut Numbers> {
    m.array.as_any_mut().downcast_mut::<CudaArray>().and_then(|array| array.numbers.as_mut())
}

fn shape(m: &DeviceMatrix, op: Op) -> (usize, usize) {
    match op {
        Op::Plain => (m.rows, m.cols),
        Op::Transposed => (m.cols, m.rows),
    }
}

impl Device for CudaDevice {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    fn error(&self) -> Option<String> {
        lock(&self.failure.0).take()
    }

    fn upload(&self, values: &[f64], rows: usize, cols: usize) -> DeviceMatrix {
        assert_eq!(values.len(), rows * cols, "size of a matrix");
        self.matrix(self.keep(lock(&self.cuda).upload(values)), rows, cols)
    }

    fn upload_single(&self, values: &[f32], rows: usize, cols: usize) -> DeviceMatrix {
        assert_eq!(values.len(), rows * cols, "size of a matrix");
        self.matrix(self.keep(lock(&self.cuda).upload_single(values)), rows, cols)
    }

    fn download(&self, m: &DeviceMatrix) -> Vec<f64> {
        let values = numbers(m).and_then(|numbers| self.keep(lock(&self.cuda).download(numbers)));
        values.unwrap_or_else(|| vec![f64::NAN; m.rows * m.cols])
    }

    fn product(&self, a: &DeviceMatrix, op_a: Op, b: &DeviceMatrix, op_b: Op) -> DeviceMatrix {
        let ((rows, inner), (inner_b, cols)) = (shape(a, op_a), shape(b, op_b));
        assert_eq!(inner, inner_b, "shapes of a product");
        let product = match (numbers(a), numbers(b)) {
            (Some(a), Some(b)) => {
                self.keep(lock(&self.cuda).product((a, op_a), (b, op_b), (rows, inner, cols)))
            }
            _ => None,
        };
        self.matrix(product, rows, cols)
    }

    fn gram(&self, a: &DeviceMatrix) -> DeviceMatrix {
        let gram = numbers(a).and_then(|numbers| self.keep(lock(&self.cuda).gram(numbers, (a.rows, a.cols))));
        self.matrix(gram, a.cols, a.cols)
    }

    fn add_scaled(&self, y: &mut DeviceMatrix, factor: f64, x: &DeviceMatrix) {
        if let (Some(y), Some(x)) = (numbers_mut(y), numbers(x)) {
            self.keep(lock(&self.cuda).add_scaled(y, factor, x));
        }
    }

    fn scale(&self, x: &mut DeviceMatrix, factor: f64) {
        if let Some(x) = numbers_mut(x) {
            self.keep(lock(&self.cuda).scale(x, factor));
        }
    }

    fn scale_columns(&self, x: &mut DeviceMatrix, factors: &[f64]) {
        assert_eq!(x.cols, factors.len(), "one factor for each column");
        if let Some(x) = numbers_mut(x) {
            self.keep(lock(&self.cuda).scale_columns(x, factors));
        }
    }

    fn scale_rows(&self, x: &mut DeviceMatrix, factors: &[f64]) {
        assert_eq!(x.rows, factors.len(), "one factor for each row");
        if let Some(x) = numbers_mut(x) {
            self.keep(lock(&self.cuda).scale_rows(x, factors));
        }
    }

    fn multiply(&self, x: &mut DeviceMatrix, by: &DeviceMatrix) {
        if let (Some(x), Some(by)) = (numbers_mut(x), numbers(by)) {
            self.keep(lock(&self.cuda).multiply(x, by));
        }
    }

    fn add_to_columns(&self, x: &mut DeviceMatrix, values: &[f64]) {
        assert_eq!(x.cols, values.len(), "one number for each column");
        if let Some(x) = numbers_mut(x) {
            self.keep(lock(&self.cuda).add_to_columns(x, values));
        }
    }

    fn add_outer(&self, x: &mut DeviceMatrix, factor: f64, rows: &[f64], columns: &[f64]) {
        if let Some(x) = numbers_mut(x) {
            self.keep(lock(&self.cuda).add_outer(x, factor, rows, columns));
        }
    }

    fn divide_shifted(&self, x: &mut DeviceMatrix, rows: &[f64], columns: &[f64]) {
        if let Some(x) = numbers_mut(x) {
            self.keep(lock(&self.cuda).divide_shifted(x, rows, columns));
        }
    }

    fn column_products(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> Vec<f64> {
        let sums = match (numbers(a), numbers(b)) {
            (Some(x), Some(y)) => self.keep(lock(&self.cuda).column_products(x, y, a.cols)),
            _ => None,
        };
        sums.unwrap_or_else(|| vec![f64::NAN; a.cols])
    }

    fn row_products(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> Vec<f64> {
        let sums = match (numbers(a), numbers(b)) {
            (Some(x), Some(y)) => self.keep(lock(&self.cuda).row_products(x, y, a.rows)),
            _ => None,
        };
        sums.unwrap_or_else(|| vec![f64::NAN; a.rows])
    }

    fn eigen(&self, m: &DeviceMatrix) -> (Vec<f64>, DeviceMatrix) {
        let found = numbers(m).and_then(|numbers| self.keep(lock(&self.cuda).eigen(numbers, m.rows)));
        match found {
            Some((values, vectors)) => (values, self.matrix(Some(vectors), m.rows, m.rows)),
            None => (vec![f64::NAN; m.rows], self.matrix(None, m.rows, m.rows)),
        }
    }

    /// The inverse is as good as a factor.
    fn shifted_cholesky(&self, m: &DeviceMatrix, shift: f64) -> Option<DeviceMatrix> {
        let numbers = numbers(m)?;
        let inverse = self.keep(lock(&self.cuda).shifted_inverse(numbers, m.rows, shift))??;
        Some(self.matrix(Some(inverse), m.rows, m.rows))
    }

    fn solve(&self, factor: &DeviceMatrix, x: &mut DeviceMatrix) {
        *x = self.product(factor, Op::Plain, x, Op::Plain);
    }

    fn root(&self, m: &DeviceMatrix, shift: f64) -> Option<DeviceMatrix> {
        let root = self.keep(lock(&self.cuda).root(numbers(m)?, m.rows, shift))??;
        Some(self.matrix(Some(root), m.rows, m.rows))
    }

    fn gaussian(&self, x: &mut DeviceMatrix, squares: &[f64], gamma: f64, shift: f64, scale: f64) {
        assert!(x.rows == squares.len() && x.cols == squares.len(), "one square for each row");
        if let Some(x) = numbers_mut(x) {
            self.keep(lock(&self.cuda).gaussian(x, squares, gamma, (shift, scale)));
        }
    }

    fn loss_sums(&self, table: &LossTable<'_>) -> AnswerSums {
        let found = losses(table).and_then(|losses| self.keep(lock(&self.cuda).loss_answers(&losses, false)));
        answer_sums(or_nothing(found.map(|(sums, _)| sums), table))
    }

    fn loss_answers(&self, table: &LossTable<'_>) -> Answers {
        let found = losses(table).and_then(|losses| self.keep(lock(&self.cuda).loss_answers(&losses, true)));
        let (sums, kept) = found.unzip();
        let (kappa, curvature) = kept.flatten().unzip();
        let (rows, cols) = (table.labels.rows, table.labels.cols);
        let (kappa, curvature) = (self.matrix(kappa, rows, cols), self.matrix(curvature, rows, cols));
        Answers { sums: answer_sums(or_nothing(sums, table)), kappa, curvature }
    }

    fn loss_terms(&self, table: &LossTable<'_>, kappa: &DeviceMatrix) -> TermSums {
        let found = match (losses(table), numbers(kappa)) {
            (Some(losses), Some(kappa)) => self.keep(lock(&self.cuda).loss_terms(&losses, kappa)),
            _ => None,
        };
        let [gap, value, conj, kappa, size, odd] = or_nothing(found, table);
        TermSums { gap, value, conj, kappa, size, odd }
    }
}

/// The table, as kernels take it.
fn losses<'a>(table: &LossTable<'a>) -> Option<LossArrays<'a>> {
    let LossTable { form, labels, scores, intercept, weight, mu, centre } = *table;
    let centre = match centre {
        Some(centre) => Some(numbers(centre)?),
        None => None,
    };
    Some(LossArrays {
        form,
        labels: numbers(labels)?,
        scores: numbers(scores)?,
        intercept,
        weight,
        mu,
        centre,
    })
}

/// Sums, NaN after an error.
fn or_nothing<const N: usize>(sums: Option<ColumnSums<N>>, table: &LossTable<'_>) -> ColumnSums<N> {
    sums.unwrap_or_else(|| std::array::from_fn(|_| vec![f64::NAN; table.labels.cols]))
}

fn answer_sums([value, kappa, size, curvature]: ColumnSums<4>) -> AnswerSums {
    AnswerSums { value, kappa, size, curvature }
}
