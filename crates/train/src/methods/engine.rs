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

    /// The atoms of the method, and those of the job if it takes them, with weights that are parameters. A single task
    /// is not related to others.
    fn atoms(&self, job: &Job<'_>, params: &Params) -> Result<Vec<AtomSpec>> {
        if job.data.observations().n_tasks() < 2 {
            return Ok(vec![]);
        }
        let params = params.for_data(self.info.params, job.data.observations());
        let own = |(name, relation): &(&str, AtomKind)| {
            Ok(AtomSpec::new(*name, params.number(name)?, relation.clone()))
        };
        let given = if self.info.takes_atoms { job.atoms } else { &[] };
        let weighted = |atom: &AtomSpec| {
            let weight = params.atom_weight(&atom.name).unwrap_or(atom.weight);
            Ok(AtomSpec { weight, ..atom.clone() })
        };
        self.info.atoms.iter().map(own).chain(given.iter().map(weighted)).collect()
    }
}

impl Method for Engine {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn regularizer(&self, n_tasks: usize, params: &Params) -> Result<Option<RegularizerKind>> {
        (self.output)(n_tasks, params).map(Some)
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
