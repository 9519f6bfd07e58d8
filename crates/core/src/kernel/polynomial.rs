//! `k(x, z) = (gamma <x, z> + coef0)^degree`.

use crate::{Error, Result};

pub(super) const fn default_degree() -> u32 {
    3
}

pub(super) fn check(degree: u32, coef0: f64) -> Result<()> {
    if degree == 0 {
        return Err(Error::Parameter { name: "degree", value: 0.0, expected: "must be at least 1" });
    }
    if !(coef0 >= 0.0 && coef0.is_finite()) {
        let expected = "must be a non-negative finite number, or the kernel is not positive semidefinite";
        return Err(Error::Parameter { name: "coef0", value: coef0, expected });
    }
    Ok(())
}

/// The kernel value for an inner product.
#[inline]
pub(super) fn value(degree: u32, gamma: f64, coef0: f64, product: f64) -> f64 {
    // Repeated squaring: x^n = (x^2)^(n/2), times x if n is odd.
    let (mut base, mut n) = (gamma * product + coef0, degree);
    let mut power = 1.0;
    while n > 1 {
        if n % 2 == 1 {
            power *= base;
        }
        base *= base;
        n /= 2;
    }
    power * base
}

/// Turns inner products into kernel values.
pub(super) fn finish(degree: u32, gamma: f64, coef0: f64, out: &mut [f64]) {
    out.iter_mut().for_each(|v| *v = value(degree, gamma, coef0, *v));
}
