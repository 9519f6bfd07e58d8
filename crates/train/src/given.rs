//! Methods that are the engine with a task matrix or regulariser known beforehand: one line each.

use crate::params::Allowed;
use crate::{Job, Losses, Method, Param, Params, Point, Result};
use kinfolk::{Fit, Fitter, Observer, Problem, ProblemSpec, RegularizerKind, Weights};

/// A method that is the engine's problem for some output regulariser.
#[derive(Debug)]
pub struct Engine {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) learns: &'static str,
    pub(crate) reference: &'static str,
    pub(crate) problem: &'static str,
    pub(crate) cost: &'static str,
    pub(crate) losses: Losses,
    pub(crate) params: &'static [Param],
    pub(crate) output: fn(usize, &Params) -> RegularizerKind,
}

/// Independent tasks.
pub(crate) const STL: Engine = Engine {
    name: "stl",
    title: "independent tasks",
    learns: "nothing shared",
    reference: "each task on its own: ridge regression, support vector machines",
    problem: "min C sum_i L(y_i, F(x_i, t_i)) + |F|^2 / 2 with Theta = I",
    params: &[],
    cost: "each task on its own",
    losses: Losses::All,
    output: |n_tasks, _| RegularizerKind::independent(n_tasks),
};

/// One model for all tasks.
pub(crate) const POOLED: Engine = Engine {
    name: "pooled",
    title: "one model for all",
    learns: "everything shared",
    reference: "all rows as one task",
    problem: "min C sum_i L(y_i, F(x_i)) + |F|^2 / 2, that is Theta = 1 everywhere",
    params: &[],
    cost: "one task with all rows",
    losses: Losses::All,
    output: |n_tasks, _| RegularizerKind::shared_mean(n_tasks, 1.0),
};

/// A common mean and deviations from it.
pub(crate) const MTL: Engine = Engine {
    name: "mtl",
    title: "a common mean",
    learns: "how far tasks may be from their mean, by selection",
    reference: "Evgeniou and Pontil, Regularized multi-task learning, KDD 2004",
    problem: "min C sum_i L(y_i, F(x_i, t_i)) + |F|^2 / 2 with Theta = 1/mu + I",
    params: &[Param {
        name: "mu",
        meaning: "large: independent tasks; small: one model for all",
        allowed: Allowed::Number(1e-9, 1e9),
        default: "1",
        grid: &["0.01", "0.1", "1", "10", "100"],
        only_with: None,
    }],
    // (1/mu + I) / (1 + 1/mu): the factor goes into C, and strengths mean the same as elsewhere.
    output: |n_tasks, params| RegularizerKind::shared_mean(n_tasks, 1.0 / (1.0 + params.number("mu"))),
    cost: "one kernel machine with all rows",
    losses: Losses::All,
};

impl Engine {
    /// The problem that a point of the grid stands for.
    ///
    /// # Errors
    /// If the method cannot do the loss, or a parameter or the data do not suit the problem.
    pub fn problem<'a>(&self, job: &Job<'a>, params: &Params, point: Point) -> Result<Problem<'a>> {
        self.losses.check(self.name, job.loss)?;
        let Weights { c, lambda } = self.weights(job, params, point)?;
        let output = (self.output)(job.data.observations().n_tasks(), params);
        Ok(Problem::new(job.data, ProblemSpec { loss: job.loss.clone(), output, c, lambda })?)
    }
}

impl Method for Engine {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn learns(&self) -> &'static str {
        self.learns
    }

    fn reference(&self) -> &'static str {
        self.reference
    }

    fn params(&self) -> &'static [Param] {
        self.params
    }

    fn problem(&self) -> &'static str {
        self.problem
    }

    fn cost(&self) -> &'static str {
        self.cost
    }

    fn losses(&self) -> Losses {
        self.losses
    }

    fn weights(&self, job: &Job<'_>, params: &Params, point: Point) -> Result<Weights> {
        let output = (self.output)(job.data.observations().n_tasks(), params);
        Ok(match point {
            Point::C(c) => Weights { c, lambda: job.lambda.unwrap_or(1.0) },
            Point::Strength(g) => job.c_scale.weights(&output, job.lambda, g)?,
        })
    }

    fn solve(
        &self,
        job: &Job<'_>,
        params: &Params,
        point: Point,
        near: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let problem = Engine::problem(self, job, params, point)?;
        Ok(Fitter::new(job.settings).warm(near).observer(observer).fit(&problem)?)
    }
}
