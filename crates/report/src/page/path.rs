//! Section "Path": score and gap along the values of C.

use super::inputs::ReportInputs;
use super::metric_name;
use crate::plot::{Curve, CurvePoint, Lines, PlotAxis};
use crate::text::{number, score};
use kinfolk_train::Weight;
use kinfolk_train::select::{Row, SelectionResults};
use serde::Serialize;

/// Smaller gaps are drawn as this one: a logarithmic axis has no zero.
const SMALLEST_DRAWN_GAP: f64 = 1e-9;

#[derive(Serialize)]
pub(super) struct PathSection {
    heading: String,
    sentence: Option<String>,
    pictures: Vec<String>,
    hint: Option<String>,
}

pub(super) fn section(inputs: &ReportInputs<'_>) -> PathSection {
    let found = inputs.selection.and_then(|selection| Some((selection, selection.chosen()?)));
    let Some((selection, chosen)) = found else {
        return PathSection {
            heading: "How large should C be?".into(),
            sentence: None,
            pictures: vec![],
            hint: Some(inputs.made_by.path()),
        };
    };
    let chosen = &chosen.row;
    // A strength is another C on the rows of the folds than on all rows.
    let best = match chosen.weight.strength() {
        Some(strength) => format!("strength {}", number(strength, 4)),
        None => format!("C = {}", number(chosen.c, 4)),
    };
    let metric = metric_name(selection.metric);
    let value = score(chosen.score);
    PathSection {
        heading: format!("Best at {best}: {metric} {value}"),
        sentence: Some(format!(
            "{} settings on the same {} folds; bars are standard deviations over folds. The dashed line marks what was \
             chosen for {}.",
            selection.rows.len(),
            selection.folds,
            chosen.method.brief()
        )),
        pictures: pictures(selection, chosen),
        hint: None,
    }
}

/// The score, and the gap.
fn pictures(selection: &SelectionResults, chosen: &Row) -> Vec<String> {
    // Strengths are comparable between methods, values of C are not.
    let by_strength = selection.rows.iter().all(|row| row.weight.strength().is_some());
    let label = if by_strength { "strength of C (1 is the middle of the useful range)" } else { "C" };
    let lines = |title: &str, y: PlotAxis, point: &dyn Fn(&Row) -> Option<CurvePoint>| {
        let lines = Lines {
            title: title.into(),
            x: PlotAxis::log(label),
            y,
            curves: curves(selection, point),
            levels: vec![],
            marks: vec![(place(chosen), "chosen".into())],
        };
        lines.to_svg()
    };
    let score = |row: &Row| {
        let (y, sd) = (row.score, row.sd);
        (!y.is_nan()).then(|| CurvePoint {
            x: place(row),
            y,
            range: sd.is_finite().then_some((y - sd, y + sd)),
        })
    };
    let gap =
        |row: &Row| Some(CurvePoint { x: place(row), y: row.rel_gap?.max(SMALLEST_DRAWN_GAP), range: None });
    let cross_validated = format!("{}, cross-validated", metric_name(selection.metric));
    vec![
        lines("Score along C", PlotAxis::linear(cross_validated), &score),
        lines("Gap along C", PlotAxis::log("largest relative gap of the folds"), &gap),
    ]
}

/// Where a setting stands on the axis.
fn place(row: &Row) -> f64 {
    match row.weight {
        Weight::Relative(x) | Weight::C(x) => x,
        Weight::Auto => row.c,
    }
}

/// One curve for each method with its parameters, in the order of the results; without those that have no point.
fn curves(selection: &SelectionResults, point: &dyn Fn(&Row) -> Option<CurvePoint>) -> Vec<Curve> {
    let mut curves: Vec<Curve> = vec![];
    for row in &selection.rows {
        let Some(point) = point(row) else { continue };
        let name = row.method.brief();
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, points: vec![point] }),
        }
    }
    curves
}
