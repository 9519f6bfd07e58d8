//! What a fit says of itself.

use crate::fit_params::FitParams;
use crate::text::{self, number, plural, plural_es};
use crate::training::Training;
use kinfolk::{CertificateSummary, Claim, Fit, Status};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
pub(super) struct Said<'a> {
    #[serde(flatten)]
    certificate: CertificateSummary,
    solver: &'static str,
    passes: usize,
    seconds: f64,
    n_inputs: usize,
    n_tasks: usize,
    n_observations: usize,
    params: &'a FitParams,
    model: &'a Path,
}

/// A fit and what is told of it.
pub(super) struct Told<'a> {
    pub(super) fit: &'a Fit,
    pub(super) seconds: f64,
    pub(super) training: &'a Training,
    pub(super) params: &'a FitParams,
    pub(super) model: &'a Path,
}

pub(super) fn said<'a>(told: &Told<'a>) -> Said<'a> {
    let &Told { fit, seconds, training, params, model } = told;
    Said {
        certificate: fit.model.summary(),
        solver: fit.solver,
        passes: fit.passes,
        seconds,
        n_inputs: training.observations.n_inputs(),
        n_tasks: training.observations.n_tasks(),
        n_observations: training.observations.len(),
        params,
        model,
    }
}

pub(super) fn text(told: &Told<'_>) -> String {
    let &Told { fit, seconds, training, params, model } = told;
    let (obs, certificate) = (&training.observations, fit.certificate());
    let rows = plural(obs.n_inputs(), "row");
    let features = plural(training.inputs.n_features(), "feature");
    let (tasks, labels) = (plural(obs.n_tasks(), "task"), plural(obs.len(), "label"));
    let mut lines = vec![format!("data     {rows}, {features}, {tasks}, {labels}")];
    lines.extend(training.recipe.label_encoding.note().map(|note| format!("coding   {note}")));
    let k = params.k.map_or(String::new(), |k| format!(" k = {k}"));
    let method = if params.method == "fmtl" { String::new() } else { format!("{}, ", params.method) };
    let auto = if params.c_rule == "auto" { " (auto)" } else { "" };
    lines.push(format!(
        "problem  {method}{} loss, {}{k}, C = {}{auto}, lambda = {}, {} kernel, bias {}, scale {}",
        params.loss,
        params.output,
        number(params.c, 4),
        number(params.lambda, 4),
        params.kernel,
        number(params.bias, 4),
        params.scale
    ));
    let (passes, seconds) = (plural_es(fit.passes, "pass"), text::seconds(seconds));
    let ended = match (fit.model.claim(), fit.status()) {
        (Some(claim @ Claim::Given(_)), Status::Certified) => format!("certified: {claim}"),
        (_, status) => in_words(status),
    };
    lines.push(format!("fit      {ended} after {passes} of {}, {seconds}", fit.solver));
    let (primal, dual, gap) = (certificate.primal, certificate.dual, certificate.rel_gap());
    let given = fit.model.claim().and_then(Claim::given);
    let given = given.map_or(String::new(), |given| format!("given {given} "));
    lines.push(format!("proof    objective {primal}, {given}no model below {dual}, relative gap {gap:.1e}"));
    lines.extend(fit.model.remark().map(|remark| format!("remark   {remark}")));
    lines.push(format!("model    {}\n", model.display()));
    lines.join("\n")
}

fn in_words(status: Status) -> String {
    match status {
        Status::Certified => status.words().into(),
        other => format!("not certified: {}", other.words()),
    }
}
