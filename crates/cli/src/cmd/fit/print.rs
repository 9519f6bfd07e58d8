//! What `kinfolk fit` prints.

use crate::data_files::DataFiles;
use crate::failure::argument;
use crate::text::{self, number, plural, plural_es};
use kinfolk::model::{About, AtomPart};
use kinfolk::{
    Certificate, CertificateSummary, Claim, Kernel, LossKind, Model, ScalingKind, Status, TargetScale,
};
use kinfolk_train::{
    AutoC, Baseline, DATA_GROUPS, FitOutcome, FitSpec, LossSpec, Trained, Weight, all_losses, shares_in_words,
};
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

/// The text of a fit in which relations of tasks that the data tell have the name of their file, as one would type it.
pub(super) fn with_file_name(text: String, data: &DataFiles) -> String {
    let name = data.first().display().to_string();
    // Other names would be read in another way.
    if data.has_stdin() || name.contains([',', ':']) {
        return text;
    }
    let escaped = format!("{name:?}");
    text.replace(DATA_GROUPS, &format!("groups={}:", escaped.trim_matches('"')))
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
    let warnings = outcome.auto_c.iter().flat_map(|auto_c| [better_elsewhere(auto_c), ended_early(auto_c)]);
    score.into_iter().chain(warnings.flatten().map(|warning| format!("warning  {warning}"))).collect()
}

/// Simpler predictions that are better, with the commands that help.
fn better_elsewhere(auto_c: &AutoC) -> Option<String> {
    let method = |baseline: Baseline| match baseline {
        Baseline::TasksAlone => Some("--method stl fits tasks alone"),
        Baseline::OneForAll => Some("--method pooled fits one model for all"),
        _ => None,
    };
    let better = auto_c.baselines.iter().filter(|found| found.is_better);
    let mut cures: Vec<&str> = better.filter_map(|found| method(found.baseline)).collect();
    cures.push("kinfolk select --compare compares methods");
    auto_c.warning().map(|warning| format!("{warning}: {}", cures.join(", ")))
}

/// C from a search that had no time to end: it says so in its note.
fn ended_early(auto_c: &AutoC) -> Option<String> {
    auto_c.note.as_ref().filter(|note| note.contains("ended early"))?;
    let used = match auto_c.metric {
        Some(_) => "the best so far is used",
        None => "the middle of the scale is used",
    };
    Some(format!("the choice of C ended early: {used}"))
}

fn problem(trained: &Trained, about: &About) -> String {
    let spec = &trained.spec;
    let loss = match LossSpec::from(&about.problem.loss) {
        LossSpec::PerTask(_) => "one loss per task".into(),
        loss => format!("{loss} loss"),
    };
    let labels = match about.target_scale {
        _ if all_losses(&about.problem.loss, LossKind::is_classification) => String::new(),
        TargetScale::None => String::new(),
        TargetScale::Common => ", labels in one unit".into(),
        TargetScale::Shrunk => {
            ", labels scaled by task, those of tasks with few labels also by the others".into()
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(metric: &str, baselines: &str, note: &str) -> AutoC {
        let text = format!(
            "{{\"strength\":1.0,\"metric\":{metric},\"score\":0.5,\"baselines\":[{baselines}],\"folds\":3,\"rows\":60,\
             \"tried\":[],\"note\":\"{note}\"}}"
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_choice_that_ended_early_is_a_warning() {
        let said = |metric, note| ended_early(&choice(metric, "", note));
        assert_eq!(
            said("null", "ended early").unwrap(),
            "the choice of C ended early: the middle of the scale is used"
        );
        assert_eq!(
            said("\"auc\"", "the choice of C ended early").unwrap(),
            "the choice of C ended early: the best so far is used"
        );
        assert_eq!(said("\"auc\"", "1500 of 1797 rows"), None);
    }

    #[test]
    fn the_warning_names_what_helps() {
        let better = |name: &str| format!("{{\"baseline\":\"{name}\",\"score\":0.6,\"is_better\":true}}");
        let said = |baselines: &str| better_elsewhere(&choice("\"auc\"", baselines, ""));
        assert_eq!(said(""), None);
        let alone = said(&better("tasks-alone")).unwrap();
        assert!(
            alone.ends_with(
                "tasks alone is smaller, beyond noise: --method stl fits tasks alone, kinfolk select --compare \
                 compares methods"
            ),
            "{alone}"
        );
        assert!(said(&better("one-for-all")).unwrap().contains("--method pooled fits one model for all"));
        assert!(!said(&better("task-mean")).unwrap().contains("--method"));
    }
}
