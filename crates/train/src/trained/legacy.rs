//! Model files of 0.1.0: attachments "recipe" and "fit", written by the command or by the Python package.

use super::{Attachment, FitOutcome, parse};
use crate::spec::{ClassWeight, LossSpec, Memory, MethodText, SCHEMA_VERSION, Weight};
use crate::{Error, FitSpec, MethodSpec, Result, find};
use kinfolk::model::About;
use kinfolk::{Claim, Model, RegularizerKind, SolverKind};
use kinfolk_io::Schema;
use serde::Deserialize;

pub(super) const KEYS: [&str; 2] = ["recipe", "fit"];

/// What "fit" says; the Python package wrote the first three only.
#[derive(Debug, Deserialize)]
struct OldFit {
    tol: f64,
    split: Option<i64>,
    class_weight: Option<String>,
    method: Option<String>,
    given: Option<String>,
    c_rule: Option<String>,
    solver: Option<SolverKind>,
    max_passes: Option<usize>,
    max_seconds: Option<f64>,
    memory: Option<u64>,
    seed: Option<u64>,
    threads: Option<usize>,
}

pub(super) fn read(model: &mut Model) -> Result<Attachment> {
    let text = |key: &str| {
        let missing = || {
            Error::Spec(format!("the model has no {key:?}: it was not written by the command kinfolk fit"))
        };
        model.attachment(key).ok_or_else(missing)
    };
    let schema: Schema = parse("recipe", text("recipe")?)?;
    let old: OldFit = parse("fit", text("fit")?)?;
    let about = model.about();
    let defaults = FitSpec::default();
    let spec = FitSpec {
        columns: schema.columns.clone(),
        split: old.split,
        atoms: vec![],
        loss: LossSpec::from(&about.problem.loss),
        class_weight: (old.class_weight.as_deref() == Some("balanced")).then_some(ClassWeight::Balanced),
        kernel: Some(about.kernel.clone()),
        bias: about.bias,
        intercept: Some(about.problem.intercept),
        scale: about.scaling,
        target_scale: about.target_scale,
        method: method(old.method.as_deref(), about)?,
        c: if old.c_rule.as_deref() == Some("auto") { Weight::Auto } else { Weight::C(about.problem.c) },
        lambda: (old.c_rule.as_deref() != Some("auto")).then_some(about.problem.lambda),
        solver: old.solver.unwrap_or_default(),
        tol: old.tol,
        max_passes: old.max_passes.unwrap_or(defaults.max_passes),
        max_seconds: old.max_seconds,
        memory: old.memory.map_or(defaults.memory, Memory),
        threads: old.threads.unwrap_or(0),
        seed: old.seed.unwrap_or(0),
        // Settings that 0.1.0 did not have.
        ..defaults
    };
    let solver = old.solver.unwrap_or_default().to_string();
    let outcome = FitOutcome::new(solver, None);
    if model.claim().is_none() {
        let claim = old.given.map(|given| Claim::Given(given.into()));
        model.set_claim(claim.unwrap_or_else(|| spec.method.method().claim(spec.method.params())));
    }
    Ok(Attachment { schema_version: SCHEMA_VERSION, spec, schema, outcome })
}

/// The method as it was written, less what this version does not have any more; for fmtl, and where nothing
/// was written, from the regulariser.
fn method(written: Option<&str>, about: &About) -> Result<MethodSpec> {
    let Some(text) = written.filter(|text| *text != "fmtl") else { return of_output(&about.problem.output) };
    let MethodText { name, mut params } = MethodText::new(text)?;
    let known = find(name)?.params();
    params.retain(|(key, _)| known.iter().any(|param| param.name == *key));
    MethodSpec::new(name, &params)
}

fn of_output(output: &RegularizerKind) -> Result<MethodSpec> {
    let rows = |rows: &[Vec<f64>]| serde_json::to_string(rows);
    let given: Vec<(&str, String)> = match output {
        RegularizerKind::Power { k } => vec![("k", k.to_string())],
        RegularizerKind::Exp { prior: None } => vec![("output", "exp".into())],
        RegularizerKind::Exp { prior: Some(prior) } => {
            vec![("output", "exp".into()), ("prior", rows(prior)?)]
        }
        RegularizerKind::Frobenius { prior } => vec![("prior", rows(prior)?)],
        RegularizerKind::Fixed { theta } => vec![("output", "fixed".into()), ("theta", rows(theta)?)],
        RegularizerKind::Series { coefficients } => {
            vec![("output", "series".into()), ("coefficients", serde_json::to_string(coefficients)?)]
        }
        other => vec![("output", other.name().into())],
    };
    let given: Vec<(&str, &str)> = given.iter().map(|(key, value)| (*key, value.as_str())).collect();
    MethodSpec::new("fmtl", &given)
}
