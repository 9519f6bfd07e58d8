//! What the paper claims, and whether it holds here.

use super::overall::Difference;
use super::table::{paired, paper_spread, scores};
use super::words::{anchor, gain};
use crate::experiment::Experiment;
use crate::stats::{MeanAndSpread, average};
use crate::{Expected, Record};
use std::fmt::Write;

/// Ours; everything else is a rival.
const OURS: &str = "FMTL";

pub(super) fn section(
    experiment: &Experiment,
    records: &[Record],
    expected: &[Expected],
    text: &mut String,
    short: &mut String,
) -> Vec<Difference> {
    agreement(experiment, records, expected, text, short);
    gains(experiment, records, text, short)
}

fn of_set<'a>(records: &'a [Record], set: &str) -> Vec<&'a Record> {
    records.iter().filter(|record| record.set == set).collect()
}

/// A figure of the paper beside ours, on one set.
struct Compared<'a> {
    set: &'a str,
    method: &'a str,
    /// Our mean, in percent.
    ours: f64,
    /// The paper's mean plus and minus one of its standard deviations.
    interval: (f64, f64),
    /// Whether STL and this method are in the same order here and in the paper.
    same_order: Option<bool>,
    /// Whether the data are the paper's.
    same_data: bool,
}

impl Compared<'_> {
    /// Where our mean lies, seen from the paper's interval.
    fn place(&self) -> &'static str {
        match self.ours {
            ours if ours < self.interval.0 => "below",
            ours if ours > self.interval.1 => "above",
            _ => "inside",
        }
    }
}

/// All figures that the paper has for a method of ours.
fn compared<'a>(experiment: &'a Experiment, records: &[Record], expected: &[Expected]) -> Vec<Compared<'a>> {
    let find = |set: &str, method: &str| expected.iter().find(|e| e.set == set && e.method == method);
    let mut found = vec![];
    for set in experiment.sets.iter().filter(|set| !set.experiment) {
        let own = of_set(records, &set.name);
        let mean = |method: &str| {
            MeanAndSpread::of(&scores(&own, method).iter().map(|s| s.1).collect::<Vec<_>>())
                .map(|summary| 100.0 * summary.mean)
        };
        let stl = mean("STL").zip(find(&set.name, "STL"));
        for method in experiment.methods.iter().filter(|method| method.label.starts_with(OURS)) {
            let (Some(figure), Some(ours)) = (find(&set.name, &method.label), mean(&method.label)) else {
                continue;
            };
            let deviation = paper_spread(experiment, figure).1;
            found.push(Compared {
                set: &set.name,
                method: &method.label,
                ours,
                interval: (figure.mean - deviation, figure.mean + deviation),
                same_order: stl.map(|(base, stl)| (ours >= base) == (figure.mean >= stl.mean)),
                same_data: set.matches_paper,
            });
        }
    }
    found
}

/// On data that the paper has: is ours within one standard deviation of the paper's, and is the order of STL
/// and FMTL kept?
fn agreement(
    experiment: &Experiment,
    records: &[Record],
    expected: &[Expected],
    text: &mut String,
    short: &mut String,
) {
    let all = compared(experiment, records, expected);
    let (same, other): (Vec<&Compared<'_>>, Vec<&Compared<'_>>) = all.iter().partition(|c| c.same_data);
    if !same.is_empty() {
        let heading = format!("{}: agreement", experiment.title);
        let _ = write!(
            text,
            "\n### {heading}\n\nOn the sets whose data are the paper's: is our mean within one standard deviation \
             of the paper's mean, and are STL and FMTL in the same order?\n\n\
             | set | method | ours | the paper's interval | ours is | same order |\n|---|---|---|---|---|---|\n"
        );
        for c in &same {
            let _ = writeln!(
                text,
                "| {} | {} | {:.1} | {:.1} to {:.1} | {} | {} |",
                c.set,
                c.method,
                c.ours,
                c.interval.0,
                c.interval.1,
                if c.place() == "inside" { "inside".into() } else { format!("**{}**", c.place()) },
                c.same_order.map_or("", |same| if same { "yes" } else { "**no**" })
            );
        }
        if !experiment.exceptions.is_empty() {
            let _ = write!(text, "\n{}", experiment.exceptions);
        }
        let at = |place: &str| same.iter().filter(|c| c.place() == place).count();
        let turned = same.iter().filter(|c| c.same_order == Some(false)).count();
        let _ = writeln!(
            short,
            "- {}: on the data that the paper has, {} of {} figures [agree](#{}) with the paper within one of its \
             standard deviations (above: {}, below: {}; STL and FMTL in the other order: {turned}).",
            experiment.title,
            at("inside"),
            same.len(),
            anchor(&heading),
            at("above"),
            at("below"),
        );
    }
    for c in other.iter().filter(|c| c.place() == "below") {
        let _ = writeln!(
            short,
            "- {}: on {}, whose data may differ from the paper's, {} is **below** the paper: \
             {:.1} instead of {:.1} to {:.1}.",
            experiment.title, c.set, c.method, c.ours, c.interval.0, c.interval.1
        );
    }
}

/// Ours against each rival, set by set and on average.
fn gains(
    experiment: &Experiment,
    records: &[Record],
    text: &mut String,
    short: &mut String,
) -> Vec<Difference> {
    let rivals: Vec<&str> = experiment
        .methods
        .iter()
        .map(|m| m.label.as_str())
        .filter(|label| !label.starts_with(OURS))
        .collect();
    let ours: Vec<&str> =
        experiment.methods.iter().map(|m| m.label.as_str()).filter(|label| label.starts_with(OURS)).collect();
    let sets: Vec<&str> = experiment
        .sets
        .iter()
        .filter(|set| !set.experiment)
        .map(|set| set.name.as_str())
        .filter(|set| records.iter().any(|record| record.set == *set))
        .collect();
    let mut differences = vec![];
    if rivals.is_empty() || ours.is_empty() || sets.is_empty() {
        return differences;
    }
    let heading = format!("{}: gains", experiment.title);
    let _ = write!(
        text,
        "\n### {heading}\n\nMean difference split by split, with its standard error; on average over the sets with \
         more than one split, the error of that average.\n"
    );
    for own in &ours {
        // Rivals that are beaten, that win, and that cannot be told apart.
        let mut verdicts: [Vec<String>; 3] = Default::default();
        let _ = write!(text, "\n| {own} over |");
        sets.iter().for_each(|set| {
            let _ = write!(text, " {set} |");
        });
        let _ = write!(text, " average | average / error |\n|---|{}---|---|\n", "---|".repeat(sets.len()));
        for rival in &rivals {
            let _ = write!(text, "| {rival} |");
            let mut found = vec![];
            for set in &sets {
                let of_set = of_set(records, set);
                let difference = paired(&scores(&of_set, own), &scores(&of_set, rival));
                let _ = write!(text, " {} |", difference.as_ref().map_or(String::new(), gain));
                found.extend(difference);
                differences.extend(difference.map(|gain| Difference::new(own, rival, gain)));
            }
            // One split says nothing of how sure a mean is.
            if found.iter().any(|d| d.n > 1) {
                found.retain(|d| d.n > 1);
            }
            if found.is_empty() {
                let _ = writeln!(text, " | |");
                continue;
            }
            let (mean, error) = average(&found);
            let ratio = if error > 0.0 { format!("{:+.1}", mean / error) } else { String::new() };
            let _ = writeln!(text, " {:+.2} ± {:.2} | {ratio} |", 100.0 * mean, 100.0 * error);
            if found.iter().all(|d| d.n > 1) {
                let verdict = match mean / error {
                    r if r > 2.0 => 0,
                    r if r < -2.0 => 1,
                    _ => 2,
                };
                let sets = found.len();
                verdicts[verdict].push(format!(
                    "{rival} ({:+.2} ± {:.2}, {sets} sets)",
                    100.0 * mean,
                    100.0 * error
                ));
            }
        }
        let words = ["beats", "**loses to**", "cannot be told from"];
        let said: Vec<String> = words
            .iter()
            .zip(&verdicts)
            .filter(|(_, rivals)| !rivals.is_empty())
            .map(|(word, rivals)| format!("{word} {}", rivals.join(", ")))
            .collect();
        if !said.is_empty() {
            let _ = writeln!(
                short,
                "- {}: on [average](#{}) over sets {own} {}.",
                experiment.title,
                anchor(&heading),
                said.join("; ")
            );
        }
    }
    differences
}
