//! `k(x, z) = exp(-gamma sum_k |x_k - z_k|)`.

use super::linear;
use super::rows::{DenseRows, KernelRows, SparseRows};
use pulp::{Arch, Simd, WithSimd, as_arrays};

/// `out[i * stride + j] = k(a_i, b_j)`.
pub(super) fn tile(gamma: f64, rows: &DenseRows<'_>, out: &mut [f64], stride: usize) {
    let (m, n) = (rows.a.len() / rows.d, rows.b.len() / rows.d);
    Arch::new().dispatch(Distances { rows, out, stride });
    (0..m).for_each(|i| finish(gamma, &mut out[i * stride..][..n]));
}

/// Up to this gamma (sum_k |x_k| + distance) the rounding of the sum in [`sparse`] cannot move k by more than
/// about 1e-13.
const MAX_EXACT_EXPONENT: f64 = 100.0;

/// `out[j] = k(a_i, b_j)` for sparse rows, with x the dense form of a_i, from
///     sum_k |x_k - z_k| = sum_k |x_k| + sum over entries of z of (|x_k - z_k| - |x_k|);
/// where that would cancel, and the value is not 0 anyway, from the differences themselves.
pub(super) fn sparse(gamma: f64, x: &[f64], rows: &SparseRows<'_>, i: usize, out: &mut [f64]) {
    let size: f64 = rows.a.row(rows.a_rows[i] as usize).map(|(_, v)| v.abs()).sum();
    linear::sparse_sums(x, rows.b, rows.b_rows, out, |x, z| (x - z).abs() - x.abs());
    for (j, out) in out.iter_mut().enumerate() {
        let distance = (size + *out).max(0.0);
        let (reach, exponent) = (gamma * (size + distance), gamma * distance);
        // Written so that NaN and infinity end in the last branch.
        let safe = reach <= MAX_EXACT_EXPONENT || (reach < f64::MAX && exponent > 40.0 + 1e-14 * reach);
        *out = if safe { distance } else { rows.distance(i, j) };
    }
    finish(gamma, out);
}

/// Turns distances into kernel values.
fn finish(gamma: f64, out: &mut [f64]) {
    out.iter_mut().for_each(|v| *v = (-gamma * *v).exp());
}

/// All distances `sum_k |x_k - z_k|` of a tile, with the vector unit at hand.
struct Distances<'a> {
    rows: &'a DenseRows<'a>,
    out: &'a mut [f64],
    stride: usize,
}

impl WithSimd for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Distances { rows: &DenseRows { a, b, d }, out, stride } = self;
        for (a, out) in a.chunks_exact(d).zip(out.chunks_mut(stride)) {
            for (b, out) in b.chunks_exact(d).zip(out) {
                *out = distance(simd, a, b);
            }
        }
    }
}

#[inline(always)]
fn distance<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_tail), (b, b_tail)) = (S::as_simd_f64s(a), S::as_simd_f64s(b));
    let ((a_twos, a_ones), (b_twos, b_ones)) = (as_arrays::<2, _>(a), as_arrays::<2, _>(b));
    // Two sums, so that one addition need not wait for the other.
    let mut sums = [simd.splat_f64s(0.0); 2];
    for (&[x0, x1], &[z0, z1]) in a_twos.iter().zip(b_twos) {
        sums = [add(simd, sums[0], x0, z0), add(simd, sums[1], x1, z1)];
    }
    for (&x, &z) in a_ones.iter().zip(b_ones) {
        sums[0] = add(simd, sums[0], x, z);
    }
    sums[1] = add(simd, sums[1], simd.partial_load_f64s(a_tail), simd.partial_load_f64s(b_tail));
    simd.reduce_sum_f64s(simd.add_f64s(sums[0], sums[1]))
}

/// All of this must be inlined to be compiled for the vector unit: hence a function, as closures need not be,
/// and no `abs_f64s`, which is not in pulp 0.22.
#[inline(always)]
fn add<S: Simd>(simd: S, sum: S::f64s, x: S::f64s, z: S::f64s) -> S::f64s {
    simd.add_f64s(sum, simd.max_f64s(simd.sub_f64s(x, z), simd.sub_f64s(z, x)))
}
