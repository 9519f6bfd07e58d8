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
    /// `1 / (1 + sigma rho)`, if intercepts have centres.
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
        let Some(rho) = problem.intercept_weight() else {
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
        let sum = task_sums(problem, kappa).iter().map(|(sum, _)| *sum).collect();
        if rho * WEAK_PENALTY * mean * largest >= 1.0 {
            return AscentIntercepts { base: zeros, sum, inverse: vec![1.0 / rho; t], shares: None };
        }
        let shares: Vec<f64> = (0..t).map(|task| 1.0 / (1.0 + sigma(task) * rho)).collect();
        let base = shares.iter().zip(&graded.intercept).map(|(share, b)| share * b).collect();
        let inverse = shares.iter().enumerate().map(|(task, share)| share * sigma(task)).collect();
        let sum = if rho == 0.0 { zeros } else { sum };
        AscentIntercepts { base, sum, inverse, shares: Some(shares) }
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
        let (rho, _) = (problem.intercept_weight()?, self.shares.as_ref()?);
        let b: Vec<f64> = (0..self.base.len()).map(|task| self.of(task)).collect();
        let off = |((sum, size), b): (&(f64, f64), &f64)| (sum - rho * b).abs() > SETTLED * size;
        let sums = task_sums(problem, kappa);
        sums.iter().zip(&b).any(off).then_some(b)
    }
}

/// Sums of duals fit if they are right to this share of the sizes of the duals.
const SETTLED: f64 = 1e-12;
