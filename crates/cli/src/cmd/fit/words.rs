//! What a fit says of itself.

use crate::fit_params::FitParams;
use crate::report::{Number, as_number};
use crate::text::{self, number, plural, plural_es};
use crate::training::Training;
use kinfolk::{Fit, Status};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
pub(super) struct Said<'a> {
    status: Status,
    #[serde(serialize_with = "as_number")]
    primal: f64,
    #[serde(serialize_with = "as_number")]
    dual: f64,
    /// None where the method's problem has no certificate.
    gap: Option<Number>,
    rel_gap: Option<Number>,
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
    let certificate = &fit.certificate;
    Said {
        status: fit.status,
        primal: certificate.primal,
        dual: certificate.dual,
        gap: params.given.is_none().then_some(Number(certificate.gap)),
        rel_gap: params.given.is_none().then_some(Number(certificate.rel_gap())),
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
    let (obs, certificate) = (&training.observations, &fit.certificate);
    let rows = plural(obs.n_inputs(), "row");
    let features = plural(training.inputs.n_features(), "feature");
    let (tasks, labels) = (plural(obs.n_tasks(), "task"), plural(obs.len(), "label"));
    let mut lines = vec![format!("data     {rows}, {features}, {tasks}, {labels}")];
    lines.extend(training.recipe.coding.note().map(|note| format!("coding   {note}")));
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
    let ended = match (params.given, fit.status) {
        (Some(given), Status::Certified) => format!("best given {given}"),
        (_, status) => in_words(status).into(),
    };
    lines.push(format!("fit      {ended} after {passes} of {}, {seconds}", fit.solver));
    let (primal, dual, gap) = (certificate.primal, certificate.dual, certificate.rel_gap());
    lines.push(match params.given {
        None => format!("proof    objective {primal}, no model below {dual}, relative gap {gap:.1e}"),
        Some(given) => format!(
            "proof    none, the problem is not convex: objective {primal}, and given {given} no model below {dual}"
        ),
    });
    lines.push(format!("model    {}\n", model.display()));
    lines.join("\n")
}

fn in_words(status: Status) -> &'static str {
    match status {
        Status::Certified => "certified",
        Status::PassLimit => "not certified: pass limit",
        Status::TimeLimit => "not certified: time limit",
        Status::Stopped => "not certified: stopped",
        Status::Stalled => "not certified: stalled",
    }
}
