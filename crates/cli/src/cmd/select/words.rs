//! What a selection says.

use crate::results::Told;
use crate::text::{Grid, number, seconds};
use kinfolk::Claim;
use kinfolk_train::Point;
use kinfolk_train::select::{Candidate, Row, Scored};

/// A remark if the winner is the first or the last of its points.
pub(super) fn at_the_edge(winner: &Row, candidate: &Candidate) -> Option<String> {
    let place = candidate.points.iter().position(|point| *point == winner.point)?;
    let end = match place {
        _ if candidate.points.len() < 2 => return None,
        0 => "first",
        _ if place + 1 == candidate.points.len() => "last",
        _ => return None,
    };
    Some(format!("the best point is the {end} of the grid: a wider --grid may find a better one"))
}

pub(super) fn text(told: &Told<'_>, all: bool) -> String {
    let selection = told.selection;
    let metric = format!(">{}", selection.metric);
    let heads = ["", "method", "parameters", ">strength", ">C", &metric, ">+-", ">gap", ">time"];
    let mut grid = Grid::new(&heads);
    for (i, row) in selection.rows.iter().enumerate() {
        let best = selection.best.contains(&i);
        let mark = match best {
            _ if i == selection.winner => "**",
            true => "*",
            false => "",
        };
        if best || all {
            grid.row(cells(mark, row));
        }
    }
    let score = match told.scored {
        Scored::ByFold => "mean and standard deviation over folds",
        Scored::Together => "score of the rows of all folds together, standard deviation over folds",
    };
    let mut out = format!("{grid}\n** the winner, * the best of its method; {score}\n");
    let open: usize = selection.rows.iter().map(|row| row.uncertified).sum();
    if open > 0 {
        out += &format!(
            "{open} fits ended at a limit before their tolerance; gap is the worst of each setting\n"
        );
    }
    told.verdicts.iter().for_each(|verdict| out += &format!("{}\n", verdict.words));
    if let (Some((_, fit)), Some(model)) = (told.fit, told.model) {
        let given = fit.model.claim().and_then(Claim::given);
        let given = given.map_or(String::new(), |given| format!(" given {given}"));
        let gap = fit.certificate().rel_gap();
        out += &format!(
            "the winner on all rows: {}{given}, relative gap {gap:.1e}, {}\n",
            fit.status(),
            model.display()
        );
    }
    out
}

fn cells(mark: &str, row: &Row) -> [String; 9] {
    let strength = match row.point {
        Point::Strength(g) => number(g, 3),
        Point::C(_) => "-".into(),
    };
    let gap = row.rel_gap.map_or("none".into(), |gap| format!("{gap:.0e}"));
    [
        mark.to_string(),
        row.method.to_string(),
        row.params.to_string(),
        strength,
        number(row.c, 3),
        format!("{:.4}", row.score),
        format!("{:.4}", row.sd),
        gap,
        seconds(row.seconds),
    ]
}
