//! Curves, dots with whiskers, and bars.
//!
//! Every picture is one SVG, drawn for a white background. Its parts have classes (`plot`, `grid`, `axis`, `label`,
//! `key`), so that the style of a page can change their colours.

mod axis;
mod bars;
mod intervals;
mod lines;
mod share_bar;

pub use axis::{AxisScale, PlotAxis};
pub use bars::Bars;
pub use intervals::{Dot, Intervals};
pub use lines::{Curve, CurvePoint, Lines};
pub(crate) use share_bar::share_bar;

use crate::text::{escape, shorten};

/// Characters of a name that are drawn.
const MAX_NAME_CHARS: usize = 28;
/// Width of a character in units of the SVG.
const CHARACTER_WIDTH: f64 = 7.2;

/// The start of an SVG of this size; `title` is its description for screen readers.
fn start(title: &str, width: f64, height: f64) -> String {
    let title = escape(title);
    format!(
        "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    )
}

/// A text; `anchor` says which end of it is at the place. Written into a group of class `label`.
fn text_at(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n")
}

/// A text that reads upwards, at the left edge.
fn upwards(y: f64, text: &str) -> String {
    format!("<text transform=\"translate(14 {y:.1}) rotate(-90)\" text-anchor=\"middle\">{text}</text>\n")
}

/// Lines of a grid, an axis, and the labels of both.
fn frame(grid: &str, axis: &str, labels: &str) -> String {
    format!(
        "<path class=\"grid\" d=\"{grid}\" stroke=\"#e3e3e3\" fill=\"none\"/>\n\
         <path class=\"axis\" d=\"{axis}\" stroke=\"#888888\" fill=\"none\"/>\n\
         <g class=\"label\" fill=\"#444444\">\n{labels}</g>\n"
    )
}

/// Room for the longest of these names.
fn name_width<'a>(names: impl Iterator<Item = &'a String>) -> f64 {
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    longest.min(MAX_NAME_CHARS) as f64 * CHARACTER_WIDTH + 16.0
}

/// A name as it is drawn.
fn drawn_name(name: &str) -> String {
    escape(&shorten(name, MAX_NAME_CHARS))
}
