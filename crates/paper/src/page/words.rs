//! Numbers as people read them.

use crate::stats::MeanAndSpread;

/// `76.7 ± 0.8`, of shares.
pub(super) fn percent(summary: &MeanAndSpread) -> String {
    format!("{:.1} ± {:.1}", 100.0 * summary.mean, 100.0 * summary.deviation)
}

/// `+1.2 ± 0.3`: a gain with its standard error, of shares.
pub(super) fn gain(summary: &MeanAndSpread) -> String {
    format!("{:+.1} ± {:.1}", 100.0 * summary.mean, 100.0 * summary.error())
}

/// `3 min`, `2.1 h`.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A heading as GitHub links it.
pub(super) fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' | '-' => Some('-'),
            c if c.is_alphanumeric() => Some(c),
            _ => None,
        })
        .collect()
}
