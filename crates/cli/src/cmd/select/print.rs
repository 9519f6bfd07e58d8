//! What `kinfolk select` prints.

use crate::text::{Grid, number, seconds};
use kinfolk::{CertificateSummary, Claim};
use kinfolk_train::select::{Refit, Row, Scored, SelectionResults};

pub(super) fn text(results: &SelectionResults, all: bool) -> String {
    let metric = format!(">{}", results.metric);
    let has_kernels = results.rows.iter().any(|row| row.kernel.is_some());
    let mut heads = vec!["", "method", ">strength", ">C", &metric, ">+-", ">gap", ">time"];
    if has_kernels {
        heads.insert(2, "kernel");
    }
    let mut grid = Grid::new(&heads);
    for row in &results.rows {
        let same = |other: &Row| {
            (&other.method, &other.kernel, other.weight) == (&row.method, &row.kernel, row.weight)
        };
        let best = results.best.iter().any(|best| same(&best.row));
        let mark = match best {
            _ if same(&results.winner) => "**",
            true => "*",
            false => "",
        };
        if best || all {
            let mut cells = cells(mark, row).to_vec();
            if has_kernels {
                cells.insert(2, row.kernel.as_ref().map_or("-".into(), ToString::to_string));
            }
            grid.row(cells);
        }
    }
    let score = match results.scored {
        Scored::ByFold => "mean and standard deviation over folds",
        Scored::Together => "score of the rows of all folds together, standard deviation over folds",
    };
    let mut out = format!("{grid}\n** the winner, * the best of its method; {score}\n");
    if let Some(by) = &results.folds_by {
        out += &format!("{} folds by {by}\n", results.folds);
    }
    let open: usize = results.rows.iter().map(|row| row.uncertified).sum();
    if open > 0 {
        out += &format!(
            "{open} fits ended at a limit before their tolerance; gap is the worst of each setting\n"
        );
    }
    results.comparisons.iter().for_each(|verdict| out += &format!("{}\n", verdict.words));
    if let (Some(fit), Some(model)) = (&results.fit, &results.model) {
        out += &format!("the winner on all rows: {}, {}\n", certainty(fit), model.display());
    }
    out
}

fn certainty(fit: &Refit) -> String {
    let CertificateSummary { claim, status, rel_gap, .. } = &fit.certificate;
    let given =
        claim.as_ref().and_then(Claim::given).map_or(String::new(), |given| format!(" given {given}"));
    let status = status.map_or(String::new(), |status| status.to_string());
    format!("{status}{given}, relative gap {rel_gap:.1e}")
}

fn cells(mark: &str, row: &Row) -> [String; 8] {
    let strength = row.weight.strength().map_or("-".into(), |strength| number(strength, 3));
    let gap = row.rel_gap.map_or("none".into(), |gap| format!("{gap:.0e}"));
    [
        mark.to_string(),
        row.method.brief(),
        strength,
        number(row.c, 3),
        format!("{:.4}", row.score),
        if row.sd.is_nan() { "-".into() } else { format!("{:.4}", row.sd) },
        gap,
        seconds(row.seconds),
    ]
}
