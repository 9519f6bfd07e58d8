//! Does joining help, and whom?

use super::kin::brief;
use super::results::Comparison;
use super::{Sources, Subject, metric_name};
use kinfolk_report::plot::{Dot, Intervals};
use serde::Serialize;

/// Names in a sentence.
const MOST_NAMES: usize = 6;

#[derive(Serialize)]
pub(super) struct Gains {
    pub(super) heading: String,
    sentences: Vec<String>,
    picture: Option<String>,
    hint: Option<String>,
}

pub(super) fn gains(sources: &Sources<'_>, subject: &Subject) -> Gains {
    let Some((results, comparison)) =
        subject.results.as_ref().and_then(|results| Some((results, results.against_alone()?)))
    else {
        let model = sources.model.display();
        return Gains {
            heading: "Does joining help?".into(),
            sentences: vec![],
            picture: None,
            hint: Some(format!(
                "Answered by cross-validation against independent tasks: kinfolk select DATA --compare --results results.json \
                 -o {model}, then kinfolk report {model} DATA --select results.json."
            )),
        };
    };
    let name = |t: usize| subject.fitted.model().tasks().name(t);
    let dots = comparison.per_task.iter().zip(&comparison.per_task_standard_error).enumerate();
    let dots = dots.filter_map(|(t, (gain, error))| {
        let value = (*gain)?;
        let range = error.map(|error| (value - 2.0 * error, value + 2.0 * error));
        Some(Dot { name: name(t), value, range })
    });
    let metric = metric_name(results.metric);
    let picture = Intervals {
        title: "Gain of each task by joining, with intervals over folds".into(),
        label: match results.metric.higher_is_better() {
            true => format!("gain in {metric} over each task alone"),
            false => format!("reduction of {metric} against each task alone"),
        },
        dots: dots.collect(),
    };
    Gains {
        heading: heading(comparison),
        sentences: sentences(comparison, results.folds, metric, name),
        picture: Some(picture.to_svg()),
        hint: None,
    }
}

/// What is to be said in a line: nobody is told of help that may be noise.
fn heading(comparison: &Comparison) -> String {
    let scored = comparison.per_task.iter().flatten().count();
    let better = comparison.per_task.iter().flatten().filter(|gain| **gain > 0.0).count();
    let tasks = if scored == 1 { "task" } else { "tasks" };
    match verdict(comparison) {
        Verdict::Better => format!("Joining helped {better} of {scored} {tasks}"),
        Verdict::Unsure => format!("Joining made no sure difference: {better} of {scored} {tasks} gained"),
        Verdict::Worse => format!("Joining hurt: {better} of {scored} {tasks} gained"),
    }
}

enum Verdict {
    Better,
    Unsure,
    Worse,
}

/// Whether the mean gain is beyond twice its standard error.
fn verdict(comparison: &Comparison) -> Verdict {
    let (gain, error) = (comparison.gain.unwrap_or(0.0), comparison.standard_error.unwrap_or(0.0));
    match () {
        () if gain.abs() <= 2.0 * error => Verdict::Unsure,
        () if gain > 0.0 => Verdict::Better,
        () => Verdict::Worse,
    }
}

fn sentences(
    comparison: &Comparison,
    folds: usize,
    metric: &str,
    name: impl Fn(usize) -> String,
) -> Vec<String> {
    let (gain, error) = (comparison.gain.unwrap_or(0.0), comparison.standard_error.unwrap_or(0.0));
    let verdict = match verdict(comparison) {
        Verdict::Better => "better",
        Verdict::Unsure => "no difference beyond noise",
        Verdict::Worse => "worse",
    };
    let list = |tasks: &[usize]| {
        let named: Vec<String> = tasks.iter().take(MOST_NAMES).map(|&t| brief(&name(t))).collect();
        let more = tasks.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", named.join(", "))
    };
    let beyond = |what: &str, tasks: &[usize]| match tasks.len() {
        0 => format!("Nobody was {what} beyond noise."),
        n => format!("Beyond noise {what}: {n} ({}).", list(tasks)),
    };
    vec![
        format!(
            "{} against each task alone, on the same {folds} folds: {gain:+.4} in {metric} on average (standard error {error:.4}), \
             {verdict}.",
            comparison.method
        ),
        format!("{} {}", beyond("helped", &comparison.helped), beyond("hurt", &comparison.hurt)),
        "Dots are means over folds, whiskers two standard errors to either side; grey ones may go either way.".into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heading_does_not_claim_what_may_be_noise() {
        let with = |gain: f64| Comparison {
            method: "fmtl".into(),
            baseline: "stl".into(),
            gain: Some(gain),
            standard_error: Some(0.1),
            per_task: vec![Some(1.0), Some(-1.0), None],
            per_task_standard_error: vec![None; 3],
            hurt: vec![],
            helped: vec![],
        };
        assert_eq!(heading(&with(0.5)), "Joining helped 1 of 2 tasks");
        assert_eq!(heading(&with(0.1)), "Joining made no sure difference: 1 of 2 tasks gained");
        assert_eq!(heading(&with(-0.5)), "Joining hurt: 1 of 2 tasks gained");
    }
}
