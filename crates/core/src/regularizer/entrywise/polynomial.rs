//! Polynomials in one variable, as coefficients from the constant upwards: value, and where one is negative.

/// Value at z by Horner's rule. Infinite rather than NaN where it overflows, with the sign of the leading
/// term.
pub(super) fn horner(coefficients: &[f64], z: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| if sum == 0.0 { *c } else { sum * z + c })
}

/// The derivative.
pub(super) fn derivative(coefficients: &[f64]) -> Vec<f64> {
    coefficients.iter().enumerate().skip(1).map(|(j, c)| j as f64 * c).collect()
}

/// The point halfway between two numbers >= 0 in the order of floating-point numbers: bisection with it ends
/// after 64 steps whatever the range.
pub(super) fn halfway(low: f64, high: f64) -> f64 {
    let (low, high) = (low.to_bits(), high.to_bits());
    f64::from_bits(low + (high - low) / 2)
}

/// A negative value beyond this times the sum of the absolute values of its terms is not rounding.
const ROUNDING: f64 = 1e-12;

/// `Some((z, value))` if a polynomial with coefficients >= 0 is negative somewhere on the real line, with the
/// place where this is clearest, measured against the size of its terms.
///
/// Only z = -t < 0 can do it. Between consecutive [`breakpoints`] the sign does not change, so one look per
/// interval decides.
pub(super) fn find_negative(coefficients: &[f64]) -> Option<(f64, f64)> {
    let mirrored: Vec<f64> =
        coefficients.iter().enumerate().map(|(j, c)| if j % 2 == 0 { *c } else { -c }).collect();
    let points = breakpoints(&mirrored);
    let mut looks: Vec<f64> = points.windows(2).map(|pair| halfway(pair[0], pair[1])).collect();
    looks.extend(points.first().map(|first| 0.5 * first));
    looks.extend(points.last().map(|last| 2.0 * last));
    looks.push(1.0);
    looks.extend(points);

    let mut worst: Option<(f64, f64, f64)> = None;
    for t in looks {
        let value = horner(&mirrored, t);
        let size = horner(coefficients, t);
        let share = if value == f64::NEG_INFINITY { -1.0 } else { value / size };
        if share < -ROUNDING && worst.is_none_or(|(least, ..)| share < least) {
            worst = Some((share, -t, value));
        }
    }
    worst.map(|(_, z, value)| (z, value))
}

/// Sorted points t > 0 between which the polynomial and all its derivatives keep their sign, up to rounding:
/// their roots.
///
/// Between consecutive breakpoints of the derivative the polynomial is monotone, so it has a root there
/// exactly if its signs at the ends differ, and bisection finds it.
fn breakpoints(coefficients: &[f64]) -> Vec<f64> {
    let degree = coefficients.len().saturating_sub(1);
    if degree == 0 {
        return Vec::new();
    }
    // Divided by the degree, which moves no root and keeps the coefficients in range.
    let slope: Vec<f64> = derivative(coefficients).iter().map(|c| c / degree as f64).collect();
    let mut points = breakpoints(&slope);
    let ends: Vec<f64> = [0.0].into_iter().chain(points.iter().copied()).chain([f64::MAX]).collect();
    for pair in ends.windows(2) {
        let (mut low, mut high) = (pair[0], pair[1]);
        let rises = horner(coefficients, high) > 0.0;
        let above = |t: f64| (horner(coefficients, t) > 0.0) == rises;
        if horner(coefficients, low) == 0.0 || above(low) {
            continue;
        }
        while high.to_bits() - low.to_bits() > 1 {
            let middle = halfway(low, high);
            if above(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        points.push(high);
    }
    points.sort_by(f64::total_cmp);
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn horner_overflows_with_the_right_sign() {
        assert_eq!(horner(&[1.0, 2.0, 3.0], 2.0), 17.0);
        assert_eq!(horner(&[1.0, 2.0, 0.0], f64::INFINITY), f64::INFINITY);
        assert_eq!(horner(&[1.0, 2.0, 3.0], -1e300), f64::INFINITY);
        assert_eq!(horner(&[1.0, 2.0, 3.0, 1.0], -1e300), f64::NEG_INFINITY);
        assert_eq!(horner(&[], 3.0), 0.0);
    }

    #[test]
    fn roots_are_found_over_the_whole_range() {
        // (t - 1)(t - 2)(t - 3)
        let points = breakpoints(&[-6.0, 11.0, -6.0, 1.0]);
        for root in [1.0, 2.0, 3.0] {
            assert!(points.iter().any(|t| (t - root).abs() < 1e-13), "{root} in {points:?}");
        }
        // t^2 - t + 1e-300: roots near 1e-300 and 1.
        let points = breakpoints(&[1e-300, -1.0, 1.0]);
        assert!((points[0] / 1e-300 - 1.0).abs() < 1e-12 && (points[2] - 1.0).abs() < 1e-12, "{points:?}");
    }

    #[test]
    fn negative_values_are_found_and_touching_zero_is_not_negative() {
        assert_eq!(find_negative(&[1.0]), None);
        assert_eq!(find_negative(&[]), None);
        assert_eq!(find_negative(&[1.0, 2.0, 1.0]), None);
        // (1 + z)^2 (2 + z)^2 = 4 + 12 z + 13 z^2 + 6 z^3 + z^4
        assert_eq!(find_negative(&[4.0, 12.0, 13.0, 6.0, 1.0]), None);
        let (z, value) = find_negative(&[1.0 - 1e-6, 2.0, 1.0]).unwrap();
        assert!((z + 1.0).abs() < 2e-3 && value < -1e-7, "{z} {value}");
        for odd in [&[0.0, 2.0][..], &[1000.0, 1.0], &[1.0, 1.0, 1.0, 1e-30]] {
            let (z, value) = find_negative(odd).unwrap();
            assert!(z < 0.0 && value < 0.0 && horner(odd, z) == value, "{odd:?}: {z} {value}");
        }
    }
}
