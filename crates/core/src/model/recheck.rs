//! Grading a stored model against the data, without solving anything.

use super::Model;
use crate::{
    Certificate, Dataset, DatasetOptions, Error, Inputs, Observations, Problem, Result, TaskNames, certify,
};

/// What grading a stored model may cost.
#[derive(Debug, Clone, PartialEq)]
pub struct CertifyOptions {
    /// Memory budget in bytes for the Gram matrix; a larger one is computed in panels.
    pub memory: u64,
    /// Number of threads; 0 = one per core.
    pub threads: usize,
}

impl Default for CertifyOptions {
    fn default() -> Self {
        let DatasetOptions { memory, threads, .. } = DatasetOptions::default();
        CertifyOptions { memory, threads }
    }
}

impl Model {
    /// The certificate of the stored duals, from scratch, for the inputs and observations that the model was fitted on, in
    /// the same order.
    ///
    /// Scaling, kernel, bias, losses, regulariser, C and lambda are the model's. So are the weights of the observations and the
    /// names of the tasks: those given may have none, or the same.
    ///
    /// Equal to [`certificate`](Self::certificate) up to rounding if nobody changed either. For any other data of the
    /// right size the certificate is still a true one, of the stored duals on that data. It is about the duals and the
    /// primal point, induced or stored, from which Theta and weights were made; it does not look at those.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the duals were dropped, or if sizes, weights or names are not those of the model;
    /// [`Error::Infeasible`] for a dual that no data of this kind can have; and as [`Problem::new`].
    pub fn certify(
        &self,
        inputs: &Inputs<'_>,
        observations: &Observations,
        options: &CertifyOptions,
    ) -> Result<Certificate> {
        let Some(alpha) = &self.alpha else {
            return Err(Error::Incompatible(
                "the duals of the model were dropped: it cannot be certified again".into(),
            ));
        };
        let about = &self.about;
        let observations = self.with_own_tasks(observations.clone())?;
        let sizes = [
            ("inputs", inputs.n_inputs(), about.n_inputs),
            ("features", inputs.n_features(), about.n_features),
            ("observations", observations.len(), about.n_observations),
        ];
        for (what, got, expected) in sizes {
            if got != expected {
                return Err(Error::Incompatible(format!(
                    "the model was fitted on {expected} {what}, the data given have {got}"
                )));
            }
        }
        if observations.is_complete() != about.complete {
            return Err(Error::Incompatible(format!(
                "the model was fitted on observations that {} a table of all inputs and all tasks, row by row; those \
                 given {}",
                if about.complete { "were" } else { "were not" },
                if about.complete { "are not" } else { "are" }
            )));
        }
        let observations = self.with_own_weights(observations)?;
        let inputs = self.scaling.apply(inputs)?;
        let (kernel, bias) = (about.kernel.clone(), about.bias);
        let CertifyOptions { memory, threads } = *options;
        let options = DatasetOptions { kernel, bias, memory, threads };
        let data = Dataset::new(&inputs, &observations, options)?;
        certify(&Problem::new(&data, about.problem.clone())?, alpha, self.v.as_ref())
    }

    fn with_own_tasks(&self, observations: Observations) -> Result<Observations> {
        let (given, own) = (observations.task_names(), self.tasks());
        match (given, own) {
            _ if given == own => Ok(observations),
            (TaskNames::Numbered(n), _) if *n <= own.len() => observations.with_task_names(own.clone()),
            (_, TaskNames::Numbered(n)) if *n == given.len() => Ok(observations),
            _ if given.len() != own.len() => Err(Error::Incompatible(format!(
                "the model was fitted on {} tasks, the data given have {}",
                own.len(),
                given.len()
            ))),
            _ => {
                let other = (0..own.len()).find(|&t| own.name(t) != given.name(t)).unwrap_or(0);
                Err(Error::Incompatible(format!(
                    "task {other} is {:?} in the model and {:?} in the data given",
                    own.name(other),
                    given.name(other)
                )))
            }
        }
    }

    fn with_own_weights(&self, observations: Observations) -> Result<Observations> {
        let own = |o: usize| self.observation_weights.as_ref().map_or(1.0, |weights| weights[o]);
        if let (Some(weights), Some(1.0)) = (&self.observation_weights, observations.uniform_weight()) {
            return observations.with_weights(weights);
        }
        match (0..observations.len()).find(|&o| observations.weight(o) != own(o)) {
            None => Ok(observations),
            Some(o) => Err(Error::Incompatible(format!(
                "observation {o} has weight {} in the model and {} in the data given",
                own(o),
                observations.weight(o)
            ))),
        }
    }
}
