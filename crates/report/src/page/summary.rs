//! Section "What was fitted": names and values.

use super::inputs::{FitOptions, ReportInputs};
use super::metric_name;
use crate::text::{count, number, plural};
use kinfolk::{Losses, RegularizerKind, TargetScale};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct SummaryLine {
    name: &'static str,
    value: String,
}

pub(super) fn lines(inputs: &ReportInputs<'_>) -> Vec<SummaryLine> {
    let mut lines = vec![];
    let mut add = |name: &'static str, value: String| lines.push(SummaryLine { name, value });
    let about = inputs.model.about();
    let sizes = [(about.n_inputs, "row"), (about.n_features, "feature"), (about.tasks.len(), "task")];
    let sizes = sizes.map(|(n, what)| plural(n, what)).join(", ");
    add("Data", format!("{sizes}, {}", plural(about.n_observations, "label")));
    if let Some(training) = inputs.training_data() {
        add("Read from", training.path.display().to_string());
    }
    let fit = inputs.fit.as_ref();
    add("Method", method(fit));
    add("Loss", loss(&about.problem.loss, fit));
    add("Regulariser", regularizer(&about.problem.output));
    let rule = fit.and_then(|fit| fit.c_rule.as_ref()).map_or(String::new(), |rule| format!(" ({rule})"));
    let (c, lambda) = (number(about.problem.c, 4), number(about.problem.lambda, 4));
    add("Weights", format!("C = {c}{rule}, lambda = {lambda}"));
    add("Kernel", format!("{}, bias {}, scaling {}", about.kernel, number(about.bias, 4), about.scaling));
    if about.target_scale != TargetScale::None {
        add("Labels", format!("in units of their spread, by {}", about.target_scale));
    }
    if let Some(fit) = fit {
        let seed = fit.seed.map_or(String::new(), |seed| format!(", seed {seed}"));
        add("Solver", format!("{}, tolerance {}{seed}", fit.solver, number(fit.tolerance, 3)));
    }
    if let Some(selection) = inputs.selection {
        let settings = plural(selection.rows.len(), "setting");
        let metric = metric_name(selection.metric);
        add("Selection", format!("{settings}, {} folds, {metric}", count(selection.folds)));
    }
    let writer = inputs.model_version.map_or(String::new(), |version| format!("{version} for the model, "));
    add("kinfolk", format!("{writer}{} for this page", env!("CARGO_PKG_VERSION")));
    add("Model file", inputs.model_path.display().to_string());
    lines
}

fn method(fit: Option<&FitOptions>) -> String {
    let method = fit.map_or("fmtl", |fit| &fit.method);
    let name = method.split(':').next().unwrap_or_default();
    let title = kinfolk_train::find(name).map_or(String::new(), |found| format!(" ({})", found.info().title));
    format!("{method}{title}")
}

fn loss(loss: &Losses, fit: Option<&FitOptions>) -> String {
    let loss = match loss {
        Losses::Same(loss) => loss.to_string(),
        Losses::PerTask(_) => "one per task".into(),
    };
    let weights = fit.and_then(|fit| fit.class_weight.as_ref());
    loss + &weights.map_or(String::new(), |weights| format!(", class weights {weights}"))
}

fn regularizer(output: &RegularizerKind) -> String {
    let k = match output {
        RegularizerKind::Power { k } => format!(" k = {k}"),
        RegularizerKind::Frobenius { .. } => " k = 1".into(),
        _ => String::new(),
    };
    format!("{}{k}", output.name())
}
