//! `k(x, z) = <x, z> / (|x| |z|)`, and 0 if x or z is zero.

use super::rows::KernelRows;

/// Squared norms in this range neither over- nor underflow on the way.
const SAFE_SQUARED_NORMS: std::ops::Range<f64> = 1e-280..1e280;

/// Turns `out[j] = <a_i, b_j>` into kernel values.
pub(super) fn finish(out: &mut [f64], a_norm: f64, b_norms: &[f64], rows: &impl KernelRows, i: usize) {
    let a_root = a_norm.sqrt();
    for (j, (out, &b_norm)) in out.iter_mut().zip(b_norms).enumerate() {
        let value = if SAFE_SQUARED_NORMS.contains(&a_norm) && SAFE_SQUARED_NORMS.contains(&b_norm) {
            *out / (a_root * b_norm.sqrt())
        } else {
            scaled(rows, i, j)
        };
        *out = value.clamp(-1.0, 1.0);
    }
}

/// The same of the rows divided by their largest entries, which changes nothing but the range.
fn scaled(rows: &impl KernelRows, i: usize, j: usize) -> f64 {
    let (mut a_max, mut b_max) = (0.0_f64, 0.0_f64);
    rows.visit(i, j, |x, z| (a_max, b_max) = (a_max.max(x.abs()), b_max.max(z.abs())));
    if a_max == 0.0 || b_max == 0.0 {
        return 0.0;
    }
    let (mut xx, mut xz, mut zz) = (0.0, 0.0, 0.0);
    rows.visit(i, j, |x, z| {
        let (x, z) = (x / a_max, z / b_max);
        (xx, xz, zz) = (xx + x * x, xz + x * z, zz + z * z);
    });
    xz / (xx.sqrt() * zz.sqrt())
}
