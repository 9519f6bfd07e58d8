//! What `kinfolk fit` prints.

use crate::data_files::DataFiles;
use crate::failure::argument;
use crate::text::{self, number, plural, plural_es};
use kinfolk::model::{About, AtomPart};
use kinfolk::{Certificate, CertificateSummary, Claim, Kernel, Model, ScalingKind, Status, TargetScale};
use kinfolk_train::{AutoC, FitOutcome, FitSpec, LossSpec, Trained, Weight, shares_in_words};
use serde::Serialize;
use std::path::Path;

/// The JSON object of a fit.
#[derive(Serialize)]
pub(super) struct FitOutput<'a> {
    #[serde(flatten)]
    certificate: CertificateSummary,
    solver: &'a str,
    passes: Option<usize>,
    seconds: f64,
    n_inputs: usize,
    n_tasks: usize,
    n_observations: usize,
    loss: String,
    output: &'static str,
    c: f64,
    lambda: f64,
    kernel: &'a Kernel,
    /// What was done to the features.
    scale: ScalingKind,
    /// What was done to the labels.
    target_scale: TargetScale,
    /// What relations of tasks contribute to Theta.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    atoms: Vec<AtomOutput<'a>>,
    /// What is remarkable about the labels of tasks.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    /// What was done to the columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<String>,
    /// How C was chosen, if it was left to the data, and how good that is on held-out rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_c: Option<&'a AutoC>,
    /// What was asked for.
    spec: &'a FitSpec,
    model: &'a Path,
}

/// An atom in JSON.
#[derive(Serialize)]
pub(crate) struct AtomOutput<'a> {
    name: &'a str,
    weight: f64,
    coefficient: f64,
    share: f64,
}

/// All atoms of a model.
pub(crate) fn atoms(model: &Model) -> Vec<AtomOutput<'_>> {
    model
        .atoms()
        .into_iter()
        .map(|AtomPart { name, weight, coefficient, share }| AtomOutput { name, weight, coefficient, share })
        .collect()
}

impl<'a> FitOutput<'a> {
    pub(super) fn new(trained: &'a Trained, model: &'a Path) -> Self {
        let (about, outcome) = (trained.model.about(), &trained.outcome);
        FitOutput {
            certificate: trained.model.summary(),
            solver: &outcome.solver,
            passes: outcome.passes,
            seconds: trained.seconds,
            n_inputs: about.n_inputs,
            n_tasks: about.tasks.len(),
            n_observations: about.n_observations,
            loss: LossSpec::from(&about.problem.loss).to_string(),
            output: about.problem.output.name(),
            c: about.problem.c,
            lambda: about.problem.lambda,
            kernel: &about.kernel,
            scale: about.scaling,
            target_scale: about.target_scale,
            atoms: atoms(&trained.model),
            notes: &outcome.notes,
            columns: trained.schema.notes(),
            auto_c: outcome.auto_c.as_ref(),
            spec: &trained.spec,
            model,
        }
    }
}

pub(crate) fn text(trained: &Trained, model: &Path) -> String {
    let about = trained.model.about();
    let rows = plural(about.n_inputs, "row");
    let features = plural(about.n_features, "feature");
    let (tasks, labels) = (plural(about.tasks.len(), "task"), plural(about.n_observations, "label"));
    let mut lines = goodness(&trained.outcome);
    lines.push(format!("data     {rows}, {features}, {tasks}, {labels}"));
    lines.extend(trained.schema.notes().into_iter().map(|note| format!("columns  {note}")));
    lines.extend(trained.schema.label_encoding.note().map(|note| format!("coding   {note}")));
    lines.push(format!("problem  {}", problem(trained, about)));
    lines.extend(trained.spec.atoms.iter().map(|atom| format!("atom     {}", atom.brief())));
    lines.extend(shares_in_words(&trained.model).map(|shares| format!("theta    {shares}")));
    lines.extend(ending(trained));
    lines.extend(trained.outcome.notes.iter().map(|note| format!("note     {note}")));
    lines.push(format!("model    {}\n", model.display()));
    lines.join("\n")
}

/// The commands that make sense after a fit.
pub(super) fn next_steps(data: &DataFiles, model: &Path) -> String {
    let name = argument(&model.display().to_string());
    let page = argument(&model.with_extension("html").display().to_string());
    let predict = format!("kinfolk predict {name} NEW-ROWS -o predictions.csv");
    // What came by standard input is gone.
    let steps = match data.has_stdin() {
        true => [format!("kinfolk model show {name}"), predict, format!("kinfolk report {name} -o {page}")],
        false => {
            let data = data.as_given();
            let certify = format!("kinfolk certify {name} {data}");
            [certify, predict, format!("kinfolk report {name} {data} -o {page}")]
        }
    };
    format!("next     {}\n", steps.join("\n         "))
}

/// How good the model is on held-out rows, as far as that is known.
fn goodness(outcome: &FitOutcome) -> Vec<String> {
    let score = outcome.score_in_words().map(|score| format!("score    {score}"));
    let warning = outcome.auto_c.as_ref().and_then(AutoC::warning);
    score.into_iter().chain(warning.map(|warning| format!("warning  {warning}"))).collect()
}

fn problem(trained: &Trained, about: &About) -> String {
    let spec = &trained.spec;
    let loss = match LossSpec::from(&about.problem.loss) {
        LossSpec::PerTask(_) => "one loss per task".into(),
        loss => format!("{loss} loss"),
    };
    let labels = match about.target_scale {
        TargetScale::None => String::new(),
        TargetScale::Common => ", labels in one unit".into(),
        TargetScale::Shrunk => ", labels scaled by task and by all tasks, since each has few".into(),
        scale => format!(", labels scaled by {scale}"),
    };
    let rule = match &trained.outcome.auto_c {
        Some(auto_c) => format!(" (auto: {})", auto_c.in_words()),
        None if spec.c == Weight::Auto => " (auto)".into(),
        None => String::new(),
    };
    format!(
        "{}, {loss}, C = {}{}, lambda = {}, {} kernel, intercept {}, bias {}, scale {}{labels}",
        spec.method.with_weights_of(&trained.model).brief(),
        number(about.problem.c, 4),
        rule,
        number(about.problem.lambda, 4),
        about.kernel,
        about.problem.intercept,
        number(about.bias, 4),
        about.scaling
    )
}

/// How the fit ended, what is certain about it, and what the method remarks.
fn ending(trained: &Trained) -> Vec<String> {
    let (outcome, model) = (&trained.outcome, &trained.model);
    let passes = outcome.passes.map_or(String::new(), |n| format!(" after {}", plural_es(n, "pass")));
    // A model file does not say how long its fit took.
    let seconds = match trained.seconds > 0.0 {
        true => format!(", {}", text::seconds(trained.seconds)),
        false => String::new(),
    };
    let ended = match (model.claim(), model.status()) {
        (Some(claim @ Claim::Given(_)), Some(Status::Certified)) => format!("certified: {claim}"),
        (_, status) => in_words(status),
    };
    let Certificate { primal, dual, .. } = model.certificate();
    let given = model.claim().and_then(Claim::given).map_or(String::new(), |given| format!("{given} and "));
    let within = model.certificate().rel_error();
    let mut lines = vec![
        format!("fit      {ended}{passes} of {}{seconds}", outcome.solver),
        format!(
            "proof    optimal for {given}these settings to within {within:.1e}: objective {}, no model below {}",
            text::exact(*primal),
            text::exact(*dual)
        ),
    ];
    lines.extend(model.remark().map(|remark| format!("remark   {remark}")));
    lines
}

fn in_words(status: Option<Status>) -> String {
    match status {
        None => "ended".into(),
        Some(status @ Status::Certified) => status.words().into(),
        Some(other) => format!("not certified: {}", other.words()),
    }
}
