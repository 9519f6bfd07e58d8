//! What one feature is divided by.

use crate::{Error, Result};

/// Two values a and b have `(mean - a)(b - mean) = variance`, and any other value between them makes the variance
/// smaller; up to rounding of mean and variance, and this share.
const TWO_VALUES: f64 = 1e-8;

/// Mean, standard deviation and range of a feature, in a unit.
pub(crate) struct FeatureSpread {
    pub(crate) centre: f64,
    pub(crate) deviation: f64,
    /// How far the smallest value is below the mean, and the largest above it; NaN if that is not known.
    pub(crate) below: f64,
    pub(crate) above: f64,
    pub(crate) unit: f64,
}

impl FeatureSpread {
    pub(super) fn mean(&self) -> f64 {
        self.centre * self.unit
    }

    /// Whether n values differ by more than rounding may leave of equal ones.
    fn is_positive(&self, n: f64) -> bool {
        self.deviation > n * f64::EPSILON * self.centre.abs()
    }

    fn has_two_values(&self) -> bool {
        let variance = self.deviation * self.deviation;
        // False if the range is not known.
        (self.below * self.above - variance).abs() <= TWO_VALUES * variance
    }

    /// One over the standard deviation of feature j. If it is constant, 1, or one over its value where means are not
    /// subtracted.
    pub(super) fn factor(&self, n: f64, centred: bool, j: usize) -> Result<f64> {
        match self.is_positive(n) {
            true => self.one_over(self.deviation, j),
            false if centred || self.centre == 0.0 => Ok(1.0),
            false => self.one_over(self.centre.abs(), j),
        }
    }

    /// The same, but of a feature of two values one over half their distance.
    pub(super) fn factor_by_values(&self, n: f64, centred: bool, j: usize) -> Result<f64> {
        match self.is_positive(n) && self.has_two_values() {
            true => self.one_over(0.5 * (self.below + self.above), j),
            false => self.factor(n, centred, j),
        }
    }

    fn one_over(&self, size: f64, j: usize) -> Result<f64> {
        let factor = 1.0 / size / self.unit;
        if factor.is_finite() {
            return Ok(factor);
        }
        let size = size * self.unit;
        Err(Error::Incompatible(format!(
            "feature {j} has standard deviation {size:e}, too small to divide by; change its unit"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{Dense, Inputs};
    use crate::{Scaling, ScalingKind};

    fn factors(kind: ScalingKind, columns: &[&[f64]]) -> Vec<f64> {
        let n = columns[0].len();
        let x: Vec<f64> = (0..n).flat_map(|i| columns.iter().map(move |column| column[i])).collect();
        let inputs = Inputs::from(Dense::f64(&x, n, columns.len()).expect("finite numbers"));
        let scaling = Scaling::fit(kind, &inputs).expect("dense features");
        scaling.mean_and_factor().expect("features one by one").1.to_vec()
    }

    #[test]
    fn two_values_are_divided_by_half_their_distance() {
        let rare: Vec<f64> = (0..1000).map(|i| f64::from(u8::from(i == 7))).collect();
        let moved: Vec<f64> = rare.iter().map(|x| 1e9 - 3.0 * x).collect();
        let numbers: Vec<f64> = (0..1000).map(|i| if i == 9 { 0.5 } else { rare[i] }).collect();
        let found = factors(ScalingKind::Mixed, &[&rare, &moved, &numbers]);
        assert!((found[0] - 2.0).abs() < 1e-12 && (found[1] - 2.0 / 3.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found[2], factors(ScalingKind::Standard, &[&numbers])[0]);
        assert!(factors(ScalingKind::Standard, &[&rare])[0] > 30.0);
    }

    #[test]
    fn both_values_as_often_are_standardised_either_way() {
        let found = factors(ScalingKind::Mixed, &[&[1e-200, 3e-200, 1e-200, 3e-200], &[4.0; 4]]);
        assert_eq!(found, factors(ScalingKind::Standard, &[&[1e-200, 3e-200, 1e-200, 3e-200], &[4.0; 4]]));
    }

    #[test]
    fn an_unknown_range_is_not_one_of_two_values() {
        let own = FeatureSpread { centre: 0.5, deviation: 0.5, below: f64::NAN, above: f64::NAN, unit: 1.0 };
        assert!(!own.has_two_values());
        assert!(FeatureSpread { below: 0.5, above: 0.5, ..own }.has_two_values());
    }
}
