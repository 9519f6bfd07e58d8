//! A picture of a task matrix: one cell for each pair of tasks, and a tree beside it.

use crate::cluster::Tree;
use crate::colour::{STEPS, diverging, hex, step};
use crate::dendrogram::Branch;
use crate::text::{escape, number, shorten};
use kinfolk::Matrix;
use std::fmt::Write;

/// Largest width of a cell.
const CELL_WIDTH: f64 = 18.0;
/// Largest width of the matrix; cells shrink to fit.
const MAX_WIDTH: f64 = 900.0;
/// Approximate width of a character, in units of the font size.
const CHARACTER_WIDTH: f64 = 0.62;
/// Characters of a name that are drawn.
const MAX_NAME_CHARS: usize = 40;
/// Width of the tree.
const TREE_WIDTH: f64 = 70.0;

const INK: [u8; 3] = [51, 51, 51];
const BRANCH: [u8; 3] = [136, 136, 136];

/// A matrix with names of its rows. Blue is negative, white zero, red positive. The scale ends at the largest entry off
/// the diagonal: diagonal entries are often so much larger that they would leave all others pale.
#[derive(Debug, Clone)]
pub struct HeatMap<'a> {
    title: &'a str,
    names: &'a [String],
    values: &'a Matrix,
    order: Vec<usize>,
    tree: Option<&'a Tree>,
    /// Sizes of squares along the diagonal that are outlined.
    blocks: Vec<usize>,
}

/// Sizes and positions in the SVG.
struct MapLayout {
    cell: f64,
    font: f64,
    left: f64,
    top: f64,
    size: (f64, f64),
    largest: f64,
}

impl<'a> HeatMap<'a> {
    /// In the order of the matrix.
    pub fn new(title: &'a str, names: &'a [String], values: &'a Matrix) -> Self {
        HeatMap { title, names, values, order: (0..values.rows()).collect(), tree: None, blocks: vec![] }
    }

    /// In this order of rows and columns.
    #[must_use]
    pub fn ordered(self, order: Vec<usize>) -> Self {
        HeatMap { order, ..self }
    }

    /// With a tree to the right whose leaves are the rows; the order should be one of this tree.
    #[must_use]
    pub fn with_tree(self, tree: &'a Tree) -> Self {
        HeatMap { tree: Some(tree), ..self }
    }

    /// With squares of these sizes outlined, one after another along the diagonal.
    #[must_use]
    pub fn with_blocks(self, blocks: Vec<usize>) -> Self {
        HeatMap { blocks, ..self }
    }

    /// First row and size of each outlined square.
    fn squares(&self) -> impl Iterator<Item = (usize, usize)> {
        self.blocks.iter().scan(0, |first, &size| {
            *first += size;
            Some((*first - size, size))
        })
    }

    /// As one self-contained SVG file.
    pub fn to_svg(&self) -> String {
        let MapLayout { left, top, size: (width, height), font, cell, largest } = self.layout();
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"{left:.1}\" y=\"18\" font-size=\"14\">{}</text>\n",
            escape(self.title)
        );
        self.cells(&mut svg, (left, top), cell, largest);
        for (first, size) in self.squares() {
            let (at, side) = (first as f64 * cell, size as f64 * cell);
            let _ = writeln!(
                svg,
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{side:.2}\" height=\"{side:.2}\" fill=\"none\" \
                 stroke=\"{}\" stroke-width=\"2\"/>",
                left + at,
                top + at,
                hex(INK)
            );
        }
        if font >= 4.0 {
            self.labels(&mut svg, (left, top), cell, font);
        }
        let mut right = left + self.order.len() as f64 * cell + 6.0;
        if !self.drawn_branches().is_empty() {
            self.tree_lines(&mut svg, (right, top), cell);
            right += TREE_WIDTH;
        }
        legend(&mut svg, right + 8.0, top, largest);
        svg.push_str("</svg>\n");
        svg
    }

    fn layout(&self) -> MapLayout {
        let n = self.order.len() as f64;
        let cell = (MAX_WIDTH / n.max(1.0)).min(CELL_WIDTH);
        let font = (0.65 * cell).clamp(0.0, 12.0);
        let longest =
            self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(MAX_NAME_CHARS);
        // Names too small to read are left out.
        let left = if font < 4.0 { 10.0 } else { longest as f64 * CHARACTER_WIDTH * font + 12.0 };
        let (side, top) = (n * cell, left + 26.0);
        let tree = if self.drawn_branches().is_empty() { 0.0 } else { TREE_WIDTH };
        let size = (left + side.max(180.0) + tree + 76.0, top + side.max(120.0) + 16.0);
        MapLayout { cell, font, left, top, size, largest: self.largest() }
    }

    fn largest(&self) -> f64 {
        let n = self.values.rows();
        let size = |r: usize, s: usize| self.values[(r, s)].abs();
        let pairs = (0..n).flat_map(|r| (0..n).filter(move |&s| s != r).map(move |s| (r, s)));
        match pairs.fold(0.0f64, |m, (r, s)| m.max(size(r, s))) {
            0.0 => (0..n).fold(0.0f64, |m, t| m.max(size(t, t))),
            off => off,
        }
    }

    fn drawn_branches(&self) -> Vec<Branch> {
        self.tree.map_or(vec![], |tree| tree.branches(&self.order))
    }

    /// Neighbours of the same colour become one rectangle.
    fn cells(&self, svg: &mut String, (left, top): (f64, f64), cell: f64, largest: f64) {
        svg.push_str("<g shape-rendering=\"crispEdges\">\n");
        for (r, &from) in self.order.iter().enumerate() {
            let row = self.values.row(from);
            let steps: Vec<i32> = self.order.iter().map(|&of| step(row[of], largest)).collect();
            let mut done = 0;
            for run in steps.chunk_by(|a, b| a == b) {
                let (x, y) = (left + done as f64 * cell, top + r as f64 * cell);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{cell:.2}\" fill=\"{}\"/>",
                    run.len() as f64 * cell,
                    hex(diverging(run[0]))
                );
                done += run.len();
            }
        }
        svg.push_str("</g>\n");
    }

    fn labels(&self, svg: &mut String, (left, top): (f64, f64), cell: f64, font: f64) {
        let _ = writeln!(svg, "<g font-size=\"{font:.1}\" fill=\"{}\">", hex(INK));
        for (r, &t) in self.order.iter().enumerate() {
            let name = escape(&shorten(&self.names[t], MAX_NAME_CHARS));
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

    fn tree_lines(&self, svg: &mut String, (left, top): (f64, f64), cell: f64) {
        let mut path = String::new();
        for Branch { a, b, height } in self.drawn_branches() {
            let x = |height: f64| left + height * (TREE_WIDTH - 8.0);
            let y = |place: f64| top + (place + 0.5) * cell;
            let (ya, yb, top) = (y(a.place), y(b.place), x(height));
            let _ = write!(path, "M{:.1} {ya:.1}H{top:.1}V{yb:.1}H{:.1}", x(a.height), x(b.height));
        }
        let _ = writeln!(svg, "<path d=\"{path}\" fill=\"none\" stroke=\"{}\"/>", hex(BRANCH));
    }
}

/// Texts at the top, the middle and the bottom of the legend.
fn marks(largest: f64) -> [String; 3] {
    [largest, 0.0, -largest].map(|value| number(value, 3))
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
            hex(diverging(step))
        );
    }
    let _ = writeln!(svg, "</g>\n<g font-size=\"10\" fill=\"{}\">", hex(INK));
    for (text, y) in marks(largest).iter().zip([top + 8.0, top + 0.5 * height + 4.0, top + height]) {
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{y:.1}\">{text}</text>", x + 16.0);
    }
    svg.push_str("</g>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distances;

    #[test]
    fn names_are_escaped_and_equal_neighbours_are_joined() {
        let values = Matrix::from_vec(vec![1.0, 1.0, -1.0, 0.0], 2, 2).unwrap();
        let names = ["a<b".to_string(), "\u{1}\"c\"".to_string()];
        let svg = HeatMap::new("Theta & co", &names, &values).to_svg();
        assert!(svg.contains("Theta &amp; co") && svg.contains("a&lt;b") && svg.contains("?&quot;c&quot;"));
        // One rectangle for the row of two ones, two for the other row, the background and the legend.
        assert_eq!(svg.matches("<rect").count(), 1 + 2 + 1 + 101);
        assert!(svg.contains("fill=\"#b2182b\"") && svg.contains("fill=\"#2166ac\""));
    }

    #[test]
    fn an_empty_matrix_and_a_thousand_tasks_are_drawn() {
        for n in [0, 1, 1000] {
            let names: Vec<String> = (0..n).map(|t| t.to_string()).collect();
            let values = Matrix::zeros(n, n);
            let picture = HeatMap::new("", &names, &values);
            assert!(picture.to_svg().ends_with("</svg>\n"));
        }
    }

    #[test]
    fn rows_follow_the_order() {
        let values = Matrix::from_vec(vec![1.0, 0.0, 0.9, 0.0, 1.0, -0.2, 0.9, -0.2, 1.0], 3, 3).unwrap();
        let names = ["a", "b", "c"].map(String::from);
        let d = distances(&values);
        let tree = Tree::new(&d);
        let svg = HeatMap::new("", &names, &values).ordered(vec![1, 2, 0]).with_tree(&tree).to_svg();
        let cells = svg.split_once("</g>").unwrap().0;
        let colours: Vec<&str> = cells.split("fill=\"").skip(2).map(|rest| &rest[..7]).collect();
        let (strongest, weak) = (hex(diverging(STEPS)), hex(diverging(step(-0.2, 0.9))));
        // Equal neighbours are one rectangle; values beyond the scale have its last colour.
        let expected = [&*strongest, &weak, "#ffffff", &weak, &strongest, "#ffffff", &strongest];
        assert_eq!(colours, expected);
        assert!(svg.contains("<path"));
    }
}
