//! Fits of rows that are elsewhere. For the squared loss, sums over them are enough: a small data set with the same
//! sums stands for them. For other losses, some of the rows stand for all of them where a fit begins, and then all are
//! asked.

use crate::{Error, FitSpec, PreparedData, Result, Trained, Training, Weight};
use kinfolk::rows::Rows;
use kinfolk::{
    CScale, Claim, Dataset, Fit, Inputs, Kernel, LossKind, Losses, Observations, Observer, Problem,
    ScalingKind, Settings, Statistics, Surrogate,
};
use kinfolk_io::Schema;
use std::borrow::Cow;

/// What the data of a [`Training`] stand for.
#[derive(Debug)]
pub(crate) struct StatisticsRows<'a> {
    pub(crate) statistics: &'a Statistics,
    pub(crate) form: StandInForm<'a>,
}

/// How they stand for it.
#[derive(Debug)]
pub(crate) enum StandInForm<'a> {
    /// They have the same sums.
    Sums {
        /// Some rows, scaled.
        sample: Option<Box<(Inputs<'static>, Observations)>>,
        /// The weight of all rows in units of theirs.
        sample_factor: f64,
    },
    /// They are some of the rows, with the weight of all; and all of them.
    Some(&'a dyn Rows),
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

/// The relative gap to which some rows are fitted before all are asked.
const START_TOLERANCE: f64 = 1e-3;

impl StatisticsRows<'_> {
    /// The relative gap at which the fit of what stands for the rows ends.
    pub(crate) fn tolerance(&self, asked: f64) -> f64 {
        match self.form {
            StandInForm::Sums { .. } => tolerance(asked),
            StandInForm::Some(_) => asked.max(START_TOLERANCE),
        }
    }

    /// The rows on which C is chosen, scaled, if they are not those of the training.
    pub(crate) fn sample(&self) -> Option<&(Inputs<'static>, Observations)> {
        match &self.form {
            StandInForm::Sums { sample, .. } => sample.as_deref(),
            StandInForm::Some(_) => None,
        }
    }

    /// From the fit of some rows to that of all, if they are asked.
    pub(crate) fn of_all(
        &self,
        training: &Training<'_>,
        data: &Dataset<'_>,
        fit: Fit,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let StandInForm::Some(rows) = &self.form else { return Ok(fit) };
        let mut start = fit.model;
        if start.claim() != Some(&Claim::Optimal) {
            let why =
                "the method searches, and needs its rows in memory; choose kin, fmtl, independent or pooled";
            return Err(Error::Spec(why.into()));
        }
        training.set_scalings(&mut start)?;
        let problem = Problem::new(data, start.about().problem.clone())?;
        let found = kinfolk::fit_rows(&problem, &start, self.statistics, *rows, settings, observer);
        match found {
            Err(kinfolk::Error::Interrupted) => Err(Error::Stopped(
                "stopped before any model was certified from the rows: there is none to keep",
            )),
            other => Ok(other?),
        }
    }

    /// Tells a model of a surrogate whose rows it is about.
    pub(crate) fn tell(&self, trained: &mut Trained, data: &Dataset<'_>) -> Result<()> {
        if let StandInForm::Some(_) = self.form {
            return Ok(());
        }
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
        let StandInForm::Sums { sample, sample_factor } = &self.form else { return Ok(prepared) };
        match (sample.as_deref(), spec.c) {
            (Some((inputs, observations)), _) => {
                let data = Dataset::new(inputs, observations, spec.dataset_options(inputs))?;
                let scale = CScale::new(&data, prepared.losses(), spec.intercept())?;
                Ok(prepared.with_c_scale(scale.of_share(*sample_factor)))
            }
            (None, Weight::C(_)) => Ok(prepared),
            (None, _) => {
                Err(Error::Spec("no rows were kept with the statistics: give C itself, as a number".into()))
            }
        }
    }
}

/// The data set that stands for statistics, scaled as a spec asks for. With `rows`, losses may be any.
///
/// # Errors
/// If the spec asks for anything that cannot be had without the rows at hand.
pub(crate) fn training<'a>(
    spec: &FitSpec,
    statistics: &'a Statistics,
    rows: Option<&'a dyn Rows>,
) -> Result<Training<'a>> {
    let losses = spec.loss.losses(statistics.only_signs());
    let rows = rows.filter(|_| !crate::all_losses(&losses, |loss| *loss == LossKind::Squared));
    check(spec, &losses, rows.is_some())?;
    if statistics.has_offsets() && !crate::all_losses(&losses, |loss| !loss.is_classification()) {
        return Err(Error::Spec(
            "offsets of classes need the rows in memory; those of numbers do not".into(),
        ));
    }
    let scaling = match (spec.scale, &rows) {
        (ScalingKind::Unit, Some(_)) => kinfolk::Scaling::Unit,
        (kind, _) => statistics.scaling(kind)?,
    };
    let target_scaling = statistics.target_scaling(spec.target_scale(), &losses, spec.centres_targets())?;
    let (inputs, observations, form) = match rows {
        None => {
            let Surrogate { inputs, observations, sample, sample_factor } =
                statistics.surrogate(&scaling, target_scaling.as_ref())?;
            (inputs, observations, StandInForm::Sums { sample: sample.map(Box::new), sample_factor })
        }
        Some(rows) => {
            let Some((inputs, observations)) = statistics.stand_in(&scaling, target_scaling.as_ref())? else {
                return Err(Error::Spec(
                    "no rows were kept with the statistics, and this loss needs some".into(),
                ));
            };
            (inputs, observations, StandInForm::Some(rows))
        }
    };
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
        statistics: Some(StatisticsRows { statistics, form }),
    })
}

/// The rows that were kept with statistics, as data to choose settings on.
///
/// # Errors
/// If none were kept, or the spec asks for anything that cannot be had without the rows at hand.
pub fn kept_rows(spec: &FitSpec, statistics: &Statistics, schema: &Schema) -> Result<Training<'static>> {
    spec.check()?;
    let losses = spec.loss.losses(statistics.only_signs());
    check(spec, &losses, true)?;
    let Some((inputs, observations)) = statistics.kept_rows()? else {
        return Err(Error::Spec("no rows were kept with the statistics to choose settings on".into()));
    };
    Ok(Training {
        inputs,
        scaling: kinfolk::Scaling::None,
        observations: Cow::Owned(observations),
        target_scaling: None,
        losses,
        schema: schema.clone(),
        notes: vec![],
        fold_keys: None,
        ranges: None,
        statistics: None,
    })
}

fn check(spec: &FitSpec, losses: &Losses, has_rows: bool) -> Result<()> {
    let wrong = |why: &str| Err(Error::Spec(why.into()));
    let is_squared = |loss: &LossKind| *loss == LossKind::Squared;
    if !has_rows && !crate::all_losses(losses, is_squared) {
        return wrong("statistics are for the squared loss; choose it, or give the rows themselves");
    }
    if spec.kernel.as_ref().is_some_and(|kernel| *kernel != Kernel::Linear) {
        return wrong("statistics are for the linear kernel; choose it, or give the rows themselves");
    }
    if spec.class_weight.is_some() {
        return wrong("statistics know no classes to balance; give weights with the rows");
    }
    if has_rows && spec.bias != 0.0 {
        return wrong("--bias needs the rows in memory; intercepts do not");
    }
    Ok(())
}
