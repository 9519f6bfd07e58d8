//! Fits of sums over rows that are elsewhere: a small data set with the same sums stands for them.

use crate::{Error, FitSpec, PreparedData, Result, Trained, Training, Weight};
use kinfolk::{CScale, Dataset, Inputs, Kernel, LossKind, Losses, Observations, Statistics, Surrogate};
use kinfolk_io::Schema;
use std::borrow::Cow;

/// What the data of a [`Training`] stand for.
#[derive(Debug)]
pub(crate) struct StatisticsRows<'a> {
    pub(crate) statistics: &'a Statistics,
    /// Some rows, scaled.
    pub(crate) sample: Option<(Inputs<'static>, Observations)>,
    /// The weight of all rows in units of theirs.
    sample_factor: f64,
}

/// A fit of statistics goes on until its gap is this share of what was asked for: it costs little, and the bound that a
/// pass over the rows computes from predictions alone is weaker than that of the solver, by the condition of the
/// problem.
const TOLERANCE_SHARE: f64 = 1e-4;

/// But not further than this relative gap, which rounding may not allow.
const LEAST_TOLERANCE: f64 = 1e-13;

/// The relative gap at which a fit of statistics ends.
pub(crate) fn tolerance(asked: f64) -> f64 {
    (TOLERANCE_SHARE * asked).max(LEAST_TOLERANCE).min(asked)
}

impl StatisticsRows<'_> {
    /// Tells a model of a surrogate whose rows it is about.
    pub(crate) fn tell(&self, trained: &mut Trained, data: &Dataset<'_>) -> Result<()> {
        trained.model.set_statistics(self.statistics, data)?;
        let certificate = trained.model.certificate().clone();
        Ok(trained.model.set_certificate(certificate, trained.spec.tol)?)
    }

    /// The scale of C is that of the rows that were kept: a surrogate has no typical rows.
    pub(crate) fn with_c_scale<'b>(
        &self,
        prepared: PreparedData<'b>,
        spec: &FitSpec,
    ) -> Result<PreparedData<'b>> {
        match (&self.sample, spec.c) {
            (Some((inputs, observations)), _) => {
                let data = Dataset::new(inputs, observations, spec.dataset_options(inputs))?;
                let scale = CScale::new(&data, prepared.losses(), spec.intercept)?;
                Ok(prepared.with_c_scale(scale.of_share(self.sample_factor)))
            }
            (None, Weight::C(_)) => Ok(prepared),
            (None, _) => {
                Err(Error::Spec("no rows were kept with the statistics: give C itself, as a number".into()))
            }
        }
    }
}

/// The data set that stands for statistics, scaled as a spec asks for.
///
/// # Errors
/// If the spec asks for anything that sums over rows do not tell.
pub(crate) fn training<'a>(spec: &FitSpec, statistics: &'a Statistics) -> Result<Training<'a>> {
    let losses = spec.loss.losses(statistics.only_signs());
    check(spec, &losses)?;
    let scaling = statistics.scaling(spec.scale)?;
    let target_scaling = statistics.target_scaling(spec.target_scale, spec.centres_targets())?;
    let Surrogate { inputs, observations, sample, sample_factor } =
        statistics.surrogate(&scaling, target_scaling.as_ref())?;
    Ok(Training {
        schema: Schema::new(spec.columns.clone(), None, inputs.n_features()),
        inputs,
        scaling,
        observations: Cow::Owned(observations),
        target_scaling,
        losses,
        notes: vec![],
        fold_keys: None,
        ranges: None,
        statistics: Some(StatisticsRows { statistics, sample, sample_factor }),
    })
}

fn check(spec: &FitSpec, losses: &Losses) -> Result<()> {
    let wrong = |why: &str| Err(Error::Spec(why.into()));
    let is_squared = |loss: &LossKind| *loss == LossKind::Squared;
    if !crate::all_losses(losses, is_squared) {
        return wrong("statistics are for the squared loss; choose it, or give the rows themselves");
    }
    if spec.kernel.as_ref().is_some_and(|kernel| *kernel != Kernel::Linear) {
        return wrong("statistics are for the linear kernel; choose it, or give the rows themselves");
    }
    if spec.class_weight.is_some() {
        return wrong("statistics know no classes to balance; give weights with the rows");
    }
    Ok(())
}
