//! `k(x, z) = <x, z>`: inner products, on which most other kernels stand.

use crate::inputs::{Sparse, Values};
use crate::linalg::sum_pairs;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// |x|^2: the linear kernel of x with itself.
pub(super) fn squared_norm(x: &[f64]) -> f64 {
    sum_pairs(x, x, |x, y| x * y)
}

/// |x_i|^2 of a sparse row.
pub(super) fn sparse_squared_norm(x: &Sparse<'_>, i: usize) -> f64 {
    x.row(i).map(|(_, v)| v * v).sum()
}

/// `out[i * stride + j] = <a_i, b_j>` for row-major a and b of d columns.
pub(super) fn products(a: &[f64], b: &[f64], d: usize, out: &mut [f64], stride: usize) {
    let (m, n) = (a.len() / d, b.len() / d);
    let a = MatRef::from_row_major_slice(a, m, d);
    let b = MatRef::from_row_major_slice(b, n, d);
    // Not `from_row_major_slice_with_stride_mut`: in faer 0.24.4 it swaps the strides and writes out of
    // bounds, see https://github.com/sarah-quinones/faer-rs/pull/267.
    let out = MatMut::from_column_major_slice_with_stride_mut(out, n, m, stride).transpose_mut();
    matmul(out, Accum::Replace, a, b.transpose(), 1.0, Par::Seq);
}

/// `out[j] = <x, b_j>` for sparse rows b_j and a dense x.
pub(super) fn sparse_products(x: &[f64], b: &Sparse<'_>, b_rows: &[u32], out: &mut [f64]) {
    sparse_sums(x, b, b_rows, out, |x, z| x * z);
}

/// `out[j]` = sum of `f(x_k, b_jk)` over the stored entries k of the sparse row b_j.
#[inline(always)]
pub(super) fn sparse_sums(
    x: &[f64],
    b: &Sparse<'_>,
    b_rows: &[u32],
    out: &mut [f64],
    f: impl Fn(f64, f64) -> f64,
) {
    match b.values() {
        Values::F32(values) => sums(x, b, values, b_rows, out, f),
        Values::F64(values) => sums(x, b, values, b_rows, out, f),
    }
}

#[inline(always)]
fn sums<T: Copy + Into<f64>>(
    x: &[f64],
    b: &Sparse<'_>,
    values: &[T],
    b_rows: &[u32],
    out: &mut [f64],
    f: impl Fn(f64, f64) -> f64,
) {
    for (&j, out) in b_rows.iter().zip(out) {
        let span = b.span(j as usize);
        let (columns, columns_rest) = b.indices()[span.clone()].as_chunks::<4>();
        let (values, values_rest) = values[span].as_chunks::<4>();
        // Four sums, so that one addition need not wait for the other.
        let mut sums = [0.0; 4];
        for (columns, values) in columns.iter().zip(values) {
            for k in 0..4 {
                sums[k] += f(x[columns[k] as usize], values[k].into());
            }
        }
        let rest: f64 = columns_rest.iter().zip(values_rest).map(|(&k, &z)| f(x[k as usize], z.into())).sum();
        *out = (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest;
    }
}
