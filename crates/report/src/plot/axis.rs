//! Where numbers go on paper, and which are written there.

use crate::text::number;

/// How numbers are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart; numbers up to zero are left out.
    Log,
}

/// An axis: what it is of, and how it is laid out.
#[derive(Debug, Clone, Default)]
pub struct Axis {
    /// What it is of.
    pub label: String,
    /// How numbers are laid out.
    pub scale: Scale,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Axis { label: label.into(), scale: Scale::Linear }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Axis { label: label.into(), scale: Scale::Log }
    }
}

/// A range of numbers on a stretch of paper.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    scale: Scale,
    /// As they are, or their logarithms.
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Stretch {
    /// All these numbers, a little room around them, from one place on paper to another.
    pub(super) fn over(
        values: impl Iterator<Item = f64>,
        scale: Scale,
        room: f64,
        (from, to): (f64, f64),
    ) -> Self {
        let values = values.filter(|x| x.is_finite() && (scale == Scale::Linear || *x > 0.0));
        let shown = values.map(|x| if scale == Scale::Log { x.log10() } else { x });
        let (mut low, mut high) =
            shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if high - low <= 1e-12 * high.abs().max(low.abs()) {
            let half = if scale == Scale::Log || high == 0.0 { 0.5 } else { 0.1 * high.abs() };
            (low, high) = (low - half, high + half);
        }
        let room = room * (high - low);
        Stretch { scale, low: low - room, high: high + room, from, to }
    }

    /// Where a number goes; `None` if it has no place.
    pub(super) fn place(&self, x: f64) -> Option<f64> {
        if !x.is_finite() || (self.scale == Scale::Log && x <= 0.0) {
            return None;
        }
        let x = if self.scale == Scale::Log { x.log10() } else { x };
        Some(self.from + (x - self.low) / (self.high - self.low) * (self.to - self.from))
    }

    /// Round numbers with their places and texts, about this many.
    pub(super) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        let numbers = match self.scale {
            Scale::Linear => linear_ticks(self.low, self.high, about),
            Scale::Log => log_ticks(self.low, self.high, about),
        };
        let text = |x: f64| if self.scale == Scale::Log { power(x) } else { number(x, 4) };
        numbers.into_iter().filter_map(|x| Some((self.place(x)?, text(x)))).collect()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let rough = (high - low) / about.max(1) as f64;
    let size = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * size).into_iter().find(|s| *s >= rough).unwrap_or(rough);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    // Rounded, for 0.3 is not 3 * 0.1.
    (first..=last).map(|i| number(i as f64 * step, 12).parse().unwrap_or(i as f64 * step)).collect()
}

/// Powers of ten; between them 2 and 5 times those, where there is but one.
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

    fn texts(values: &[f64], scale: Scale) -> Vec<String> {
        let stretch = Stretch::over(values.iter().copied(), scale, 0.0, (0.0, 100.0));
        stretch.ticks(5).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(&[0.0, 1.0], Scale::Linear), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(texts(&[-3.2, 12.0], Scale::Linear), ["0", "5", "10"]);
        assert_eq!(texts(&[1e-6, 1.0], Scale::Log), ["1e-6", "1e-4", "0.01", "1"]);
        assert_eq!(texts(&[1.5, 30.0, -1.0, f64::NAN], Scale::Log), ["2", "5", "10", "20"]);
    }

    #[test]
    fn no_numbers_or_equal_ones_have_an_axis_too() {
        for values in [&[][..], &[2.0, 2.0], &[0.0], &[f64::INFINITY]] {
            for scale in [Scale::Linear, Scale::Log] {
                assert!(texts(values, scale).len() > 1, "{values:?} {scale:?}");
            }
        }
        let stretch = Stretch::over([1.0, 3.0].into_iter(), Scale::Linear, 0.0, (100.0, 0.0));
        assert_eq!(stretch.place(2.0), Some(50.0));
        assert_eq!(stretch.place(f64::NAN), None);
    }
}
