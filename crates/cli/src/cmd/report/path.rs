//! Score and gap along the values of C.

use super::metric_name;
use super::results::{Results, Setting};
use crate::text::{number, score};
use kinfolk_report::plot::{Axis, Lines, Point, Series};
use kinfolk_train::Point as Place;
use serde::Serialize;

/// Smaller gaps are drawn as this: a gap of zero has no place on a logarithmic axis, and nobody cares.
const SMALLEST: f64 = 1e-9;

#[derive(Serialize)]
pub(super) struct Path {
    pub(super) heading: String,
    sentence: Option<String>,
    pictures: Vec<String>,
    hint: Option<String>,
}

pub(super) fn path(results: Option<&Results>) -> Path {
    let Some((results, chosen)) = results.and_then(|results| Some((results, results.chosen()?))) else {
        return Path {
            heading: "How strong should C be?".into(),
            sentence: None,
            pictures: vec![],
            hint: Some(
                "Score and gap along C are drawn from what kinfolk select ... --results FILE found.".into(),
            ),
        };
    };
    // Strengths are comparable between methods, values of C are not.
    let by_strength = results.rows.iter().all(|row| matches!(row.point, Place::Strength(_)));
    let x = |row: &Setting| match row.point {
        Place::Strength(g) => g,
        Place::C(c) => c,
    };
    let mut series: Vec<(String, Vec<&Setting>)> = vec![];
    for row in &results.rows {
        let title = row.title();
        match series.iter_mut().find(|(name, _)| *name == title) {
            Some((_, rows)) => rows.push(row),
            None => series.push((title, vec![row])),
        }
    }
    let curves = |point: &dyn Fn(&Setting) -> Option<Point>| -> Vec<Series> {
        let one = |(name, rows): &(String, Vec<&Setting>)| Series {
            name: name.clone(),
            points: rows.iter().filter_map(|row| point(row)).collect(),
        };
        series.iter().map(one).filter(|series| !series.points.is_empty()).collect()
    };
    let label = if by_strength { "strength of C (1 is the middle of the useful range)" } else { "C" };
    let lines = |title: &str, y: Axis, series: Vec<Series>| Lines {
        title: title.into(),
        x: Axis::log(label),
        y,
        series,
        levels: vec![],
        marks: vec![(x(chosen), "chosen".into())],
    };
    let metric = metric_name(results.metric);
    let scored = |row: &Setting| {
        let (y, sd) = (row.mean?, row.sd.unwrap_or(0.0));
        Some(Point { x: x(row), y, range: Some((y - sd, y + sd)) })
    };
    let graded = |row: &Setting| Some(Point { x: x(row), y: row.rel_gap?.max(SMALLEST), range: None });
    let of_score =
        lines("Score along C", Axis::linear(format!("{metric}, cross-validated")), curves(&scored));
    let of_gap = lines("Gap along C", Axis::log("largest relative gap of the folds"), curves(&graded));
    let strength = match chosen.point {
        Place::Strength(g) => format!(" (strength {})", number(g, 3)),
        Place::C(_) => String::new(),
    };
    Path {
        heading: format!(
            "Best at C = {}{strength}: {metric} {}",
            number(chosen.c, 3),
            score(chosen.mean.unwrap_or(f64::NAN))
        ),
        sentence: Some(format!(
            "{} settings on the same {} folds; bars are standard deviations over folds. The dashed line marks what was chosen \
             for {}.",
            results.rows.len(),
            results.folds,
            chosen.title()
        )),
        pictures: vec![of_score.to_svg(), of_gap.to_svg()],
        hint: None,
    }
}
