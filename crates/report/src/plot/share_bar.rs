//! Shares of a whole, side by side in one bar.

use crate::colour::PALETTE;
use crate::text::escape;
use kinfolk_train::percent;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 22.0;

/// The bar as one SVG; the names of its parts show when one points at them.
pub(crate) fn share_bar(title: &str, shares: &[(String, f64)]) -> String {
    let mut svg = super::start(title, WIDTH, HEIGHT);
    let mut left = 0.0;
    for (i, (name, share)) in shares.iter().enumerate() {
        let (width, colour) = (share * WIDTH, PALETTE[i % PALETTE.len()]);
        let name = escape(&format!("{} % {name}", percent(*share)));
        svg += &format!(
            "<rect x=\"{left:.1}\" y=\"0\" width=\"{width:.1}\" height=\"{HEIGHT}\" fill=\"{colour}\">\
             <title>{name}</title></rect>\n"
        );
        left += width;
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_side_by_side_and_fill_the_bar() {
        let svg = share_bar("t", &[("common & all".into(), 0.75), ("region".into(), 0.25)]);
        assert!(svg.contains("x=\"0.0\" y=\"0\" width=\"360.0\"") && svg.contains("75 % common &amp; all"));
        assert!(svg.contains("x=\"360.0\" y=\"0\" width=\"120.0\""), "{svg}");
    }
}
