//! Models that were fitted to statistics instead of rows.

use super::Model;
use crate::backend::{self, Expansion, Interrupt};
use crate::certificate::answer_terms;
use crate::solver::start;
use crate::{Dataset, Error, Kernel, Problem, Result, Statistics};

impl Model {
    /// Tells a model of a surrogate, `data`, that it is one of the rows behind these statistics: it keeps the primal
    /// point and forgets the duals, which are those of other rows. [`certify`](Self::certify) computes the duals of
    /// the real ones: for a smooth loss they are a function of the predictions.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the kernel is not linear or the data have other sizes.
    pub fn set_statistics(&mut self, statistics: &Statistics, data: &Dataset<'_>) -> Result<()> {
        let (d, t) = (statistics.n_features(), statistics.tasks().len());
        if self.about.kernel != Kernel::Linear || (self.about.n_features, self.tasks().len()) != (d, t) {
            return Err(Error::Incompatible("the model is not one of these statistics".into()));
        }
        let Some(alpha) = self.alpha.take() else {
            return Err(Error::Incompatible("the duals of the model were dropped".into()));
        };
        if self.v.is_none() {
            let (backend, threads) = (data.backend(), data.threads());
            let duals = Expansion::Duals(data.observations(), &alpha);
            let never = &mut Interrupt::never();
            let state = data.pool().install(|| backend::state_of(backend, duals, threads, never))?;
            self.v = Some(super::scaled(state, backend.coordinate_unit()));
        }
        self.observation_weights = None;
        let about = &mut self.about;
        about.n_inputs = statistics.n_inputs() as usize;
        about.n_observations = statistics.n_observations() as usize;
        about.task_labels = None;
        about.complete = statistics.is_complete();
        about.from_statistics = true;
        Ok(())
    }

    /// The duals that answer to the predictions of the model: `alpha = -C w L'(y, F)`, moved so that those of a task
    /// add up to zero where intercepts are free.
    pub(super) fn answering_duals(&self, problem: &Problem<'_>) -> Result<Vec<f64>> {
        let Some(weights) = self.weights() else {
            return Err(Error::Incompatible("a model from statistics must have weights".into()));
        };
        let backend = problem.data().backend();
        let weights = super::scaled(weights.clone(), backend.unit() / backend.coordinate_unit());
        let never = &mut Interrupt::never();
        let answers = || answer_terms(problem, &weights, self.intercept(), never);
        let (kappa, _) = problem.data().pool().install(answers)?;
        let kappa = start::allowed(problem, start::warm(problem, kappa))?;
        Ok(kappa.into_iter().map(|kappa| kappa * problem.unit()).collect())
    }
}
