//! The learning problem, and the units in which it is solved.

use crate::intercept::{Intercept, cost};
use crate::linalg::power_of_two;
use crate::loss::{Loss, LossKind, ObservedLoss};
use crate::regularizer::{AtomSpec, Regularizer, RegularizerKind, SumRegularizer};
use crate::{Dataset, Error, Observations, Result};
use serde::{Deserialize, Serialize};

/// One loss for all tasks, or one for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a loss with its parameter, or a list with one for each task")]
pub enum Losses {
    /// The same loss for every task.
    Same(LossKind),
    /// Loss of each task: binary and regression tasks can be learned together.
    PerTask(Vec<LossKind>),
}

impl Losses {
    /// The losses of some tasks.
    pub fn select_tasks(&self, tasks: &[usize]) -> Losses {
        match self {
            Losses::Same(loss) => Losses::Same(loss.clone()),
            Losses::PerTask(all) => Losses::PerTask(tasks.iter().map(|&t| all[t].clone()).collect()),
        }
    }

    /// The loss of task t, if it has one.
    pub fn of_task(&self, t: usize) -> Option<&LossKind> {
        match self {
            Losses::Same(loss) => Some(loss),
            Losses::PerTask(all) => all.get(t),
        }
    }

    /// Whether the loss of task t is about classes; false for a task without a loss.
    pub fn is_classification(&self, t: usize) -> bool {
        self.of_task(t).is_some_and(LossKind::is_classification)
    }
}

impl From<LossKind> for Losses {
    fn from(kind: LossKind) -> Self {
        Losses::Same(kind)
    }
}

/// ```text
/// min over F and positive semidefinite Theta of
///     C sum_i w_i L(y_i, F(x_i, t_i) + b_(t_i) + o_i) + |F|^2 / 2 + lambda sum_rs phi*(Theta_rs)
/// ```
/// with an [`Intercept`] b of each task, offsets o (zero unless given) and the norm of the kernel
/// `k(x, x') Theta_ts`; equivalently the dual
/// ```text
/// max over alpha of  -sum_i [c_i L*(y_i, -alpha_i / c_i) + alpha_i o_i] - lambda sum_rs phi(rho_rs)
///     where the alpha of each task add up to zero if intercepts are free,
///     c_i = C w_i,   rho_rs = <alpha^r, K_rs alpha^s> / (2 lambda),   Theta = phi'(rho),
///     F(x, t) = sum_j alpha_j Theta_(t, t_j) k(x_j, x).
/// ```
///
/// For the power regularisers `C^(4k-1) lambda^(1-2k)` is the only thing that matters for predictions: keep
/// lambda = 1 and vary C. Not so for `exp` and `cosh`.
///
/// # Units
///
/// Solvers and the certificate see the same problem with `lambda = 1/2`, in units chosen so that every
/// quantity at the solution is of moderate size whatever the scale of the inputs, C and lambda: `K = sigma
/// K^`, `alpha = omega kappa`, with sigma and omega powers of two, so that going back and forth is exact. See
/// `docs/math.md`, "Units".
#[derive(Debug)]
pub struct Problem<'a> {
    data: &'a Dataset<'a>,
    losses: Vec<Box<dyn Loss>>,
    loss_of_task: Vec<usize>,
    regularizer: Regularizer,
    spec: ProblemSpec,
    normal: NormalForm,
    uniform_gamma: Option<f64>,
    intercept_costs: Option<Vec<f64>>,
}

/// What a problem is made of besides its data; stored in model files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProblemSpec {
    /// Loss, or losses.
    pub loss: Losses,
    /// Regulariser of Theta.
    pub output: RegularizerKind,
    /// Weight of the losses.
    pub c: f64,
    /// Weight of the regulariser.
    pub lambda: f64,
    /// Known relations between tasks, whose part in Theta is learned. Those of weight zero are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub atoms: Vec<AtomSpec>,
    /// Intercepts of the tasks. Files of 0.1.0 do not say: they have none.
    #[serde(default = "Intercept::none")]
    pub intercept: Intercept,
}

impl Default for ProblemSpec {
    /// Squared loss, `phi(z) = z^2 / 2`, C and lambda one, free intercepts.
    fn default() -> Self {
        ProblemSpec {
            loss: LossKind::Squared.into(),
            output: RegularizerKind::Power { k: 1 },
            atoms: vec![],
            c: 1.0,
            lambda: 1.0,
            intercept: Intercept::Free,
        }
    }
}

/// Smaller values have lost digits, or are about to: far above the smallest normal number.
const LEAST_COST: f64 = 1e-290;

/// The problem in its own units.
#[derive(Debug)]
struct NormalForm {
    /// alpha = unit * kappa.
    unit: f64,
    /// C / unit.
    c: f64,
    regularizer: Regularizer,
}

/// The distinct losses, and which one each task has.
pub(crate) type TaskLosses = (Vec<Box<dyn Loss>>, Vec<usize>);

impl ProblemSpec {
    /// `Err` if C, lambda or a parameter of a loss is out of range, or there is not one loss for each task.
    pub(crate) fn losses(&self, n_tasks: usize) -> Result<TaskLosses> {
        positive("C", self.c)?;
        positive("lambda", self.lambda)?;
        self.intercept.check()?;
        build_losses(&self.loss, n_tasks)
    }

    /// The unit of duals and the regulariser in the problem's own units, for kernel values of this unit.
    pub(crate) fn in_own_units(&self, n_tasks: usize, kernel_unit: f64) -> Result<(f64, Regularizer)> {
        let regularizer = self.output.build_with_atoms(&self.atoms, n_tasks)?;
        let normal = NormalForm::new(&regularizer, n_tasks, kernel_unit, self)?;
        Ok((normal.unit, normal.regularizer))
    }
}

impl<'a> Problem<'a> {
    /// Checks parameters and labels.
    pub fn new(data: &'a Dataset<'a>, mut spec: ProblemSpec) -> Result<Self> {
        let obs = data.observations();
        let (losses, loss_of_task) = spec.losses(obs.n_tasks())?;
        let (mut total, mut largest) = (0.0, (0.0, 0));
        for (row, &value) in obs.labels().iter().enumerate() {
            // The task only matters if it decides about the loss: finding it costs a division.
            let loss = if losses.len() == 1 { &losses[0] } else { &losses[loss_of_task[obs.task(row)]] };
            if let Err(expected) = loss.check_label(value) {
                let task = obs.task_names().name(obs.task(row));
                return Err(Error::Label { row, task, value, loss: loss.name(), expected });
            }
            let size = loss.value(value, obs.offset(row));
            total += size;
            if size > largest.0 {
                largest = (size, row);
            }
        }
        if !total.is_finite() {
            let row = largest.1;
            let (task, value) = (obs.task(row), obs.label(row));
            let loss = losses[loss_of_task[task]].name();
            return Err(Error::LabelRange { row, task: obs.task_names().name(task), value, loss });
        }
        let regularizer = spec.output.build_with_atoms(&spec.atoms, obs.n_tasks())?;
        spec.atoms.retain(|atom| atom.weight > 0.0);
        let problem = Self::from_parts(data, (losses, loss_of_task), regularizer, spec)?;
        problem.check_intercepts()?;
        Ok(problem)
    }

    /// `Err` if intercepts of the size of the labels cost nothing in double precision, in the problem's own units: a
    /// certificate would not see them.
    fn check_intercepts(&self) -> Result<()> {
        let (Intercept::Ridge(size) | Intercept::Shrunk(size), Some(costs)) =
            (self.spec.intercept, self.intercept_costs())
        else {
            return Ok(());
        };
        let name = if matches!(self.spec.intercept, Intercept::Ridge(_)) { "B" } else { "K" };
        let weight = costs.first().copied().unwrap_or(f64::NAN);
        let obs = self.observations();
        let largest =
            obs.labels().iter().enumerate().map(|(o, y)| (y - obs.offset(o)).abs()).fold(0.0, f64::max);
        if largest > 0.0 && !(weight.is_finite() && weight * largest * largest >= LEAST_COST) {
            let expected = "is too far from the scale of the kernel values and labels for double precision";
            return Err(Error::Parameter { name, value: size, expected });
        }
        Ok(())
    }

    /// With losses and regulariser that need not be those of the specification, nor have names.
    pub(crate) fn from_parts(
        data: &'a Dataset<'a>,
        (losses, loss_of_task): TaskLosses,
        regularizer: Regularizer,
        spec: ProblemSpec,
    ) -> Result<Self> {
        let obs = data.observations();
        let normal = NormalForm::new(&regularizer, obs.n_tasks(), data.backend().unit(), &spec)?;
        let each = || (0..obs.len()).map(|o| obs.weight(o)).fold(0.0, f64::max);
        let largest = obs.uniform_weight().unwrap_or_else(each);
        if !(normal.c * largest).is_finite() {
            let expected =
                "times the largest weight is too far from the scale of the kernel values and lambda";
            return Err(Error::Parameter { name: "C", value: spec.c, expected });
        }
        let uniform_gamma = obs.uniform_weight().map(|w| normal.c * w);
        let loss_of = |task: usize| &*losses[loss_of_task[task]];
        let mut intercept_costs = cost::costs(spec.intercept, spec.c, obs, loss_of);
        intercept_costs.iter_mut().flatten().for_each(|cost| *cost /= normal.unit);
        Ok(Problem { data, losses, loss_of_task, regularizer, spec, normal, uniform_gamma, intercept_costs })
    }

    /// The data.
    pub fn data(&self) -> &'a Dataset<'a> {
        self.data
    }

    /// The observations.
    pub fn observations(&self) -> &'a Observations {
        self.data.observations()
    }

    /// Losses, regulariser, C and lambda.
    pub fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    /// The regulariser in the caller's units.
    pub fn regularizer(&self) -> &Regularizer {
        &self.regularizer
    }

    /// Loss of a task.
    #[inline]
    pub fn loss(&self, task: usize) -> &dyn Loss {
        &*self.losses[self.loss_of_task[task]]
    }

    /// The loss that all tasks share, if they do.
    pub fn only_loss(&self) -> Option<&dyn Loss> {
        (self.losses.len() == 1).then(|| &*self.losses[0])
    }

    /// Loss of observation o.
    #[inline]
    pub(crate) fn loss_at(&self, o: usize) -> ObservedLoss<'_> {
        let obs = self.observations();
        // The task only matters if it decides about the loss: finding it costs a division.
        let loss = self.only_loss().unwrap_or_else(|| self.loss(obs.task(o)));
        ObservedLoss { loss, y: obs.label(o), offset: obs.offset(o) }
    }

    /// `alpha = unit * kappa`: a power of two.
    pub fn unit(&self) -> f64 {
        self.normal.unit
    }

    /// The regulariser in the problem's own units, in which `Theta^ = phi'(task Gram matrix of kappa)`.
    pub fn normal_regularizer(&self) -> &Regularizer {
        &self.normal.regularizer
    }

    /// The same as a sum over the entries of Theta and atoms, which most solvers need.
    pub fn entrywise(&self) -> Result<&SumRegularizer> {
        let regularizer = self.normal_regularizer();
        regularizer.entrywise().ok_or(Error::NotEntrywise { regularizer: regularizer.name() })
    }

    /// `Theta = theta_unit * Theta^`.
    pub fn theta_unit(&self) -> f64 {
        1.0 / self.normal.unit / self.data.backend().unit()
    }

    /// Coordinates of a stored primal point over those in the problem's own units: of V, or of the weights
    /// for a spectral regulariser.
    pub(crate) fn coordinate_scale(&self) -> f64 {
        let backend = self.data.backend();
        match self.regularizer {
            Regularizer::Spectral(_) => backend.coordinate_unit() / backend.unit(),
            Regularizer::Entrywise(_) => self.unit() * backend.coordinate_unit(),
        }
    }

    /// Weight of observation o in the problem's own units.
    #[inline]
    pub fn gamma(&self, o: usize) -> f64 {
        self.normal.c * self.observations().weight(o)
    }

    /// The weight that all observations share in the problem's own units, if they do.
    pub fn uniform_gamma(&self) -> Option<f64> {
        self.uniform_gamma
    }

    /// Whether all tasks have the squared loss.
    pub(crate) fn has_only_squared_loss(&self) -> bool {
        self.only_loss().is_some_and(|loss| loss.name() == "squared")
    }

    /// The factor of `b^2 / 2` in the objective in the problem's own units, for each task, if tasks have intercepts:
    /// zero where these are free.
    pub(crate) fn intercept_costs(&self) -> Option<&[f64]> {
        self.intercept_costs.as_deref()
    }

    /// Whether predictions do not change when a constant is added to all inputs.
    pub(crate) fn is_centred(&self) -> bool {
        self.intercept_costs().is_some_and(|costs| costs.iter().all(|cost| *cost == 0.0))
    }

    /// The interval in which kappa of observation o may lie.
    #[inline]
    pub fn box_of(&self, o: usize) -> (f64, f64) {
        let gamma = self.gamma(o);
        if gamma == 0.0 {
            return (0.0, 0.0);
        }
        let (low, high) = self.loss_at(o).conj_domain();
        // Not -gamma * 0, which is -0 and reads oddly in messages.
        (0.0 - gamma * high, 0.0 - gamma * low)
    }
}

fn positive(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::Parameter { name, value, expected: "must be positive and finite" })
}

pub(crate) fn build_losses(losses: &Losses, n_tasks: usize) -> Result<TaskLosses> {
    match losses {
        Losses::Same(kind) => Ok((vec![kind.build()?], vec![0; n_tasks])),
        Losses::PerTask(kinds) => {
            if kinds.len() != n_tasks {
                return Err(Error::Length {
                    what: "the list of losses",
                    got: kinds.len(),
                    expected: n_tasks,
                });
            }
            let mut distinct: Vec<&LossKind> = vec![];
            let mut of_task = vec![];
            for kind in kinds {
                let known = distinct.iter().position(|other| *other == kind);
                of_task.push(known.unwrap_or(distinct.len()));
                if known.is_none() {
                    distinct.push(kind);
                }
            }
            Ok((distinct.iter().map(|kind| kind.build()).collect::<Result<_>>()?, of_task))
        }
    }
}

impl NormalForm {
    fn new(regularizer: &Regularizer, n_tasks: usize, sigma: f64, spec: &ProblemSpec) -> Result<Self> {
        let unit = dual_unit(regularizer, n_tasks, sigma, spec.lambda);
        let gain = unit * sigma;
        // omega^2 sigma / (2 lambda), in an order that stays in range.
        let rate = gain / (2.0 * spec.lambda) * unit;
        let c = spec.c / unit;
        if !(gain.is_normal() && rate.is_normal() && c.is_normal()) {
            let expected = "is too far from the scale of the kernel values and lambda for double precision";
            return Err(Error::Parameter { name: "C", value: spec.c, expected });
        }
        Ok(NormalForm { unit, c, regularizer: regularizer.scaled(gain, rate) })
    }
}

/// The power of two omega for which a dual variable of that size on an input of typical size moves
/// predictions by about one: `omega sigma phi'(omega^2 sigma / 2 lambda) = 1`. The left side increases with
/// omega: bisection on the exponent.
fn dual_unit(regularizer: &Regularizer, n_tasks: usize, sigma: f64, lambda: f64) -> f64 {
    let too_small = |exponent: i32| {
        let log_omega = f64::from(exponent) * std::f64::consts::LN_2;
        let rho = (2.0 * log_omega + sigma.ln() - (2.0 * lambda).ln()).exp();
        let slope = (0..n_tasks).map(|r| regularizer.typical_theta(r, rho)).fold(0.0, f64::max);
        log_omega + sigma.ln() + slope.ln() < 0.0
    };
    let (mut low, mut high) = (-1000, 1000);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if too_small(middle) { low = middle } else { high = middle }
    }
    // A regulariser with Theta = 0 (all tasks switched off) has no scale of its own.
    if high == 1000 { power_of_two(1.0 / sigma) } else { f64::from(high).exp2() }
}
