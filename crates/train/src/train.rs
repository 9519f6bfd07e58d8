//! The one way from a spec and data to a fit: the command, the Python package and selection all take it.
//!
//! ```text
//! train(spec, data, start, observer)
//!   Training      rows of the part, loss, label coding, class weights, scaled inputs
//!   PreparedData  kernel and scale of C, computed once, for any number of fits
//!   Method        the problem, or the search for one, and its solver
//!   Trained       model, spec, schema and certificate: what a model file keeps
//! ```
//! Paths and cross-validation enter at [`PreparedData`], with a data set that serves many fits.

use crate::from_statistics::{self, StandInForm, StatisticsRows};
use crate::notes::{row_notes, task_notes};
use crate::observer::SharedObserver;
use crate::residuals::{NewTaskFolds, Setting};
use crate::select::too_many_for_kernels;
use crate::spec::{DeviceSetting, DeviceWork};
use crate::{
    AtomSetting, AutoC, Error, FitSpec, InputRanges, Job, MethodSpec, ResolvedAtoms, Result, Trained, Weight,
};
use crate::{auto_c, within_task};
use kinfolk::rows::Rows;
use kinfolk::{
    CScale, Dataset, DatasetOptions, Fit, Inputs, Intercept, LossKind, Losses, Model, Observations, Observer,
    Scaling, ScalingKind, Settings, Start, Statistics, TargetScale, TargetScaling,
};
use kinfolk_io::{FoldKeys, FoldsBy, Hint, Labels, Schema, Table, Targets};
use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Time that a fit has at least, after a choice of C that took longer than it should.
const SHORTEST_FIT: Duration = Duration::from_millis(1);

/// What a spec is fitted to.
#[derive(Debug)]
pub enum Data<'a> {
    /// A table as it was read from a file, and how it was read.
    Table(Box<(Table, Schema)>),
    /// Inputs and observations; labels are coded already.
    Arrays(&'a Inputs<'a>, &'a Observations),
    /// Sums over rows that are elsewhere, for the squared loss.
    Statistics(&'a Statistics),
    /// Sums over rows that are elsewhere, and the rows, which can be asked: for every loss. With the squared loss they
    /// are not asked.
    Rows(&'a Statistics, &'a dyn Rows),
}

/// Fits a spec to data.
///
/// # Errors
/// If the spec does not suit the data.
pub fn train(
    spec: &FitSpec,
    data: Data<'_>,
    start: Start<'_>,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    Training::new(spec, data)?.fit(spec, start, observer)
}

/// Data as solvers take them: scaled inputs; coded, weighted and scaled labels.
#[derive(Debug)]
pub struct Training<'a> {
    /// Scaled.
    pub inputs: Inputs<'a>,
    /// How inputs were scaled.
    pub scaling: Scaling,
    /// Labels and weights, scaled.
    pub observations: Cow<'a, Observations>,
    /// How labels were scaled, if they were.
    pub target_scaling: Option<TargetScaling>,
    /// The losses of the tasks.
    pub losses: Losses,
    /// How the data were read.
    pub schema: Schema,
    /// What is remarkable about the labels of tasks.
    pub notes: Vec<String>,
    /// Groups or times of the rows, if these decide about folds.
    pub fold_keys: Option<FoldKeys>,
    /// Ranges of the features before they were scaled.
    pub(crate) ranges: Option<InputRanges>,
    /// What inputs and observations stand for, if they are not rows.
    pub(crate) statistics: Option<StatisticsRows<'a>>,
}

impl<'a> Training<'a> {
    /// Takes the rows, loss, coding, class weights and scaling that a spec asks for.
    ///
    /// # Errors
    /// If the data have no such part, or their labels do not suit the loss.
    pub fn new(spec: &FitSpec, data: Data<'a>) -> Result<Self> {
        spec.check()?;
        match data {
            Data::Table(read) => Training::of_table(spec, read.0, read.1),
            Data::Arrays(inputs, observations) => Training::of_arrays(spec, inputs, observations),
            Data::Statistics(statistics) => from_statistics::training(spec, statistics, None),
            Data::Rows(statistics, rows) => from_statistics::training(spec, statistics, Some(rows)),
        }
    }

    fn of_table(spec: &FitSpec, table: Table, mut schema: Schema) -> Result<Self> {
        let (table, losses, mut notes) = coded(spec, table, &mut schema)?;
        let observations = table.observations(&schema.label_encoding)?;
        let scaling = scaling_of(spec, &table.inputs, &observations)?;
        let observations = balanced(spec, Cow::Owned(observations))?;
        notes.extend(task_notes(&observations, &losses, spec.intercept()));
        notes.extend(row_notes(&table.inputs, &observations, &schema));
        let (observations, target_scaling) = with_scaled_labels(spec, observations, &losses)?;
        let ranges =
            InputRanges::new(&table.inputs).map(|ranges| ranges.of_tasks(&table.inputs, &observations));
        let (inputs, fold_keys) = (scaled(&scaling, table.inputs)?, table.fold_keys);
        let statistics = None;
        Ok(Training {
            inputs,
            scaling,
            observations,
            target_scaling,
            losses,
            schema,
            notes,
            fold_keys,
            ranges,
            statistics,
        })
    }

    /// The losses that a spec asks for with these labels.
    pub fn losses_of(spec: &FitSpec, observations: &Observations) -> Losses {
        spec.loss.losses(all_signs(observations))
    }

    /// Some rows of data, by themselves.
    pub(crate) fn of_rows(
        spec: &FitSpec,
        inputs: &Inputs<'_>,
        observations: &Observations,
        losses: &Losses,
        rows: &[u32],
    ) -> Result<Training<'static>> {
        let raw = inputs.select_rows(rows);
        let observations = Cow::Owned(observations.select_inputs(rows)?);
        let scaling = scaling_of(spec, &raw, &observations)?;
        let observations = balanced(spec, observations)?;
        let (observations, target_scaling) = with_scaled_labels(spec, observations, losses)?;
        Ok(Training {
            schema: Schema::new(spec.columns.clone(), None, raw.n_features()),
            inputs: scaled(&scaling, raw)?,
            scaling,
            observations,
            target_scaling,
            losses: losses.clone(),
            notes: vec![],
            fold_keys: None,
            ranges: None,
            statistics: None,
        })
    }

    pub(crate) fn of_arrays(
        spec: &FitSpec,
        inputs: &'a Inputs<'a>,
        observations: &'a Observations,
    ) -> Result<Self> {
        let losses = Training::losses_of(spec, observations);
        let schema = Schema::new(spec.columns.clone(), None, inputs.n_features());
        let scaling = scaling_of(spec, inputs, observations)?;
        let observations = balanced(spec, Cow::Borrowed(observations))?;
        let notes = task_notes(&observations, &losses, spec.intercept());
        let (observations, target_scaling) = with_scaled_labels(spec, observations, &losses)?;
        Ok(Training {
            inputs: scaling.apply(inputs)?,
            scaling,
            observations,
            target_scaling,
            losses,
            schema,
            notes,
            fold_keys: None,
            ranges: InputRanges::new(inputs),
            statistics: None,
        })
    }

    /// The same with groups or times of the rows, for a choice of C by held-out rows.
    ///
    /// # Errors
    /// If they are too few for folds.
    pub fn with_fold_keys(self, fold_keys: Option<FoldKeys>) -> Result<Self> {
        check_fold_keys(fold_keys.as_ref())?;
        Ok(Training { fold_keys, ..self })
    }

    /// The data set: kernel, bias, memory, threads and device of the spec.
    ///
    /// # Errors
    /// If the kernel does not suit the inputs, or there is no such device.
    pub fn dataset(&self, spec: &FitSpec) -> Result<Dataset<'_>> {
        let (inputs, observations) = (&self.inputs, &*self.observations);
        let memory = spec.device_memory.map(|memory| memory.0);
        let device = spec.device.for_fit(memory, &self.work(spec))?;
        let options = DatasetOptions { device, ..spec.dataset_options(inputs) };
        Ok(Dataset::new(inputs, observations, options)?)
    }

    fn work<'b>(&'b self, spec: &'b FitSpec) -> DeviceWork<'b> {
        let kernel = spec.kernel.as_ref();
        DeviceWork { inputs: &self.inputs, observations: &self.observations, losses: &self.losses, kernel }
    }

    /// What is to be said about the device of a fit, if there is one.
    fn device_note(&self, spec: &FitSpec, data: &Dataset<'_>) -> Option<String> {
        let name = data.options().device.as_ref()?.0.name();
        Some(match self.work(spec).suits() {
            true => format!("solved on {name}"),
            false => format!(
                "solvers run on {name} for dense features with a label for every task, one loss and equal weights; \
                 here only products of the certificate may"
            ),
        })
    }

    /// Fits a spec. Where C and the kernel are left to the data, an RBF kernel is tried beside the linear one.
    ///
    /// # Errors
    /// If the method does not suit the data.
    pub fn fit(&self, spec: &FitSpec, start: Start<'_>, observer: &mut dyn Observer) -> Result<Trained> {
        let began = Instant::now();
        let spec = spec.with_files_read(self.observations.task_names())?;
        let new_tasks = NewTaskFolds::new(self, &spec)?;
        let data = self.dataset(&spec)?;
        let prepared = self.prepare(&data, &spec)?;
        let mut chosen = match self.is_kernel_open(&spec) {
            true => self.choice(&prepared, &spec, observer),
            false => self.choice(&prepared, &spec.with_kernel(&data.options().kernel), observer),
        };
        let (method, weight) = self.setting(&spec, chosen.as_ref());
        let kernel = chosen.as_ref().and_then(|chosen| chosen.kernel.clone());
        let setting = Setting { method, weight, kernel: kernel.as_ref().unwrap_or(&data.options().kernel) };
        let drawn = chosen.as_mut().and_then(|chosen| chosen.intercept.take());
        let asked = (spec.intercept, spec.kernel.clone());
        let spec = drawn.map_or(spec.clone(), |intercept| spec.with_intercept(intercept));
        let mut trained = match (&kernel, drawn) {
            (None, None) => self.fit_chosen(&prepared, spec.clone(), (chosen, began), start, observer)?,
            _ => {
                let spec = kernel.as_ref().map_or(spec.clone(), |kernel| spec.with_kernel(kernel));
                let rescaled = drawn.map(|_| self.with_labels_of(&spec)).transpose()?;
                let training = rescaled.as_ref().unwrap_or(self);
                let data = training.dataset(&spec)?;
                let prepared = training.prepare(&data, &spec)?;
                training.fit_chosen(&prepared, spec, (chosen, began), start, observer)?
            }
        };
        trained.outcome.notes.extend(self.column_note(&trained.spec));
        // What was left to the data stays so: the same spec makes the same choice again.
        (trained.spec.intercept, trained.spec.kernel) = asked;
        trained.outcome.notes.extend(self.device_note(&spec, &data));
        if let Some(folds) = new_tasks {
            let limit = spec.max_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let observer = SharedObserver::new(observer, limit.and_then(|limit| began.checked_add(limit)));
            trained.outcome.new_task_errors = folds.measure(&spec, setting, &observer)?;
            let stopped = "stopped before the last fold of whole tasks: there are no intervals for new tasks";
            trained.outcome.notes.extend(observer.stopped().then(|| stopped.to_string()));
        }
        let is_open = spec.kernel.is_none() && spec.c == Weight::Auto && self.statistics.is_none();
        if is_open && too_many_for_kernels(&self.observations) {
            trained.outcome.notes.extend(auto_c::hint(self, &spec, observer));
        }
        Ok(trained)
    }

    /// Observations with labels before they were scaled.
    pub(crate) fn labels_as_given(&self) -> Result<Cow<'_, Observations>> {
        let Some(scaling) = &self.target_scaling else { return Ok(Cow::Borrowed(&*self.observations)) };
        Ok(Cow::Owned(scaling.undo(&self.observations)?))
    }

    /// The same for classes with offsets that scaling added: each fold adds its own. `None` for all others, whose
    /// labels may be scaled again.
    pub(crate) fn scores_as_given(&self) -> Option<Observations> {
        let scaling = self.target_scaling.as_ref().filter(|_| self.statistics.is_none())?;
        let has_start = scaling.centre().is_some_and(|centre| centre.iter().any(|start| *start != 0.0));
        let are_classes = all_losses(&self.losses, |loss| *loss == LossKind::Logistic);
        if has_start && are_classes { scaling.undo(&self.observations).ok() } else { None }
    }

    /// The same data with labels scaled as another spec says.
    fn with_labels_of(&self, spec: &FitSpec) -> Result<Training<'_>> {
        let (observations, target_scaling) = with_scaled_labels(spec, self.labels_as_given()?, &self.losses)?;
        Ok(Training {
            // They are scaled already.
            inputs: Scaling::None.apply(&self.inputs)?,
            scaling: self.scaling.clone(),
            observations,
            target_scaling,
            losses: self.losses.clone(),
            schema: self.schema.clone(),
            notes: self.notes.clone(),
            fold_keys: self.fold_keys.clone(),
            ranges: self.ranges.clone(),
            statistics: None,
        })
    }

    /// Whether another kernel than the linear one may be tried: sums are for it alone, and so are solvers on devices.
    /// Some tasks may be few enough where all of them are too many.
    fn is_kernel_open(&self, spec: &FitSpec) -> bool {
        let on_device = !matches!(spec.device, DeviceSetting::Auto | DeviceSetting::Cpu);
        let too_many = too_many_for_kernels(&self.observations);
        spec.kernel.is_none() && self.statistics.is_none() && !on_device && !too_many
    }

    /// What the data say about C and, unless the spec has one, the kernel.
    fn choice(
        &self,
        prepared: &PreparedData<'_>,
        spec: &FitSpec,
        observer: &mut dyn Observer,
    ) -> Option<AutoC> {
        (spec.c == Weight::Auto).then(|| auto_c::choose(self, prepared, spec, observer))
    }

    /// What is to be said about columns that have no effect in a fit of a spec, if there are any.
    pub fn column_note(&self, spec: &FitSpec) -> Option<String> {
        // Sums do not tell whether values are equal.
        self.statistics.is_none().then(|| within_task::note(self, spec))?
    }

    /// A data set of these data with the atoms of a spec, for any number of fits.
    ///
    /// # Errors
    /// If an atom does not suit the tasks.
    pub fn prepare<'b>(&'b self, data: &'b Dataset<'b>, spec: &FitSpec) -> Result<PreparedData<'b>> {
        let prepared = PreparedData::new(data, &self.losses, spec.intercept()).with_atoms(spec)?;
        match &self.statistics {
            None => Ok(prepared),
            Some(rows) => rows.with_c_scale(prepared, spec),
        }
    }

    /// The rows on which C is chosen, scaled; `None` if there are only sums.
    pub(crate) fn rows_of_choice(&self) -> Option<(&Inputs<'_>, &Observations)> {
        match &self.statistics {
            None => Some((&self.inputs, &self.observations)),
            Some(rows) if matches!(rows.form, StandInForm::Some(_)) => {
                Some((&self.inputs, &self.observations))
            }
            Some(rows) => rows.sample().map(|(inputs, observations)| (inputs, observations)),
        }
    }

    /// Fits a spec to a data set of these data that serves several fits.
    ///
    /// # Errors
    /// If the method does not suit the data.
    pub fn fit_to(
        &self,
        prepared: &PreparedData<'_>,
        spec: &FitSpec,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let began = Instant::now();
        let spec = spec.with_files_read(self.observations.task_names())?;
        // What was prepared has its kernel, units and levels.
        let spec = FitSpec { intercept: Some(spec.intercept()), ..spec };
        let chosen = self.choice(prepared, &spec.with_kernel(&prepared.data.options().kernel), observer);
        self.fit_chosen(prepared, spec, (chosen, began), start, observer)
    }

    /// Method and weight of the losses, with what was left to the data.
    fn setting(&self, spec: &FitSpec, auto_c: Option<&AutoC>) -> (MethodSpec, Weight) {
        // Sums of a table with missing labels look like those of rows of each task.
        let rows = self.rows_of_choice().map_or(&*self.observations, |(_, observations)| observations);
        let method = auto_c.and_then(|chosen| chosen.method.clone());
        let weight = auto_c.map_or(spec.c, |chosen| Weight::Relative(chosen.strength));
        (method.unwrap_or_else(|| spec.method.for_data(rows)), weight)
    }

    /// Fits a spec with what was left to the data, and chosen since a moment.
    fn fit_chosen(
        &self,
        prepared: &PreparedData<'_>,
        spec: FitSpec,
        (mut auto_c, began): (Option<AutoC>, Instant),
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let (method, weight) = self.setting(&spec, auto_c.as_ref());
        if let Some(chosen) = &mut auto_c {
            chosen.method = None;
        }
        let mut settings = spec.settings();
        if auto_c.is_some() {
            let left = |limit: Duration| limit.saturating_sub(began.elapsed()).max(SHORTEST_FIT);
            settings.max_time = settings.max_time.map(left);
        }
        let first = match &self.statistics {
            Some(rows) => Settings { tolerance: rows.tolerance(spec.tol), ..settings.clone() },
            None => settings.clone(),
        };
        let mut fit = prepared.fit(&method, weight, spec.lambda, &first, start, observer)?;
        if let Some(rows) = &self.statistics {
            fit = rows.of_all(self, prepared.data(), fit, &settings, observer)?;
        }
        let mut trained = self.trained(spec, fit)?;
        if let Some(rows) = &self.statistics {
            rows.tell(&mut trained, prepared.data())?;
        }
        if trained.spec.method.takes_atoms() {
            trained.outcome.notes.extend_from_slice(&prepared.atoms.notes);
        }
        let residuals = auto_c.as_mut().and_then(|chosen| chosen.residuals.take());
        let scale = self.target_scaling.as_ref().map_or(TargetScale::None, TargetScaling::kind);
        trained.outcome.residuals =
            residuals.map(|found| found.with_labels(&self.observations.task_counts(), scale));
        trained.outcome.class_exponent = auto_c.as_ref().and_then(|chosen| chosen.class_exponent);
        trained.outcome.notes.extend(auto_c.as_ref().and_then(AutoC::too_good));
        trained.outcome.auto_c = auto_c;
        trained.seconds = began.elapsed().as_secs_f64();
        Ok(trained)
    }

    /// Tells a model of these data how inputs and labels were scaled: it then takes and predicts raw ones.
    ///
    /// # Errors
    /// If the scaling does not suit the model, which is of other data then.
    pub fn set_scalings(&self, model: &mut Model) -> Result<()> {
        model.set_scaling(self.scaling.clone())?;
        Ok(model.set_target_scaling(self.target_scaling.clone())?)
    }

    /// A fit of these data with what made it.
    ///
    /// # Errors
    /// If the scaling does not suit the model, which is of other data then.
    pub fn trained(&self, mut spec: FitSpec, mut fit: Fit) -> Result<Trained> {
        spec.atoms = spec.atoms.into_iter().map(AtomSetting::without_large_data).collect();
        self.set_scalings(&mut fit.model)?;
        let mut trained = Trained::new(fit, spec, self.schema.clone());
        trained.outcome.notes.clone_from(&self.notes);
        trained.outcome.ranges.clone_from(&self.ranges);
        Ok(trained)
    }
}

/// The rows of the part that a spec asks for that have a label, with their losses and what is to be said about them;
/// the schema gets the label coding.
fn coded(spec: &FitSpec, table: Table, schema: &mut Schema) -> Result<(Table, Losses, Vec<String>)> {
    let table = match spec.split {
        None => table,
        Some(part) => table.take_split(part)?,
    };
    let (table, unlabelled) = table.labelled();
    let rows = if unlabelled == 1 { "row without a label is" } else { "rows without a label are" };
    let mut notes = schema.spelling_notes(&table);
    notes.extend((unlabelled > 0).then(|| format!("{unlabelled} {rows} left out")));
    // A part of a Gram matrix has fewer columns.
    schema.n_features = table.inputs.n_features();
    let losses = spec.loss.losses(are_classes(&table.targets));
    let classification = all_losses(&losses, LossKind::is_classification);
    schema.check_loss(classification, &table.targets)?;
    schema.label_encoding = table.label_encoding(classification)?;
    if let Some(value) = &spec.positive {
        schema.label_encoding = schema.label_encoding.clone().with_positive(value)?;
    }
    notes.extend(table.class_hint(&schema.label_encoding));
    let column = spec.folds_by.as_ref().map_or("", FoldsBy::column);
    check_fold_keys(table.fold_keys.as_ref()).map_err(|error| error.in_column(column))?;
    Ok((table, losses, notes))
}

/// `Err` if the rows have too few groups or times for folds.
fn check_fold_keys(keys: Option<&FoldKeys>) -> kinfolk_io::Result<()> {
    let Some(keys) = keys.filter(|keys| keys.most_folds() < 2) else { return Ok(()) };
    Err(kinfolk_io::Error::of_table(match keys {
        FoldKeys::Groups(_) => "all rows are of one group, and folds need two",
        FoldKeys::Times(_) => "there are fewer than three different times, and folds by time need three",
    }))
}

/// Inputs as they are in the file, and observations without class weights: for selection, whose folds look at their own
/// training rows only.
///
/// # Errors
/// If the data have no such part, or their labels do not suit the loss.
pub fn unscaled(spec: &FitSpec, table: Table, mut schema: Schema) -> Result<Training<'static>> {
    spec.check()?;
    let (table, losses, mut notes) = coded(spec, table, &mut schema)?;
    let observations = Cow::Owned(table.observations(&schema.label_encoding)?);
    let (scaling, target_scaling, fold_keys) = (Scaling::None, None, table.fold_keys);
    notes.extend(task_notes(&observations, &losses, spec.intercept()));
    notes.extend(row_notes(&table.inputs, &observations, &schema));
    let (inputs, statistics) = (table.inputs, None);
    Ok(Training {
        inputs,
        scaling,
        observations,
        target_scaling,
        losses,
        schema,
        notes,
        fold_keys,
        ranges: None,
        statistics,
    })
}

/// The scaling of inputs that a spec asks for. Inputs count by the weights of their observations; weights of classes
/// are not among these.
fn scaling_of(spec: &FitSpec, inputs: &Inputs<'_>, observations: &Observations) -> Result<Scaling> {
    if spec.scale == ScalingKind::Standard && matches!(inputs, Inputs::Sparse(_)) {
        let why = "standard scaling would fill sparse inputs, since a zero less the mean is none";
        return Err(kinfolk_io::Error::of_table(why).hint(Hint::Dense).into());
    }
    if !matches!(inputs, Inputs::Gram(_)) {
        let kernel = spec.kernel.clone().unwrap_or_default();
        kinfolk::check_weights(inputs.n_features(), observations.n_tasks(), &kernel, spec.memory.0)?;
    }
    Ok(Scaling::fit_weighted(spec.scale, inputs, observations.input_weights().as_deref())?)
}

/// Labels scaled as a spec asks for, and how.
fn with_scaled_labels<'a>(
    spec: &FitSpec,
    observations: Cow<'a, Observations>,
    losses: &Losses,
) -> Result<(Cow<'a, Observations>, Option<TargetScaling>)> {
    let scaling = TargetScaling::fit(spec.target_scale(), &observations, losses, spec.centres_targets())?;
    match scaling {
        None => Ok((observations, None)),
        Some(scaling) => Ok((Cow::Owned(scaling.apply(&observations)?), Some(scaling))),
    }
}

fn scaled(scaling: &Scaling, inputs: Inputs<'static>) -> Result<Inputs<'static>> {
    match scaling {
        Scaling::None => Ok(inputs),
        _ => Ok(scaling.apply(&inputs)?.into_owned()),
    }
}

fn all_signs(observations: &Observations) -> bool {
    observations.labels().iter().all(|y| y.abs() == 1.0)
}

fn balanced<'a>(spec: &FitSpec, observations: Cow<'a, Observations>) -> Result<Cow<'a, Observations>> {
    match spec.class_weight {
        None => Ok(observations),
        Some(_) => Ok(Cow::Owned(observations.into_owned().class_balanced()?)),
    }
}

/// Whether all tasks have a loss for which this holds.
pub fn all_losses(losses: &Losses, holds: impl Fn(&LossKind) -> bool) -> bool {
    match losses {
        Losses::Same(loss) => holds(loss),
        Losses::PerTask(all) => all.iter().all(holds),
    }
}

/// A data set and its losses, for any number of fits. The scale of C is computed when it is first needed.
#[derive(Debug)]
pub struct PreparedData<'a> {
    data: &'a Dataset<'a>,
    losses: &'a Losses,
    intercept: Intercept,
    atoms: ResolvedAtoms,
    c_scale: OnceLock<CScale>,
}

impl<'a> PreparedData<'a> {
    /// For these losses and intercepts.
    pub fn new(data: &'a Dataset<'a>, losses: &'a Losses, intercept: Intercept) -> Self {
        PreparedData { data, losses, intercept, atoms: ResolvedAtoms::default(), c_scale: OnceLock::new() }
    }

    /// With the atoms of a spec, for methods that take them.
    ///
    /// # Errors
    /// If a file cannot be read, or an atom does not suit the tasks.
    pub fn with_atoms(mut self, spec: &FitSpec) -> Result<Self> {
        let tasks = self.data.observations().task_names();
        self.atoms = ResolvedAtoms::new(&spec.atoms, tasks, &spec.columns)?;
        Ok(self)
    }

    /// The same with a known scale of C.
    pub(crate) fn with_c_scale(self, c_scale: CScale) -> Self {
        PreparedData { c_scale: OnceLock::from(c_scale), ..self }
    }

    pub(crate) fn losses(&self) -> &'a Losses {
        self.losses
    }

    /// The data set.
    pub fn data(&self) -> &'a Dataset<'a> {
        self.data
    }

    /// The scale of C.
    ///
    /// # Errors
    /// If the losses do not suit the tasks.
    pub fn c_scale(&self) -> Result<&CScale> {
        if let Some(scale) = self.c_scale.get() {
            return Ok(scale);
        }
        let scale = CScale::new(self.data, self.losses, self.intercept)?;
        Ok(self.c_scale.get_or_init(|| scale))
    }

    /// A job for a method.
    pub fn job<'b>(&'b self, lambda: Option<f64>, settings: &'b Settings) -> Job<'b> {
        Job {
            data: self.data,
            loss: self.losses,
            intercept: self.intercept,
            atoms: &self.atoms.atoms,
            prepared: self,
            lambda,
            settings,
        }
    }

    /// Fits a method with a weight of the losses.
    ///
    /// # Errors
    /// If the method does not suit the data.
    pub fn fit(
        &self,
        method: &MethodSpec,
        weight: Weight,
        lambda: Option<f64>,
        settings: &Settings,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        method.method().fit(&self.job(lambda, settings), method.params(), weight, start, observer)
    }
}

/// Classes, or exactly two label values, missing ones aside.
fn are_classes(targets: &Targets) -> bool {
    match targets {
        Targets::None => false,
        Targets::Classes(_) => true,
        Targets::Tasks { label: None, .. } => false,
        Targets::Tasks { label: Some(Labels::Words(_)), .. } => true,
        Targets::Tasks { label: Some(Labels::Numbers(y)), .. } => two_numbers(y),
        Targets::Wide { label, .. } => two_numbers(label.as_slice()),
    }
}

fn two_numbers(labels: &[f64]) -> bool {
    let mut known = labels.iter().copied().filter(|y| !y.is_nan());
    let Some(one) = known.next() else { return false };
    let mut other = None;
    for y in known.filter(|y| *y != one) {
        if *other.get_or_insert(y) != y {
            return false;
        }
    }
    other.is_some()
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Error::Spec(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_are_recognised() {
        assert!(two_numbers(&[0.0, 1.0, f64::NAN, 0.0]));
        for other in [&[][..], &[1.0, 1.0], &[0.0, 1.0, 2.0], &[f64::NAN]] {
            assert!(!two_numbers(other), "{other:?}");
        }
    }
}
