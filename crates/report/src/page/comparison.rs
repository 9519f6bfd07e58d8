//! Section "Does joint learning help?": the method against one model for each task.

use super::inputs::ReportInputs;
use super::metric_name;
use super::theta::short_name;
use crate::plot::{Dot, Intervals};
use kinfolk_train::select::Comparison;
use serde::Serialize;

/// Names of tasks in a sentence.
const MAX_NAMES: usize = 6;

#[derive(Serialize)]
pub(super) struct ComparisonSection {
    pub(super) heading: String,
    sentences: Vec<String>,
    picture: Option<String>,
    hint: Option<String>,
}

pub(super) fn section(inputs: &ReportInputs<'_>) -> ComparisonSection {
    let found = inputs.selection.and_then(|selection| Some((selection, selection.against_independent()?)));
    let Some((selection, comparison)) = found else {
        return ComparisonSection {
            heading: "Does joint learning help?".into(),
            sentences: vec![],
            picture: None,
            hint: Some(inputs.made_by.comparison()),
        };
    };
    let name = |t: usize| inputs.model.tasks().name(t);
    let metric = metric_name(selection.metric);
    let picture = Intervals {
        title: "Gain of each task by joint learning, with intervals over folds".into(),
        label: match selection.metric.higher_is_better() {
            true => format!("gain in {metric} over each task alone"),
            false => format!("reduction of {metric} against each task alone"),
        },
        dots: dots(comparison, &name),
    };
    ComparisonSection {
        heading: heading(comparison),
        sentences: sentences(comparison, selection.folds, &metric, &name),
        picture: Some(picture.to_svg()),
        hint: None,
    }
}

/// The gain of each task, two standard errors to either side.
fn dots(comparison: &Comparison, name: &impl Fn(usize) -> String) -> Vec<Dot> {
    let gains = comparison.per_task.iter().zip(&comparison.per_task_standard_error).enumerate();
    let dot = |(t, (gain, error)): (usize, (&Option<f64>, &Option<f64>))| {
        let value = (*gain)?;
        let range = error.map(|error| (value - 2.0 * error, value + 2.0 * error));
        let few = if comparison.few_labels.contains(&t) { " (few labels)" } else { "" };
        Some(Dot { name: name(t) + few, value, range })
    };
    gains.filter_map(dot).collect()
}

/// One line that claims no effect which may be noise.
fn heading(comparison: &Comparison) -> String {
    let scored = comparison.per_task.iter().flatten().count();
    let better = comparison.per_task.iter().flatten().filter(|gain| **gain > 0.0).count();
    let tasks = if scored == 1 { "task" } else { "tasks" };
    let gained = format!("{better} of {scored} {tasks} gained, {} beyond noise", comparison.helped.len());
    match (Effect::of(comparison), comparison.helped.len()) {
        (Effect::Better, 0) => "Joint learning helped on average, but no single task beyond noise".into(),
        (Effect::Better, helped) => {
            format!("Joint learning helped {helped} of {scored} {tasks} beyond noise")
        }
        (Effect::Unclear, _) => format!("Joint learning made no clear difference: {gained}"),
        (Effect::Worse, _) => format!("Joint learning hurt: {gained}"),
    }
}

/// Whether the mean gain is more than twice its standard error.
enum Effect {
    Better,
    Unclear,
    Worse,
}

impl Effect {
    fn of(comparison: &Comparison) -> Effect {
        let (gain, error) = (comparison.gain, comparison.standard_error);
        // Also unclear if one of them is not a number.
        match () {
            () if gain > 2.0 * error => Effect::Better,
            () if gain < -2.0 * error => Effect::Worse,
            () => Effect::Unclear,
        }
    }
}

fn sentences(
    comparison: &Comparison,
    folds: usize,
    metric: &str,
    name: &impl Fn(usize) -> String,
) -> Vec<String> {
    let (gain, error) = (comparison.gain, comparison.standard_error);
    let effect = match Effect::of(comparison) {
        Effect::Better => "better",
        Effect::Unclear => "no difference beyond noise",
        Effect::Worse => "worse",
    };
    let list = |tasks: &[usize]| {
        let named: Vec<String> = tasks.iter().take(MAX_NAMES).map(|&t| short_name(&name(t))).collect();
        let more = tasks.len().saturating_sub(MAX_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", named.join(", "))
    };
    let beyond_noise = |what: &str, tasks: &[usize]| match tasks.len() {
        0 => format!("No task was {what} beyond noise."),
        n => format!("Tasks {what} beyond noise: {n} ({}).", list(tasks)),
    };
    let without = comparison.gain_of_others.map_or(String::new(), |gain| {
        format!(" Without tasks that have few labels ({}) it is {gain:+.4}.", list(&comparison.few_labels))
    });
    vec![
        format!(
            "{} against each task alone, on the same {folds} folds: {gain:+.4} in {metric} on average (standard error \
             {error:.4}), {effect}.{without}",
            comparison.method
        ),
        format!("{} {}", beyond_noise("helped", &comparison.helped), beyond_noise("hurt", &comparison.hurt)),
        "Dots are means over folds, bars reach two standard errors to either side. Grey dots may be noise: their bar \
         contains zero, or there are too few folds for a bar."
            .into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_gain(gain: f64) -> Comparison {
        Comparison {
            method: "fmtl".into(),
            baseline: "stl".into(),
            gain,
            standard_error: 0.1,
            per_task: vec![Some(1.0), Some(-1.0), None],
            per_task_standard_error: vec![Some(0.1), None, None],
            hurt: vec![],
            helped: vec![0],
            few_labels: vec![],
            gain_of_others: None,
        }
    }

    #[test]
    fn the_heading_does_not_claim_what_may_be_noise() {
        assert_eq!(heading(&with_gain(0.5)), "Joint learning helped 1 of 2 tasks beyond noise");
        let noise = Comparison { helped: vec![], ..with_gain(0.5) };
        assert_eq!(heading(&noise), "Joint learning helped on average, but no single task beyond noise");
        let unclear = "Joint learning made no clear difference: 1 of 2 tasks gained, 1 beyond noise";
        assert_eq!(heading(&with_gain(0.1)), unclear);
        assert_eq!(heading(&with_gain(f64::NAN)), unclear);
        assert_eq!(heading(&with_gain(-0.5)), "Joint learning hurt: 1 of 2 tasks gained, 1 beyond noise");
    }
}
