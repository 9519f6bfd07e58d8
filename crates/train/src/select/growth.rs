//! Grids of weights, which grow where the best is at their edge.

use super::{Candidate, Row};
use crate::{MethodSpec, Weight};
use kinfolk::CScale;
use serde::{Deserialize, Serialize};

/// Steps by which a grid grows at a time.
const STEPS_AT_ONCE: usize = 2;

/// Steps that are added at most at each end.
const MAX_STEPS_PER_END: usize = 4;

/// One setting of a candidate's parameters, and the weights it is fitted with.
#[derive(Debug, Clone)]
pub(super) struct SettingGrid {
    pub(super) candidate: usize,
    /// Place among the grids of all candidates.
    pub(super) place: usize,
    pub(super) method: MethodSpec,
    /// Increasing.
    pub(super) weights: Vec<Weight>,
    grows: bool,
    /// Steps that were added at the lower and at the upper end.
    added: [usize; 2],
}

/// A grid that became longer because the best was at its edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrownGrid {
    /// The method with its parameters.
    pub method: MethodSpec,
    /// The smallest weight that was tried.
    pub first: Weight,
    /// The largest one.
    pub last: Weight,
}

impl SettingGrid {
    /// Those of all candidates.
    pub(super) fn all(candidates: &[Candidate]) -> Vec<SettingGrid> {
        let of = |(c, candidate): (usize, &Candidate)| -> Vec<SettingGrid> {
            let grid = |method: &MethodSpec| SettingGrid {
                candidate: c,
                place: 0,
                method: method.clone(),
                weights: candidate.weights.clone(),
                grows: candidate.grows,
                added: [0, 0],
            };
            candidate.settings.iter().map(grid).collect()
        };
        let mut all: Vec<SettingGrid> = candidates.iter().enumerate().flat_map(of).collect();
        all.iter_mut().enumerate().for_each(|(place, grid)| grid.place = place);
        all
    }

    /// Adds weights beyond the edge at which the best of its rows is; the new ones alone, if there are any.
    pub(super) fn grow(&mut self, rows: &[Row], sign: f64) -> Option<SettingGrid> {
        let own = rows.iter().filter(|row| row.place == self.place && !row.score.is_nan());
        let best = own.reduce(|best, row| if sign * row.score > sign * best.score { row } else { best })?;
        let upper = match self.weights.iter().position(|weight| *weight == best.weight)? {
            _ if !self.grows || self.weights.len() < 2 => return None,
            0 => false,
            place if place + 1 == self.weights.len() => true,
            _ => return None,
        };
        let end = usize::from(upper);
        let steps = STEPS_AT_ONCE.min(MAX_STEPS_PER_END - self.added[end]);
        let new: Vec<Weight> = (1..=steps).filter_map(|step| self.beyond(upper, step)).collect();
        if new.is_empty() {
            return None;
        }
        self.added[end] += new.len();
        let new: Vec<Weight> = if upper { new } else { new.into_iter().rev().collect() };
        let place = if upper { self.weights.len() } else { 0 };
        self.weights.splice(place..place, new.iter().copied());
        Some(SettingGrid { weights: new, ..self.clone() })
    }

    /// The weight that is some steps beyond an edge, in the ratio of the last step.
    fn beyond(&self, upper: bool, step: usize) -> Option<Weight> {
        let n = self.weights.len();
        let (edge, next) = if upper { (n - 1, n - 2) } else { (0, 1) };
        let (edge, next) = (self.weights[edge].strength()?, self.weights[next].strength()?);
        Weight::Relative(edge * (edge / next).powi(step as i32)).check().ok()
    }

    /// What it has become, if it grew.
    pub(super) fn grown(&self) -> Option<GrownGrid> {
        let (first, last) = (*self.weights.first()?, *self.weights.last()?);
        (self.added != [0, 0]).then(|| GrownGrid { method: self.method.clone(), first, last })
    }
}

impl Candidate {
    /// Settings on the strengths that cover the useful range, and more if the best is at an edge of that range.
    pub fn on_default_grid(settings: Vec<MethodSpec>) -> Candidate {
        Candidate { settings, weights: CScale::grid().map(Weight::Relative).to_vec(), grows: true }
    }
}
