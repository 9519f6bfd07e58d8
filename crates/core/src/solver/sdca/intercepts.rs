//! Intercepts during coordinate ascent.
//!
//! A penalised intercept is the sum s of the duals of its task over rho. A free one must keep s = 0, which single duals
//! cannot do. So it is penalised around a moving centre c, `rho (b - c)^2 / 2`, which makes it `b = c + s / rho`. The
//! centre moves to b after each pass, which drives s to zero. Any rho leads there; with `1 / rho` the typical size of
//! `Theta_tt k(x, x)`, steps are as easy as without intercepts.

use crate::Problem;
use crate::certificate::Graded;
use crate::intercept::balance::task_sums;

/// Centre, sum of duals and `1 / rho` of each task; all zero without intercepts.
#[derive(Debug)]
pub(super) struct AscentIntercepts {
    centre: Vec<f64>,
    sum: Vec<f64>,
    inverse: Vec<f64>,
    free: bool,
}

/// Of the largest Theta_tt: what stands for zero.
const SMALLEST_THETA: f64 = 1e-3;

impl AscentIntercepts {
    /// At duals that were just certified.
    pub(super) fn new(problem: &Problem<'_>, kappa: &[f64], graded: &Graded) -> Self {
        let t = graded.theta.rows();
        let zeros = vec![0.0; t];
        match problem.intercept_weight() {
            None => {
                AscentIntercepts { centre: zeros.clone(), sum: zeros.clone(), inverse: zeros, free: false }
            }
            Some(0.0) => {
                let diagonal = problem.data().backend().diagonal();
                let mean = diagonal.iter().sum::<f64>() / diagonal.len().max(1) as f64;
                let theta = |task: usize| graded.theta[(task, task)];
                let floor = SMALLEST_THETA * (0..t).map(theta).fold(0.0, f64::max);
                let inverse = (0..t).map(|task| mean * theta(task).max(floor)).collect();
                AscentIntercepts { centre: graded.intercept.clone(), sum: zeros, inverse, free: true }
            }
            Some(rho) => {
                let sum = task_sums(problem, kappa).iter().map(|(sum, _)| *sum).collect();
                AscentIntercepts { centre: zeros, sum, inverse: vec![1.0 / rho; t], free: false }
            }
        }
    }

    /// The intercept of a task now.
    #[inline(always)]
    pub(super) fn of(&self, task: usize) -> f64 {
        self.centre[task] + self.inverse[task] * self.sum[task]
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

    /// After a pass: moves the centres of free intercepts. Whether any moved.
    pub(super) fn recentre(&mut self) -> bool {
        if !self.free {
            return false;
        }
        let mut moved = false;
        for ((centre, sum), inverse) in self.centre.iter_mut().zip(&self.sum).zip(&self.inverse) {
            let before = *centre;
            *centre += inverse * sum;
            moved |= *centre != before;
        }
        moved
    }
}
