//! Curves over a common axis, with error bars.

use super::axis::{AxisRange, PlotAxis};
use super::{frame, text_at, upwards};
use crate::colour::PALETTE;
use crate::text::escape;
use std::fmt::Write;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
/// Left, right, top and bottom margin around the curves.
const MARGINS: [f64; 4] = [64.0, 14.0, 14.0, 46.0];
/// Height of a line of the key.
const KEY_HEIGHT: f64 = 18.0;

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Along the axis.
    pub x: f64,
    /// Value.
    pub y: f64,
    /// Ends of the error bar.
    pub range: Option<(f64, f64)>,
}

/// A curve with its name.
#[derive(Debug, Clone)]
pub struct Curve {
    /// Shown in the key and in tooltips.
    pub name: String,
    /// From left to right.
    pub points: Vec<CurvePoint>,
}

/// Curves in one picture.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// What the picture shows, in words.
    pub title: String,
    /// Horizontal.
    pub x: PlotAxis,
    /// Vertical.
    pub y: PlotAxis,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Horizontal lines with their names, such as a tolerance.
    pub levels: Vec<(f64, String)>,
    /// Vertical lines with their names, such as a choice.
    pub marks: Vec<(f64, String)>,
}

impl Lines {
    /// As one SVG.
    pub fn to_svg(&self) -> String {
        let [left, right, top, bottom] = MARGINS;
        let keys = if self.curves.len() > 1 { self.curves.len() as f64 * KEY_HEIGHT } else { 0.0 };
        let (height, top) = (HEIGHT + keys, top + keys);
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let xs = points().map(|p| p.x).chain(self.marks.iter().map(|mark| mark.0));
        let ys = points().flat_map(|p| [p.y, p.range.map_or(p.y, |r| r.0), p.range.map_or(p.y, |r| r.1)]);
        let ys = ys.chain(self.levels.iter().map(|level| level.0));
        let x = AxisRange::over(xs, self.x.scale, 0.03, (left, WIDTH - right));
        let y = AxisRange::over(ys, self.y.scale, 0.05, (height - bottom, top));
        let mut svg = super::start(&self.title, WIDTH, height);
        self.frame(&mut svg, (x, y), (top, height));
        self.rules(&mut svg, (x, y), (top, height));
        for (i, curve) in self.curves.iter().enumerate() {
            draw_curve(&mut svg, curve, PALETTE[i % PALETTE.len()], (x, y));
        }
        if keys > 0.0 {
            self.keys(&mut svg, left);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn frame(&self, svg: &mut String, (x, y): (AxisRange, AxisRange), (top, height): (f64, f64)) {
        let [left, right, _, bottom] = MARGINS;
        let foot = height - bottom;
        let (mut grid, mut labels) = (String::new(), String::new());
        for (at, text) in y.ticks(5) {
            let _ = write!(grid, "M{left:.1} {at:.1}H{:.1}", WIDTH - right);
            labels += &text_at(left - 8.0, at + 4.0, "end", &text);
        }
        for (at, text) in x.ticks(7) {
            let _ = write!(grid, "M{at:.1} {foot:.1}v4");
            labels += &text_at(at, foot + 18.0, "middle", &text);
        }
        labels += &text_at(0.5 * (left + WIDTH - right), height - 8.0, "middle", &escape(&self.x.label));
        labels += &upwards(0.5 * (top + foot), &escape(&self.y.label));
        *svg += &frame(&grid, &format!("M{left:.1} {foot:.1}H{:.1}", WIDTH - right), &labels);
    }

    /// Levels and marks: dashed lines with a name.
    fn rules(&self, svg: &mut String, (x, y): (AxisRange, AxisRange), (top, height): (f64, f64)) {
        let [left, right, _, bottom] = MARGINS;
        let mut rule = |path: String, name: &str, at: (f64, f64), anchor: &str| {
            let _ = writeln!(
                svg,
                "<path class=\"rule\" d=\"{path}\" stroke=\"#888888\" stroke-dasharray=\"4 4\" fill=\"none\"/>\n\
                 <g class=\"label\" fill=\"#444444\" font-size=\"11\">{}</g>",
                text_at(at.0, at.1, anchor, &escape(name))
            );
        };
        for (value, name) in &self.levels {
            let Some(at) = y.place(*value) else { continue };
            let path = format!("M{left:.1} {at:.1}H{:.1}", WIDTH - right);
            rule(path, name, (left + 4.0, at - 5.0), "start");
        }
        for (value, name) in &self.marks {
            let Some(at) = x.place(*value) else { continue };
            let path = format!("M{at:.1} {top:.1}V{:.1}", height - bottom);
            // The name goes to the side with more room.
            let (shift, anchor) = if at > 0.5 * WIDTH { (-5.0, "end") } else { (5.0, "start") };
            rule(path, name, (at + shift, top + 9.0), anchor);
        }
    }

    fn keys(&self, svg: &mut String, left: f64) {
        svg.push_str("<g class=\"key\" fill=\"#444444\">\n");
        for (i, curve) in self.curves.iter().enumerate() {
            let (y, colour) = (14.0 + i as f64 * KEY_HEIGHT, PALETTE[i % PALETTE.len()]);
            let name = text_at(left + 28.0, y, "start", &escape(&curve.name));
            let line = format!("M{left:.1} {:.1}h20", y - 4.0);
            let _ = writeln!(svg, "<path d=\"{line}\" stroke=\"{colour}\" stroke-width=\"2.5\"/>{name}");
        }
        svg.push_str("</g>\n");
    }
}

/// A line with error bars, and dots that show their numbers in a tooltip.
fn draw_curve(svg: &mut String, curve: &Curve, colour: &str, (x, y): (AxisRange, AxisRange)) {
    let (mut line, mut bars, mut dots) = (String::new(), String::new(), String::new());
    for p in &curve.points {
        let (Some(px), Some(py)) = (x.place(p.x), y.place(p.y)) else { continue };
        let _ = write!(line, "{}{px:.1} {py:.1}", if line.is_empty() { 'M' } else { 'L' });
        if let Some((Some(low), Some(high))) = p.range.map(|r| (y.place(r.0), y.place(r.1))) {
            let _ = write!(bars, "M{px:.1} {low:.1}V{high:.1}");
        }
        let (at, value) = (crate::number(p.x, 4), crate::number(p.y, 4));
        let _ = writeln!(
            dots,
            "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3\"><title>{}: {value} at {at}</title></circle>",
            escape(&curve.name)
        );
    }
    let _ = writeln!(
        svg,
        "<g stroke=\"{colour}\" fill=\"none\">\n<path d=\"{line}\" stroke-width=\"2\" stroke-linejoin=\"round\"/>\n\
         <path d=\"{bars}\" stroke-opacity=\"0.5\"/>\n</g>\n<g fill=\"{colour}\">\n{dots}</g>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_axes_keys_and_words() {
        let point = |x: f64, y: f64| CurvePoint { x, y, range: Some((0.5 * y, 2.0 * y)) };
        let one = Curve { name: "a & b".into(), points: vec![point(1.0, 0.1), point(10.0, 1e-6)] };
        let two = Curve { name: "c".into(), points: vec![point(3.0, 0.01), point(4.0, f64::NAN)] };
        let lines = Lines {
            title: "gap \"curve\"".into(),
            x: PlotAxis::linear("passes"),
            y: PlotAxis::log("gap"),
            curves: vec![one, two],
            levels: vec![(1e-3, "tolerance".into())],
            marks: vec![(5.0, "chosen <C>".into())],
        };
        let svg = lines.to_svg();
        for part in ["gap &quot;curve&quot;", "a &amp; b", "tolerance", "chosen &lt;C&gt;", ">passes<"] {
            assert!(svg.contains(part), "{part}");
        }
        assert_eq!(svg.matches("<circle").count(), 3, "a point without a place is left out");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(Lines::default().to_svg().ends_with("</svg>\n"));
    }
}
