//! Methods that are the engine with a task matrix or regulariser known beforehand: one line each.

use crate::params::Allowed;
use crate::{Claim, Job, Losses, Method, Param, Params, Point, Result};
use kinfolk::{Fit, Observer, OutputKind, Problem, ProblemSpec, Weights, fit_near};

/// A method that is the engine's problem for some output regulariser.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) learns: &'static str,
    pub(crate) reference: &'static str,
    pub(crate) problem: &'static str,
    pub(crate) cost: &'static str,
    pub(crate) losses: Losses,
    pub(crate) params: &'static [Param],
    pub(crate) output: fn(usize, &Params) -> OutputKind,
    /// The iteration of the original, where it is offered beside our solver.
    pub(crate) published: Option<Published>,
}

/// The iteration of an original.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Published {
    /// The values of the parameter `form` that ask for it.
    pub(crate) forms: &'static [&'static str],
    /// From the job and its problem to a fit of that problem.
    pub(crate) run: fn(&Job<'_>, &Params, &Problem<'_>, &mut dyn Observer) -> Result<Fit>,
    /// What its certificates hold for.
    pub(crate) claim: Claim,
}

/// The parameter that chooses between our solver and the original's iteration.
pub(crate) const FORM: Param = Param {
    name: "form",
    meaning: "fast: our solver, certified; published: the iteration of the original, for comparison",
    allowed: Allowed::Word(&["fast", "published"]),
    default: "fast",
    grid: &["fast"],
    only_with: None,
};

/// The same for iterations that are also offered on the eigenvectors of X'X.
pub(crate) const FORMS: Param = Param {
    meaning: "fast: our solver, certified; published: the iteration of the original, for comparison; reduced: the same on no more \
              eigenvectors than there are features",
    allowed: Allowed::Word(&["fast", "published", "reduced"]),
    ..FORM
};

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
    output: |n_tasks, _| OutputKind::independent(n_tasks),
    published: None,
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
    output: |n_tasks, _| OutputKind::shared_mean(n_tasks, 1.0),
    published: None,
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
    output: |n_tasks, params| OutputKind::shared_mean(n_tasks, 1.0 / (1.0 + params.number("mu"))),
    cost: "one kernel machine with all rows",
    losses: Losses::All,
    published: None,
};

impl Engine {
    /// The original iteration, if it is asked for.
    fn published(&self, params: &Params) -> Option<Published> {
        self.published.filter(|published| published.forms.contains(&params.word("form")))
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

    fn claim(&self, params: &Params) -> Claim {
        self.published(params).map_or(Claim::Optimal, |published| published.claim)
    }

    fn weights(&self, job: &Job<'_>, params: &Params, point: Point) -> Result<Weights> {
        let output = (self.output)(job.data.observations().n_tasks(), params);
        Ok(match point {
            Point::C(c) => Weights { c, lambda: job.lambda.unwrap_or(1.0) },
            Point::Strength(g) => job.yardstick.weights(&output, job.lambda, g)?,
        })
    }

    fn fit(
        &self,
        job: &Job<'_>,
        params: &Params,
        point: Point,
        near: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        self.losses.check(self.name, job.loss)?;
        let Weights { c, lambda } = self.weights(job, params, point)?;
        let output = (self.output)(job.data.observations().n_tasks(), params);
        let problem = Problem::new(job.data, ProblemSpec { loss: job.loss.clone(), output, c, lambda })?;
        if let Some(published) = self.published(params) {
            return (published.run)(job, params, &problem, observer);
        }
        Ok(fit_near(&problem, job.settings, near, observer)?)
    }
}
