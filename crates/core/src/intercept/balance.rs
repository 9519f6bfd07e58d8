//! Duals that add up to zero in every task, as free intercepts demand.
//!
//! `kappa_i <- clip(kappa_i + delta gamma_i)` into the interval of kappa_i, with one delta for each task. There is
//! always such a delta, since zero lies in every interval. The sum is a piecewise linear function of delta that
//! never falls: Newton's method on it, inside a bracket, ends after a few rounds.

use crate::{Error, Problem, Result};
use rayon::prelude::*;

/// Sums of duals are zero if they are at most this share of the sum of their sizes: what rounding leaves.
const ZERO_SUM: f64 = 1e-14;
/// What is accepted as zero, of duals from another machine.
const NEARLY_ZERO_SUM: f64 = 1e-11;
const MAX_ROUNDS: usize = 200;

/// Sums of the duals of each task, and of their sizes.
pub(crate) fn task_sums(problem: &Problem<'_>, kappa: &[f64]) -> Vec<(f64, f64)> {
    let obs = problem.observations();
    if obs.is_complete() {
        return match kappa.len() < SHARED_NUMBERS {
            true => column_sums(kappa, obs.n_tasks()),
            false => problem.data().pool().install(|| column_sums(kappa, obs.n_tasks())),
        };
    }
    let mut sums = vec![(0.0, 0.0); obs.n_tasks()];
    for (o, kappa) in kappa.iter().enumerate() {
        let (sum, size) = &mut sums[obs.task(o)];
        *sum += kappa;
        *size += kappa.abs();
    }
    sums
}

/// Fewer numbers are not worth a second thread.
const SHARED_NUMBERS: usize = 1 << 16;

/// Columns that a thread adds up.
const STRIP_COLUMNS: usize = 25;

/// Sums of the columns of a table, and of the sizes of its entries, each in the order of the rows: the same bits for
/// any number of threads.
fn column_sums(table: &[f64], columns: usize) -> Vec<(f64, f64)> {
    let starts: Vec<usize> = (0..columns).step_by(STRIP_COLUMNS).collect();
    let of_strip = |&start: &usize| {
        let strip = start..columns.min(start + STRIP_COLUMNS);
        let (mut sums, mut sizes) = (vec![0.0; strip.len()], vec![0.0; strip.len()]);
        for row in table.chunks(columns) {
            for ((sum, size), x) in sums.iter_mut().zip(&mut sizes).zip(&row[strip.clone()]) {
                *sum += x;
                *size += x.abs();
            }
        }
        sums.into_iter().zip(sizes).collect::<Vec<(f64, f64)>>()
    };
    match table.len() < SHARED_NUMBERS {
        true => starts.iter().flat_map(of_strip).collect(),
        false => starts.par_iter().map(of_strip).collect::<Vec<_>>().concat(),
    }
}

/// `Err` if an intercept is free and the duals of its task do not add up to zero: then the dual value is minus
/// infinity.
pub(crate) fn check(problem: &Problem<'_>, sums: &[(f64, f64)]) -> Result<()> {
    let Some(costs) = problem.intercept_costs() else { return Ok(()) };
    let unbalanced =
        |((sum, size), cost): (&(f64, f64), &f64)| *cost == 0.0 && sum.abs() > NEARLY_ZERO_SUM * size;
    match sums.iter().zip(costs).position(unbalanced) {
        Some(task) => Err(Error::DualSum {
            task: problem.observations().task_names().name(task),
            sum: sums[task].0 * problem.unit(),
        }),
        None => Ok(()),
    }
}

/// The duals, each inside its interval, moved so that those of a task add up to zero. The same bits again if they
/// already do, and where intercepts are not free.
pub(crate) fn balanced(problem: &Problem<'_>, mut kappa: Vec<f64>) -> Vec<f64> {
    let Some(costs) = problem.intercept_costs() else { return kappa };
    let sums = task_sums(problem, &kappa);
    let is_wrong = |((sum, size), cost): (&(f64, f64), &f64)| *cost == 0.0 && sum.abs() > ZERO_SUM * size;
    let wrong: Vec<bool> = sums.iter().zip(costs).map(is_wrong).collect();
    if !wrong.contains(&true) {
        return kappa;
    }
    let obs = problem.observations();
    if obs.is_complete() && problem.uniform_gamma().is_some() && problem.has_only_squared_loss() {
        problem.data().pool().install(|| take_means(&mut kappa, sums));
        return kappa;
    }
    let movable = |o: usize| Movable { kappa: kappa[o], gamma: problem.gamma(o), bounds: problem.box_of(o) };
    let shifts = |of_task: &(dyn Fn(usize) -> Vec<Movable> + Sync)| -> Vec<Option<Shift>> {
        let shift = |task: usize| wrong[task].then(|| Shift::of(&of_task(task)));
        match obs.len() < SHARED_NUMBERS {
            true => (0..wrong.len()).map(shift).collect(),
            false => problem.data().pool().install(|| (0..wrong.len()).into_par_iter().map(shift).collect()),
        }
    };
    let t = obs.n_tasks();
    if obs.is_complete() {
        let shifts = shifts(&|task| (task..obs.len()).step_by(t).map(movable).collect());
        let moved: Vec<f64> = problem.data().pool().install(|| {
            let of = |o: usize| shifts[o % t].map_or(kappa[o], |shift| shift.moved(&movable(o)));
            (0..obs.len()).into_par_iter().map(of).collect()
        });
        return moved;
    }
    let mut of_task = vec![vec![]; t];
    (0..obs.len()).for_each(|o| of_task[obs.task(o)].push(o));
    let shifts = shifts(&|task| of_task[task].iter().map(|&o| movable(o)).collect());
    (0..obs.len()).map(|o| shifts[obs.task(o)].map_or(kappa[o], |shift| shift.moved(&movable(o)))).collect()
}

/// How the duals of a task are moved.
#[derive(Debug, Clone, Copy)]
struct Shift {
    delta: f64,
    /// Equal duals are moved to zero. Rounding then leaves numbers that no shift can balance, and that mean zero.
    is_rounding: bool,
}

impl Shift {
    fn of(duals: &[Movable]) -> Self {
        let delta = zero_sum_shift(duals);
        let moved = duals.iter().map(|dual| dual.moved(delta));
        let (sum, size) = moved.fold((0.0, 0.0), |(sum, size), kappa| (sum + kappa, size + kappa.abs()));
        Shift { delta, is_rounding: sum.abs() > 0.1 * NEARLY_ZERO_SUM * size }
    }

    fn moved(&self, dual: &Movable) -> f64 {
        if self.is_rounding { 0.0 } else { dual.moved(self.delta) }
    }
}

/// Rows that a thread takes at a time.
const ROWS_OF_CHUNK: usize = 128;

/// Takes from duals without bounds, of which every input has one for every task, the mean of their task. What rounding
/// leaves of the means is taken, too.
fn take_means(kappa: &mut [f64], mut sums: Vec<(f64, f64)>) {
    let tasks = sums.len();
    let rows = (kappa.len() / tasks) as f64;
    for _ in 0..3 {
        let means: Vec<f64> = sums.iter().map(|(sum, _)| sum / rows).collect();
        kappa.par_chunks_mut(ROWS_OF_CHUNK * tasks).for_each(|rows| {
            for row in rows.chunks_mut(tasks) {
                row.iter_mut().zip(&means).for_each(|(kappa, mean)| *kappa -= mean);
            }
        });
        sums = column_sums(kappa, tasks);
        if sums.iter().all(|(sum, size)| sum.abs() <= 0.1 * ZERO_SUM * size) {
            return;
        }
    }
    // Equal duals become numbers of rounding size that no shift can balance, and that mean zero.
    let keep: Vec<f64> = sums
        .iter()
        .map(|(sum, size)| if sum.abs() > 0.1 * NEARLY_ZERO_SUM * size { 0.0 } else { 1.0 })
        .collect();
    if keep.contains(&0.0) {
        kappa
            .chunks_mut(tasks)
            .for_each(|row| row.iter_mut().zip(&keep).for_each(|(kappa, keep)| *kappa *= keep));
    }
}

/// A dual with its weight and the interval in which it may lie.
#[derive(Debug, Clone, Copy)]
struct Movable {
    kappa: f64,
    gamma: f64,
    bounds: (f64, f64),
}

impl Movable {
    fn moved(&self, delta: f64) -> f64 {
        (self.kappa + delta * self.gamma).clamp(self.bounds.0, self.bounds.1)
    }
}

/// The delta after which the sum is zero.
fn zero_sum_shift(duals: &[Movable]) -> f64 {
    // Sum, weight of the duals that are inside their intervals, and sum of sizes.
    let at = |delta: f64| {
        duals.iter().fold((0.0, 0.0, 0.0), |(sum, free, size), dual| {
            let moved = dual.moved(delta);
            let inside = moved > dual.bounds.0 && moved < dual.bounds.1;
            (sum + moved, free + if inside { dual.gamma } else { 0.0 }, size + moved.abs())
        })
    };
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut delta = 0.0;
    for _ in 0..MAX_ROUNDS {
        let (sum, free, size): (f64, f64, f64) = at(delta);
        if sum.abs() <= 0.1 * ZERO_SUM * size {
            break;
        }
        *(if sum > 0.0 { &mut high } else { &mut low }) = delta;
        let newton = delta - sum / free;
        let next = match (newton > low && newton < high, low.is_finite() && high.is_finite()) {
            (true, _) => newton,
            (false, true) => 0.5 * (low + high),
            // All duals are at bounds: towards zero, which lies in every interval.
            (false, false) => {
                let far =
                    duals.iter().filter(|dual| dual.gamma > 0.0).map(|dual| (dual.kappa / dual.gamma).abs());
                let reach = far.fold(0.0, f64::max).max(delta.abs()) * 1.5;
                if sum > 0.0 { -reach } else { reach }
            }
        };
        if next == delta {
            break;
        }
        delta = next;
    }
    delta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifted_duals_add_up_to_zero_inside_their_intervals() {
        let dual =
            |kappa: f64, gamma: f64, low: f64, high: f64| Movable { kappa, gamma, bounds: (low, high) };
        let infinity = f64::INFINITY;
        let cases = [
            vec![dual(1.0, 1.0, -infinity, infinity), dual(3.0, 2.0, -infinity, infinity)],
            vec![dual(1.0, 1.0, 0.0, 1.0), dual(1.0, 1.0, 0.0, 1.0), dual(-1.0, 1.0, -1.0, 0.0)],
            vec![dual(2.0, 2.0, 0.0, 2.0), dual(0.5, 1.0, 0.0, 1.0)],
            vec![dual(1e-200, 1e-200, 0.0, 1e-200), dual(-3e-201, 1e-200, -1e-200, 0.0)],
            vec![dual(5.0, 0.0, 0.0, 0.0), dual(0.3, 1.0, -1.0, 1.0)],
        ];
        for duals in cases {
            let duals: Vec<Movable> = duals
                .into_iter()
                .map(|d| Movable { kappa: d.kappa.clamp(d.bounds.0, d.bounds.1), ..d })
                .collect();
            let delta = zero_sum_shift(&duals);
            let moved: Vec<f64> = duals.iter().map(|dual| dual.moved(delta)).collect();
            let (sum, size) = moved.iter().fold((0.0, 0.0), |(sum, size), m| (sum + m, size + m.abs()));
            assert!(f64::abs(sum) <= 1e-15 * size + 1e-300, "{moved:?}");
        }
    }
}
