//! Values with intervals, one line each, from the largest to the smallest.

use super::axis::{AxisRange, AxisScale};
use super::{frame, text_at, upwards};
use crate::text::{escape, number};
use std::fmt::Write;

const WIDTH: f64 = 640.0;
/// Height of the picture if the dots have no names.
const HEIGHT: f64 = 320.0;
/// Height of a dot with its name.
const ROW_HEIGHT: f64 = 18.0;
/// Up to this many dots have names; more stand side by side without names.
const MAX_NAMED: usize = 80;
/// Class and colour of a dot whose interval is above zero, below zero, or neither.
const ABOVE: [&str; 2] = ["above", "#0072b2"];
const BELOW: [&str; 2] = ["below", "#d55e00"];
const UNSURE: [&str; 2] = ["unsure", "#8a8a8a"];

/// A value with a name.
#[derive(Debug, Clone)]
pub struct Dot {
    /// Name of the task.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Ends of the interval. Without an interval, or with one that contains zero, the dot is grey.
    pub range: Option<(f64, f64)>,
}

/// Dots around zero: intervals above it in one colour, below it in another, all others in grey.
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
        match self.range {
            Some((low, _)) if low > 0.0 => ABOVE,
            Some((_, high)) if high < 0.0 => BELOW,
            _ => UNSURE,
        }
    }

    /// Its tooltip.
    fn tooltip(&self) -> String {
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
        if dots.len() <= MAX_NAMED { self.named(&dots) } else { self.side_by_side(&dots) }
    }

    fn values<'a>(dots: &'a [&Dot]) -> impl Iterator<Item = f64> + 'a {
        let ends = |dot: &&Dot| dot.range.map_or([dot.value, dot.value], |(low, high)| [low, high]);
        dots.iter().flat_map(ends).chain([0.0])
    }

    fn named(&self, dots: &[&Dot]) -> String {
        let left = super::name_width(dots.iter().map(|dot| &dot.name));
        let foot = 12.0 + dots.len() as f64 * ROW_HEIGHT;
        let x = AxisRange::over(Self::values(dots), AxisScale::Linear, 0.04, (left, WIDTH - 14.0));
        let mut svg = super::start(&self.title, WIDTH, foot + 44.0);
        let (mut grid, mut labels) = (String::new(), String::new());
        for (at, text) in x.ticks(6) {
            let _ = write!(grid, "M{at:.1} 8V{foot:.1}");
            labels += &text_at(at, foot + 16.0, "middle", &text);
        }
        labels += &text_at(0.5 * (left + WIDTH), foot + 36.0, "middle", &escape(&self.label));
        let zero = x.place(0.0).unwrap_or(left);
        svg += &frame(&grid, &format!("M{zero:.1} 8V{foot:.1}"), &labels);
        for (i, dot) in dots.iter().enumerate() {
            let y = 12.0 + (i as f64 + 0.5) * ROW_HEIGHT;
            let ends = dot.range.and_then(|(low, high)| Some((x.place(low)?, x.place(high)?)));
            let interval = ends.map(|(low, high)| format!("M{low:.1} {y:.1}H{high:.1}"));
            draw_dot(&mut svg, dot, (x.place(dot.value).unwrap_or(zero), y), 4.0, interval);
            let name = text_at(left - 10.0, y + 4.0, "end", &super::drawn_name(&dot.name));
            let _ = writeln!(svg, "<g class=\"label\" fill=\"#444444\">{name}</g>");
        }
        svg + "</svg>\n"
    }

    fn side_by_side(&self, dots: &[&Dot]) -> String {
        let (left, foot) = (64.0, HEIGHT - 34.0);
        let y = AxisRange::over(Self::values(dots), AxisScale::Linear, 0.04, (foot, 12.0));
        let each = (WIDTH - 14.0 - left) / dots.len() as f64;
        let mut svg = super::start(&self.title, WIDTH, HEIGHT);
        let (mut grid, mut labels) = (String::new(), String::new());
        for (at, text) in y.ticks(6) {
            let _ = write!(grid, "M{left:.1} {at:.1}H{:.1}", WIDTH - 14.0);
            labels += &text_at(left - 8.0, at + 4.0, "end", &text);
        }
        let below = "tasks, from the largest value to the smallest";
        labels += &text_at(0.5 * (left + WIDTH), HEIGHT - 10.0, "middle", below);
        labels += &upwards(0.5 * foot, &escape(&self.label));
        let zero = y.place(0.0).unwrap_or(foot);
        svg += &frame(&grid, &format!("M{left:.1} {zero:.1}H{:.1}", WIDTH - 14.0), &labels);
        for (i, dot) in dots.iter().enumerate() {
            let x = left + (i as f64 + 0.5) * each;
            let ends = dot.range.and_then(|(low, high)| Some((y.place(low)?, y.place(high)?)));
            let interval = ends.map(|(low, high)| format!("M{x:.1} {low:.1}V{high:.1}"));
            let radius = (0.6 * each).clamp(1.2, 3.0);
            draw_dot(&mut svg, dot, (x, y.place(dot.value).unwrap_or(zero)), radius, interval);
        }
        svg + "</svg>\n"
    }
}

/// A dot with its interval, given as a path.
fn draw_dot(svg: &mut String, dot: &Dot, (x, y): (f64, f64), radius: f64, interval: Option<String>) {
    let [class, colour] = dot.kind();
    let interval = interval.map_or(String::new(), |path| {
        format!("<path d=\"{path}\" stroke-width=\"{:.1}\" stroke-opacity=\"0.5\"/>", 0.5 * radius)
    });
    let _ = writeln!(
        svg,
        "<g class=\"{class}\" stroke=\"{colour}\" fill=\"{colour}\"><title>{}</title>{interval}\
         <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" stroke=\"none\"/></g>",
        dot.tooltip()
    );
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
    fn a_value_without_an_interval_is_not_coloured_as_sure() {
        let dots = vec![Dot { name: "one fold".into(), value: 3.0, range: None }];
        let svg = Intervals { title: String::new(), label: String::new(), dots }.to_svg();
        assert!(svg.contains("class=\"unsure\"") && !svg.contains("class=\"above\""));
    }

    #[test]
    fn many_dots_stand_side_by_side() {
        let dots: Vec<Dot> = (0..500).map(|i| dot(&format!("task {i}"), f64::from(i) - 20.0, 1.0)).collect();
        let svg = Intervals { title: String::new(), label: String::new(), dots }.to_svg();
        assert_eq!(svg.matches("<circle").count(), 500);
        assert!(svg.contains("height=\"320\"") && Intervals::default().to_svg().ends_with("</svg>\n"));
    }
}
