//! Checking a stored model against its data, without solving anything.

use super::induced::{self, Induced};
use super::{MODEL_TOLERANCE, Mismatch, Model, compare};
use crate::algebra::DeviceHandle;
use crate::backend::Interrupt;
use crate::certificate::{CertifiedPoint, certify_normal, certify_point};
use crate::{
    Certificate, Dataset, DatasetOptions, Error, Inputs, Matrix, Observations, Problem, Result, TaskNames,
};

/// Memory, threads and device for checking a stored model.
#[derive(Debug, Clone, PartialEq)]
pub struct CertifyOptions {
    /// Memory budget in bytes for the Gram matrix; a larger one is computed in panels.
    pub memory: u64,
    /// Number of threads; 0 = one per core.
    pub threads: usize,
    /// A device for large products, if there is one.
    pub device: Option<DeviceHandle>,
}

impl Default for CertifyOptions {
    fn default() -> Self {
        let DatasetOptions { memory, threads, device, .. } = DatasetOptions::default();
        CertifyOptions { memory, threads, device }
    }
}

/// What checking a stored model against its data found.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCheck {
    /// The certificate of the stored point for the data given.
    pub certificate: Certificate,
    /// The parts of the model that do not belong to that point or to the data. None for an honest file.
    pub mismatches: Vec<Mismatch>,
}

impl Model {
    /// The certificate of the stored duals, from scratch, for the inputs and observations that the model was
    /// fitted on, in the same order.
    ///
    /// Scaling of inputs and labels, kernel, bias, losses, regulariser, C and lambda are the model's. So are
    /// the weights of the observations and the names of the tasks: those given may have none, or the same.
    /// Offsets are those given. A model from [`Statistics`](crate::Statistics) has neither duals nor weights: duals
    /// are computed from its predictions, and weights are those given.
    ///
    /// Equal to [`certificate`](Self::certificate) up to rounding if nobody changed either. For any other
    /// data of the right size the certificate is still a true one, of the stored duals on that data. It does
    /// not look at Theta and the predictor; [`check`](Self::check) does.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the duals were dropped, or if sizes, weights or names are not those of the
    /// model; [`Error::Infeasible`] for a dual that no data of this kind can have; and as [`Problem::new`].
    pub fn certify(
        &self,
        inputs: &Inputs<'_>,
        observations: &Observations,
        options: &CertifyOptions,
    ) -> Result<Certificate> {
        let observations = self.own_observations(inputs, observations)?;
        if let Some(mismatch) = self.weight_mismatch(&observations) {
            return Err(Error::Incompatible(mismatch.why));
        }
        let observations = self.with_own_weights(observations)?;
        let point = |problem: &Problem<'_>, alpha: &[f64], _: &Inputs<'_>| {
            Ok(certify_point(problem, alpha, self.v.as_ref(), self.intercept())?.graded.certificate)
        };
        self.on_data(inputs, &observations, options, point)
    }

    /// [`certify`](Self::certify), and whether everything that predictions use is what the certified point
    /// and the data imply: Theta, weights or coefficients, support inputs and their rows, scaling of
    /// inputs and labels, the weights of the observations, and the stored certificate itself. Entries may differ by
    /// [`MODEL_TOLERANCE`] of their size.
    ///
    /// # Errors
    /// As [`certify`](Self::certify), except that weights of observations that differ are a mismatch.
    pub fn check(
        &self,
        inputs: &Inputs<'_>,
        observations: &Observations,
        options: &CertifyOptions,
    ) -> Result<ModelCheck> {
        let observations = self.own_observations(inputs, observations)?;
        let mut mismatches: Vec<Mismatch> = self.weight_mismatch(&observations).into_iter().collect();
        let observations = self.with_own_weights(observations)?;
        mismatches.extend(compare::scaling(&self.scaling, inputs, &observations)?);
        mismatches.extend(compare::target_scaling(
            self.target_scaling(),
            &observations,
            &self.about.problem.loss,
        )?);
        mismatches.extend(compare::empty_tasks(&self.about, &observations));
        mismatches.extend(compare::task_labels(&self.about, &observations));
        let check = |problem: &Problem<'_>, alpha: &[f64], inputs: &Inputs<'_>| {
            let CertifiedPoint { kappa, v, graded } =
                certify_point(problem, alpha, self.v.as_ref(), self.intercept())?;
            let induced = Induced::new(problem, &kappa, v.as_ref(), &graded)?;
            let sizes = induced::function_sizes(problem, &kappa, v.as_ref(), &graded);
            let parts = compare::induced_parts(self, &induced, inputs, &sizes);
            let intercept = self.intercept_mismatch(problem, &kappa, v.as_ref(), &graded.certificate)?;
            let certificate = graded.certificate;
            // Other intercepts have another objective.
            if intercept.is_none() || !parts.is_empty() {
                mismatches.extend(compare::certificate(self, &certificate, parts.is_empty()));
            }
            mismatches.extend(intercept);
            mismatches.extend(parts);
            Ok(ModelCheck { certificate, mismatches })
        };
        self.on_data(inputs, &observations, options, check)
    }

    /// Whether the stored intercepts are as good as the best ones for the weights, and those of the stored
    /// certificate: a certificate holds for any intercepts, but worse ones make its gap larger. `recomputed` is
    /// the certificate of the stored intercepts.
    fn intercept_mismatch(
        &self,
        problem: &Problem<'_>,
        kappa: &[f64],
        v: Option<&Matrix>,
        recomputed: &Certificate,
    ) -> Result<Option<Mismatch>> {
        let Some(own) = &self.intercept else { return Ok(None) };
        // Without labels the objective does not depend on a free intercept, and it is 0.
        let costs = problem.intercept_costs();
        let is_free = |t: &u32| costs.is_some_and(|costs| costs[*t as usize] == 0.0);
        let mut idle = super::empty_tasks(problem.observations()).into_iter().filter(is_free);
        if let Some(t) = idle.find(|&t| own[t as usize] != 0.0) {
            let (name, b) = (self.tasks().name(t as usize), own[t as usize]);
            let why = format!("that of task {name:?}, which has no labels, is {b}, and it has to be 0");
            return Ok(Some(Mismatch::new("intercept", why)));
        }
        let best = certify_normal(problem, kappa, v, &mut Interrupt::never())?;
        let (primal, best) = (recomputed.primal, best.certificate.primal);
        let close = |a: f64, b: f64| (a - b).abs() <= compare::CERTIFICATE_TOLERANCE * best.abs();
        let stored = self.certificate().primal;
        let of_the_fit = close(primal, stored) || !close(best, stored);
        // Those of rows that are elsewhere are as good as their certificate says.
        let known = if self.about.from_statistics { recomputed.gap } else { f64::MIN_POSITIVE };
        let same = primal == best && primal == stored;
        if same || of_the_fit && primal - best <= MODEL_TOLERANCE * best.abs() + known {
            return Ok(None);
        }
        let why = format!("the objective is {primal}, the best intercepts give {best}");
        Ok(Some(Mismatch::new("intercept", why)))
    }

    /// Runs `work(problem, duals, scaled inputs)` for the problem of the model on these data.
    fn on_data<T>(
        &self,
        inputs: &Inputs<'_>,
        observations: &Observations,
        options: &CertifyOptions,
        work: impl FnOnce(&Problem<'_>, &[f64], &Inputs<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.alpha.is_none() && !self.about.from_statistics {
            return Err(Error::Incompatible(
                "the duals of the model were dropped: it cannot be certified again".into(),
            ));
        }
        let about = &self.about;
        let inputs = self.scaling.apply(inputs)?;
        let scaled = self.target_scaling.as_ref().map(|scaling| scaling.apply(observations)).transpose()?;
        let observations = scaled.as_ref().unwrap_or(observations);
        let (kernel, bias) = (about.kernel.clone(), about.bias);
        let CertifyOptions { memory, threads, device } = options.clone();
        let options = DatasetOptions { kernel, bias, memory, threads, device };
        let data = Dataset::new(&inputs, observations, options)?;
        let problem = Problem::new(&data, about.problem.clone())?;
        match &self.alpha {
            Some(alpha) => work(&problem, alpha, &inputs),
            None => work(&problem, &self.answering_duals(&problem)?, &inputs),
        }
    }

    /// The observations with the names of the model's tasks; `Err` if they or the inputs do not fit the
    /// model.
    fn own_observations(&self, inputs: &Inputs<'_>, observations: &Observations) -> Result<Observations> {
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
        Ok(observations)
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

    /// Weights of observations that the data give and that are not those of the model.
    fn weight_mismatch(&self, observations: &Observations) -> Option<Mismatch> {
        let own = |o: usize| self.observation_weights.as_ref().map_or(1.0, |weights| weights[o]);
        if self.about.from_statistics {
            // It knows sums only.
            return None;
        }
        if observations.uniform_weight() == Some(1.0) && self.observation_weights.is_some() {
            return None;
        }
        (0..observations.len()).find(|&o| observations.weight(o) != own(o)).map(|o| {
            let (own, given) = (own(o), observations.weight(o));
            let why = format!("observation {o} has weight {own} in the model and {given} in the data given");
            Mismatch::new("observation_weight", why)
        })
    }

    fn with_own_weights(&self, observations: Observations) -> Result<Observations> {
        if self.about.from_statistics {
            return Ok(observations);
        }
        let own = self.observation_weights.as_deref();
        let same =
            (0..observations.len()).all(|o| observations.weight(o) == own.map_or(1.0, |weights| weights[o]));
        if same { Ok(observations) } else { observations.with_only_weights(own) }
    }
}
