//! Anything that turns data into a model.

use crate::{Param, Params, Result};
use kinfolk::{Dataset, Fit, Losses, Observer, Settings, Weights, Yardstick};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// How much weight the losses have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// On the scale of the [`Yardstick`], without units: means the same for any data and method.
    Strength(f64),
    /// C itself.
    C(f64),
}

/// What is to be fitted.
#[derive(Debug)]
pub struct Job<'a> {
    /// Inputs and observations.
    pub data: &'a Dataset<'a>,
    /// Loss, or losses.
    pub loss: &'a Losses,
    /// The scale of C for these.
    pub yardstick: &'a Yardstick,
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

    /// Which C (and lambda) a point of the grid is.
    fn weights(&self, job: &Job<'_>, params: &Params, point: Point) -> Result<Weights>;

    /// Fits a point of the grid, from the solution of a neighbouring one if that is given and of use.
    fn fit(
        &self,
        job: &Job<'_>,
        params: &Params,
        point: Point,
        near: Option<&Fit>,
        observer: &mut dyn Observer,
    ) -> Result<Fit>;
}
