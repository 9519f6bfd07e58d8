//! Axes: where numbers are placed, and which of them are written.

use crate::text::number;

/// How numbers are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AxisScale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart; numbers that are not positive are left out.
    Log,
}

/// An axis of a plot.
#[derive(Debug, Clone, Default)]
pub struct PlotAxis {
    /// What the numbers are.
    pub label: String,
    /// How they are spaced.
    pub scale: AxisScale,
}

impl PlotAxis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        PlotAxis { label: label.into(), scale: AxisScale::Linear }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        PlotAxis { label: label.into(), scale: AxisScale::Log }
    }
}

/// A range of numbers, drawn from one coordinate to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct AxisRange {
    scale: AxisScale,
    /// Ends of the range; logarithms on a logarithmic scale.
    low: f64,
    high: f64,
    /// Coordinates of the two ends.
    from: f64,
    to: f64,
}

impl AxisRange {
    /// A range that contains these numbers, with `room` (a share of it) added at both ends.
    pub(super) fn over(
        values: impl Iterator<Item = f64>,
        scale: AxisScale,
        room: f64,
        (from, to): (f64, f64),
    ) -> Self {
        let values = values.filter(|x| x.is_finite() && (scale == AxisScale::Linear || *x > 0.0));
        let shown = values.map(|x| if scale == AxisScale::Log { x.log10() } else { x });
        let (mut low, mut high) =
            shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if high - low <= 1e-12 * high.abs().max(low.abs()) {
            let half = if scale == AxisScale::Log || high == 0.0 { 0.5 } else { 0.1 * high.abs() };
            (low, high) = (low - half, high + half);
        }
        let room = room * (high - low);
        AxisRange { scale, low: low - room, high: high + room, from, to }
    }

    /// The coordinate of a number; `None` if it cannot be drawn.
    pub(super) fn place(&self, x: f64) -> Option<f64> {
        if !x.is_finite() || (self.scale == AxisScale::Log && x <= 0.0) {
            return None;
        }
        let x = if self.scale == AxisScale::Log { x.log10() } else { x };
        Some(self.from + (x - self.low) / (self.high - self.low) * (self.to - self.from))
    }

    /// Coordinates and texts of about this many round numbers.
    pub(super) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        let numbers = match self.scale {
            AxisScale::Linear => linear_ticks(self.low, self.high, about),
            AxisScale::Log => log_ticks(self.low, self.high, about),
        };
        let text = |x: f64| if self.scale == AxisScale::Log { power(x) } else { number(x, 4) };
        numbers.into_iter().filter_map(|x| Some((self.place(x)?, text(x)))).collect()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let rough = (high - low) / about.max(1) as f64;
    let size = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * size).into_iter().find(|s| *s >= rough).unwrap_or(rough);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    // Rounded, since 0.3 is not 3 * 0.1.
    (first..=last).map(|i| number(i as f64 * step, 12).parse().unwrap_or(i as f64 * step)).collect()
}

/// Powers of ten; also 2 and 5 times those if there are fewer than three.
fn log_ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let (first, last) = (low.ceil() as i32, high.floor() as i32);
    let every = (((last - first) as f64 / about.max(1) as f64).ceil() as i32).max(1);
    let powers = (first..=last).filter(|e| e.rem_euclid(every) == 0).map(|e| 10f64.powi(e));
    if last - first >= 2 {
        return powers.collect();
    }
    let all = (first - 1..=last).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(e)));
    all.filter(|x| (low..=high).contains(&x.log10())).collect()
}

/// `0.01`, `100`, `1e-6`.
fn power(x: f64) -> String {
    if (1e-3..1e5).contains(&x) { number(x, 3) } else { format!("{x:.0e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[f64], scale: AxisScale) -> Vec<String> {
        let range = AxisRange::over(values.iter().copied(), scale, 0.0, (0.0, 100.0));
        range.ticks(5).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(&[0.0, 1.0], AxisScale::Linear), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(texts(&[-3.2, 12.0], AxisScale::Linear), ["0", "5", "10"]);
        assert_eq!(texts(&[1e-6, 1.0], AxisScale::Log), ["1e-6", "1e-4", "0.01", "1"]);
        assert_eq!(texts(&[1.5, 30.0, -1.0, f64::NAN], AxisScale::Log), ["2", "5", "10", "20"]);
    }

    #[test]
    fn no_numbers_and_equal_numbers_have_an_axis_too() {
        for values in [&[][..], &[2.0, 2.0], &[0.0], &[f64::INFINITY]] {
            for scale in [AxisScale::Linear, AxisScale::Log] {
                assert!(texts(values, scale).len() > 1, "{values:?} {scale:?}");
            }
        }
        let range = AxisRange::over([1.0, 3.0].into_iter(), AxisScale::Linear, 0.0, (100.0, 0.0));
        assert_eq!(range.place(2.0), Some(50.0));
        assert_eq!(range.place(f64::NAN), None);
    }
}
