//! A model with what made it: the spec, how its data were read, and how the fit ended.

mod agreement;
mod data;
mod intervals;
mod kin;
mod legacy;
mod new_tasks;
mod parts;
mod sizes;

pub use intervals::{HalfWidths, NoIntervals};
pub use kin::KinRule;
pub use new_tasks::NewTasks;
pub use parts::{
    FREE_PART, ThetaPart, free_correlation, percent, shared_correlation, shares, shares_in_words, theta_parts,
};

use crate::spec::SCHEMA_VERSION;
use crate::{AutoC, Error, FitSpec, InputRanges, NewTaskErrors, Residuals, Result};
use kinfolk::solver::TracePoint;
use kinfolk::{Fit, Model};
use kinfolk_io::Schema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::Path;

/// The key under which a model file keeps what is here besides the model.
const KEY: &str = "trained";

/// A fitted model and everything that decided about it.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The model, with its certificate.
    pub model: Model,
    /// What was asked for. Task matrices that were in files are in the spec itself.
    pub spec: FitSpec,
    /// How its data were read.
    pub schema: Schema,
    /// How the fit came about.
    pub outcome: FitOutcome,
    /// Seconds of the fit; zero for a model that was read from a file.
    pub seconds: f64,
    /// Every certificate of the fit; none for a model that was read from a file.
    pub trace: Vec<TracePoint>,
}

/// How a fit came about. Status, claim and certificate are in the model itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitOutcome {
    /// The solver that ended it.
    pub solver: String,
    /// Why that solver, if it was chosen automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Passes over the data, or iterations; `None` in models of 0.1.0.
    pub passes: Option<usize>,
    /// What is remarkable about the labels of tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How C was chosen, if it was left to the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_c: Option<AutoC>,
    /// Errors of held-out predictions, for intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residuals: Option<Residuals>,
    /// What probabilities of classes are raised to before they are divided by their sum, from held-out rows.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "positive")]
    pub class_exponent: Option<f64>,
    /// Errors of predictions for whole tasks that were held out, for intervals of tasks without training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_task_errors: Option<NewTaskErrors>,
    /// Ranges of the features of the training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<InputRanges>,
    /// The score of a selection on held-out rows, and of simpler methods, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection_score: Option<String>,
}

/// An exponent from a file, which may say anything.
fn positive<'de, D: Deserializer<'de>>(number: D) -> std::result::Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(number)? {
        Some(x) if !(x > 0.0 && x.is_finite()) => Err(D::Error::custom(format!("an exponent is {x}"))),
        found => Ok(found),
    }
}

impl FitOutcome {
    /// The parts that no proof covers: they are about rows that were held out, or about the way to the fit.
    pub fn unchecked(&self) -> Vec<&'static str> {
        let parts = [
            (self.auto_c.is_some(), "the scores by which C was chosen"),
            (self.selection_score.is_some(), "the score of the selection"),
            (self.residuals.is_some(), "errors of held-out rows"),
            (self.new_task_errors.is_some(), "errors of held-out tasks"),
            (self.class_exponent.is_some(), "the exponent of class probabilities"),
            (self.ranges.is_some(), "ranges of features"),
            (!self.notes.is_empty(), "notes about labels"),
        ];
        parts.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name).collect()
    }

    pub(crate) fn new(solver: String, passes: Option<usize>) -> Self {
        FitOutcome {
            solver,
            reason: None,
            passes,
            notes: vec![],
            auto_c: None,
            residuals: None,
            class_exponent: None,
            new_task_errors: None,
            ranges: None,
            selection_score: None,
        }
    }

    /// What probabilities of classes are raised to before they are divided by their sum; 1 if nothing was held out.
    pub fn exponent_of_classes(&self) -> f64 {
        self.class_exponent.unwrap_or(1.0)
    }

    /// How good the model is on held-out rows, and simpler predictions; `None` if nothing was held out.
    pub fn score_in_words(&self) -> Option<String> {
        let chosen = || self.auto_c.as_ref().and_then(AutoC::score_in_words);
        self.selection_score.clone().or_else(chosen)
    }
}

/// What a model file keeps under [`KEY`].
#[derive(Debug, Serialize, Deserialize)]
struct Attachment {
    schema_version: u32,
    spec: FitSpec,
    schema: Schema,
    outcome: FitOutcome,
}

impl Trained {
    /// From a fit.
    pub(crate) fn new(fit: Fit, spec: FitSpec, schema: Schema) -> Self {
        let (solver, passes) = (fit.solver.into(), Some(fit.passes));
        let outcome = FitOutcome { reason: fit.reason, ..FitOutcome::new(solver, passes) };
        Trained { model: fit.model, spec, schema, outcome, seconds: fit.seconds, trace: fit.trace }
    }

    /// From a model that was read from a file.
    ///
    /// # Errors
    /// If it has nothing attached that says what made it.
    pub fn from_model(mut model: Model) -> Result<Self> {
        let attachment: Attachment = match model.attachment(KEY) {
            Some(text) => parse(KEY, text)?,
            None => legacy::read(&mut model)?,
        };
        attachment.check_sizes(model.about())?;
        let Attachment { schema_version, mut spec, schema, outcome } = attachment;
        if schema_version < 3 {
            // Before, labels were as they are, and specs did not say so.
            spec.target_scale = model.about().target_scale;
        }
        spec.schema_version = SCHEMA_VERSION;
        Ok(Trained { model, spec, schema, outcome, seconds: 0.0, trace: vec![] })
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// If it cannot be read, or has nothing attached that says what made it.
    pub fn load(path: &Path) -> Result<Self> {
        Trained::from_model(Model::load(path)?)
    }

    /// The bytes of its file.
    ///
    /// # Errors
    /// If it is too large for a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.clone().into_model()?.to_bytes()?)
    }

    /// The model, with the rest attached.
    ///
    /// # Errors
    /// If it is too large to attach.
    pub fn into_model(self) -> Result<Model> {
        let attachment = Attachment {
            schema_version: SCHEMA_VERSION,
            spec: self.spec,
            schema: self.schema,
            outcome: self.outcome,
        };
        let mut model = self.model;
        for key in legacy::KEYS {
            model.detach(key);
        }
        model.attach(KEY, &serde_json::to_string(&attachment)?)?;
        Ok(model)
    }
}

fn parse<T: for<'a> Deserialize<'a>>(key: &str, text: &str) -> Result<T> {
    /// Read before the rest: a newer version may have other fields.
    #[derive(Deserialize)]
    struct Version {
        #[serde(default)]
        schema_version: u32,
    }
    let wrong = |why: String| Error::Spec(format!("{key:?} of the model is not understood: {why}"));
    let version: Version = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if version.schema_version > SCHEMA_VERSION {
        let newer = version.schema_version;
        return Err(wrong(format!("it has version {newer}, this program reads up to {SCHEMA_VERSION}")));
    }
    serde_json::from_str(text).map_err(|error| wrong(error.to_string()))
}
