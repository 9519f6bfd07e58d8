//! Colours that colour-blind readers can tell apart.

/// Steps of the diverging scale on either side of zero.
pub(crate) const STEPS: i32 = 50;

/// Colours of curves, after Okabe and Ito.
pub(crate) const PALETTE: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#777777"];

/// The step of a value on a scale that ends at `largest`; larger values get the last step.
pub(crate) fn step(x: f64, largest: f64) -> i32 {
    let step = if largest > 0.0 { (x / largest * f64::from(STEPS)).round() as i32 } else { 0 };
    step.clamp(-STEPS, STEPS)
}

/// From blue (33, 102, 172) over white to red (178, 24, 43).
pub(crate) fn diverging(step: i32) -> [u8; 3] {
    let strength = f64::from(step.abs()) / f64::from(STEPS);
    let end = if step < 0 { [33.0, 102.0, 172.0] } else { [178.0, 24.0, 43.0] };
    end.map(|c: f64| (255.0 + strength * (c - 255.0)).round() as u8)
}

/// As in `#b2182b`.
pub(crate) fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
