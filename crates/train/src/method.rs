//! Anything that turns data into a model.

use crate::{Baseline, Error, Param, Params, PreparedData, Result, Weight};
use kinfolk::regularizer::{AtomKind, AtomSpec};
use kinfolk::{
    CScale, Claim, Dataset, Fit, Intercept, LossKind, Losses, Observer, RegularizerKind, Settings, Start,
    Weights,
};
use std::fmt::Debug;

/// Losses that a method can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupportedLosses {
    /// All of them.
    All,
    /// The squared loss.
    Squared,
}

impl SupportedLosses {
    /// `Err` if a method of this name cannot do these losses.
    pub(crate) fn check(self, method: &'static str, losses: &Losses) -> Result<()> {
        let squared = |losses: &Losses| match losses {
            Losses::Same(loss) => *loss == LossKind::Squared,
            Losses::PerTask(all) => all.iter().all(|loss| *loss == LossKind::Squared),
        };
        if self == SupportedLosses::All || squared(losses) {
            return Ok(());
        }
        let why =
            format!("it can do {self} only; convex-okl and fmtl:k=1 solve the same problem for every loss");
        Err(Error::Param { method, why })
    }
}

impl std::fmt::Display for SupportedLosses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            SupportedLosses::All => "all losses",
            SupportedLosses::Squared => "the squared loss",
        })
    }
}

/// What is to be fitted.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Inputs and observations.
    pub data: &'a Dataset<'a>,
    /// Loss, or losses.
    pub loss: &'a Losses,
    /// Intercepts of the tasks.
    pub intercept: Intercept,
    /// Relations of the tasks that the caller gives, for methods that take them.
    pub atoms: &'a [AtomSpec],
    /// The data with their scale of C.
    pub prepared: &'a PreparedData<'a>,
    /// Weight of the output regulariser, where that is a parameter by itself and a caller has given it.
    pub lambda: Option<f64>,
    /// When to stop.
    pub settings: &'a Settings,
}

impl Job<'_> {
    /// The same with this weight of the output regulariser.
    pub fn with_lambda(self, lambda: f64) -> Self {
        Job { lambda: Some(lambda), ..self }
    }

    /// C and lambda for a regulariser.
    ///
    /// # Errors
    /// If the regulariser does not suit the tasks.
    pub fn weights(&self, output: &RegularizerKind, weight: Weight) -> Result<Weights> {
        self.weights_with_atoms(output, &[], weight)
    }

    /// The same for a regulariser with atoms.
    ///
    /// # Errors
    /// If the regulariser or an atom does not suit the tasks.
    pub fn weights_with_atoms(
        &self,
        output: &RegularizerKind,
        atoms: &[AtomSpec],
        weight: Weight,
    ) -> Result<Weights> {
        let relative = |strength: f64| -> Result<Weights> {
            Ok(self.prepared.c_scale()?.weights_with_atoms(output, atoms, self.lambda, strength)?)
        };
        match weight {
            Weight::C(c) => Ok(Weights { c, lambda: self.lambda.unwrap_or(1.0) }),
            Weight::Relative(strength) => relative(strength),
            // Training chooses before methods are asked: see `auto_c`.
            Weight::Auto => relative(CScale::MIDDLE),
        }
    }
}

/// The duals of a start, for methods that solve many problems in turn and cannot be resumed.
pub(crate) fn duals(start: Start<'_>) -> Option<&[f64]> {
    match start {
        Start::Warm(alpha) => Some(alpha),
        _ => None,
    }
}

/// Other values of parameters that are worth a try.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Where they are.
    pub when: StepWhen,
    /// The parameters, which must all be left to the data, with their values.
    pub params: &'static [(&'static str, &'static str)],
}

/// Where another setting is worth a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepWhen {
    /// A simple prediction, which the setting is nearer to, is nearly as good on held-out rows, or better.
    Near(Baseline),
    /// All tasks have the same rows, in columns of one table. Classes that exclude each other do not count.
    Table,
}

/// What a method is, in words and lists.
#[derive(Debug, Clone, Copy)]
pub struct MethodInfo {
    /// Name on the command line, in files and tables.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What it learns about the tasks.
    pub learns: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// The problem it solves, as a formula.
    pub problem: &'static str,
    /// What else a reader should know, as a paragraph; may be empty.
    pub about: &'static str,
    /// What a fit costs, in a few words.
    pub cost: &'static str,
    /// Its parameters besides C.
    pub params: &'static [Param],
    /// Those of them that are weights of atoms, with the relations.
    pub atoms: &'static [(&'static str, AtomKind)],
    /// Whether it takes relations of tasks that a caller gives.
    pub takes_atoms: bool,
    /// The losses it can do.
    pub losses: SupportedLosses,
    /// Whether selection tries other kernels too.
    pub tries_kernels: bool,
    /// What else is tried on held-out rows; small steps first.
    pub steps: &'static [Step],
    /// Whether others are compared with it: independent tasks, one model for all.
    pub is_baseline: bool,
    /// Whether a fit can go on from a checkpoint; not if it solves many problems in turn.
    pub is_resumable: bool,
}

impl MethodInfo {
    /// For all losses, without parameters; one problem, no baseline.
    pub const DEFAULTS: MethodInfo = MethodInfo {
        name: "",
        title: "",
        learns: "",
        reference: "",
        problem: "",
        about: "",
        cost: "",
        params: &[],
        atoms: &[],
        takes_atoms: false,
        losses: SupportedLosses::All,
        tries_kernels: false,
        steps: &[],
        is_baseline: false,
        is_resumable: true,
    };
}

/// What a method is asked to fit.
#[derive(Debug, Clone, Copy)]
pub struct FitRequest<'a> {
    /// Data, losses and settings.
    pub job: &'a Job<'a>,
    /// Parameters of the method.
    pub params: &'a Params,
    /// Weight of the losses.
    pub weight: Weight,
    /// A warm start is the duals of a neighbouring fit, used if they help.
    pub start: Start<'a>,
}

/// A method of multi-task learning.
pub trait Method: Debug + Sync {
    /// What it is.
    fn info(&self) -> &MethodInfo;

    /// What the certificates of its fits are about.
    fn claim(&self, _params: &Params) -> Claim {
        Claim::Optimal
    }

    /// The output regulariser of its problem; `None` for methods that search.
    ///
    /// # Errors
    /// If a parameter does not suit the number of tasks.
    fn regularizer(&self, _n_tasks: usize, _params: &Params) -> Result<Option<RegularizerKind>> {
        Ok(None)
    }

    /// C and lambda of a weight.
    ///
    /// # Errors
    /// If a parameter does not suit the data.
    fn weights(&self, job: &Job<'_>, params: &Params, weight: Weight) -> Result<Weights>;

    /// Fits. Callers use [`fit`](Self::fit).
    ///
    /// # Errors
    /// If a parameter or the loss does not suit the data.
    fn solve(&self, request: &FitRequest<'_>, observer: &mut dyn Observer) -> Result<Fit>;

    /// Fits with a weight, and stores in the model what its certificate is about.
    ///
    /// # Errors
    /// As of [`solve`](Self::solve).
    fn fit(
        &self,
        job: &Job<'_>,
        params: &Params,
        weight: Weight,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let mut fit = self.solve(&FitRequest { job, params, weight, start }, observer)?;
        fit.model.set_claim(self.claim(params));
        Ok(fit)
    }

    /// Its name.
    fn name(&self) -> &'static str {
        self.info().name
    }

    /// Its parameters besides C.
    fn params(&self) -> &'static [Param] {
        self.info().params
    }

    /// Whether fits with default parameters are certified for the whole problem of the method.
    fn certifies_optimum(&self) -> bool {
        let defaults = Params::parse(self.name(), self.params(), &[]).unwrap_or_default();
        self.claim(&defaults) == Claim::Optimal
    }
}
