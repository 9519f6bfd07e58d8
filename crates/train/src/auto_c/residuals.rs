//! Errors of held-out predictions, kept for intervals.

use serde::{Deserialize, Serialize};

/// Errors that a model file keeps; of more, as many that are evenly spaced in their order.
const MAX_KEPT: usize = 501;

/// Absolute errors of held-out predictions, in units of scaled labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Residuals {
    /// How many there were.
    pub rows: usize,
    /// Increasing; all of them, or some.
    errors: Vec<f64>,
}

impl Residuals {
    /// Of these errors; `None` if there are none.
    pub fn new(mut errors: Vec<f64>) -> Option<Self> {
        errors.retain(|error| error.is_finite());
        errors.sort_unstable_by(f64::total_cmp);
        let rows = errors.len();
        if rows > MAX_KEPT {
            errors = (0..MAX_KEPT).map(|i| errors[(i * (rows - 1)).div_ceil(MAX_KEPT - 1)]).collect();
        }
        (rows > 0).then_some(Residuals { rows, errors })
    }

    /// Half of the width of an interval that holds a new label with this probability, if new rows are like the held-out
    /// ones (split conformal prediction): of n errors, the one of rank `ceil((n + 1) level)`. `None` if n is too small.
    pub fn half_width(&self, level: f64) -> Option<f64> {
        let rank = ((self.rows + 1) as f64 * level).ceil() as usize;
        if rank > self.rows {
            return None;
        }
        let last = self.errors.len() - 1;
        // The place of the rank among those kept, rounded up.
        let place = (rank.max(1) - 1) as f64 * last as f64 / (self.rows - 1).max(1) as f64;
        self.errors.get((place.ceil() as usize).min(last)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_half_width_is_the_error_of_the_rank() {
        let few = Residuals::new((1..=9).rev().map(f64::from).collect()).unwrap();
        assert_eq!(
            (few.half_width(0.9), few.half_width(0.5), few.half_width(0.95)),
            (Some(9.0), Some(5.0), None)
        );
        let many = Residuals::new((1..=100_000).map(f64::from).collect()).unwrap();
        let half = many.half_width(0.9).unwrap();
        assert!((90_000.0..90_400.0).contains(&half), "{half}");
        assert_eq!(Residuals::new(vec![f64::NAN]), None);
    }
}
