//! `k(x, z) = exp(-gamma |x - z|^2)`.

use super::rows::KernelRows;

/// Up to this gamma (|x|^2 + |z|^2) the rounding of `|x|^2 + |z|^2 - 2 <x, z>` cannot move k by more than
/// about 1e-13.
const MAX_EXACT_EXPONENT: f64 = 100.0;
/// Below this squares lose digits to underflow.
const MIN_EXACT_SQUARE: f64 = 1e-280;

/// Whether `|x|^2 + |z|^2 - 2 <x, z>` is precise enough for all inputs, of which the largest has this square.
pub(crate) fn is_exact(gamma: f64, largest_square: f64) -> bool {
    largest_square >= MIN_EXACT_SQUARE && 2.0 * gamma * largest_square <= MAX_EXACT_EXPONENT
}

/// Turns `out[j] = <a_i, b_j>` into kernel values, from `|x - z|^2 = |x|^2 + |z|^2 - 2 <x, z>`; where that
/// would cancel, overflow or underflow, and the value is not 0 anyway, from the differences themselves.
pub(super) fn finish(
    gamma: f64,
    out: &mut [f64],
    a_norm: f64,
    b_norms: &[f64],
    rows: &impl KernelRows,
    i: usize,
) {
    for (j, (out, &b_norm)) in out.iter_mut().zip(b_norms).enumerate() {
        let norms = a_norm + b_norm;
        let reach = gamma * norms;
        let exponent = gamma * (norms - 2.0 * *out);
        // Written so that NaN and infinity end in the last branch.
        *out = if reach <= MAX_EXACT_EXPONENT && norms >= MIN_EXACT_SQUARE {
            (-exponent.max(0.0)).exp()
        } else if (MIN_EXACT_SQUARE..f64::MAX).contains(&norms) && exponent > 40.0 + 1e-14 * reach {
            (-exponent).exp()
        } else {
            from_differences(gamma, rows, i, j)
        };
    }
}

fn from_differences(gamma: f64, rows: &impl KernelRows, i: usize, j: usize) -> f64 {
    let plain = rows.squared_distance(i, j);
    if (MIN_EXACT_SQUARE..f64::MAX).contains(&plain) {
        return (-gamma * plain).exp();
    }
    // |x - z|^2 = m^2 sum_k ((x_k - z_k) / m)^2, with m the largest difference.
    let mut m = 0.0_f64;
    rows.visit(i, j, |x, z| m = m.max((x - z).abs()));
    if m == 0.0 {
        return 1.0;
    }
    if m == f64::INFINITY {
        return 0.0;
    }
    let mut sum = 0.0;
    rows.visit(i, j, |x, z| sum += ((x - z) / m) * ((x - z) / m));
    let reach = gamma.sqrt() * m;
    (-reach * reach * sum).exp()
}
