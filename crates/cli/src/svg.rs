//! A picture of a task matrix, as one self-contained SVG file.

use kinfolk::Matrix;
use std::fmt::Write;

const CELL: f64 = 18.0;
/// The whole matrix is at most this wide; cells shrink to fit.
const WIDEST: f64 = 900.0;
/// Steps of the colour scale on either side of zero.
const STEPS: i32 = 50;
/// Rough width of a character, in units of the font size.
const CHARACTER: f64 = 0.62;

/// A matrix with names of its rows, in the order to be drawn.
pub(crate) struct HeatMap<'a> {
    pub(crate) title: &'a str,
    pub(crate) names: &'a [String],
    pub(crate) values: &'a Matrix,
}

impl HeatMap<'_> {
    /// Blue is negative, white zero, red positive, up to the largest entry.
    pub(crate) fn to_svg(&self) -> String {
        let n = self.values.rows();
        let cell = (WIDEST / n as f64).min(CELL);
        let font = (0.65 * cell).clamp(0.0, 12.0);
        let longest = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(40);
        // Names too small to read are left out.
        let margin = if font < 4.0 { 10.0 } else { longest as f64 * CHARACTER * font + 12.0 };
        let (side, top) = (n as f64 * cell, margin + 26.0);
        let (width, height) = (margin + side.max(180.0) + 70.0, top + side.max(120.0) + 16.0);
        let largest = self.values.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));

        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"{margin:.1}\" y=\"18\" font-size=\"14\">{}</text>\n",
            escape(self.title)
        );
        self.cells(&mut svg, (margin, top), cell, largest);
        if font >= 4.0 {
            self.labels(&mut svg, (margin, top), cell, font);
        }
        legend(&mut svg, margin + side + 14.0, top, largest);
        svg.push_str("</svg>\n");
        svg
    }

    /// Neighbours of one colour become one rectangle.
    fn cells(&self, svg: &mut String, (left, top): (f64, f64), cell: f64, largest: f64) {
        let n = self.values.rows();
        svg.push_str("<g shape-rendering=\"crispEdges\">\n");
        for r in 0..n {
            let steps: Vec<i32> = self.values.row(r).iter().map(|x| step(*x, largest)).collect();
            let mut from = 0;
            for run in steps.chunk_by(|a, b| a == b) {
                let (x, y) = (left + from as f64 * cell, top + r as f64 * cell);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{cell:.2}\" fill=\"{}\"/>",
                    run.len() as f64 * cell,
                    colour(run[0])
                );
                from += run.len();
            }
        }
        svg.push_str("</g>\n");
    }

    fn labels(&self, svg: &mut String, (left, top): (f64, f64), cell: f64, font: f64) {
        let _ = writeln!(svg, "<g font-size=\"{font:.1}\" fill=\"#333333\">");
        for (r, name) in self.names.iter().enumerate() {
            let name = escape(&shorten(name));
            let middle = (r as f64 + 0.5) * cell + 0.35 * font;
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\n\
                 <text transform=\"translate({:.1} {:.1}) rotate(-90)\">{name}</text>",
                left - 5.0,
                top + middle,
                left + middle,
                top - 5.0
            );
        }
        svg.push_str("</g>\n");
    }
}

fn legend(svg: &mut String, x: f64, top: f64, largest: f64) {
    let height = 100.0;
    let each = height / f64::from(2 * STEPS + 1);
    svg.push_str("<g shape-rendering=\"crispEdges\">\n");
    for (i, step) in (-STEPS..=STEPS).rev().enumerate() {
        let y = top + i as f64 * each;
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.2}\" width=\"12\" height=\"{:.2}\" fill=\"{}\"/>",
            each + 0.1,
            colour(step)
        );
    }
    svg.push_str("</g>\n<g font-size=\"10\" fill=\"#333333\">\n");
    for (value, y) in [(largest, top + 8.0), (0.0, top + 0.5 * height + 4.0), (-largest, top + height)] {
        let text = crate::text::number(value, 3);
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{y:.1}\">{text}</text>", x + 16.0);
    }
    svg.push_str("</g>\n");
}

fn step(x: f64, largest: f64) -> i32 {
    if largest > 0.0 { (x / largest * f64::from(STEPS)).round() as i32 } else { 0 }
}

/// From blue (33, 102, 172) over white to red (178, 24, 43).
fn colour(step: i32) -> String {
    let strength = f64::from(step.abs()) / f64::from(STEPS);
    let end = if step < 0 { [33.0, 102.0, 172.0] } else { [178.0, 24.0, 43.0] };
    let [r, g, b] = end.map(|c: f64| (255.0 + strength * (c - 255.0)).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn shorten(name: &str) -> String {
    match name.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &name[..at]),
        None => name.to_string(),
    }
}

/// Text that may stand in XML. Characters XML cannot hold become question marks.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_equal_neighbours_are_joined() {
        let values = Matrix::from_vec(vec![1.0, 1.0, -1.0, 0.0], 2, 2).unwrap();
        let names = ["a<b".to_string(), "\u{1}\"c\"".to_string()];
        let svg = HeatMap { title: "Theta & co", names: &names, values: &values }.to_svg();
        assert!(svg.contains("Theta &amp; co") && svg.contains("a&lt;b") && svg.contains("?&quot;c&quot;"));
        // One rectangle for the row of two ones, two for the other row, the background and the legend.
        assert_eq!(svg.matches("<rect").count(), 1 + 2 + 1 + 101);
        assert!(svg.contains("fill=\"#b2182b\"") && svg.contains("fill=\"#2166ac\""));
    }

    #[test]
    fn an_empty_matrix_and_a_thousand_tasks_are_drawn() {
        for n in [1, 1000] {
            let names: Vec<String> = (0..n).map(|t| t.to_string()).collect();
            let svg = HeatMap { title: "", names: &names, values: &Matrix::zeros(n, n) }.to_svg();
            assert!(svg.ends_with("</svg>\n"));
        }
    }
}
