//! Blocks of the kernel matrix, and its diagonal.

use super::rows::{DenseRows, KernelRows, SparseRows};
use super::{Kernel, cosine, laplacian, linear, polynomial, rbf};
use crate::Matrix;
use crate::inputs::Inputs;

/// Numbers per tile of rows: a tile for a matrix product, and one that must stay in a small cache.
const PRODUCT_TILE: usize = 1 << 18;
const DISTANCE_TILE: usize = 1 << 14;

/// Memory that [`block`] uses on the way; keep one per thread, from call to call.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    a: Vec<f64>,
    b: Vec<f64>,
    a_norms: Vec<f64>,
    b_norms: Vec<f64>,
}

/// Fills `out[(i, j)] = k(a_i, b_j)` for the given rows of a and b; `out` is given the shape if it has
/// another one.
///
/// Dense and sparse inputs of either precision mix freely; products and sums are in double precision. If a
/// and b are the same memory, the value of a row with itself is exactly that of [`diagonal`]. Other values
/// are equal to about 1e-15 of `sqrt(k(x, x) k(z, z))` whichever way they are blocked, but not always to the
/// last bit.
///
/// The precomputed kernel reads all values from a: a [`Gram`](crate::inputs::Gram) matrix, or a
/// [`Dense`](crate::inputs::Dense) one with a column for each row of b.
///
/// Dense work goes through tiles of about 2 MiB, so `Scratch` stays small however long the lists of rows are.
///
/// ```
/// use kinfolk::{Matrix, inputs::{Dense, Inputs}, kernel::{self, Gamma, Kernel, Scratch}};
/// let x: Inputs = Dense::f64(&[0.0, 1.0, 2.0], 3, 1)?.into();
/// let kernel = Kernel::Rbf { gamma: Gamma::Value(0.5) }.resolve(&x)?;
/// let mut out = Matrix::default();
/// kernel::block(&kernel, &x, &[0, 2], &x, &[2], &mut out, &mut Scratch::default());
/// assert_eq!(out.as_slice(), [(-2.0_f64).exp(), 1.0]);
/// # Ok::<(), kinfolk::Error>(())
/// ```
///
/// # Panics
/// If the kernel is not [resolved](Kernel::resolve), a row is out of range or [`Kernel::check_pair`] is not
/// `Ok`.
pub fn block(
    kernel: &Kernel,
    a: &Inputs<'_>,
    a_rows: &[u32],
    b: &Inputs<'_>,
    b_rows: &[u32],
    out: &mut Matrix,
    scratch: &mut Scratch,
) {
    if let Err(error) = kernel.check_pair(a, b) {
        panic!("{error}");
    }
    if (out.rows(), out.cols()) != (a_rows.len(), b_rows.len()) {
        out.reset(a_rows.len(), b_rows.len());
    }
    if a_rows.is_empty() || b_rows.is_empty() {
        return;
    }
    let same = a.same_memory(b);
    match (a, b) {
        (Inputs::Gram(k), _) => gather(|i, j| k.get(i, j), a_rows, b_rows, out),
        (Inputs::Dense(k), _) if *kernel == Kernel::Precomputed => {
            gather(|i, j| k.get(i, j), a_rows, b_rows, out)
        }
        (Inputs::Sparse(a), Inputs::Sparse(b)) => {
            sparse(kernel, &SparseRows { a, a_rows, b, b_rows }, same, out, scratch)
        }
        _ => dense(kernel, a, a_rows, b, b_rows, same, out, scratch),
    }
}

/// The values `k(x_i, x_i)` of all inputs: exactly 1 for rbf, laplacian and (but for zero rows, 0) cosine.
///
/// A value may be infinite if an input is too large for its square to be a number; callers check.
///
/// # Panics
/// If the kernel is not resolved for these inputs.
pub fn diagonal(kernel: &Kernel, inputs: &Inputs<'_>) -> Vec<f64> {
    let n = inputs.n_inputs();
    match kernel {
        Kernel::Rbf { .. } | Kernel::Laplacian { .. } => return vec![1.0; n],
        Kernel::Linear | Kernel::Polynomial { .. } | Kernel::Cosine | Kernel::Precomputed => {}
    }
    let mut row = vec![0.0; if matches!(inputs, Inputs::Dense(_)) { inputs.n_features() } else { 0 }];
    let value = |i: usize| match inputs {
        Inputs::Gram(k) => k.get(i, i),
        Inputs::Sparse(x) => {
            let max_abs = x.row(i).map(|(_, v)| v.abs()).fold(0.0, f64::max);
            with_itself(kernel, linear::sparse_squared_norm(x, i), max_abs)
        }
        Inputs::Dense(x) => {
            x.load_range(i..i + 1, &mut row);
            with_itself(kernel, linear::squared_norm(&row), row.iter().map(|v| v.abs()).fold(0.0, f64::max))
        }
    };
    (0..n).map(value).collect()
}

/// k(x, x) from |x|^2 and any number that is zero if and only if x is.
fn with_itself(kernel: &Kernel, squared_norm: f64, zero_iff_x_is: f64) -> f64 {
    match *kernel {
        Kernel::Linear | Kernel::Precomputed => squared_norm,
        Kernel::Polynomial { degree, gamma, coef0 } => {
            polynomial::value(degree, gamma.value(), coef0, squared_norm)
        }
        Kernel::Rbf { .. } | Kernel::Laplacian { .. } => 1.0,
        Kernel::Cosine => f64::from(u8::from(zero_iff_x_is != 0.0)),
    }
}

fn gather(value: impl Fn(usize, usize) -> f64, a_rows: &[u32], b_rows: &[u32], out: &mut Matrix) {
    for (i, &row) in a_rows.iter().enumerate() {
        for (out, &column) in out.row_mut(i).iter_mut().zip(b_rows) {
            *out = value(row as usize, column as usize);
        }
    }
}

fn dense(
    kernel: &Kernel,
    a: &Inputs<'_>,
    a_rows: &[u32],
    b: &Inputs<'_>,
    b_rows: &[u32],
    same: bool,
    out: &mut Matrix,
    scratch: &mut Scratch,
) {
    let (d, stride) = (a.n_features(), b_rows.len());
    let room = if matches!(kernel, Kernel::Laplacian { .. }) { DISTANCE_TILE } else { PRODUCT_TILE };
    let tile = (room / d).max(16);
    let norms = |rows: &[f64], out: &mut Vec<f64>| {
        out.clear();
        if same || matches!(kernel, Kernel::Rbf { .. } | Kernel::Cosine) {
            out.extend(rows.chunks_exact(d).map(linear::squared_norm));
        }
    };
    for (b_tile, b_rows) in b_rows.chunks(tile).enumerate() {
        let b = load(b, b_rows, &mut scratch.b);
        norms(b, &mut scratch.b_norms);
        for (a_tile, a_rows) in a_rows.chunks(tile).enumerate() {
            let a = load(a, a_rows, &mut scratch.a);
            norms(a, &mut scratch.a_norms);
            let rows = DenseRows { a, b, d };
            let out = &mut out.as_mut_slice()[a_tile * tile * stride + b_tile * tile..];
            match kernel {
                Kernel::Laplacian { gamma } => laplacian::tile(gamma.value(), &rows, out, stride),
                _ => linear::products(a, b, d, out, stride),
            }
            for (i, &row) in a_rows.iter().enumerate() {
                let out = &mut out[i * stride..][..b_rows.len()];
                let a_norm = scratch.a_norms.get(i).copied().unwrap_or(0.0);
                finish(kernel, out, a_norm, &scratch.b_norms, &rows, i);
                if same {
                    set_diagonal(kernel, out, row, b_rows, a_norm);
                }
            }
        }
    }
}

fn sparse(kernel: &Kernel, rows: &SparseRows<'_>, same: bool, out: &mut Matrix, scratch: &mut Scratch) {
    let SparseRows { a, a_rows, b, b_rows } = *rows;
    let Scratch { a: x, b_norms, .. } = scratch;
    x.clear();
    x.resize(a.cols(), 0.0);
    b_norms.clear();
    b_norms.extend(b_rows.iter().map(|&j| linear::sparse_squared_norm(b, j as usize)));
    for (i, &row) in a_rows.iter().enumerate() {
        let out = out.row_mut(i);
        let a_norm = linear::sparse_squared_norm(a, row as usize);
        a.row(row as usize).for_each(|(k, v)| x[k] = v);
        match kernel {
            Kernel::Laplacian { gamma } => laplacian::sparse(gamma.value(), x, rows, i, out),
            _ => linear::sparse_products(x, b, b_rows, out),
        }
        a.row(row as usize).for_each(|(k, _)| x[k] = 0.0);
        finish(kernel, out, a_norm, b_norms, rows, i);
        if same {
            set_diagonal(kernel, out, row, b_rows, a_norm);
        }
    }
}

/// Turns a row of inner products into kernel values.
fn finish(kernel: &Kernel, out: &mut [f64], a_norm: f64, b_norms: &[f64], rows: &impl KernelRows, i: usize) {
    match *kernel {
        Kernel::Linear | Kernel::Laplacian { .. } | Kernel::Precomputed => {}
        Kernel::Polynomial { degree, gamma, coef0 } => polynomial::finish(degree, gamma.value(), coef0, out),
        Kernel::Rbf { gamma } => rbf::finish(gamma.value(), out, a_norm, b_norms, rows, i),
        Kernel::Cosine => cosine::finish(out, a_norm, b_norms, rows, i),
    }
}

/// Where a row of the block meets the same row of the same matrix, its value is that of [`diagonal`].
fn set_diagonal(kernel: &Kernel, out: &mut [f64], row: u32, b_rows: &[u32], norm: f64) {
    for (out, _) in out.iter_mut().zip(b_rows).filter(|(_, b_row)| **b_row == row) {
        // A cosine is 0 here only if the row is zero: otherwise it is 1, but for rounding.
        *out = with_itself(kernel, norm, *out);
    }
}

/// The rows one after another: in place if the matrix has them so, else copied into `buffer`.
fn load<'s>(inputs: &'s Inputs<'_>, rows: &[u32], buffer: &'s mut Vec<f64>) -> &'s [f64] {
    let d = inputs.n_features();
    if let Inputs::Dense(x) = inputs
        && let Some(values) = x.as_f64()
        && rows.windows(2).all(|w| w[0].checked_add(1) == Some(w[1]))
    {
        let start = rows[0] as usize * d;
        return &values[start..start + rows.len() * d];
    }
    buffer.resize(rows.len() * d, 0.0);
    match inputs {
        Inputs::Dense(x) => x.load(rows, buffer),
        Inputs::Sparse(x) => x.load(rows, buffer),
        Inputs::Gram(_) => unreachable!("kernels of features are not computed from a Gram matrix"),
    }
    buffer
}
