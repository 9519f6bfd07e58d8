//! Anything that turns data into a model.

use crate::{Error, Param, Params, Result};
use kinfolk::{CScale, Claim, Dataset, Fit, LossKind, Observer, Settings, Weights};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// How much weight the losses have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// On the scale of the [`CScale`], without units: means the same for any data and method.
    Strength(f64),
    /// C itself.
    C(f64),
}

/// Losses that a method can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Losses {
    /// All of them.
    All,
    /// The squared loss.
    Squared,
}

impl Losses {
    /// `Err` if a method of this name cannot do these losses.
    pub(crate) fn check(self, method: &'static str, losses: &kinfolk::Losses) -> Result<()> {
        let squared = |losses: &kinfolk::Losses| match losses {
            kinfolk::Losses::Same(loss) => *loss == LossKind::Squared,
            kinfolk::Losses::PerTask(all) => all.iter().all(|loss| *loss == LossKind::Squared),
        };
        if self == Losses::All || squared(losses) {
            return Ok(());
        }
        let why =
            format!("it can do {self} only; convex-okl and fmtl:k=1 solve the same problem for every loss");
        Err(Error::Param { method, why })
    }
}

impl std::fmt::Display for Losses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Losses::All => "all losses",
            Losses::Squared => "the squared loss",
        })
    }
}

/// What is to be fitted.
#[derive(Debug)]
pub struct Job<'a> {
    /// Inputs and observations.
    pub data: &'a Dataset<'a>,
    /// Loss, or losses.
    pub loss: &'a kinfolk::Losses,
    /// The scale of C for these.
    pub c_scale: &'a CScale,
    /// Weight of the output regulariser, where that is a parameter of its own and a caller has said.
    pub lambda: Option<f64>,
    /// When to stop.
    pub settings: &'a Settings,
}

/// A method of multi-task learning.
pub trait Method: Debug + Sync {
    /// Name on the command line, in files and tables.
    fn name(&self) -> &'static str;
    /// What it is, in a few words.
    fn title(&self) -> &'static str;
    /// What it learns about the tasks.
    fn learns(&self) -> &'static str;
    /// Where it comes from.
    fn reference(&self) -> &'static str;
    /// Its parameters besides C.
    fn params(&self) -> &'static [Param];
    /// The problem it solves, as a formula.
    fn problem(&self) -> &'static str;
    /// What else a reader should know, as a paragraph; may be empty.
    fn about(&self) -> &'static str {
        ""
    }
    /// What a fit costs, in a few words.
    fn cost(&self) -> &'static str;
    /// The losses it can do.
    fn losses(&self) -> Losses {
        Losses::All
    }
    /// What the certificates of its fits are about.
    fn claim(&self, _params: &Params) -> Claim {
        Claim::Optimal
    }

    /// Whether fits with default parameters are certified for the whole problem of the method.
    fn certifies_optimum(&self) -> bool {
        let defaults = Params::parse(self.name(), self.params(), &[]).unwrap_or_default();
        self.claim(&defaults) == Claim::Optimal
    }

    /// Which C (and lambda) a point of the grid is.
    fn weights(&self, job: &Job<'_>, params: &Params, point: Point) -> Result<Weights>;

    /// Fits a point of the grid, from the duals of a neighbouring one if they are given and of use. Callers use
    /// [`fit`](Self::fit).
    fn solve(
        &self,
        job: &Job<'_>,
        params: &Params,
        point: Point,
        near: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Fit>;

    /// Fits a point of the grid and stores in the model what its certificate is about.
    fn fit(
        &self,
        job: &Job<'_>,
        params: &Params,
        point: Point,
        near: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let mut fit = self.solve(job, params, point, near, observer)?;
        fit.model.set_claim(self.claim(params));
        Ok(fit)
    }
}
