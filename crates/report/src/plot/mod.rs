//! Curves, dots with whiskers, and bars.
//!
//! Every picture is an SVG of its own, drawn for white paper. Its parts carry classes (`plot`, `grid`, `axis`, `label`,
//! `key`), so that a page which holds it can give them other colours.

mod axis;
mod bars;
mod intervals;
mod lines;

pub use axis::{Axis, Scale};
pub use bars::Bars;
pub use intervals::{Dot, Intervals};
pub use lines::{Lines, Point, Series};

use crate::text::escape;

/// The start of an SVG of this size; `title` is what it says to those who do not see it.
fn start(title: &str, width: f64, height: f64) -> String {
    let title = escape(title);
    format!(
        "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    )
}
