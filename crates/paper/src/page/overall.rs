//! The paper's claim over all data sets, of all tables.

use crate::stats::{MeanAndSpread, average, median};
use std::fmt::Write;

/// Gain of ours over a rival on one set, split by split.
pub(super) struct Difference {
    ours: String,
    rival: String,
    gain: MeanAndSpread,
}

impl Difference {
    pub(super) fn new(ours: &str, rival: &str, gain: MeanAndSpread) -> Self {
        Difference { ours: ours.into(), rival: rival.into(), gain }
    }

    /// Mean gain in standard errors.
    fn ratio(&self) -> Option<f64> {
        (self.gain.error() > 0.0).then(|| self.gain.mean / self.gain.error())
    }
}

/// Ours with names as tables have them, and the rivals that use the same loss.
const COMPARED: [(&str, &[&str], &[&str]); 2] = [
    ("FMTL p=2", &["FMTL p=2", "FMTL-H p=2"], &["STL", "MTL", "CMTL", "MTRL", "GMTL", "MTFL", "MTL-SDCA"]),
    ("FMTL-S p=2", &["FMTL-S p=2"], &["STL-S"]),
];

/// A table with a line for each rival.
pub(super) fn section(differences: &[Difference], text: &mut String) {
    let mut lines = String::new();
    for (name, labels, rivals) in COMPARED {
        for rival in rivals {
            let same =
                |d: &&Difference| labels.contains(&d.ours.as_str()) && d.rival == *rival && d.gain.n > 1;
            let found: Vec<&Difference> = differences.iter().filter(same).collect();
            if !found.is_empty() {
                line(name, rival, &found, &mut lines);
            }
        }
    }
    if lines.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\n## The claim, over all data sets\n\nThe paper claims that learning tasks and their relation together \
         beats the others on average. Every set of the tables below with more than one split counts once, \
         experiments do not; a set is won or lost where the mean difference over splits is more than two of its \
         standard errors.\n\n| | sets | average gain | average / error | median of sets | won | lost |\n\
         |---|---|---|---|---|---|---|\n{lines}"
    );
}

fn line(name: &str, rival: &str, found: &[&Difference], lines: &mut String) {
    let (mean, error) = average(&found.iter().map(|d| d.gain).collect::<Vec<_>>());
    let middle = median(&found.iter().map(|d| d.gain.mean).collect::<Vec<_>>()).unwrap_or(mean);
    let counted = |test: fn(f64) -> bool| found.iter().filter(|d| d.ratio().is_some_and(test)).count();
    let (won, lost) = (counted(|r| r > 2.0), counted(|r| r < -2.0));
    let ratio = if error > 0.0 { format!("{:+.1}", mean / error) } else { String::new() };
    let _ = writeln!(
        lines,
        "| {name} over {rival} | {} | {:+.2} ± {:.2} | {ratio} | {:+.2} | {won} | {lost} |",
        found.len(),
        100.0 * mean,
        100.0 * error,
        100.0 * middle
    );
}
