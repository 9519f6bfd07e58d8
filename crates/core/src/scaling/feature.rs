//! What one feature is divided by.

use crate::{Error, Result};

/// Mean and standard deviation of a feature, in a unit.
pub(crate) struct FeatureSpread {
    pub(crate) centre: f64,
    pub(crate) deviation: f64,
    /// The distance of its two values, if it has two.
    pub(crate) distance: Option<f64>,
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
        match self.distance {
            Some(distance) => self.one_over(0.5 * distance, j),
            None => self.factor(n, centred, j),
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
    fn other_values_however_rare_or_close_make_numbers() {
        let column = |value: f64| -> Vec<f64> {
            (0..200).map(|i| if i == 9 { value } else { f64::from(u8::from(i % 50 == 7)) }).collect()
        };
        for value in [1e9, 1e300, 1.0 + f64::EPSILON, 0.5, -1e-300] {
            let column = column(value);
            let found = factors(ScalingKind::Mixed, &[&column]);
            assert_eq!(found, factors(ScalingKind::Standard, &[&column]), "{value}");
        }
    }

    #[test]
    fn weights_do_not_change_what_two_values_are_divided_by() {
        let x: Vec<f64> = (0..60).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
        let inputs = Inputs::from(Dense::f64(&x, 60, 1).expect("finite numbers"));
        for heavy in [1.0, 1e8, 1e12] {
            let weights: Vec<f64> = x.iter().map(|x| if *x == 1.0 { heavy } else { 1.0 }).collect();
            let scaling = Scaling::fit_weighted(ScalingKind::Mixed, &inputs, Some(&weights)).expect("dense");
            assert_eq!(scaling.mean_and_factor().expect("one by one").1, [2.0], "{heavy}");
        }
    }
}
