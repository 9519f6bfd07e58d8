//! When a fit will be done, as far as its gap tells.

use std::collections::VecDeque;

/// Certificates looked back at.
const WINDOW_CERTIFICATES: usize = 12;
/// Fewer tell nothing.
const AT_LEAST: usize = 4;

/// Follows the logarithm of the relative gap, which falls along a line where a solver converges linearly.
#[derive(Debug)]
pub(crate) struct Eta {
    tolerance: f64,
    /// Seconds, and the logarithm of the smallest relative gap until then.
    points: VecDeque<(f64, f64)>,
}

impl Eta {
    pub(crate) fn new(tolerance: f64) -> Self {
        Eta { tolerance, points: VecDeque::with_capacity(WINDOW_CERTIFICATES + 1) }
    }

    /// Seconds to go if the trend of the last certificates holds; `None` if there is none to speak of.
    pub(crate) fn update(&mut self, seconds: f64, rel_gap: f64) -> Option<f64> {
        if !(rel_gap > 0.0 && rel_gap.is_finite()) {
            return None;
        }
        let best = self.points.back().map_or(f64::INFINITY, |last| last.1);
        self.points.push_back((seconds, rel_gap.ln().min(best)));
        if self.points.len() > WINDOW_CERTIFICATES {
            self.points.pop_front();
        }
        let slope = self.slope().filter(|slope| *slope < 0.0)?;
        let level = self.points.back()?.1;
        let left = (level - self.tolerance.ln()) / -slope;
        // A trend is not to be believed for a hundred times what was seen of it.
        let seen = seconds - self.points.front()?.0;
        (left.max(0.0) <= 100.0 * seen).then_some(left.max(0.0))
    }

    /// Of the least-squares line.
    fn slope(&self) -> Option<f64> {
        let n = self.points.len();
        if n < AT_LEAST {
            return None;
        }
        let mean = |pick: fn(&(f64, f64)) -> f64| self.points.iter().map(pick).sum::<f64>() / n as f64;
        let (t, g) = (mean(|p| p.0), mean(|p| p.1));
        let covariance: f64 = self.points.iter().map(|p| (p.0 - t) * (p.1 - g)).sum();
        let variance: f64 = self.points.iter().map(|p| (p.0 - t).powi(2)).sum();
        (variance > 0.0).then(|| covariance / variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_fall_is_extrapolated() {
        let mut eta = Eta::new(1e-6);
        let told: Vec<Option<f64>> = (0..5).map(|i| eta.update(f64::from(i), 10f64.powi(-i))).collect();
        assert_eq!(told[..3], [None, None, None]);
        // At 1e-4 after 4 seconds, one power of ten per second, two to go.
        assert!((told[4].unwrap() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn no_trend_no_promise() {
        let mut eta = Eta::new(1e-6);
        for i in 0..20 {
            assert_eq!(eta.update(f64::from(i), 0.1), None);
        }
        assert_eq!(eta.update(21.0, f64::INFINITY), None);
        // Slower than it could be believed: 1e-6 per second with five powers of ten to go.
        let mut eta = Eta::new(1e-6);
        for i in 0..20 {
            assert_eq!(eta.update(f64::from(i), 0.1 * (-1e-6 * f64::from(i)).exp()), None);
        }
    }
}
