//! Grids of weights, which grow where the best is at their edge.

use super::{Candidate, KernelGrid, Row};
use crate::{MethodSpec, Weight};
use kinfolk::{CScale, Kernel};
use serde::{Deserialize, Serialize};

/// How a grid of weights grows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    /// Steps by which it grows at a time.
    steps_at_once: usize,
    /// Steps that are added at most at each end.
    max_steps_per_end: usize,
    /// Whether users are told: not if it was a part of the usual range only.
    is_told: bool,
}

impl Growth {
    /// A grid that covers the usual range, half a decade apart.
    pub(super) const WHOLE: Growth = Growth { steps_at_once: 2, max_steps_per_end: 4, is_told: true };
    /// The same a decade apart.
    pub(super) const COARSE: Growth = Growth { steps_at_once: 1, max_steps_per_end: 2, is_told: true };
    /// A few weights, a decade apart.
    pub(super) const WINDOW: Growth = Growth { steps_at_once: 1, max_steps_per_end: 4, is_told: false };
}

/// Grids never leave this range of strengths. Beyond it fits hardly change, and only noise in the scores does: a score
/// of ranks, such as AUC, is the same for all small strengths.
const STRENGTH_RANGE: [f64; 2] = [1e-6, 1e6];

/// One setting of a candidate's parameters, and the weights it is fitted with.
#[derive(Debug, Clone)]
pub(super) struct SettingGrid {
    pub(super) candidate: usize,
    /// Place among the grids of all candidates.
    pub(super) place: usize,
    /// Place among the settings of its candidate.
    pub(super) setting: usize,
    pub(super) method: MethodSpec,
    /// `None` is the kernel of the study.
    pub(super) kernel: Option<Kernel>,
    /// Increasing.
    pub(super) weights: Vec<Weight>,
    pub(super) growth: Option<Growth>,
    /// Steps that were added at the lower and at the upper end.
    pub(super) added: [usize; 2],
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
    /// The best of its rows, if the score of one is defined; of equal scores the one with the smallest weight.
    pub(super) fn best<'a>(&self, rows: &'a [Row], sign: f64) -> Option<&'a Row> {
        let own = rows.iter().filter(|row| row.place == self.place && !row.score.is_nan());
        own.reduce(|best, row| if sign * row.score > sign * best.score { row } else { best })
    }

    /// Adds those of these weights that it does not have; the new ones alone.
    pub(super) fn add(&mut self, weights: &[Weight]) -> Option<SettingGrid> {
        let is_new = |weight: &&Weight| weight.check().is_ok() && !self.weights.contains(weight);
        let new: Vec<Weight> = weights.iter().filter(is_new).copied().collect();
        self.weights.extend(&new);
        self.weights.sort_by(|a, b| a.number().total_cmp(&b.number()));
        (!new.is_empty()).then(|| SettingGrid { weights: new, ..self.clone() })
    }

    /// Adds weights beyond the edge at which the best of its rows is; the new ones alone, if there are any.
    pub(super) fn grow(&mut self, rows: &[Row], sign: f64) -> Option<SettingGrid> {
        let Growth { steps_at_once, max_steps_per_end, .. } = self.growth?;
        let best = self.best(rows, sign)?;
        let upper = match self.weights.iter().position(|weight| *weight == best.weight)? {
            _ if self.weights.len() < 2 => return None,
            0 => false,
            place if place + 1 == self.weights.len() => true,
            _ => return None,
        };
        let end = usize::from(upper);
        let steps = steps_at_once.min(max_steps_per_end - self.added[end]);
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
        let strength = edge * (edge / next).powi(step as i32);
        in_range(strength).then_some(Weight::Relative(strength))
    }

    /// What it has become, if it grew.
    pub(super) fn grown(&self) -> Option<GrownGrid> {
        let (first, last) = (*self.weights.first()?, *self.weights.last()?);
        let is_told = self.growth.is_some_and(|growth| growth.is_told);
        (is_told && self.added != [0, 0]).then(|| GrownGrid { method: self.method.clone(), first, last })
    }
}

/// Whether a grid may have this strength.
pub(super) fn in_range(strength: f64) -> bool {
    (STRENGTH_RANGE[0]..=STRENGTH_RANGE[1]).contains(&strength)
}

impl Candidate {
    /// All of these settings with all of these weights, with the kernel of the study.
    pub fn on_weights(settings: Vec<MethodSpec>, weights: Vec<Weight>) -> Candidate {
        Candidate { settings, weights, grows: false, kernels: KernelGrid::Study, axes: None }
    }

    /// Settings on the strengths that cover the useful range, and more if the best is at an edge of that range.
    pub fn on_default_grid(settings: Vec<MethodSpec>) -> Candidate {
        let weights = CScale::grid().map(Weight::Relative).to_vec();
        Candidate { weights, grows: true, ..Candidate::on_weights(settings, vec![]) }
    }
}
