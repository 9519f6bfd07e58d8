//! How far from the best this model can be, and how it got there.

use super::evidence::Recheck;
use super::{Sources, Subject};
use crate::text::{number, plural};
use crate::trace::Step;
use kinfolk::Claim;
use kinfolk_report::plot::{Axis, Bars, Lines, Point, Series};
use serde::Serialize;

/// Tasks whose part of the gap is drawn.
const MOST_TASKS: usize = 12;
/// Below this share of the gap it is not worth telling which tasks it comes from.
pub(super) const LEAST_SHARE: f64 = 0.01;

#[derive(Serialize)]
pub(super) struct Proof {
    pub(super) heading: String,
    pub(super) sentence: String,
    remark: Option<String>,
    numbers: [(&'static str, String); 4],
    rechecks: Vec<String>,
    curves: Vec<String>,
    task_gaps: Option<String>,
    task_sentence: Option<String>,
    pub(super) hints: Vec<String>,
}

pub(super) fn proof(sources: &Sources<'_>, subject: &Subject) -> Proof {
    let model = subject.fitted.model();
    let certificate = model.certificate();
    let notes = subject.fitted.fitted().map(|fitted| &fitted.fit);
    let gap = certificate.rel_gap();
    let tolerance = notes.map(|notes| notes.tol);
    let (heading, sentence) = words(gap, model.claim(), tolerance);
    let mut hints = vec![];
    if subject.trace.is_empty() {
        hints.push(
            "How the gap closed, over passes and seconds, is drawn if the fit wrote it down: kinfolk fit ... --trace FILE, \
             then kinfolk report ... --trace FILE."
                .into(),
        );
    }
    if let Some(last) = subject.trace.last().filter(|last| !near(last.primal, certificate.primal)) {
        hints.push(format!(
            "The trace ends at objective {}, and this model has {}: it may be that of another fit.",
            number(last.primal, 8),
            number(certificate.primal, 8)
        ));
    }
    if !subject.evidence.iter().any(|evidence| evidence.is_training()) {
        let model = sources.model.display();
        hints.push(format!(
            "The certificate is recomputed here if the data of the fit are given: kinfolk report {model} DATA."
        ));
    }
    let gaps: Vec<f64> = certificate.task_gaps.clone();
    let (task_gaps, task_sentence) = by_task(&gaps, certificate.gap, |t| model.tasks().name(t));
    Proof {
        heading,
        sentence,
        remark: model.remark().map(|remark| format!("From the method itself, not checked: {remark}.")),
        numbers: [
            ("Objective of this model", number(certificate.primal, 8)),
            ("No model can be below", number(certificate.dual, 8)),
            ("Gap between the two", number(certificate.gap, 3)),
            ("Relative gap", number(gap, 3)),
        ],
        rechecks: subject.evidence.iter().map(recheck).collect(),
        curves: curves(&subject.trace, tolerance),
        task_gaps,
        task_sentence,
        hints,
    }
}

/// The same but for rounding, or for a last polish after the last step.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-4 * a.abs().max(b.abs())
}

/// A share as people say it, not below the truth: `0.031 %`. Whatever is smaller than a hundred thousandth is as good as that.
fn percent(share: f64) -> String {
    if share == 0.0 || !share.is_finite() {
        return format!("{} %", 100.0 * share);
    }
    let percent = 100.0 * share.abs().max(1e-5);
    // Two digits, rounded up: what is proved is an upper bound.
    let size = 10f64.powf(percent.log10().floor() - 1.0);
    format!("{} %", number((percent / size - 1e-9).ceil() * size, 2))
}

fn words(gap: f64, claim: Option<&Claim>, tolerance: Option<f64>) -> (String, String) {
    let most = percent(gap);
    if !gap.is_finite() {
        return (
            "No proof".into(),
            "The lower bound is not finite: nothing is known about how good this is.".into(),
        );
    }
    if let Some(Claim::Given(what)) = claim {
        return (
            format!("No proof beyond {what}"),
            format!(
                "A search found {what}; it may have missed better ones. No model with the same can be better than this \
                 one by more than {most}."
            ),
        );
    }
    let sentence = format!("No model of this kind can be better than this one by more than {most}.");
    match tolerance {
        Some(tolerance) if gap > tolerance => (
            format!("Not settled: up to {most} from the best there is"),
            format!("{sentence} The fit ended before the {} it was asked for.", percent(tolerance)),
        ),
        _ => (format!("Proved: within {most} of the best there is"), sentence),
    }
}

fn recheck(evidence: &super::Evidence) -> String {
    let file = evidence.path.display();
    match &evidence.recheck {
        Recheck::Agrees(found) => format!(
            "Recomputed from {file} and the stored duals while this page was written: objective {}, bound {}. They agree.",
            number(found.primal, 8),
            number(found.dual, 8)
        ),
        Recheck::Differs => format!(
            "{file} has as many rows as the data of the fit, but the certificate recomputed from it is another: these are \
             other data, or the model file says what is not true."
        ),
        Recheck::NoDuals => "The model holds no duals: its certificate cannot be recomputed.".into(),
        Recheck::Other => {
            format!(
                "{file} ({}) is not the data of the fit; it says nothing about the gap.",
                plural(evidence.n_rows, "row")
            )
        }
    }
}

/// The relative gap over passes and over seconds.
fn curves(trace: &[Step], tolerance: Option<f64>) -> Vec<String> {
    if trace.is_empty() {
        return vec![];
    }
    let curve = |label: &str, x: &dyn Fn(&Step) -> f64| {
        let point = |step: &Step| Point { x: x(step), y: step.rel_gap(), range: None };
        let lines = Lines {
            title: format!("Relative gap over {label}"),
            x: Axis::linear(label),
            y: Axis::log("relative gap"),
            series: vec![Series { name: "relative gap".into(), points: trace.iter().map(point).collect() }],
            levels: tolerance.map(|tolerance| (tolerance, "tolerance".into())).into_iter().collect(),
            marks: vec![],
        };
        lines.to_svg()
    };
    vec![curve("passes", &|step| step.passes as f64), curve("seconds", &|step| step.seconds)]
}

/// The tasks that most of the gap comes from.
fn by_task(gaps: &[f64], gap: f64, name: impl Fn(usize) -> String) -> (Option<String>, Option<String>) {
    let total: f64 = gaps.iter().sum();
    if gaps.len() < 2 || !total.is_finite() || gap == 0.0 {
        return (None, None);
    }
    if total < LEAST_SHARE * gap {
        return (None, Some("Hardly any of the gap comes from single tasks: it is left in how Theta and they go together.".into()));
    }
    let mut order: Vec<usize> = (0..gaps.len()).collect();
    order.sort_by(|&a, &b| gaps[b].total_cmp(&gaps[a]));
    let shown = &order[..order.len().min(MOST_TASKS)];
    let share: f64 = shown.iter().map(|&t| gaps[t]).sum::<f64>() / total;
    let rest = if total < 0.999 * gap { " The rest of the gap belongs to no single task." } else { "" };
    let sentence = match shown.len() < gaps.len() {
        true => format!(
            "The {} tasks with the largest part of the gap have {} of what comes from tasks; the table below has all of \
             them.{rest}",
            shown.len(),
            percent(share)
        ),
        false => format!("Which tasks the gap comes from.{rest}"),
    };
    let bars = Bars {
        title: "Part of the gap that comes from each task".into(),
        label: "part of the gap, in units of the objective".into(),
        bars: shown.iter().map(|&t| (name(t), gaps[t])).collect(),
    };
    (Some(bars.to_svg()), Some(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_up() {
        let cases = [(3.01e-4, "0.031 %"), (0.05, "5 %"), (1.0, "100 %"), (0.0, "0 %"), (9.99e-8, "0.001 %")];
        cases.iter().for_each(|(share, text)| assert_eq!(percent(*share), *text));
    }

    #[test]
    fn what_is_not_proved_is_not_called_so() {
        assert!(words(1e-4, None, Some(1e-3)).0.starts_with("Proved: within 0.01 %"));
        assert!(words(1e-2, None, Some(1e-3)).0.starts_with("Not settled"));
        let given = Claim::Given("the groups".into());
        assert!(words(1e-4, Some(&given), Some(1e-3)).0.starts_with("No proof"));
        assert!(words(f64::INFINITY, None, None).0.starts_with("No proof"));
    }
}
