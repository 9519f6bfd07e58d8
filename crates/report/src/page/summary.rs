//! Section "What was fitted": names and values.

use super::hints::MadeBy;
use super::inputs::ReportInputs;
use super::metric_name;
use crate::text::{count, number, plural};
use kinfolk::{LossKind, Losses, RegularizerKind, TargetScale};
use kinfolk_train::{FitSpec, MethodSpec, Weight, all_losses, shares_in_words};
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
    if let (Some(training), MadeBy::Command { .. }) = (inputs.training_data(), inputs.made_by) {
        add("Read from", training.path.display().to_string());
    }
    let spec = inputs.spec;
    let method = spec.map_or_else(MethodSpec::default, |spec| spec.method.with_weights_of(inputs.model));
    let name = if spec.is_some() { method.brief() } else { method.name().into() };
    add("Method", format!("{name} ({})", method.method().info().title));
    add("Loss", loss(&about.problem.loss, spec));
    add("Regulariser", regularizer(&about.problem.output));
    if let Some(shares) = shares_in_words(inputs.model) {
        let atoms: Vec<String> =
            spec.map_or(vec![], |spec| spec.atoms.iter().map(ToString::to_string).collect());
        let given = if atoms.is_empty() {
            String::new()
        } else {
            format!(" (known relations: {})", atoms.join("; "))
        };
        add("Theta", format!("{shares}{given}"));
    }
    let rule = match (inputs.auto_c, spec) {
        (Some(auto_c), _) => format!(" (auto: {})", auto_c.in_words()),
        (None, spec) => spec.map_or(String::new(), |spec| format!(" ({})", weight(spec.c))),
    };
    let (c, lambda) = (number(about.problem.c, 4), number(about.problem.lambda, 4));
    add("Weights", format!("C = {c}{rule}, lambda = {lambda}"));
    add(
        "Kernel",
        format!(
            "{}, intercept {}, bias {}, scaling {}",
            about.kernel,
            about.problem.intercept,
            number(about.bias, 4),
            about.scaling
        ),
    );
    let are_classes = all_losses(&about.problem.loss, LossKind::is_classification);
    if about.target_scale != TargetScale::None && !are_classes {
        add("Labels", format!("in units of their spread, by {}", about.target_scale));
    }
    if let Some(FitSpec { solver, tol, seed, .. }) = spec {
        add("Solver", format!("{solver}, tolerance {}, seed {seed}", number(*tol, 3)));
    }
    if let Some(selection) = inputs.selection {
        let settings = plural(selection.rows.len(), "setting");
        let metric = metric_name(selection.metric);
        add("Selection", format!("{settings}, {} folds, {metric}", count(selection.folds)));
    }
    let (writer, own) = (inputs.model.written_by(), env!("CARGO_PKG_VERSION"));
    add("kinfolk", format!("{writer} for the model, {own} for this page"));
    let (name, value) = inputs.made_by.model_line();
    add(name, value);
    lines
}

fn weight(c: Weight) -> String {
    c.strength().map_or_else(|| c.to_string(), |strength| format!("strength {}", number(strength, 4)))
}

fn loss(loss: &Losses, spec: Option<&FitSpec>) -> String {
    let loss = match loss {
        Losses::Same(loss) => loss.to_string(),
        Losses::PerTask(_) => "one per task".into(),
    };
    let weights = spec.and_then(|spec| spec.class_weight);
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
