//! Which settings are tried if there are several axes: one axis after another, not all combinations.
//!
//! A *point* has a place on every axis. The walk starts at one point. On each axis in turn it tries values outward
//! from the current point, in both directions, until one is clearly worse, and moves to the best of them if that is
//! better beyond noise. It ends when no axis has changed the point, or after [`MAX_ROUNDS`] rounds. Values along
//! an axis are in an order in which neighbours are alike, such as weights by their size. Then a point is tried that
//! differs on several axes: what is good together may be poor one by one. If it is better beyond noise, the walk goes
//! on from there.

use super::mean_and_sd;

/// How often each axis is looked at.
const MAX_ROUNDS: usize = 2;

/// Standard errors of the difference by which a value is clearly worse: those behind it are not tried.
pub(super) const HOPELESS: f64 = 2.0;

/// Standard errors of the difference by which a value must be better than the current one. Less lets few rows lead the
/// walk far from a safe start: benches/runs/2026-11-17-kin-worlds.
const BETTER: f64 = 1.0;

/// A place on every axis.
pub(crate) type Point = Vec<usize>;

/// How a point did: larger is better.
#[derive(Debug, Clone)]
pub(crate) struct PointScore {
    pub(crate) point: Point,
    /// What points are chosen by; NaN is never chosen.
    pub(crate) score: f64,
    /// The same in parts that differ by chance: folds.
    pub(crate) parts: Vec<f64>,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WalkStep {
    /// These points are needed; the first is the current one, or next to it.
    Try(Vec<Point>),
    /// This is the best.
    End(Point),
}

/// The walk over axes of these lengths.
#[derive(Debug, Clone)]
pub(crate) struct AxisWalk {
    pub(crate) lengths: Vec<usize>,
    pub(crate) start: Point,
    /// Places of the point that is tried last, on the axes where it has one.
    pub(crate) jump: Vec<Option<usize>>,
    /// How often the parts of a score are about the same rows: they count once.
    pub(crate) repeats: usize,
}

impl AxisWalk {
    /// The next step, and the point where the walk is, given all points that were tried so far.
    pub(crate) fn next(&self, tried: &[PointScore]) -> (WalkStep, Point) {
        let find = |point: &Point| tried.iter().find(|score| score.point == *point);
        let mut now = self.start.clone();
        if find(&now).is_none() {
            return (WalkStep::Try(vec![now.clone()]), now);
        }
        if let Some(missing) = self.rounds(&mut now, &find) {
            return (WalkStep::Try(missing), now);
        }
        let places = now.iter().zip(self.jump.iter().chain(std::iter::repeat(&None)));
        let far: Point = places.map(|(place, jump)| jump.unwrap_or(*place)).collect();
        if find(&far).is_none() {
            return (WalkStep::Try(vec![far]), now);
        }
        let near = now.clone();
        now = self.best(&near, &[far], &find);
        if now != near
            && let Some(missing) = self.rounds(&mut now, &find)
        {
            return (WalkStep::Try(missing), now);
        }
        (WalkStep::End(now.clone()), now)
    }

    /// Looks along all axes until nothing changes; points that should be tried for that, if there are any.
    fn rounds<'a>(
        &self,
        now: &mut Point,
        find: &impl Fn(&Point) -> Option<&'a PointScore>,
    ) -> Option<Vec<Point>> {
        for _ in 0..MAX_ROUNDS {
            let before = now.clone();
            for axis in 0..self.lengths.len() {
                let (on_axis, missing) = self.look_along(axis, now, find);
                if !missing.is_empty() {
                    return Some(missing);
                }
                *now = self.best(now, &on_axis, find);
            }
            if *now == before {
                break;
            }
        }
        None
    }

    /// Points along an axis that were tried, and those that should be tried next.
    fn look_along<'a>(
        &self,
        axis: usize,
        now: &Point,
        find: &impl Fn(&Point) -> Option<&'a PointScore>,
    ) -> (Vec<Point>, Vec<Point>) {
        let at = |place: usize| {
            let mut point = now.clone();
            point[axis] = place;
            point
        };
        let down: Vec<Point> = (0..now[axis]).rev().map(at).collect();
        let up: Vec<Point> = (now[axis] + 1..self.lengths[axis]).map(at).collect();
        let (mut tried, mut missing) = (vec![], vec![]);
        for direction in [down, up] {
            for point in direction {
                let (Some(score), Some(current)) = (find(&point), find(now)) else {
                    missing.push(point);
                    break;
                };
                let is_hopeless = self.is_clearly_worse(score, current);
                tried.push(point);
                if is_hopeless {
                    break;
                }
            }
        }
        (tried, missing)
    }

    /// The best of these points if it is better than the current one beyond noise.
    fn best<'a>(
        &self,
        now: &Point,
        points: &[Point],
        find: &impl Fn(&Point) -> Option<&'a PointScore>,
    ) -> Point {
        let scores = points.iter().filter_map(find).filter(|score| !score.score.is_nan());
        let best = scores.reduce(|best, other| if other.score > best.score { other } else { best });
        match (best, find(now)) {
            (Some(best), Some(current)) if self.is_better(best, current) => best.point.clone(),
            _ => now.clone(),
        }
    }

    fn is_clearly_worse(&self, a: &PointScore, than: &PointScore) -> bool {
        let gain = a.score - than.score;
        a.score.is_nan() || gain < -HOPELESS * self.standard_error(a, than).unwrap_or(f64::INFINITY)
    }

    fn is_better(&self, a: &PointScore, than: &PointScore) -> bool {
        let gain = a.score - than.score;
        than.score.is_nan() || gain > BETTER * self.standard_error(a, than).unwrap_or(0.0)
    }

    /// Standard error of the difference, part by part; `None` if there are fewer than two parts.
    fn standard_error(&self, a: &PointScore, b: &PointScore) -> Option<f64> {
        let differences = a.parts.iter().zip(&b.parts).map(|(a, b)| a - b).filter(|gain| !gain.is_nan());
        let differences: Vec<f64> = differences.collect();
        let (_, sd) = mean_and_sd(&differences);
        (differences.len() > 1).then(|| sd / (differences.len() as f64 / self.repeats as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All points that are tried if the score is this function with this noise, and the one where the walk ends.
    fn walk(
        lengths: &[usize],
        start: &[usize],
        noise: f64,
        score: impl Fn(&Point) -> f64,
    ) -> (Vec<Point>, Point) {
        let walk = AxisWalk { lengths: lengths.to_vec(), start: start.to_vec(), jump: vec![], repeats: 1 };
        ends(&walk, noise, score)
    }

    fn ends(walk: &AxisWalk, noise: f64, score: impl Fn(&Point) -> f64) -> (Vec<Point>, Point) {
        let mut tried: Vec<PointScore> = vec![];
        loop {
            match walk.next(&tried).0 {
                WalkStep::End(point) => return (tried.into_iter().map(|score| score.point).collect(), point),
                WalkStep::Try(points) => {
                    for point in points {
                        assert!(tried.iter().all(|score| score.point != point), "{point:?} is tried twice");
                        let score = score(&point);
                        // Noise that differs from point to point, with mean zero.
                        let sign = if point.iter().sum::<usize>() % 2 == 0 { noise } else { -noise };
                        tried.push(PointScore { score, parts: vec![score - sign, score + sign], point });
                    }
                }
            }
        }
    }

    #[test]
    fn a_peak_is_found_wherever_it_is_and_not_all_points_are_tried() {
        for peak in (0..5).flat_map(|a| (0..3).map(move |b| vec![a, b, 1])) {
            let score = |point: &Point| {
                -point.iter().zip(&peak).map(|(a, b)| (*a as f64 - *b as f64).powi(2)).sum::<f64>()
            };
            let (tried, end) = walk(&[5, 3, 4], &[2, 0, 0], 0.0, score);
            assert_eq!(end, peak);
            assert!(tried.len() <= 20, "{tried:?}");
        }
    }

    #[test]
    fn values_behind_one_that_is_clearly_worse_are_not_tried() {
        let (tried, end) = walk(&[6], &[2], 0.0, |point| -(point[0] as f64 - 2.0).abs());
        assert_eq!((tried, end), (vec![vec![2], vec![1], vec![3]], vec![2]));
    }

    #[test]
    fn the_start_is_kept_where_nothing_is_better_beyond_noise() {
        let (tried, end) = walk(&[3, 3], &[1, 1], 10.0, |point| point[0] as f64);
        assert_eq!((tried.len(), end), (5, vec![1, 1]));
        let (_, end) = walk(&[3, 3], &[1, 1], 0.1, |point| point[0] as f64);
        assert_eq!(end, vec![2, 1]);
    }

    #[test]
    fn a_point_that_is_good_only_together_is_tried() {
        let walk =
            AxisWalk { lengths: vec![3, 3], start: vec![2, 1], jump: vec![Some(0), Some(0)], repeats: 1 };
        let score = |point: &Point| match point[..] {
            [0, 0] => 5.0,
            [2, 1] => 4.0,
            _ => 0.0,
        };
        assert_eq!(ends(&walk, 0.1, score).1, vec![0, 0]);
        let level = |point: &Point| score(point).min(4.0);
        assert_eq!(ends(&walk, 0.1, level).1, vec![2, 1]);
    }

    #[test]
    fn scores_that_are_undefined_are_never_chosen() {
        let (_, end) = walk(&[3], &[0], 0.0, |point| if point[0] == 1 { f64::NAN } else { 0.0 });
        assert_eq!(end, vec![0]);
        let (_, end) = walk(&[3], &[0], 0.0, |point| if point[0] == 0 { f64::NAN } else { 1.0 });
        assert_eq!(end, vec![1]);
        assert_eq!(walk(&[], &[], 0.0, |_| 0.0).1, Vec::<usize>::new());
    }
}
