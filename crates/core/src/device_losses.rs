//! The losses of a problem whose inputs lie on a device: predictions, duals and intercepts stay there.

use crate::algebra::{AnswerSums, Device, DeviceMatrix, LossForm, LossTable};
use crate::backend::ResidentBackend;
use crate::{Problem, Result};

/// Labels on the device with their loss, where every input has a label for every task, and all of them have the same
/// loss and weight.
pub(crate) struct DeviceLosses<'a> {
    pub(crate) resident: &'a ResidentBackend<'a>,
    pub(crate) labels: &'a DeviceMatrix,
    form: LossForm,
    weight: f64,
    /// The cost of the intercept of each task, `rho b^2 / 2`, if tasks have them.
    pub(crate) rho: Option<&'a [f64]>,
}

/// Smooth lower bounds of losses around centres, as in `DerivativeBlock`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Smoothing<'a> {
    pub(crate) mu: f64,
    pub(crate) centre: Option<&'a DeviceMatrix>,
}

/// How intercepts are looked for.
pub(crate) struct InterceptAim {
    pub(crate) guess: Vec<f64>,
    /// The duals of a task may add up to this share of their sizes.
    pub(crate) share: f64,
    /// Duals of classes count at least for this share of their bound.
    pub(crate) least: f64,
}

/// Sums over so many rows are right to this share of what they are made of, times the root of their number.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Looks at all observations until every bracket has closed.
const MAX_ROUNDS: usize = 200;

impl<'a> DeviceLosses<'a> {
    /// `None` if these losses are not computed on a device.
    pub(crate) fn of(problem: &'a Problem<'_>) -> Result<Option<Self>> {
        let (data, obs) = (problem.data(), problem.observations());
        let form = problem.only_loss().and_then(|loss| loss.form());
        let (Some(resident), Some(form), Some(weight)) = (data.resident(), form, problem.uniform_gamma())
        else {
            return Ok(None);
        };
        if !obs.is_complete() || obs.offsets().is_some() || weight <= 0.0 {
            return Ok(None);
        }
        let labels = data.device_labels(resident)?;
        Ok(Some(DeviceLosses { resident, labels, form, weight, rho: problem.intercept_costs() }))
    }

    pub(crate) fn device(&self) -> &dyn Device {
        &*self.resident.device.0
    }

    /// All observations with these predictions (without intercepts) and intercepts.
    pub(crate) fn table<'t>(
        &'t self,
        scores: &'t DeviceMatrix,
        intercept: &'t [f64],
        Smoothing { mu, centre }: Smoothing<'t>,
    ) -> LossTable<'t> {
        let DeviceLosses { labels, form, weight, .. } = *self;
        LossTable { form, labels, scores, intercept, weight, mu, centre }
    }

    /// A share of the duals that is rounding.
    pub(crate) fn rounding(&self) -> f64 {
        ROUNDING * (self.labels.rows as f64).sqrt()
    }

    /// The best intercept of each task for these predictions, all at the same time: the pull `sum of duals - rho b`
    /// never rises with b. Newton steps inside a bracket, which is halved where they are slow. Any intercept makes a
    /// valid primal point, so this need not be exact.
    pub(crate) fn best_intercepts(
        &self,
        scores: &DeviceMatrix,
        smoothing: Smoothing<'_>,
        aim: InterceptAim,
    ) -> Vec<f64> {
        let Some(rho) = self.rho else { return vec![0.0; scores.cols] };
        let floor = aim.least * self.weight * self.labels.rows as f64;
        let mut searches: Vec<DeviceInterceptSearch> =
            aim.guess.iter().map(|b| DeviceInterceptSearch::new(*b)).collect();
        for _ in 0..MAX_ROUNDS {
            let b: Vec<f64> = searches.iter().map(|search| search.b).collect();
            let AnswerSums { kappa, size, curvature, .. } =
                self.device().loss_sums(&self.table(scores, &b, smoothing));
            for (t, search) in searches.iter_mut().enumerate().filter(|(_, search)| !search.found) {
                let (pull, size) = (kappa[t] - rho[t] * b[t], size[t] + (rho[t] * b[t]).abs());
                search.look(pull, curvature[t] + rho[t], aim.share * size.max(floor));
            }
            if searches.iter().all(|search| search.found) {
                break;
            }
        }
        searches.iter().map(|search| search.b).collect()
    }
}

/// The search for one intercept.
struct DeviceInterceptSearch {
    b: f64,
    /// The bracket, each end with the pull there.
    low: (f64, f64),
    high: (f64, f64),
    /// How far to go where nothing says how far.
    reach: f64,
    /// The size of the pull before.
    last: f64,
    /// Whether the last step was that of a secant.
    was_secant: bool,
    found: bool,
}

/// Newton steps go on while each leaves at most this share of the pull.
const CONVERGING: f64 = 0.5;

impl DeviceInterceptSearch {
    fn new(guess: f64) -> Self {
        DeviceInterceptSearch {
            b: if guess.is_finite() { guess } else { 0.0 },
            low: (f64::NEG_INFINITY, 0.0),
            high: (f64::INFINITY, 0.0),
            reach: 1.0,
            last: f64::INFINITY,
            was_secant: false,
            found: false,
        }
    }

    /// Takes the next step: the pull at b falls with this slope and is negligible up to a size. Where Newton steps are
    /// slow, secants and halvings take turns.
    fn look(&mut self, pull: f64, slope: f64, negligible: f64) {
        if pull.abs() <= negligible || pull.is_nan() {
            self.found = true;
            return;
        }
        *(if pull > 0.0 { &mut self.low } else { &mut self.high }) = (self.b, pull);
        let ((low, at_low), (high, at_high)) = (self.low, self.high);
        let is_inside = |b: f64| b > low && b < high;
        let newton = self.b + pull / slope;
        let converges = pull.abs() <= CONVERGING * self.last;
        self.last = pull.abs();
        let next = if low.is_finite() && high.is_finite() {
            let secant = (low * at_high - high * at_low) / (at_high - at_low);
            if is_inside(newton) && converges {
                newton
            } else if is_inside(secant) && !self.was_secant {
                self.was_secant = true;
                secant
            } else {
                self.was_secant = false;
                0.5 * (low + high)
            }
        } else {
            // Where duals hardly move, a Newton step may lead anywhere.
            let far = self.b + self.reach.copysign(pull);
            self.reach *= 4.0;
            if is_inside(newton) && (newton - self.b).abs() < (far - self.b).abs() { newton } else { far }
        };
        self.found = next == self.b || !next.is_finite();
        if !self.found {
            self.b = next;
        }
    }
}
