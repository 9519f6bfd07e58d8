//! From options to a [`FitSpec`]: a `--spec` file, and what is given beside it.

use super::{ColumnArgs, Global, InputArgs, SolverArgs, positive};
use crate::failure::{Failure, Result};
use clap::Args;
use kinfolk::TargetScale;
use kinfolk_io::FoldsBy;
use kinfolk_train::{AtomSetting, ClassWeight, FitSpec, LossSpec, MethodSpec, Weight};
use std::path::{Path, PathBuf};

/// Settings of a folder, in the form of a `--spec` file.
const CONFIG_FILE: &str = "kinfolk.toml";

/// What `fit` and `select` have in common.
#[derive(Debug, Clone, Args)]
pub(crate) struct SpecArgs {
    /// A file with these options, toml or json, as `kinfolk model show MODEL --spec` prints it; options override it
    /// [default: kinfolk.toml in this folder, if it is there].
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Use only the rows of this part, by the split column or array.
    #[arg(long, value_name = "PART", allow_negative_numbers = true, value_parser = super::part)]
    split: Option<i64>,
    /// Which rows are held out together where C or a method is chosen: group:COL = all rows of a group (patient,
    /// batch); time:COL = rows later than all rows they are predicted from. Scores are then about new groups, or later
    /// times [default: random rows of each task].
    #[arg(long, value_name = "group:COL|time:COL")]
    folds_by: Option<FoldsBy>,
    /// Also learn how large errors for new tasks are, for predict --interval: folds of whole tasks are fitted with the
    /// settings of the model. The price is ten more fits, or one for each task if there are fewer; 90 % intervals need
    /// nine tasks. For numbers, and tasks with rows of their own: not for tasks that are columns. With folds of whole
    /// tasks (--folds-by group:TASK) it is done without this.
    #[arg(long)]
    interval_new_tasks: bool,
    #[arg(long, help_heading = "Problem", help = loss_help())]
    loss: Option<LossSpec>,
    /// Weight of the regulariser [default: 1; without --c, for exp and cosh, what suits the data].
    #[arg(long, allow_negative_numbers = true, value_name = "X", value_parser = positive, help_heading = "Problem")]
    lambda: Option<f64>,
    /// Scaling of labels that are numbers, kept in the model: each task in units of its own standard deviation (task),
    /// the same with those of tasks with fewer than six labels drawn to the usual one (shrunk), all tasks in units of
    /// a common one (common), or all labels by one mean and one unit (pooled); auto is pooled with
    /// --intercept shrunk:K, else shrunk if there are tasks with so few labels, and else task. Parameters of losses
    /// (epsilon, huber) are in the same units; predictions are in those of the data [default: auto].
    #[arg(long, value_name = "auto|task|shrunk|common|pooled|none", help_heading = "Problem")]
    target_scale: Option<TargetScale>,
    /// Weights of classes: balanced gives both classes of each task the same weight.
    #[arg(long, value_name = "balanced", help_heading = "Problem")]
    class_weight: Option<ClassWeight>,
    /// Of two values of labels the one that is +1, and that probabilities are of [default: the one that says yes, the
    /// larger number, or the last in the alphabet].
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, help_heading = "Problem")]
    positive: Option<String>,
    /// A known relation of the tasks, whose part in Theta is learned: groups=FILE:COLUMN, tree=FILE, graph=FILE,
    /// distance=FILE, matrix=FILE, features=FILE, common or own; then ,weight=NUMBER (0 switches it off, larger values
    /// put more of Theta into it) and ,name=NAME. Files (csv, parquet) name the tasks. May be repeated.
    #[arg(long = "atom", value_name = "KIND=FILE", help_heading = "Problem")]
    atoms: Vec<AtomSetting>,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    solver: SolverArgs,
}

fn loss_help() -> String {
    format!("{}; for one loss per task, a list with commas [default: auto]", LossSpec::describe())
}

impl SpecArgs {
    /// The spec of the file, or the default one, with these options.
    pub(crate) fn spec(&self, global: &Global) -> Result<FitSpec> {
        let own = Path::new(CONFIG_FILE);
        let mut spec = match &self.spec {
            Some(path) => read(path)?,
            None if own.is_file() => {
                crate::report::Report::note_of(
                    global,
                    format!("settings of {CONFIG_FILE} in this folder are used"),
                );
                read(own)?
            }
            None => FitSpec::default(),
        };
        self.columns.apply(&mut spec.columns);
        ColumnArgs::check(&spec.columns)?;
        self.inputs.apply(&mut spec)?;
        self.solver.apply(&mut spec);
        set(&mut spec.loss, &self.loss);
        set(&mut spec.target_scale, &self.target_scale);
        set(&mut spec.threads, &global.threads);
        set(&mut spec.device, &global.device);
        spec.device_memory = global.device_memory.or(spec.device_memory);
        set(&mut spec.seed, &global.seed);
        spec.split = self.split.or(spec.split);
        spec.folds_by = self.folds_by.clone().or(spec.folds_by);
        spec.interval_new_tasks |= self.interval_new_tasks;
        spec.lambda = self.lambda.or(spec.lambda);
        spec.positive = self.positive.clone().or(spec.positive);
        spec.class_weight = self.class_weight.or(spec.class_weight);
        spec.atoms.retain(|own| self.atoms.iter().all(|given| given.name != own.name));
        spec.atoms.extend(self.atoms.iter().cloned());
        Ok(spec)
    }
}

impl SpecArgs {
    /// The files that a spec is read from, or reads.
    pub(crate) fn files(&self, spec: &FitSpec) -> Vec<PathBuf> {
        let own = Some(PathBuf::from(CONFIG_FILE)).filter(|path| self.spec.is_none() && path.is_file());
        self.spec.iter().cloned().chain(own).chain(spec.files()).collect()
    }
}

/// Replaces a value where another one is given.
pub(super) fn set<T: Clone>(value: &mut T, given: &Option<T>) {
    if let Some(given) = given {
        value.clone_from(given);
    }
}

/// A spec file, toml or json by its ending.
fn read(path: &Path) -> Result<FitSpec> {
    let text = crate::files::read_text(path)?;
    let json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let spec = if json { FitSpec::from_json(&text) } else { FitSpec::from_toml(&text) };
    spec.map_err(|error| Failure::input(error).about(path))
}

/// Method and weight of the losses, of one fit.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct MethodArgs {
    /// Method with its parameters, such as stl, mtl:mu=0.1 or kin:common=10,k=2; see `kinfolk methods`
    /// [default: kin].
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Short for the parameter output of fmtl, the regulariser of the task matrix; without --method it means fmtl.
    #[arg(long, value_name = "NAME")]
    output: Option<String>,
    /// Short for the parameter k of kin and fmtl: 1 is the Frobenius norm, larger is sparser.
    #[arg(long)]
    k: Option<String>,
    /// Short for the parameter theta of fmtl, the task matrix for --output fixed: csv, npy, or a model to take it from.
    #[arg(long, value_name = "FILE")]
    theta: Option<String>,
    /// Short for the parameter prior of fmtl, a task matrix to start from: csv, npy, or a model to take it from.
    #[arg(long, value_name = "FILE")]
    prior: Option<String>,
    /// Weight of the losses: C itself, strength:X on the scale without units of `kinfolk select`, whose middle is 1, or
    /// auto, which tries some strengths on folds [default: auto].
    #[arg(long, alias = "C", short_aliases = ['c', 'C'], allow_negative_numbers = true, value_name = "C")]
    c: Option<Weight>,
}

impl MethodArgs {
    /// Puts these options into a spec.
    pub(crate) fn apply(&self, spec: &mut FitSpec) -> Result<()> {
        set(&mut spec.c, &self.c);
        let named =
            [("output", &self.output), ("k", &self.k), ("theta", &self.theta), ("prior", &self.prior)];
        let short: Vec<(&str, &str)> =
            named.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
        let method = match &self.method {
            None if short.is_empty() => return Ok(()),
            // Only fmtl has these parameters.
            None if !has_all(&spec.method, &short) => MethodSpec::new("fmtl", &short),
            // Another regulariser has other parameters than that of the file.
            None if self.output.is_some() => MethodSpec::new(spec.method.name(), &short),
            None => spec.method.with(&short),
            Some(text) => MethodSpec::parse_with(text, &short),
        };
        spec.method = method.map_err(Failure::usage)?;
        Ok(())
    }
}

/// Whether a method has parameters of these names.
fn has_all(method: &MethodSpec, params: &[(&str, &str)]) -> bool {
    let known = method.method().params();
    params.iter().all(|(name, _)| known.iter().any(|param| param.name == *name))
}
