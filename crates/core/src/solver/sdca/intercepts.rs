//! Intercepts during coordinate ascent.
//!
//! A penalised intercept is the sum s of the duals of its task over rho. A free one must keep s = 0, which single duals
//! cannot do, and a weakly penalised one changes so much with each dual that steps become tiny. So both are held near a
//! moving centre c by `(b - c)^2 / (2 sigma)`, which makes them `b = (c + sigma s) / (1 + sigma rho)`. The centre moves
//! to b after each pass, which drives s to `rho b`. Any sigma leads there; with the typical size of `Theta_tt k(x, x)`,
//! steps are as easy as without intercepts.

use crate::Problem;
use crate::certificate::Graded;
use crate::intercept::balance::task_sums;

/// Centre, sum of duals and `db / ds` of each task; all zero without intercepts.
#[derive(Debug)]
pub(super) struct AscentIntercepts {
    /// `c / (1 + sigma rho)`; zero where there is no centre.
    base: Vec<f64>,
    sum: Vec<f64>,
    /// `sigma / (1 + sigma rho)`.
    inverse: Vec<f64>,
    /// `1 / (1 + sigma rho)`, zero for a task without a centre; `None` if there is no centre at all.
    shares: Option<Vec<f64>>,
}

/// Of the largest Theta_tt: what stands for zero.
const SMALLEST_THETA: f64 = 1e-3;
/// A penalised intercept has a centre if it changes by more than so many sigma per unit of a dual.
const WEAK_PENALTY: f64 = 10.0;

impl AscentIntercepts {
    /// At duals that were just certified.
    pub(super) fn new(problem: &Problem<'_>, kappa: &[f64], graded: &Graded) -> Self {
        let t = graded.theta.rows();
        let zeros = vec![0.0; t];
        let Some(rho) = problem.intercept_costs() else {
            return AscentIntercepts {
                base: zeros.clone(),
                sum: zeros.clone(),
                inverse: zeros,
                shares: None,
            };
        };
        let diagonal = problem.data().backend().diagonal();
        let mean = diagonal.iter().sum::<f64>() / diagonal.len().max(1) as f64;
        let theta = |task: usize| graded.theta[(task, task)];
        let largest = (0..t).map(theta).fold(0.0, f64::max);
        let sigma = |task: usize| mean * theta(task).max(SMALLEST_THETA * largest);
        let has_centre = |task: usize| rho[task] * WEAK_PENALTY * mean * largest < 1.0;
        let share = |task| if has_centre(task) { 1.0 / (1.0 + sigma(task) * rho[task]) } else { 0.0 };
        let shares: Vec<f64> = (0..t).map(share).collect();
        let base = shares.iter().zip(&graded.intercept).map(|(share, b)| share * b).collect();
        let inverse = |task| if has_centre(task) { shares[task] * sigma(task) } else { 1.0 / rho[task] };
        let inverse = (0..t).map(inverse).collect();
        let sums = task_sums(problem, kappa);
        let sum = sums.iter().zip(rho).map(|((sum, _), rho)| if *rho == 0.0 { 0.0 } else { *sum }).collect();
        let shares = shares.iter().any(|share| *share > 0.0).then_some(shares);
        AscentIntercepts { base, sum, inverse, shares }
    }

    /// The intercept of a task now.
    #[inline(always)]
    pub(super) fn of(&self, task: usize) -> f64 {
        self.base[task] + self.inverse[task] * self.sum[task]
    }

    /// How much the intercept of a task changes per unit of one of its duals.
    #[inline(always)]
    pub(super) fn stiffness(&self, task: usize) -> f64 {
        self.inverse[task]
    }

    /// Takes account of a step of one dual.
    #[inline(always)]
    pub(super) fn moved(&mut self, task: usize, step: f64) {
        self.sum[task] += step;
    }

    /// After a pass: moves the centres. Whether any moved.
    pub(super) fn recentre(&mut self) -> bool {
        let Some(shares) = &self.shares else { return false };
        let mut moved = false;
        for (task, share) in shares.iter().enumerate() {
            let base = share * (self.base[task] + self.inverse[task] * self.sum[task]);
            moved |= base != self.base[task];
            self.base[task] = base;
        }
        moved
    }

    /// The intercepts, if these have centres and the sums of duals do not fit them.
    pub(super) fn unsettled(&self, problem: &Problem<'_>, kappa: &[f64]) -> Option<Vec<f64>> {
        let (rho, shares) = (problem.intercept_costs()?, self.shares.as_ref()?);
        let b: Vec<f64> = (0..self.base.len()).map(|task| self.of(task)).collect();
        let sums = task_sums(problem, kappa);
        let off = |task: usize| (sums[task].0 - rho[task] * b[task]).abs() > SETTLED * sums[task].1;
        (0..b.len()).any(|task| shares[task] > 0.0 && off(task)).then_some(b)
    }
}

/// Sums of duals fit if they are right to this share of the sizes of the duals.
const SETTLED: f64 = 1e-12;
