//! What the paper claims, and whether it holds here.

use super::overall::Difference;
use super::table::{paired, paper_spread, scores};
use super::words::{anchor, gain};
use crate::recipe::Recipe;
use crate::stats::{Summary, average};
use crate::{Expected, Record};
use std::fmt::Write;

/// Ours; everything else is a rival.
const OURS: &str = "FMTL";

pub(super) fn section(
    recipe: &Recipe,
    records: &[Record],
    expected: &[Expected],
    text: &mut String,
    short: &mut String,
) -> Vec<Difference> {
    agreement(recipe, records, expected, text, short);
    gains(recipe, records, text, short)
}

fn of_set<'a>(records: &'a [Record], set: &str) -> Vec<&'a Record> {
    records.iter().filter(|record| record.set == set).collect()
}

/// On data that the paper has: is ours not below the paper by more than its standard deviation, and is the order of STL and FMTL kept?
fn agreement(
    recipe: &Recipe,
    records: &[Record],
    expected: &[Expected],
    text: &mut String,
    short: &mut String,
) {
    let find = |set: &str, method: &str| expected.iter().find(|e| e.set == set && e.method == method);
    let (mut lines, mut held, mut all) = (String::new(), 0, 0);
    for set in recipe.sets.iter().filter(|set| set.matches_paper) {
        let own = of_set(records, &set.name);
        let base = Summary::of(&scores(&own, "STL").iter().map(|s| s.1).collect::<Vec<_>>());
        for method in recipe.methods.iter().filter(|method| method.label.starts_with(OURS)) {
            let summary = Summary::of(&scores(&own, &method.label).iter().map(|s| s.1).collect::<Vec<_>>());
            let (Some(figure), Some(summary)) = (find(&set.name, &method.label), summary) else { continue };
            let least = figure.mean - paper_spread(recipe, figure).1;
            let near = 100.0 * summary.mean >= least;
            let order = base
                .zip(find(&set.name, "STL"))
                .map(|(base, stl)| (summary.mean >= base.mean) == (figure.mean >= stl.mean));
            all += 1;
            held += usize::from(near && order != Some(false));
            let yes = |held: bool| if held { "yes" } else { "**no**" };
            let _ = writeln!(
                lines,
                "| {} | {} | {:.1} | {least:.1} | {} | {} |",
                set.name,
                method.label,
                100.0 * summary.mean,
                yes(near),
                order.map_or("", yes)
            );
        }
    }
    if all == 0 {
        return;
    }
    let heading = format!("{}: agreement", recipe.title);
    let _ = write!(
        text,
        "\n### {heading}\n\nOn the sets whose data are the paper's: is our mean not below the paper's by more than one of its standard deviations, \
         and do STL and FMTL keep their order?\n\n| set | method | ours | at least | near | same order |\n|---|---|---|---|---|---|\n{lines}"
    );
    if !recipe.exceptions.is_empty() {
        let _ = write!(text, "\n{}", recipe.exceptions);
    }
    let _ = writeln!(
        short,
        "- {}: [agreement](#{}) with the paper on the data it has, {held} of {all} figures.",
        recipe.title,
        anchor(&heading)
    );
}

/// Ours against each rival, set by set and on average.
fn gains(recipe: &Recipe, records: &[Record], text: &mut String, short: &mut String) -> Vec<Difference> {
    let rivals: Vec<&str> =
        recipe.methods.iter().map(|m| m.label.as_str()).filter(|label| !label.starts_with(OURS)).collect();
    let ours: Vec<&str> =
        recipe.methods.iter().map(|m| m.label.as_str()).filter(|label| label.starts_with(OURS)).collect();
    let sets: Vec<&str> = recipe
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
    let heading = format!("{}: gains", recipe.title);
    let _ = write!(
        text,
        "\n### {heading}\n\nMean difference split by split, with its standard error; on average over the sets with more than one split, the error of that average.\n"
    );
    for own in &ours {
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
            if own == &ours[0] && found.iter().all(|d| d.n > 1) {
                let verdict = match mean / error {
                    r if r > 2.0 => "beats",
                    r if r < -2.0 => "**loses to**",
                    _ => "cannot be told from",
                };
                let _ = writeln!(
                    short,
                    "- {}: on [average](#{}) over {} sets {own} {verdict} {rival}: {:+.2} ± {:.2}.",
                    recipe.title,
                    anchor(&heading),
                    found.len(),
                    100.0 * mean,
                    100.0 * error
                );
            }
        }
    }
    differences
}
