//! Bars: one number for each name.

use super::axis::{AxisRange, AxisScale};
use super::{frame, text_at};
use crate::colour::PALETTE;
use crate::text::{escape, number};
use std::fmt::Write;

const WIDTH: f64 = 480.0;
/// Height of a bar with its gap.
const ROW_HEIGHT: f64 = 20.0;

/// Numbers with names, as bars from zero, in the order given.
#[derive(Debug, Clone, Default)]
pub struct Bars {
    /// What the picture shows, in words.
    pub title: String,
    /// What the numbers are.
    pub label: String,
    /// Name and number of each bar.
    pub bars: Vec<(String, f64)>,
}

impl Bars {
    /// As one SVG.
    pub fn to_svg(&self) -> String {
        let left = super::name_width(self.bars.iter().map(|bar| &bar.0));
        let foot = 8.0 + self.bars.len() as f64 * ROW_HEIGHT;
        let values = self.bars.iter().map(|bar| bar.1).chain([0.0]);
        let x = AxisRange::over(values, AxisScale::Linear, 0.0, (left, WIDTH - 70.0));
        let zero = x.place(0.0).unwrap_or(left);
        let (mut svg, mut labels) = (super::start(&self.title, WIDTH, foot + 28.0), String::new());
        for (i, (name, value)) in self.bars.iter().enumerate() {
            let Some(end) = x.place(*value) else { continue };
            let y = 8.0 + i as f64 * ROW_HEIGHT;
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"1.5\" fill=\"{}\"/>",
                zero.min(end),
                y + 3.0,
                (end - zero).abs().max(0.5),
                ROW_HEIGHT - 6.0,
                PALETTE[0]
            );
            labels += &text_at(left - 8.0, y + 14.0, "end", &super::drawn_name(name));
            labels += &text_at(zero.max(end) + 6.0, y + 14.0, "start", &number(*value, 3));
        }
        labels += &text_at(left, foot + 18.0, "start", &escape(&self.label));
        svg + &frame("", &format!("M{zero:.1} 8V{foot:.1}"), &labels) + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_start_at_zero() {
        let bars = vec![("one".into(), 2.0), ("two & more".into(), -1.0), ("none".into(), f64::NAN)];
        let svg = Bars { title: "t".into(), label: "seconds".into(), bars }.to_svg();
        assert_eq!(svg.matches("rx=\"1.5\"").count(), 2);
        assert!(svg.contains("two &amp; more") && svg.contains("seconds") && !svg.contains("NaN"));
    }
}
