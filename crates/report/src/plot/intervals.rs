//! Values with whiskers, one line each, from the largest to the smallest.

use super::axis::{AxisRange, AxisScale};
use crate::text::{escape, number, shorten};
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const LINE: f64 = 18.0;
/// Up to this many have a line with a name; more stand side by side without.
const NAMED: usize = 80;
const HEIGHT: f64 = 320.0;
const ABOVE: [&str; 2] = ["above", "#0072b2"];
const BELOW: [&str; 2] = ["below", "#d55e00"];
const UNSURE: [&str; 2] = ["unsure", "#8a8a8a"];

/// A value with a name.
#[derive(Debug, Clone)]
pub struct Dot {
    /// Whose it is.
    pub name: String,
    /// The value.
    pub value: f64,
    /// From where to where it may be; a whisker that spans zero makes a grey dot.
    pub range: Option<(f64, f64)>,
}

/// Dots around zero: those above it in one colour, those below in another, those that may be either in grey.
#[derive(Debug, Clone, Default)]
pub struct Intervals {
    /// What the picture shows, in words.
    pub title: String,
    /// What the numbers are.
    pub label: String,
    /// In any order.
    pub dots: Vec<Dot>,
}

impl Dot {
    /// Class and colour.
    fn kind(&self) -> [&'static str; 2] {
        let (low, high) = self.range.unwrap_or((self.value, self.value));
        match () {
            () if low > 0.0 => ABOVE,
            () if high < 0.0 => BELOW,
            () => UNSURE,
        }
    }

    fn says(&self) -> String {
        let range = self
            .range
            .map_or(String::new(), |(low, high)| format!(", {} to {}", number(low, 3), number(high, 3)));
        escape(&format!("{}: {}{range}", self.name, number(self.value, 3)))
    }
}

impl Intervals {
    /// As one SVG.
    pub fn to_svg(&self) -> String {
        let mut dots: Vec<&Dot> = self.dots.iter().filter(|dot| dot.value.is_finite()).collect();
        dots.sort_by(|a, b| b.value.total_cmp(&a.value));
        if dots.len() <= NAMED { self.named(&dots) } else { self.side_by_side(&dots) }
    }

    fn values<'a>(dots: &'a [&Dot]) -> impl Iterator<Item = f64> + 'a {
        let ends = |dot: &&Dot| dot.range.map_or([dot.value, dot.value], |(low, high)| [low, high]);
        dots.iter().flat_map(ends).chain([0.0])
    }

    fn named(&self, dots: &[&Dot]) -> String {
        let longest = dots.iter().map(|dot| dot.name.chars().count()).max().unwrap_or(0).min(28);
        let left = longest as f64 * 7.2 + 16.0;
        let foot = 12.0 + dots.len() as f64 * LINE;
        let x = AxisRange::over(Self::values(dots), AxisScale::Linear, 0.04, (left, WIDTH - 14.0));
        let mut svg = super::start(&self.title, WIDTH, foot + 44.0);
        let (mut grid, mut labels) = (String::new(), String::new());
        for (at, text) in x.ticks(6) {
            let _ = write!(grid, "M{at:.1} 8V{foot:.1}");
            let _ = writeln!(
                labels,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
                foot + 16.0
            );
        }
        let zero = x.place(0.0).unwrap_or(left);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"{grid}\" stroke=\"#e3e3e3\" fill=\"none\"/>\n\
             <path class=\"axis\" d=\"M{zero:.1} 8V{foot:.1}\" stroke=\"#888888\" fill=\"none\"/>\n\
             <g class=\"label\" fill=\"#444444\">\n{labels}<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n</g>",
            0.5 * (left + WIDTH),
            foot + 36.0,
            escape(&self.label)
        );
        for (i, dot) in dots.iter().enumerate() {
            let y = 12.0 + (i as f64 + 0.5) * LINE;
            let ends = dot.range.and_then(|(low, high)| Some((x.place(low)?, x.place(high)?)));
            let whisker = ends.map_or(String::new(), |(low, high)| {
                format!("<path d=\"M{low:.1} {y:.1}H{high:.1}\" stroke-width=\"2\" stroke-opacity=\"0.55\"/>")
            });
            let [class, colour] = dot.kind();
            let _ = writeln!(
                svg,
                "<g class=\"{class}\" stroke=\"{colour}\" fill=\"{colour}\"><title>{}</title>{whisker}\
                 <circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\" stroke=\"none\"/></g>\n\
                 <text class=\"label\" fill=\"#444444\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                dot.says(),
                x.place(dot.value).unwrap_or(zero),
                left - 10.0,
                y + 4.0,
                escape(&shorten(&dot.name, 28))
            );
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn side_by_side(&self, dots: &[&Dot]) -> String {
        let (left, foot) = (64.0, HEIGHT - 34.0);
        let y = AxisRange::over(Self::values(dots), AxisScale::Linear, 0.04, (foot, 12.0));
        let each = (WIDTH - 14.0 - left) / dots.len() as f64;
        let mut svg = super::start(&self.title, WIDTH, HEIGHT);
        let (mut grid, mut labels) = (String::new(), String::new());
        for (at, text) in y.ticks(6) {
            let _ = write!(grid, "M{left:.1} {at:.1}H{:.1}", WIDTH - 14.0);
            let _ = writeln!(
                labels,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                left - 8.0,
                at + 4.0
            );
        }
        let zero = y.place(0.0).unwrap_or(foot);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"{grid}\" stroke=\"#e3e3e3\" fill=\"none\"/>\n\
             <path class=\"axis\" d=\"M{left:.1} {zero:.1}H{:.1}\" stroke=\"#888888\" fill=\"none\"/>\n\
             <g class=\"label\" fill=\"#444444\">\n{labels}\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">tasks, from the largest value to the smallest</text>\n\
             <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n</g>",
            WIDTH - 14.0,
            0.5 * (left + WIDTH),
            HEIGHT - 10.0,
            0.5 * foot,
            escape(&self.label)
        );
        for (i, dot) in dots.iter().enumerate() {
            let x = left + (i as f64 + 0.5) * each;
            let ends = dot.range.and_then(|(low, high)| Some((y.place(low)?, y.place(high)?)));
            let whisker = ends.map_or(String::new(), |(low, high)| {
                format!("<path d=\"M{x:.1} {low:.1}V{high:.1}\" stroke-width=\"1\" stroke-opacity=\"0.4\"/>")
            });
            let [class, colour] = dot.kind();
            let _ = writeln!(
                svg,
                "<g class=\"{class}\" stroke=\"{colour}\" fill=\"{colour}\"><title>{}</title>{whisker}\
                 <circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"{:.1}\" stroke=\"none\"/></g>",
                dot.says(),
                y.place(dot.value).unwrap_or(zero),
                (0.6 * each).clamp(1.2, 3.0)
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(name: &str, value: f64, spread: f64) -> Dot {
        Dot { name: name.into(), value, range: Some((value - spread, value + spread)) }
    }

    #[test]
    fn dots_are_sorted_and_coloured_by_what_is_sure() {
        let dots = vec![dot("down", -1.0, 0.2), dot("up", 2.0, 0.5), dot("<perhaps>", 0.1, 0.3)];
        let svg = Intervals { title: "gain".into(), label: "AUC".into(), dots }.to_svg();
        let place = |text: &str| svg.find(text).unwrap();
        assert!(
            place(">up<") < place("&lt;perhaps&gt;: 0.1, -0.2 to 0.4")
                && place("class=\"below\"") < place(">down<")
        );
        assert!(["above", "below", "unsure"].iter().all(|kind| svg.contains(&format!("class=\"{kind}\""))));
    }

    #[test]
    fn many_dots_stand_side_by_side() {
        let dots: Vec<Dot> = (0..500).map(|i| dot(&format!("task {i}"), f64::from(i) - 20.0, 1.0)).collect();
        let svg = Intervals { title: String::new(), label: String::new(), dots }.to_svg();
        assert_eq!(svg.matches("<circle").count(), 500);
        assert!(svg.contains("height=\"320\"") && Intervals::default().to_svg().ends_with("</svg>\n"));
    }
}
