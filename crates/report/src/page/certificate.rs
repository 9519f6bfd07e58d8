//! Section "Certificate": how far the model can be from the optimum, and how the fit got there.

use super::data_check::{DataCheck, Recheck};
use super::inputs::ReportInputs;
use crate::plot::{Bars, Curve, CurvePoint, Lines, PlotAxis};
use crate::text::{number, plural};
use kinfolk::solver::TracePoint;
use kinfolk::{Certificate, Claim};
use serde::Serialize;

/// Tasks whose part of the gap is drawn.
const MAX_DRAWN_TASKS: usize = 12;
/// If the parts of single tasks make up less than this share of the gap, they are not shown.
pub(super) const MIN_TASK_SHARE: f64 = 0.01;
/// The objective of the last step of a trace and of the model may differ by this share: a fit can end with a last
/// improvement after the last step.
const TRACE_END_TOLERANCE: f64 = 1e-4;
/// Smaller shares of the objective are rounded up to this.
const SMALLEST_SHARE: f64 = 1e-5;

#[derive(Serialize)]
pub(super) struct CertificateSection {
    pub(super) heading: String,
    sentence: String,
    remark: Option<String>,
    numbers: [(&'static str, String); 4],
    rechecks: Vec<String>,
    curves: Vec<String>,
    task_bars: Option<String>,
    task_sentence: Option<String>,
    hints: Vec<String>,
}

pub(super) fn section(inputs: &ReportInputs<'_>) -> CertificateSection {
    let certificate = inputs.model.certificate();
    let gap = certificate.rel_gap();
    let tolerance = inputs.spec.map(|spec| spec.tol);
    let (heading, sentence) = statement(certificate.rel_error(), inputs.model.claim(), tolerance);
    let remark = inputs.model.remark();
    let (task_bars, task_sentence) = by_task(certificate, |t| inputs.model.tasks().name(t));
    CertificateSection {
        heading,
        sentence,
        remark: remark.map(|remark| format!("From the method itself, not checked: {remark}.")),
        numbers: [
            ("Objective of this model", number(certificate.primal, 8)),
            ("No model can be below", number(certificate.dual, 8)),
            ("Gap between the two", number(certificate.gap, 3)),
            ("Relative gap", number(gap, 3)),
        ],
        rechecks: inputs.data.iter().map(recheck_sentence).collect(),
        curves: gap_curves(&inputs.trace, tolerance),
        task_bars,
        task_sentence,
        hints: hints(inputs),
    }
}

/// Heading and sentence: what the certificate proves, and nothing else.
fn statement(gap: f64, claim: Option<&Claim>, tolerance: Option<f64>) -> (String, String) {
    if !gap.is_finite() {
        let sentence = "The lower bound is not finite: nothing is known about how good this model is.";
        return ("No proof".into(), sentence.into());
    }
    let most = percent(gap);
    let missed = tolerance.filter(|tolerance| gap > *tolerance);
    let (proved, optimum, bound) = match claim {
        Some(Claim::Optimal) => (
            format!("Proved: within {most} of the optimum"),
            "the optimum".to_string(),
            format!("No model of this kind can be better than this one by more than {most}."),
        ),
        Some(Claim::Given(given)) => (
            format!("Optimal given {given}: within {most}"),
            format!("the optimum given {given}"),
            format!(
                "A search found {given}, and may have missed a better choice. Given {given}, no model can be better \
                 than this one by more than {most}."
            ),
        ),
        None => (
            format!("Within {most} of the optimum of the stored problem"),
            "the optimum of the stored problem".to_string(),
            format!(
                "For the problem in the model file, no model can be better than this one by more than {most}. The file \
                 does not say whether that is the whole problem of the method."
            ),
        ),
    };
    match missed {
        None => (proved, bound),
        Some(tolerance) => (
            format!("Not certified: up to {most} from {optimum}"),
            format!("{bound} The fit ended before it reached the {} that was asked for.", percent(tolerance)),
        ),
    }
}

fn hints(inputs: &ReportInputs<'_>) -> Vec<String> {
    let mut hints = vec![];
    let objective = inputs.model.certificate().primal;
    match inputs.trace.last() {
        None => hints.push(inputs.made_by.trace()),
        Some(last) if !near(last.primal, objective) => hints.push(format!(
            "The trace ends at objective {}, but this model has {}: it may be the trace of another fit.",
            number(last.primal, 8),
            number(objective, 8)
        )),
        Some(_) => {}
    }
    if inputs.training_data().is_none() {
        hints.push(inputs.made_by.recheck());
    }
    hints
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= TRACE_END_TOLERANCE * a.abs().max(b.abs())
}

/// A share in percent with two digits, such as `0.031 %`. Rounded up, since a gap is an upper bound.
fn percent(share: f64) -> String {
    if share == 0.0 || !share.is_finite() {
        return format!("{} %", 100.0 * share);
    }
    let percent = 100.0 * share.abs().max(SMALLEST_SHARE);
    let digit = 10f64.powf(percent.log10().floor() - 1.0);
    format!("{} %", number((percent / digit - 1e-9).ceil() * digit, 2))
}

fn recheck_sentence(data: &DataCheck) -> String {
    let file = data.path.display();
    match &data.recheck {
        Recheck::Agrees(found) => format!(
            "Recomputed from {file} and the duals in the model while this page was written: objective {}, bound {}. \
             They agree.",
            number(found.primal, 8),
            number(found.dual, 8)
        ),
        Recheck::Differs => format!(
            "{file} has as many rows as the data of the fit, but the certificate recomputed from it differs: either \
             these are other data, or the model file is wrong."
        ),
        Recheck::NoDuals => "The model has no duals: its certificate cannot be recomputed.".into(),
        Recheck::OtherData => format!(
            "{file} ({}) is not the data of the fit; it says nothing about the gap.",
            plural(data.n_rows, "row")
        ),
    }
}

/// The relative gap over passes and over seconds.
fn gap_curves(trace: &[TracePoint], tolerance: Option<f64>) -> Vec<String> {
    if trace.is_empty() {
        return vec![];
    }
    let curve = |label: &str, x: &dyn Fn(&TracePoint) -> f64| {
        let point = |step: &TracePoint| CurvePoint { x: x(step), y: step.rel_gap(), range: None };
        let lines = Lines {
            title: format!("Relative gap over {label}"),
            x: PlotAxis::linear(label),
            y: PlotAxis::log("relative gap"),
            curves: vec![Curve { name: "relative gap".into(), points: trace.iter().map(point).collect() }],
            levels: tolerance.map(|tolerance| (tolerance, "tolerance".into())).into_iter().collect(),
            marks: vec![],
        };
        lines.to_svg()
    };
    vec![curve("passes", &|step| step.passes as f64), curve("seconds", &|step| step.seconds)]
}

/// The tasks that most of the gap comes from: a picture and a sentence.
fn by_task(certificate: &Certificate, name: impl Fn(usize) -> String) -> (Option<String>, Option<String>) {
    let (gaps, gap) = (&certificate.task_gaps, certificate.gap);
    let total: f64 = gaps.iter().sum();
    if gaps.len() < 2 || !total.is_finite() || gap == 0.0 {
        return (None, None);
    }
    if total < MIN_TASK_SHARE * gap {
        let sentence = format!(
            "Less than {} of the gap comes from single tasks; the rest comes from the term that couples them.",
            percent(MIN_TASK_SHARE)
        );
        return (None, Some(sentence));
    }
    let mut order: Vec<usize> = (0..gaps.len()).collect();
    order.sort_by(|&a, &b| gaps[b].total_cmp(&gaps[a]));
    let shown = &order[..order.len().min(MAX_DRAWN_TASKS)];
    let share: f64 = shown.iter().map(|&t| gaps[t]).sum::<f64>() / total;
    let rest =
        if total < 0.999 * gap { " The rest of the gap comes from the term that couples them." } else { "" };
    let sentence = match shown.len() < gaps.len() {
        true => format!(
            "The {} tasks with the largest parts of the gap make up {} of what comes from single tasks; the table \
             below lists all of them.{rest}",
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
    fn only_a_small_gap_of_the_whole_problem_is_called_proved() {
        let heading = |gap, claim, tolerance| statement(gap, claim, tolerance).0;
        let (optimal, given) = (&Claim::Optimal, &Claim::Given("the groups".into()));
        let cases = [
            (1e-4, Some(optimal), "Proved: within 0.01 % of the optimum"),
            (1e-2, Some(optimal), "Not certified: up to 1 % from the optimum"),
            (1e-4, Some(given), "Optimal given the groups: within 0.01 %"),
            (1e-2, Some(given), "Not certified: up to 1 % from the optimum given the groups"),
            (1e-4, None, "Within 0.01 % of the optimum of the stored problem"),
            (f64::INFINITY, Some(optimal), "No proof"),
            (f64::INFINITY, Some(given), "No proof"),
        ];
        cases.iter().for_each(|(gap, claim, text)| assert_eq!(heading(*gap, *claim, Some(1e-3)), *text));
    }
}
