//! What is tried of a candidate, and when: all of its settings at once, or one axis after another.

use super::axes::{AxisWalk, Point, PointScore, WalkStep};
use super::growth::{Growth, SettingGrid, in_range};
use super::{Candidate, Row, rounded};
use crate::{MethodSpec, Value, Weight};
use kinfolk::{Kernel, Observations};

/// Weights beside the best one of the current point that another point is tried with first, on each side.
const WINDOW: usize = 1;

/// The search over the settings of one candidate.
pub(super) struct CandidateSearch<'a> {
    candidate: &'a Candidate,
    number: usize,
    /// All settings, in the order of the product of their axes; then those with the next widths of a kernel.
    settings: Vec<(MethodSpec, Option<Kernel>)>,
    /// Number of settings that are the product of the axes.
    on_axes: usize,
    /// `None` if all settings are tried.
    walk: Option<AxisWalk>,
    /// The settings that are tried, with their weights.
    grids: Vec<SettingGrid>,
    /// What is left to do at the end of the walk, the last one first.
    refinements: Vec<Refinement>,
}

/// What is tried around the point where the walk ends.
#[derive(Debug, Clone, Copy)]
enum Refinement {
    /// Weights half way to the neighbours of the best one.
    Weights,
    /// The next widths of an RBF kernel.
    Widths,
    /// The weight where the parabola through the best one and its neighbours is highest.
    Summit,
}

/// A weight that is as close as this to one that was tried is not worth another fit, in parts of a decade.
const CLOSE_DECADES: f64 = 0.1;

impl<'a> CandidateSearch<'a> {
    /// With these kernels. Folds that are cut several times have the same rows.
    pub(super) fn new(
        candidate: &'a Candidate,
        number: usize,
        kernels: &[Option<Kernel>],
        observations: &Observations,
        repeats: usize,
    ) -> Self {
        let with_kernels =
            |method: &MethodSpec| -> Vec<_> { kernels.iter().map(|k| (method.clone(), k.clone())).collect() };
        let settings: Vec<_> = candidate.settings.iter().flat_map(with_kernels).collect();
        let walk = candidate.axes.as_ref().map(|axes| {
            let places = MethodPlaces { settings: &candidate.settings, lengths: &axes.lengths };
            AxisWalk {
                lengths: [&axes.lengths[..], &[kernels.len()]].concat(),
                start: [&places.usual(&axes.start, observations)[..], &[0]].concat(),
                jump: places.zeros(),
                repeats,
            }
        });
        let (on_axes, refinements) =
            (settings.len(), vec![Refinement::Summit, Refinement::Widths, Refinement::Weights]);
        CandidateSearch { candidate, number, settings, on_axes, walk, grids: vec![], refinements }
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
            WalkStep::End(point) => self.refine(&point, rows, sign, place),
        }
    }

    /// The row that is chosen; `None` if its score is undefined for all rows.
    pub(super) fn chosen<'b>(&self, rows: &'b [Row], sign: f64) -> Option<&'b Row> {
        let walk = self.walk.as_ref()?;
        let (_, now) = walk.next(&self.tried(walk, rows, sign));
        self.best_around(&now, rows, sign)
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

    /// What to try around the point where the walk ended; nothing at the end.
    fn refine(&mut self, point: &Point, rows: &[Row], sign: f64, place: &mut usize) -> Vec<SettingGrid> {
        if !self.candidate.grows || self.candidate.weights.len() < 3 {
            return vec![];
        }
        while let Some(refinement) = self.refinements.pop() {
            let Some(best) = self.best_around(point, rows, sign) else { return vec![] };
            let more = match refinement {
                Refinement::Weights => self.half_way(best).into_iter().collect(),
                Refinement::Widths => self.next_widths(best, place),
                Refinement::Summit => self.summit(best, rows, sign).into_iter().collect(),
            };
            if !more.is_empty() {
                return more;
            }
        }
        vec![]
    }

    fn half_way(&mut self, best: &Row) -> Option<SettingGrid> {
        let ratio = self.candidate.weights[1].number() / self.candidate.weights[0].number();
        let strength = best.weight.strength()?;
        let beside = [strength / ratio, strength * ratio].map(Weight::Relative);
        self.grid_of(best)?.add(&beside)
    }

    fn next_widths(&mut self, best: &Row, place: &mut usize) -> Vec<SettingGrid> {
        let (method, kernel) = (best.method.clone(), [best.kernel.clone()]);
        let weights = self.window(best.weight);
        let next = self.candidate.kernels.next_widths(&kernel).into_iter();
        let open = |kernel: Option<Kernel>| {
            self.settings.push((method.clone(), kernel));
            self.open(self.settings.len() - 1, weights.clone(), place)
        };
        next.map(open).collect()
    }

    fn summit(&mut self, best: &Row, rows: &[Row], sign: f64) -> Option<SettingGrid> {
        let place = best.place;
        let tried = rows.iter().filter(|row| row.place == place && !row.score.is_nan());
        let mut tried: Vec<(f64, f64)> =
            tried.filter_map(|row| Some((row.weight.strength()?.log10(), sign * row.score))).collect();
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = best.weight.strength()?.log10();
        let i = tried.iter().position(|(x, _)| *x == at).filter(|i| *i > 0 && i + 1 < tried.len())?;
        let x = highest([tried[i - 1], tried[i], tried[i + 1]])?;
        let is_close = tried.iter().any(|(other, _)| (x - other).abs() < CLOSE_DECADES);
        let strength = rounded(10f64.powf(x));
        (!is_close && in_range(strength))
            .then(|| self.grid_of(best)?.add(&[Weight::Relative(strength)]))
            .flatten()
    }

    fn grid_of(&mut self, row: &Row) -> Option<&mut SettingGrid> {
        self.grids.iter_mut().find(|grid| grid.place == row.place)
    }

    /// The best row of a point, or one with the next width of its kernel that is better.
    fn best_around<'b>(&self, point: &Point, rows: &'b [Row], sign: f64) -> Option<&'b Row> {
        let next = self.grids.iter().filter(|grid| grid.setting >= self.on_axes);
        let all =
            self.best_row(point, rows, sign).into_iter().chain(next.filter_map(|grid| grid.best(rows, sign)));
        all.reduce(|best, row| if sign * row.score > sign * best.score { row } else { best })
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
        self.grids.iter().filter(|grid| grid.setting < self.on_axes).map(score).collect()
    }
}

/// Where the parabola through three points is highest, if it is between them.
fn highest([(a, low), (b, top), (c, high)]: [(f64, f64); 3]) -> Option<f64> {
    let (left, right) = ((top - low) / (b - a), (high - top) / (c - b));
    let curvature = (right - left) / (c - a);
    let x = 0.5 * (a + b) - 0.5 * left / curvature;
    (curvature < 0.0 && x > a && x < c).then_some(x)
}

/// The settings of a method, which are all combinations of the values of its parameters, the last varying fastest.
struct MethodPlaces<'a> {
    settings: &'a [MethodSpec],
    lengths: &'a [usize],
}

impl MethodPlaces<'_> {
    /// Values of the parameter of an axis, in their order; empty for a parameter that no setting has.
    fn values(&self, axis: usize) -> Vec<Option<&Value>> {
        let stride: usize = self.lengths[axis + 1..].iter().product();
        let Some(name) = self.name(axis) else { return vec![] };
        (0..self.lengths[axis]).map(|place| self.settings[place * stride].params().get(name)).collect()
    }

    /// The name of an axis: parameters that a method declares come first, in their order.
    fn name(&self, axis: usize) -> Option<&'static str> {
        self.settings[0].method().params().get(axis).map(|param| param.name)
    }

    /// Where the search starts; parameters that are left to the data by default are at the value that suits them.
    fn usual(&self, start: &[usize], observations: &Observations) -> Vec<usize> {
        let usual = MethodSpec::of(self.settings[0].method(), &[]).map(|usual| usual.for_data(observations));
        let place = |(axis, start): (usize, &usize)| {
            let found = || {
                let (usual, name) = (usual.as_ref().ok()?, self.name(axis)?);
                let own = usual.params().get(name)?;
                self.values(axis).iter().position(|value| *value == Some(own))
            };
            found().unwrap_or(*start)
        };
        start.iter().enumerate().map(place).collect()
    }

    /// The places of zeros, if two parameters or more can be zero: there, the method is without all of what it can do
    /// without.
    fn zeros(&self) -> Vec<Option<usize>> {
        let is_zero = |value: &Option<&Value>| matches!(value, Some(Value::Number(x)) if *x == 0.0);
        let of_axis = |axis: usize| self.values(axis).iter().position(is_zero);
        let places: Vec<Option<usize>> = (0..self.lengths.len()).map(of_axis).collect();
        if places.iter().flatten().count() > 1 { places } else { vec![] }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summit_of_a_parabola_is_found_between_three_points() {
        let at = |x: f64| (x, 3.0 - 2.0 * (x - 0.3).powi(2));
        assert!((highest([-1.0, 0.0, 0.5].map(at)).unwrap() - 0.3).abs() < 1e-12);
        assert_eq!(highest([1.0, 2.0, 3.0].map(at)), None);
        assert_eq!(highest([-1.0, 0.0, 1.0].map(|x| (x, x * x))), None);
        assert_eq!(highest([-1.0, 0.0, 1.0].map(|x| (x, 1.0))), None);
    }

    #[test]
    fn the_start_follows_the_data_and_the_jump_leads_to_zeros() {
        let all = crate::select::candidates(&["kin".into()], &[]).unwrap();
        let axes = all[0].axes.as_ref().unwrap();
        let places = MethodPlaces { settings: &all[0].settings, lengths: &axes.lengths };
        let common = |observations: &Observations| {
            let start = places.usual(&axes.start, observations);
            places.values(0)[start[0]].cloned()
        };
        let table = Observations::multi_output(&[0.0, 1.0, 2.0, 3.0], 2, 2).unwrap();
        assert_eq!(common(&table), Some(Value::Number(0.0)));
        let tasks = Observations::multi_task(&[0, 0, 1, 1], vec![0.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!(common(&tasks), Some(Value::Number(100.0)));
        assert_eq!(places.zeros()[..2], [Some(0), Some(0)]);
    }
}
