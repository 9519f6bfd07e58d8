//! What was fitted, as pairs of a name and a value.

use super::{Sources, Subject, metric_name};
use crate::text::{count, number, plural};
use kinfolk::{Losses, OutputKind};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
pub(super) struct Fact {
    name: &'static str,
    value: String,
}

pub(super) fn facts(sources: &Sources<'_>, subject: &Subject) -> Vec<Fact> {
    let (model, notes) = (subject.fitted.model(), subject.fitted.fitted().map(|fitted| &fitted.fit));
    let (about, mut all) = (model.about(), vec![]);
    let mut add = |name: &'static str, value: String| all.push(Fact { name, value });
    let inputs = (plural(about.n_inputs, "row"), plural(about.n_features, "feature"));
    let labels = plural(about.n_observations, "label");
    add("Data", format!("{}, {}, {}, {labels}", inputs.0, inputs.1, plural(about.tasks.len(), "task")));
    if let Some(training) = subject.evidence.iter().find(|evidence| evidence.is_training()) {
        add("Read from", training.path.display().to_string());
    }
    let method = notes.and_then(|notes| notes.method.clone()).unwrap_or_else(|| "fmtl".into());
    let name = method.split(':').next().unwrap_or_default();
    let title = kinfolk_train::find(name).map_or(String::new(), |found| format!(" ({})", found.title()));
    add("Method", format!("{method}{title}"));
    let loss = match &about.problem.loss {
        Losses::Same(loss) => loss.to_string(),
        Losses::PerTask(_) => "one per task".into(),
    };
    let balanced = notes.and_then(|notes| notes.class_weight.as_deref());
    add("Loss", format!("{loss}{}", balanced.map_or(String::new(), |w| format!(", class weights {w}"))));
    let k = match about.problem.output {
        OutputKind::Power { k } => format!(" k = {k}"),
        OutputKind::Frobenius { .. } => " k = 1".into(),
        _ => String::new(),
    };
    add("Regulariser", format!("{}{k}", about.problem.output.name()));
    let rule = match notes.and_then(|notes| notes.c_rule.as_deref()) {
        Some("given") | None => String::new(),
        Some(rule) => format!(" ({rule})"),
    };
    let weights = (number(about.problem.c, 4), number(about.problem.lambda, 4));
    add("Weights", format!("C = {}{rule}, lambda = {}", weights.0, weights.1));
    add("Kernel", format!("{}, bias {}, scaling {}", about.kernel, number(about.bias, 4), about.scaling));
    if let Some(notes) = notes {
        let solver = notes.solver.as_deref().unwrap_or("auto");
        let seed = notes.seed.map_or(String::new(), |seed| format!(", seed {seed}"));
        add("Solver", format!("{solver}, tolerance {}{seed}", number(notes.tol, 3)));
    }
    if let Some(results) = &subject.results {
        let settings = plural(results.rows.len(), "setting");
        add(
            "Selection",
            format!("{settings}, {} folds, {}", count(results.folds), metric_name(results.metric)),
        );
    }
    let written = version(sources.model).map_or(String::new(), |v| format!("{v} for the model, "));
    add("kinfolk", format!("{written}{} for this page", env!("CARGO_PKG_VERSION")));
    add("Model file", sources.model.display().to_string());
    all
}

/// The version that wrote a model file.
fn version(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).ok()?;
    let envelope: serde_json::Value =
        serde_json::from_str(header.metadata().as_ref()?.get("kinfolk")?).ok()?;
    Some(envelope.get("kinfolk_version")?.as_str()?.to_string())
}
