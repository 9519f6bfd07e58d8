//! What is tried of a candidate, and when: all of its settings at once, or one axis after another.

use super::axes::{AxisWalk, Point, PointScore, WalkStep};
use super::growth::{Growth, SettingGrid, in_range};
use super::{Candidate, Row};
use crate::{MethodSpec, Weight};
use kinfolk::Kernel;

/// Weights beside the best one of the current point that another point is tried with first, on each side.
const WINDOW: usize = 1;

/// The search over the settings of one candidate.
pub(super) struct CandidateSearch<'a> {
    candidate: &'a Candidate,
    number: usize,
    /// All settings, in the order of the product of their axes.
    settings: Vec<(MethodSpec, Option<Kernel>)>,
    /// `None` if all settings are tried.
    walk: Option<AxisWalk>,
    /// The settings that are tried, with their weights.
    grids: Vec<SettingGrid>,
    is_refined: bool,
}

impl<'a> CandidateSearch<'a> {
    /// With these kernels. Folds that are cut several times have the same rows.
    pub(super) fn new(
        candidate: &'a Candidate,
        number: usize,
        kernels: &[Option<Kernel>],
        repeats: usize,
    ) -> Self {
        let with_kernels =
            |method: &MethodSpec| -> Vec<_> { kernels.iter().map(|k| (method.clone(), k.clone())).collect() };
        let settings = candidate.settings.iter().flat_map(with_kernels).collect();
        let walk = candidate.axes.as_ref().map(|axes| AxisWalk {
            lengths: [&axes.lengths[..], &[kernels.len()]].concat(),
            start: [&axes.start[..], &[0]].concat(),
            repeats,
        });
        CandidateSearch { candidate, number, settings, walk, grids: vec![], is_refined: false }
    }

    /// What to fit next, given the rows so far; empty at the end. `sign` makes larger scores better ones, and `place`
    /// is the number of the next setting of all candidates.
    pub(super) fn next(&mut self, rows: &[Row], sign: f64, place: &mut usize) -> Vec<SettingGrid> {
        if self.grids.is_empty() && self.walk.is_none() {
            return (0..self.settings.len())
                .map(|setting| self.open(setting, self.candidate.weights.clone(), place))
                .collect();
        }
        let more: Vec<SettingGrid> = self.grids.iter_mut().filter_map(|grid| grid.grow(rows, sign)).collect();
        let Some(walk) = &self.walk else { return more };
        if !more.is_empty() {
            return more;
        }
        let (step, now) = walk.next(&self.tried(walk, rows, sign));
        match step {
            WalkStep::Try(points) => {
                let weights = match self.best_row(&now, rows, sign) {
                    Some(best) => self.window(best.weight),
                    None => self.coarse_weights(),
                };
                let settings: Vec<usize> = points.iter().map(|point| index(walk, point)).collect();
                settings.into_iter().map(|setting| self.open(setting, weights.clone(), place)).collect()
            }
            WalkStep::End(point) => self.refine(&point, rows, sign).into_iter().collect(),
        }
    }

    /// The row that is chosen; `None` if its score is undefined for all rows.
    pub(super) fn chosen<'b>(&self, rows: &'b [Row], sign: f64) -> Option<&'b Row> {
        let walk = self.walk.as_ref()?;
        let (_, now) = walk.next(&self.tried(walk, rows, sign));
        self.best_row(&now, rows, sign)
    }

    /// The settings that were tried, with the weights.
    pub(super) fn grids(&self) -> &[SettingGrid] {
        &self.grids
    }

    fn open(&mut self, setting: usize, weights: Vec<Weight>, place: &mut usize) -> SettingGrid {
        let (method, kernel) = self.settings[setting].clone();
        let growth = match (&self.walk, self.grids.is_empty()) {
            (None, _) => Growth::WHOLE,
            (Some(_), true) => Growth::COARSE,
            (Some(_), false) => Growth::WINDOW,
        };
        let grid = SettingGrid {
            candidate: self.number,
            place: *place,
            setting,
            method,
            kernel,
            weights,
            growth: self.candidate.grows.then_some(growth),
            added: [0, 0],
        };
        *place += 1;
        self.grids.push(grid.clone());
        grid
    }

    /// Every other weight of the grid, if it is one that may grow.
    fn coarse_weights(&self) -> Vec<Weight> {
        let step = if self.candidate.grows { 2 } else { 1 };
        self.candidate.weights.iter().copied().step_by(step).collect()
    }

    /// The coarse weights next to this one.
    fn window(&self, around: Weight) -> Vec<Weight> {
        let all = &self.candidate.weights;
        let (true, Some(strength)) = (self.candidate.grows && all.len() > 2, around.strength()) else {
            return all.clone();
        };
        let ratio = all[2].number() / all[0].number();
        let beside = |step: i32| strength * ratio.powi(step);
        let all = (-(WINDOW as i32)..=WINDOW as i32).map(beside);
        all.filter(|strength| in_range(*strength)).map(Weight::Relative).collect()
    }

    /// Weights half way to the neighbours of the best one, once.
    fn refine(&mut self, point: &Point, rows: &[Row], sign: f64) -> Option<SettingGrid> {
        if self.is_refined || !self.candidate.grows || self.candidate.weights.len() < 3 {
            return None;
        }
        self.is_refined = true;
        let best = self.best_row(point, rows, sign)?;
        let ratio = self.candidate.weights[1].number() / self.candidate.weights[0].number();
        let strength = best.weight.strength()?;
        let beside = [strength / ratio, strength * ratio].map(Weight::Relative);
        let place = best.place;
        let grid = self.grids.iter_mut().find(|grid| grid.place == place)?;
        grid.add(&beside)
    }

    /// The best row of a point.
    fn best_row<'b>(&self, point: &Point, rows: &'b [Row], sign: f64) -> Option<&'b Row> {
        let setting = index(self.walk.as_ref()?, point);
        let grid = self.grids.iter().find(|grid| grid.setting == setting)?;
        grid.best(rows, sign)
    }

    fn tried(&self, walk: &AxisWalk, rows: &[Row], sign: f64) -> Vec<PointScore> {
        let score = |grid: &SettingGrid| {
            let point = point(walk, grid.setting);
            match grid.best(rows, sign) {
                None => PointScore { point, score: f64::NAN, parts: vec![] },
                Some(best) => PointScore {
                    point,
                    score: sign * best.score,
                    parts: best.folds.iter().map(|fold| sign * fold.value).collect(),
                },
            }
        };
        self.grids.iter().map(score).collect()
    }
}

/// Number of a setting in the product of the axes; the last axis varies fastest.
fn index(walk: &AxisWalk, point: &Point) -> usize {
    point.iter().zip(&walk.lengths).fold(0, |all, (place, length)| all * length + place)
}

/// The inverse of [`index`].
fn point(walk: &AxisWalk, mut setting: usize) -> Point {
    let mut point = vec![0; walk.lengths.len()];
    for (place, length) in point.iter_mut().zip(&walk.lengths).rev() {
        (*place, setting) = (setting % length, setting / length);
    }
    point
}
