//! The certificate of a model from statistics, or of rows that are elsewhere, for its rows, part after part.

use super::rows_passes::RowsPasses;
use super::{CertifyOptions, Model};
use crate::certificate::{PartialCertificate, PassSums};
use crate::pool::Pool;
use crate::{
    Certificate, Dataset, DatasetOptions, Error, Inputs, LossKind, Observations, Problem, Result, Status,
};
use rayon::prelude::*;

/// Rows that one thread takes at a time: sums do not depend on how many threads there are.
const SLICE_ROWS: usize = 4096;

/// A pass over the rows of a model from [`Statistics`](crate::Statistics), which certifies it from the data.
///
/// ```
/// # use kinfolk::inputs::{Dense, Inputs};
/// # use kinfolk::{Dataset, Observations, Problem, ProblemSpec, Settings, Statistics, fit, Scaling};
/// # let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
/// # let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
/// # let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 0.2, 1.1, 0.1])?;
/// let mut statistics = Statistics::new(&Default::default());
/// statistics.update(&inputs, &observations)?; // the first pass, in any number of parts
/// let small = statistics.surrogate(&Scaling::None, None)?;
/// let data = Dataset::new(&small.inputs, &small.observations, Default::default())?;
/// let mut model = fit(&Problem::new(&data, ProblemSpec::default())?, &Settings::default())?.model;
/// model.set_statistics(&statistics, &data)?;
///
/// let mut second = model.certify_parts(&Default::default())?; // the second pass, in any number of parts
/// second.add(&inputs, &observations)?;
/// assert!(second.finish()?.rel_gap() <= 1e-3);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug)]
pub struct CertifyParts<'a> {
    model: &'a Model,
    options: CertifyOptions,
    pass: CertifyPass,
    n_inputs: usize,
    n_observations: usize,
}

/// What the rows are asked.
#[derive(Debug)]
enum CertifyPass {
    /// One pass for the squared loss.
    Squared(Box<PartialCertificate>),
    /// Two for others.
    Rows(Box<RowsPasses>),
}

impl Model {
    /// Starts a pass over the rows behind a model from statistics.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for any other model: [`certify`](Self::certify) needs its rows at once.
    pub fn certify_parts(&self, options: &CertifyOptions) -> Result<CertifyParts<'_>> {
        let Some(v) = self.v.clone().filter(|_| self.about.from_statistics) else {
            return Err(Error::Incompatible(
                "only a model from statistics can be certified part by part".into(),
            ));
        };
        let pass = match self.about.problem.loss == LossKind::Squared.into() {
            true => CertifyPass::Squared(Box::new(PartialCertificate::new(
                self.about.problem.clone(),
                v,
                self.intercept.clone(),
            ))),
            false => CertifyPass::Rows(Box::new(RowsPasses::new(self)?)),
        };
        Ok(CertifyParts { model: self, options: options.clone(), pass, n_inputs: 0, n_observations: 0 })
    }

    /// Keeps a certificate in place of the one that the fit of the statistics found, such as that of a pass over all
    /// rows, and says whether it is within this tolerance.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the model is not one from statistics.
    pub fn set_certificate(&mut self, certificate: Certificate, tolerance: f64) -> Result<()> {
        if !self.about.from_statistics {
            return Err(Error::Incompatible("the model is not one from statistics".into()));
        }
        self.about.status = match (self.about.status, certificate.rel_error() <= tolerance) {
            (Some(Status::Stopped), _) => Some(Status::Stopped),
            (_, true) => Some(Status::Certified),
            (_, false) if certificate.rel_gap() <= tolerance => Some(Status::Imprecise),
            (Some(Status::Certified), false) => Some(Status::Stalled),
            (status, false) => status,
        };
        self.about.certificate = certificate;
        Ok(())
    }
}

impl CertifyParts<'_> {
    /// Adds rows, as they were before scaling.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if they do not fit the model.
    pub fn add(&mut self, inputs: &Inputs<'_>, observations: &Observations) -> Result<()> {
        let (model, about) = (self.model, &self.model.about);
        if inputs.n_features() != about.n_features {
            let (got, expected) = (inputs.n_features(), about.n_features);
            return Err(Error::Incompatible(format!(
                "the model was fitted on {expected} features, the data given have {got}"
            )));
        }
        let partial = match &mut self.pass {
            CertifyPass::Squared(partial) => partial,
            CertifyPass::Rows(passes) => {
                passes.add(inputs, observations, self.options.threads)?;
                self.n_inputs += inputs.n_inputs();
                self.n_observations += observations.len();
                return Ok(());
            }
        };
        let observations = observations.clone().for_tasks(model.tasks())?;
        let pool = Pool::new(self.options.threads)?;
        let threads = pool.threads();
        // In a pool, work inside shares its threads.
        let options = CertifyOptions { threads, ..self.options.clone() };
        let first: Vec<usize> = (0..inputs.n_inputs()).step_by(SLICE_ROWS).collect();
        let slice = |first: usize, ask: &mut dyn FnMut(&Problem<'_>) -> Result<()>| {
            let mut rows: Vec<u32> =
                (first..inputs.n_inputs().min(first + SLICE_ROWS)).map(|i| i as u32).collect();
            let of_row = |&i: &u32| observations.of_input(i as usize);
            // Rows of a task beside each other are multiplied where they lie.
            rows.sort_by_key(|row| of_row(row).next().map(|o| observations.task(o)));
            if !rows.iter().flat_map(of_row).any(|o| observations.weight(o) > 0.0) {
                return Ok(());
            }
            let (inputs, observations) = (inputs.select_rows(&rows), observations.select_inputs(&rows)?);
            let inputs = model.scaling.apply(&inputs)?;
            let scaled =
                model.target_scaling.as_ref().map(|scaling| scaling.apply(&observations)).transpose()?;
            let observations = scaled.as_ref().unwrap_or(&observations);
            let (kernel, bias) = (about.kernel.clone(), about.bias);
            let CertifyOptions { memory, threads, device } = options.clone();
            let options = DatasetOptions { kernel, bias, memory, threads, device };
            let data = Dataset::new(&inputs, observations, options)?;
            ask(&Problem::new(&data, about.problem.clone())?)
        };
        // The first rows give the units of all.
        for &first in &first {
            if !partial.has_begun() {
                slice(first, &mut |problem| partial.begin(problem))?;
            }
        }
        let sums_of = |&first: &usize| {
            let mut sums = None;
            slice(first, &mut |problem| {
                sums = Some(partial.sums_of(problem)?);
                Ok(())
            })?;
            Ok(sums)
        };
        let sums: Vec<Result<Option<PassSums>>> = pool.install(|| first.par_iter().map(sums_of).collect());
        for sums in sums {
            sums?.iter().for_each(|sums| partial.add_sums(sums));
        }
        self.n_inputs += inputs.n_inputs();
        self.n_observations += observations.len();
        Ok(())
    }

    /// Call it after all rows were added: whether they have to be added once more. For the squared loss one pass is
    /// enough. For other losses the first one finds how duals must be changed so that those of each task add up, and
    /// the second one certifies them.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if there were more or fewer rows than the model was fitted on.
    pub fn again(&mut self) -> Result<bool> {
        self.check_counts()?;
        let CertifyPass::Rows(passes) = &mut self.pass else { return Ok(false) };
        let again = passes.next(self.model)?;
        if again {
            (self.n_inputs, self.n_observations) = (0, 0);
        }
        Ok(again)
    }

    /// What was found so far, as numbers that [`add_numbers`](Self::add_numbers) takes on another machine.
    pub fn to_numbers(&self) -> Vec<f64> {
        let counts = [self.n_inputs as f64, self.n_observations as f64];
        let sums = match &self.pass {
            CertifyPass::Squared(partial) => partial.sums().map_or_else(Vec::new, PassSums::to_numbers),
            CertifyPass::Rows(passes) => passes.to_numbers(),
        };
        counts.into_iter().chain(sums).collect()
    }

    /// Adds what a pass over other rows found with the same model.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if these are not numbers of such a pass.
    pub fn add_numbers(&mut self, numbers: &[f64]) -> Result<()> {
        if let (CertifyPass::Rows(passes), [inputs, observations, sums @ ..]) = (&mut self.pass, numbers) {
            if !sums.is_empty() {
                passes.add_numbers(sums)?;
            }
            self.n_inputs += *inputs as usize;
            self.n_observations += *observations as usize;
            return Ok(());
        }
        let (d, t) = (self.model.v.as_ref().map_or(0, |v| v.rows()), self.model.tasks().len());
        let counts = |x: f64| x >= 0.0 && x.fract() == 0.0 && x < 2f64.powi(53);
        let (inputs, observations, sums) = match numbers {
            [inputs, observations] if *inputs == 0.0 => (*inputs, *observations, None),
            [inputs, observations, sums @ ..] => (*inputs, *observations, PassSums::from_numbers(sums, d, t)),
            _ => (f64::NAN, f64::NAN, None),
        };
        if !(counts(inputs) && counts(observations)) || (sums.is_none() && inputs > 0.0) {
            return Err(Error::Incompatible("these are not the sums of a pass with this model".into()));
        }
        if let (CertifyPass::Squared(partial), Some(sums)) = (&mut self.pass, sums) {
            partial.add_sums(&sums);
        }
        self.n_inputs += inputs as usize;
        self.n_observations += observations as usize;
        Ok(())
    }

    /// The certificate for all rows.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if there were more or fewer rows than the model was fitted on, or they have to be added
    /// [again](Self::again).
    pub fn finish(self) -> Result<Certificate> {
        self.check_counts()?;
        match self.pass {
            CertifyPass::Squared(partial) => partial.finish(),
            CertifyPass::Rows(passes) => passes.finish(self.model),
        }
    }

    fn check_counts(&self) -> Result<()> {
        let about = &self.model.about;
        let sizes = [
            ("inputs", self.n_inputs, about.n_inputs),
            ("observations", self.n_observations, about.n_observations),
        ];
        for (what, got, expected) in sizes {
            if got != expected {
                return Err(Error::Incompatible(format!(
                    "the model was fitted on {expected} {what}, the parts given have {got}"
                )));
            }
        }
        Ok(())
    }
}
