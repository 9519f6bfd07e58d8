//! Methods that are one problem of the engine: an output regulariser, and nothing else.

use crate::{FitRequest, Job, Method, MethodInfo, Params, Result, Weight};
use kinfolk::regularizer::{AtomKind, AtomSpec};
use kinfolk::{Fit, Fitter, Observer, Problem, ProblemSpec, RegularizerKind, Start, Weights};

/// A method that is the engine's problem for some output regulariser.
#[derive(Debug)]
pub struct Engine {
    /// What it is.
    pub info: MethodInfo,
    /// The regulariser, for a number of tasks.
    pub(crate) output: fn(usize, &Params) -> Result<RegularizerKind>,
}

impl Engine {
    /// The problem of a weight.
    ///
    /// # Errors
    /// If the method cannot do the loss, or a parameter or the data do not suit the problem.
    pub fn problem<'a>(&self, job: &Job<'a>, params: &Params, weight: Weight) -> Result<Problem<'a>> {
        self.info.losses.check(self.info.name, job.loss)?;
        let output = (self.output)(job.data.observations().n_tasks(), params)?;
        let atoms = self.atoms(job, params)?;
        let Weights { c, lambda } = job.weights_with_atoms(&output, &atoms, weight)?;
        Ok(Problem::new(
            job.data,
            ProblemSpec { loss: job.loss.clone(), output, c, lambda, atoms, intercept: job.intercept },
        )?)
    }

    /// The atoms whose weights are parameters of the method. A single task is not related to others.
    fn atoms(&self, job: &Job<'_>, params: &Params) -> Result<Vec<AtomSpec>> {
        if job.data.observations().n_tasks() < 2 {
            return Ok(vec![]);
        }
        let atom = |(name, relation): &(&str, AtomKind)| {
            Ok(AtomSpec::new(*name, params.number(name)?, relation.clone()))
        };
        self.info.atoms.iter().map(atom).collect()
    }
}

impl Method for Engine {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn weights(&self, job: &Job<'_>, params: &Params, weight: Weight) -> Result<Weights> {
        let output = (self.output)(job.data.observations().n_tasks(), params)?;
        job.weights_with_atoms(&output, &self.atoms(job, params)?, weight)
    }

    fn solve(&self, request: &FitRequest<'_>, observer: &mut dyn Observer) -> Result<Fit> {
        let FitRequest { job, params, weight, start } = *request;
        let problem = self.problem(job, params, weight)?;
        let fitter = Fitter::new(job.settings).observer(observer);
        let fitter = match start {
            Start::Warm(alpha) => fitter.warm(Some(alpha)),
            start => fitter.start(start),
        };
        Ok(fitter.fit(&problem)?)
    }
}
