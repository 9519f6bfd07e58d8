//! Models that were fitted to statistics, or to rows that are elsewhere.

use super::Model;
use crate::backend::{self, Expansion, Interrupt};
use crate::certificate::{answer_terms, predictions};
use crate::rows::{RowsSetting, answering_duals, balancing_factors};
use crate::solver::start;
use crate::{Dataset, Error, Kernel, Matrix, Problem, Result, Statistics};

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
        let empty_tasks = self.about.empty_tasks.take();
        self.stands_for(statistics, 0.0);
        self.about.empty_tasks = empty_tasks;
        Ok(())
    }

    /// Makes it a model of the rows behind statistics, whose duals answer to losses smoothed by this much.
    pub(crate) fn stands_for(&mut self, statistics: &Statistics, smoothing: f64) {
        self.alpha = None;
        self.observation_weights = None;
        let about = &mut self.about;
        about.n_inputs = statistics.n_inputs() as usize;
        about.n_observations = statistics.n_observations() as usize;
        (about.task_labels, about.rarer_labels) = (None, None);
        about.empty_tasks = Some(statistics.empty_tasks());
        about.complete = statistics.is_complete();
        about.from_statistics = true;
        about.smoothing = smoothing;
    }

    /// What rows need to know of the model to answer questions about it.
    pub(crate) fn rows_setting(&self) -> RowsSetting {
        RowsSetting {
            loss: self.about.problem.loss.clone(),
            c: self.about.problem.c,
            n_features: self.about.n_features,
            tasks: self.about.tasks.clone(),
            scaling: self.scaling.clone(),
            target_scaling: self.target_scaling.clone(),
        }
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
        let kappa = match problem.has_only_squared_loss() {
            true => {
                let answers = || answer_terms(problem, &weights, self.intercept(), never);
                start::allowed(problem, start::warm(problem, problem.data().pool().install(answers)?.0))?
            }
            false => problem.data().pool().install(|| self.balanced_answers(problem, &weights))?,
        };
        Ok(kappa.into_iter().map(|kappa| kappa * problem.unit()).collect())
    }

    /// The duals that answer to smoothed losses, balanced as in a fit of rows that are elsewhere.
    fn balanced_answers(&self, problem: &Problem<'_>, weights: &Matrix) -> Result<Vec<f64>> {
        let obs = problem.observations();
        let mut z = predictions(problem, weights, &mut Interrupt::never())?;
        if let Some(intercept) = self.intercept() {
            z.iter_mut().enumerate().for_each(|(o, z)| *z += intercept[obs.task(o)]);
        }
        let mut kappa = answering_duals(problem, z, self.about.smoothing);
        let (mut positive, mut negative) = (vec![0.0; obs.n_tasks()], vec![0.0; obs.n_tasks()]);
        for (o, kappa) in kappa.iter().enumerate() {
            *(if *kappa < 0.0 { &mut negative[obs.task(o)] } else { &mut positive[obs.task(o)] }) += kappa;
        }
        let factors = balancing_factors(&positive, &negative, problem.intercept_costs());
        kappa
            .iter_mut()
            .enumerate()
            .for_each(|(o, kappa)| *kappa *= factors[obs.task(o)][usize::from(*kappa < 0.0)]);
        Ok(kappa)
    }
}
