//! Sums and updates of vectors with the widest instructions of the machine.

use super::aligned::AlignedRows;
use pulp::{Simd, WithSimd};

/// Inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    struct DotKernel<'a>(&'a [f64], &'a [f64]);
    impl WithSimd for DotKernel<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            dot_simd(simd, self.0, self.1)
        }
    }
    pulp::Arch::new().dispatch(DotKernel(a, b))
}

/// `y += scale x`.
pub(crate) fn axpy(y: &mut [f64], scale: f64, x: &[f64]) {
    struct AxpyKernel<'a>(&'a mut [f64], f64, &'a [f64]);
    impl WithSimd for AxpyKernel<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            axpy_simd(simd, self.0, self.1, self.2);
        }
    }
    pulp::Arch::new().dispatch(AxpyKernel(y, scale, x));
}

/// [`dot`] inside code that is already compiled for the widest instructions of this machine. Four vectors of
/// running sums: fast, and more accurate than one number.
#[inline(always)]
pub(crate) fn dot_simd<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, a_rest) = S::as_simd_f64s(&a[..n]);
    let (b, b_rest) = S::as_simd_f64s(&b[..n]);
    let (a4, a1) = a.as_chunks::<4>();
    let (b4, b1) = b.as_chunks::<4>();
    let zero = simd.splat_f64s(0.0);
    let (mut s0, mut s1, mut s2, mut s3) = (zero, zero, zero, zero);
    for (x, y) in a4.iter().zip(b4) {
        s0 = simd.mul_add_e_f64s(x[0], y[0], s0);
        s1 = simd.mul_add_e_f64s(x[1], y[1], s1);
        s2 = simd.mul_add_e_f64s(x[2], y[2], s2);
        s3 = simd.mul_add_e_f64s(x[3], y[3], s3);
    }
    for (x, y) in a1.iter().zip(b1) {
        s0 = simd.mul_add_e_f64s(*x, *y, s0);
    }
    let sum = simd.add_f64s(simd.add_f64s(s0, s1), simd.add_f64s(s2, s3));
    let mut rest = 0.0;
    for (x, y) in a_rest.iter().zip(b_rest) {
        rest += x * y;
    }
    simd.reduce_sum_f64s(sum) + rest
}

/// [`axpy`] inside code that is already compiled for the widest instructions of this machine.
#[inline(always)]
pub(crate) fn axpy_simd<S: Simd>(simd: S, y: &mut [f64], scale: f64, x: &[f64]) {
    let n = y.len().min(x.len());
    let (y, y_rest) = S::as_mut_simd_f64s(&mut y[..n]);
    let (x, x_rest) = S::as_simd_f64s(&x[..n]);
    let s = simd.splat_f64s(scale);
    for (y, x) in y.iter_mut().zip(x) {
        *y = simd.mul_add_e_f64s(s, *x, *y);
    }
    for (y, x) in y_rest.iter_mut().zip(x_rest) {
        *y += scale * x;
    }
}

/// `a b + c`, rounded once where the machine can do so at no cost.
#[inline(always)]
pub(crate) fn fma<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// `y += sum over j of coefficients_j rows_j`. Four vectors of y at a time stay in registers through the
/// whole sum.
#[inline(always)]
pub(crate) fn add_rows_simd<S: Simd>(simd: S, y: &mut [f64], coefficients: &[f64], rows: &AlignedRows) {
    let mut from = 0;
    while from < rows.width() {
        from += match rows.width() - from {
            left if left >= 4 * lanes::<S>() => add_rows_chunk::<S, 4>(simd, y, coefficients, rows, from),
            left if left >= 2 * lanes::<S>() => add_rows_chunk::<S, 2>(simd, y, coefficients, rows, from),
            _ => add_rows_chunk::<S, 1>(simd, y, coefficients, rows, from),
        };
    }
}

/// Numbers in a vector.
#[inline(always)]
fn lanes<S: Simd>() -> usize {
    size_of::<S::f64s>() / size_of::<f64>()
}

/// N vectors out of a row, as an array.
#[inline(always)]
fn vectors<S: Simd, const N: usize>(row: &[f64], from: usize) -> [S::f64s; N] {
    let (vectors, _) = S::as_simd_f64s(&row[from..from + N * lanes::<S>()]);
    std::array::from_fn(|l| vectors[l])
}

/// [`add_rows_simd`] for N vectors of columns; how many columns these are.
#[inline(always)]
fn add_rows_chunk<S: Simd, const N: usize>(
    simd: S,
    y: &mut [f64],
    coefficients: &[f64],
    rows: &AlignedRows,
    from: usize,
) -> usize {
    let mut sums = vectors::<S, N>(y, from);
    for (j, &coefficient) in coefficients.iter().enumerate() {
        let (x, s) = (vectors::<S, N>(rows.row(j), from), simd.splat_f64s(coefficient));
        for l in 0..N {
            sums[l] = simd.mul_add_e_f64s(s, x[l], sums[l]);
        }
    }
    let width = N * lanes::<S>();
    S::as_mut_simd_f64s(&mut y[from..from + width]).0.copy_from_slice(&sums);
    width
}

/// One sweep over a matrix: `G += d b' + p d'`, then `y += G' x`, for vectors of the width of G; x has one
/// number per row in use.
#[inline(always)]
pub(crate) fn sweep_simd<S: Simd>(simd: S, g: &mut AlignedRows, dbp: [&[f64]; 3], x: &[f64], y: &mut [f64]) {
    let mut from = 0;
    while from < g.width() {
        from += match g.width() - from {
            left if left >= 4 * lanes::<S>() => sweep_chunk::<S, 4>(simd, g, dbp, x, y, from),
            left if left >= 2 * lanes::<S>() => sweep_chunk::<S, 2>(simd, g, dbp, x, y, from),
            _ => sweep_chunk::<S, 1>(simd, g, dbp, x, y, from),
        };
    }
}

/// [`sweep_simd`] for N vectors of columns, those of b, d and y in registers down all rows; how many columns
/// these are.
#[inline(always)]
fn sweep_chunk<S: Simd, const N: usize>(
    simd: S,
    g: &mut AlignedRows,
    [d, b, p]: [&[f64]; 3],
    x: &[f64],
    y: &mut [f64],
    from: usize,
) -> usize {
    let width = N * lanes::<S>();
    let (b_n, d_n, mut y_n) = (vectors::<S, N>(b, from), vectors::<S, N>(d, from), vectors::<S, N>(y, from));
    for r in 0..x.len() {
        let (dr, pr, xr) = (simd.splat_f64s(d[r]), simd.splat_f64s(p[r]), simd.splat_f64s(x[r]));
        let mut row = vectors::<S, N>(g.row(r), from);
        for l in 0..N {
            row[l] = simd.mul_add_e_f64s(dr, b_n[l], simd.mul_add_e_f64s(pr, d_n[l], row[l]));
            y_n[l] = simd.mul_add_e_f64s(xr, row[l], y_n[l]);
        }
        S::as_mut_simd_f64s(&mut g.row_mut(r)[from..from + width]).0.copy_from_slice(&row);
    }
    S::as_mut_simd_f64s(&mut y[from..from + width]).0.copy_from_slice(&y_n);
    width
}

/// `y += scale x + other z`, for vectors of the same length.
#[inline(always)]
pub(crate) fn axpy2_simd<S: Simd>(simd: S, y: &mut [f64], scale: f64, x: &[f64], other: f64, z: &[f64]) {
    let n = y.len();
    let (y, y_rest) = S::as_mut_simd_f64s(y);
    let (x, x_rest) = S::as_simd_f64s(&x[..n]);
    let (z, z_rest) = S::as_simd_f64s(&z[..n]);
    let (s, o) = (simd.splat_f64s(scale), simd.splat_f64s(other));
    for ((y, x), z) in y.iter_mut().zip(x).zip(z) {
        *y = simd.mul_add_e_f64s(s, *x, simd.mul_add_e_f64s(o, *z, *y));
    }
    for ((y, x), z) in y_rest.iter_mut().zip(x_rest).zip(z_rest) {
        *y += scale * x + other * z;
    }
}
