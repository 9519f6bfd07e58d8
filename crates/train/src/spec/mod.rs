//! What to fit, and how: everything that decides about a fit besides its data.
//!
//! A [`FitSpec`] is what options of the command, parameters of the Python package, `--spec` files and model
//! files say, in one type. Its parts have the only parsers and printers of their texts.

mod atoms;
mod device;
mod intercept;
mod kernel;
mod loss;
mod memory;
mod method;
mod toml_text;
mod weight;

pub use atoms::{
    ATOM_WEIGHT_GRID, AtomSetting, DEFAULT_ATOM_WEIGHT, RelationData, RelationKind, ResolvedAtoms, TaskKernel,
};
pub use device::DeviceSetting;
pub use intercept::InterceptSetting;
pub use kernel::KernelSetting;
pub use loss::LossSpec;
pub use memory::Memory;
pub use method::{MethodSpec, method_texts};
pub use weight::Weight;

pub(crate) use atoms::{ATOM_PARAM, AtomExtension};
pub(crate) use device::DeviceWork;
pub(crate) use method::MethodText;

use crate::{Error, Result};
use kinfolk::{
    CScale, DatasetOptions, Inputs, Intercept, Kernel, ScalingKind, Settings, SolverKind, TargetScale,
    TaskNames,
};
use kinfolk_io::{ColumnRoles, FoldsBy};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The version of the JSON and TOML form of a [`FitSpec`] and of what model files keep beside it.
pub const SCHEMA_VERSION: u32 = 4;

/// Everything that decides about a fit besides its data. Fields that a file leaves out have their defaults.
///
/// ```
/// use kinfolk_train::FitSpec;
/// let spec = FitSpec::from_toml("method = \"fmtl:k=2\"\nloss = \"logistic\"\nc = 0.5\n")?;
/// assert_eq!(FitSpec::from_toml(&spec.to_toml()?)?, spec);
/// assert!(FitSpec::from_toml("methd = \"fmtl\"").is_err());
/// # Ok::<(), kinfolk_train::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FitSpec {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Method with its parameters.
    pub method: MethodSpec,
    /// Loss, or one for each task.
    pub loss: LossSpec,
    /// Weight of the losses.
    pub c: Weight,
    /// Weight of the output regulariser; what suits the data, or 1 where C is given, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// Weights of classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_weight: Option<ClassWeight>,
    /// Of two values of labels the one that is +1, of which probabilities are; if absent, the one that says yes, the
    /// larger number, or the last in the alphabet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positive: Option<String>,
    /// Kernel. If absent: precomputed for a Gram matrix; linear or, where C is left to the data too and rows are few
    /// enough, RBF if that predicts held-out rows better.
    #[serde(with = "kernel", skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// Intercepts of the tasks, outside Theta. If absent: not penalised or, where C is left to the data too and tasks
    /// have rows of their own, drawn together if that predicts held-out rows better.
    #[serde(with = "intercept", skip_serializing_if = "Option::is_none")]
    pub intercept: Option<Intercept>,
    /// A constant feature: its square is added to the kernel, and Theta mixes it like any feature.
    pub bias: f64,
    /// Scaling of the features.
    pub scale: ScalingKind,
    /// Scaling of labels that are numbers; the model has what `auto` stands for.
    pub target_scale: TargetScale,
    /// Fit only the rows of this part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<i64>,
    /// The column that decides which rows are held out together, where C or a method is chosen by held-out rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds_by: Option<FoldsBy>,
    /// Whether folds of whole tasks are fitted after the fit, which tell how large errors for new tasks are.
    #[serde(skip_serializing_if = "is_false")]
    pub interval_new_tasks: bool,
    /// Which solver.
    pub solver: SolverKind,
    /// Relative duality gap to reach.
    pub tol: f64,
    /// Passes over the data after which to stop.
    pub max_passes: usize,
    /// Time after which to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// Memory for kernel matrices and the like.
    pub memory: Memory,
    /// Threads to use; 0 = one per core.
    pub threads: usize,
    /// Where large products are computed.
    #[serde(skip_serializing_if = "is_auto")]
    pub device: DeviceSetting,
    /// Memory of the device for matrices; all that is free, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_memory: Option<Memory>,
    /// Seed of every random choice.
    pub seed: u64,
    /// What the columns of the data mean.
    #[serde(skip_serializing_if = "is_default")]
    pub columns: ColumnRoles,
    /// Relations between tasks that are known up to their weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub atoms: Vec<AtomSetting>,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_auto(device: &DeviceSetting) -> bool {
    *device == DeviceSetting::Auto
}

fn is_default(columns: &ColumnRoles) -> bool {
    *columns == ColumnRoles::default()
}

impl Default for FitSpec {
    fn default() -> Self {
        let Settings { tolerance, max_passes, seed, solver, .. } = Settings::default();
        FitSpec {
            schema_version: SCHEMA_VERSION,
            method: MethodSpec::default(),
            loss: LossSpec::default(),
            c: Weight::default(),
            lambda: None,
            class_weight: None,
            positive: None,
            kernel: None,
            intercept: None,
            bias: 0.0,
            scale: ScalingKind::Auto,
            target_scale: TargetScale::Auto,
            split: None,
            folds_by: None,
            interval_new_tasks: false,
            solver,
            tol: tolerance,
            max_passes,
            max_seconds: None,
            memory: Memory::default(),
            threads: 0,
            device: DeviceSetting::Auto,
            device_memory: None,
            seed,
            columns: ColumnRoles::default(),
            atoms: vec![],
        }
    }
}

/// How classes are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClassWeight {
    /// Both classes of each task have the same weight.
    Balanced,
}

impl fmt::Display for ClassWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("balanced")
    }
}

impl FromStr for ClassWeight {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "balanced" => Ok(ClassWeight::Balanced),
            _ => Err(Error::Spec(format!("class weight {text:?}: it must be balanced"))),
        }
    }
}

impl FitSpec {
    /// What the columns mean, for reading the data of a fit: only the rows of its part decide about encodings.
    pub fn columns_to_read(&self) -> ColumnRoles {
        ColumnRoles { part: self.split, folds_by: self.folds_by.clone(), ..self.columns.clone() }
    }

    /// `Err` if a number is out of its range, or the spec is of a newer version.
    pub fn check(&self) -> Result<()> {
        let wrong = |why: String| Err(Error::Spec(why));
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if self.schema_version > SCHEMA_VERSION {
            let newest = SCHEMA_VERSION;
            return wrong(format!(
                "schema_version = {}: this version reads up to {newest}",
                self.schema_version
            ));
        }
        self.c.check()?;
        for (name, value) in
            [("lambda", self.lambda), ("tol", Some(self.tol)), ("max_seconds", self.max_seconds)]
        {
            if let Some(value) = value.filter(|value| !positive(*value)) {
                return wrong(format!("{name} = {value}: it must be a positive number"));
            }
        }
        if !(self.bias.is_finite() && self.bias >= 0.0) {
            return wrong(format!("bias = {}: it must be zero or a positive number", self.bias));
        }
        atoms::check(&self.atoms)?;
        if let Some(atom) = self.atoms.first().filter(|_| !self.method.takes_atoms()) {
            let why = format!("it takes no atoms, and {:?} is given", atom.name);
            return Err(Error::Param { method: self.method.name(), why });
        }
        for name in self.method.params().atom_names() {
            if self.atoms.iter().all(|atom| atom.name != name) {
                return wrong(format!("method {}: there is no atom {name:?}", self.method));
            }
        }
        Ok(())
    }

    /// The same with task matrices and relations of tasks read from their files.
    ///
    /// # Errors
    /// If a file cannot be read, or has no matrix for these tasks.
    pub fn with_files_read(&self, tasks: &TaskNames) -> Result<Self> {
        let names: Vec<String> = tasks.iter().collect();
        let read = |atom: &AtomSetting| atom.with_file_read(&self.columns, &names);
        let atoms = self.atoms.iter().map(read).collect::<Result<_>>()?;
        Ok(FitSpec { method: self.method.with_files_read(tasks)?, atoms, ..self.clone() })
    }

    /// The files that [`with_files_read`](Self::with_files_read) reads.
    pub fn files(&self) -> Vec<PathBuf> {
        let unread = self.atoms.iter().filter(|atom| atom.data.is_none());
        unread.filter_map(|atom| atom.file.clone()).chain(self.method.files()).collect()
    }

    /// For people: without relations that are in files.
    #[must_use]
    pub fn without_file_data(&self) -> Self {
        let mut spec = self.clone();
        spec.atoms.iter_mut().filter(|atom| atom.file.is_some()).for_each(|atom| atom.data = None);
        spec
    }

    /// The same for another method and weight of the losses. Methods that take no atoms have none.
    #[must_use]
    pub fn with_method(&self, method: MethodSpec, c: Weight) -> Self {
        let mut spec = FitSpec { method, c, ..self.clone() };
        if !spec.method.takes_atoms() {
            spec.atoms.clear();
        }
        spec
    }

    /// The same with this kernel.
    pub(crate) fn with_kernel(&self, kernel: &Kernel) -> Self {
        FitSpec { kernel: Some(kernel.clone()), ..self.clone() }
    }

    /// Intercepts of the tasks; not penalised if they are left to the data.
    pub fn intercept(&self) -> Intercept {
        self.intercept.unwrap_or_default()
    }

    /// Whether the units and levels of tasks are left to the data.
    pub(crate) fn leaves_levels_open(&self) -> bool {
        self.intercept.is_none() && self.target_scale == TargetScale::Auto
    }

    /// The same with these intercepts, with which labels that are left open are scaled as suits them.
    pub(crate) fn with_intercept(&self, intercept: Intercept) -> Self {
        FitSpec { intercept: Some(intercept), ..self.clone() }
    }

    /// Whether labels that are scaled are centred first: where a model has a constant term for each task.
    pub fn centres_targets(&self) -> bool {
        self.intercept() != Intercept::None
    }

    /// The scaling of labels: `auto` is `pooled` with intercepts that are drawn to the common level.
    pub fn target_scale(&self) -> TargetScale {
        match (self.target_scale, self.intercept()) {
            (TargetScale::Auto, Intercept::Shrunk(_)) => TargetScale::Pooled,
            (given, _) => given,
        }
    }

    /// The method as text, for lists of candidates; only its name if all parameters have their defaults.
    pub fn method_text(&self) -> String {
        match MethodSpec::new(self.method.name(), &[]) {
            Ok(default) if default == self.method => self.method.name().into(),
            _ => self.method.to_string(),
        }
    }

    /// When to stop, and with what.
    pub fn settings(&self) -> Settings {
        Settings {
            tolerance: self.tol,
            max_passes: self.max_passes,
            // Longer than a duration can be is no limit.
            max_time: self.max_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            seed: self.seed,
            solver: self.solver,
        }
    }

    /// Kernel, bias, memory and threads, for these inputs; no device.
    pub fn dataset_options(&self, inputs: &Inputs<'_>) -> DatasetOptions {
        let default = if matches!(inputs, Inputs::Gram(_)) { Kernel::Precomputed } else { Kernel::Linear };
        DatasetOptions {
            kernel: self.kernel.clone().unwrap_or(default),
            bias: self.bias,
            memory: self.memory.0,
            threads: self.threads,
            device: None,
        }
    }

    /// From TOML.
    ///
    /// # Errors
    /// If it is not a spec, with the line.
    pub fn from_toml(text: &str) -> Result<Self> {
        let spec: FitSpec = toml::from_str(text).map_err(|error| in_one_line(text, &error))?;
        let written = toml::from_str(text).map_err(|error| in_one_line(text, &error))?;
        spec.check()?;
        Ok(written_before(spec, &written))
    }

    /// As TOML, which [`from_toml`](Self::from_toml) reads back.
    ///
    /// # Errors
    /// If a number is too large for TOML.
    pub fn to_toml(&self) -> Result<String> {
        toml_text::of(self).map_err(|error| Error::Spec(error.to_string()))
    }

    /// From JSON.
    ///
    /// # Errors
    /// If it is not a spec.
    pub fn from_json(text: &str) -> Result<Self> {
        let spec: FitSpec = serde_json::from_str(text).map_err(|error| Error::Spec(error.to_string()))?;
        spec.check()?;
        Ok(written_before(spec, &serde_json::from_str(text)?))
    }
}

/// Which fields a spec has, of those whose defaults have changed.
#[derive(Deserialize)]
struct WrittenFields {
    method: Option<IgnoredAny>,
    intercept: Option<IgnoredAny>,
    bias: Option<IgnoredAny>,
    scale: Option<IgnoredAny>,
    target_scale: Option<IgnoredAny>,
}

/// A spec of an earlier version: fields that it leaves out have the defaults of then.
fn written_before(mut spec: FitSpec, written: &WrittenFields) -> FitSpec {
    if spec.schema_version < 3 {
        if written.intercept.is_none() {
            spec.intercept = Some(Intercept::None);
        }
        if written.bias.is_none() {
            spec.bias = 1.0;
        }
        if written.scale.is_none() {
            spec.scale = ScalingKind::None;
        }
        if written.target_scale.is_none() {
            spec.target_scale = TargetScale::None;
        }
        if spec.c == Weight::Auto {
            spec.c = Weight::Relative(CScale::MIDDLE);
        }
    }
    if spec.schema_version < 4 && written.method.is_none() {
        spec.method = MethodSpec::plain(&crate::methods::FMTL);
    }
    spec.schema_version = SCHEMA_VERSION;
    spec
}
/// What is wrong with a text, with its line: the library draws a picture of several lines.
fn in_one_line(text: &str, error: &toml::de::Error) -> Error {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = 1 + text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count();
    Error::Spec(format!("line {line}: {}", error.message().replace('\n', "; ")))
}
