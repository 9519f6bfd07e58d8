//! What turns rows as they come into observations of a problem.

use crate::inputs::Inputs;
use crate::scaling_tensors::push_scalings;
use crate::tensors::{self, FileKind, Tensors, wrong};
use crate::{
    Error, Intercept, Losses, Observations, ProblemSpec, RegularizerKind, Result, Scaling, ScalingKind,
    TargetScale, TargetScaling, TaskNames,
};
use serde::{Deserialize, Serialize};

/// Losses and their weight, scaling and tasks of a problem whose rows are elsewhere. The regulariser is the driver's
/// business.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsSetting {
    pub(crate) loss: Losses,
    /// Weight of the losses.
    pub(crate) c: f64,
    pub(crate) n_features: usize,
    pub(crate) tasks: TaskNames,
    pub(crate) scaling: Scaling,
    pub(crate) target_scaling: Option<TargetScaling>,
}

/// Rows as questions need them: features and labels scaled.
#[derive(Debug)]
pub struct PreparedRows {
    pub(crate) inputs: Inputs<'static>,
    pub(crate) observations: Observations,
}

impl PreparedRows {
    /// How many there are.
    pub fn n_rows(&self) -> usize {
        self.inputs.n_inputs()
    }

    /// Bytes that the features take.
    pub fn bytes(&self) -> u64 {
        let numbers = match &self.inputs {
            Inputs::Sparse(x) => 2 * x.nnz(),
            other => other.n_inputs() * other.n_features(),
        };
        8 * (numbers + 2 * self.observations.len()) as u64
    }
}

const FILE_KIND: FileKind = FileKind { key: "kinfolk_rows", name: "a setting of rows", newest_version: 1 };

/// Everything that is not an array.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingAbout {
    loss: Losses,
    c: f64,
    n_features: usize,
    tasks: TaskNames,
    scaling: ScalingKind,
    target_scale: TargetScale,
}

impl RowsSetting {
    /// The problem of some rows: losses and C are those of the whole, the regulariser does not matter.
    pub(crate) fn spec(&self) -> ProblemSpec {
        ProblemSpec {
            loss: self.loss.clone(),
            output: RegularizerKind::Power { k: 1 },
            c: self.c,
            lambda: 1.0,
            atoms: vec![],
            intercept: Intercept::None,
        }
    }

    /// Scales rows.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if they have other features or tasks.
    pub fn prepare(&self, inputs: &Inputs<'_>, observations: &Observations) -> Result<PreparedRows> {
        if inputs.n_features() != self.n_features {
            let (got, expected) = (inputs.n_features(), self.n_features);
            return Err(Error::Incompatible(format!("these rows have {got} features, others {expected}")));
        }
        let observations = observations.clone().for_tasks(&self.tasks)?;
        let observations = match &self.target_scaling {
            Some(scaling) => scaling.apply(&observations)?,
            None => observations,
        };
        Ok(PreparedRows { inputs: self.scaling.apply(inputs)?.into_owned(), observations })
    }

    /// As bytes, for another process.
    ///
    /// # Errors
    /// [`Error::Model`] if it cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let about = SettingAbout {
            loss: self.loss.clone(),
            c: self.c,
            n_features: self.n_features,
            tasks: self.tasks.clone(),
            scaling: self.scaling.kind(),
            target_scale: self.target_scaling.as_ref().map_or(TargetScale::None, TargetScaling::kind),
        };
        let mut out = vec![];
        push_scalings(&mut out, &self.scaling, self.target_scaling.as_ref());
        tensors::to_bytes(&FILE_KIND, &out, &about, None)
    }

    /// From bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`Error::Model`] if they are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (envelope, mut tensors) = Tensors::open(bytes, &FILE_KIND)?;
        let SettingAbout { loss, c, n_features, tasks, scaling, target_scale } =
            serde_json::from_str(envelope.about.get()).map_err(|error| wrong("about", error))?;
        let scaling = tensors.scaling(scaling, n_features)?;
        let target_scaling = tensors.target_scaling(target_scale, &loss, tasks.len())?;
        tensors.finish(&[], "a setting of rows")?;
        Ok(RowsSetting { loss, c, n_features, tasks, scaling, target_scaling })
    }
}
