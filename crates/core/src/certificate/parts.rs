//! The certificate of a primal point for rows that come in parts, from sums over them.
//!
//! [`PartialCertificate`] is for the squared loss and needs one pass. The duals are those that answer to the
//! predictions, `kappa = gamma (y - F)`: functions of the point, so no row has to be kept, and the Fenchel-Young terms
//! of the losses are zero. What remains are sums: of losses and conjugates, and `V_a = X'kappa`. Free intercepts need
//! duals that add up to zero in each task; with sums s and Gamma of kappa and gamma, `kappa - gamma s / Gamma` do, and
//! every sum of these follows from sums that were kept. [`RowsGrade`] is for all losses. Its duals add up to zero
//! already, which takes a pass before.
//!
//! Each part has units of its own. Sums are in those of the caller; all units are powers of two.

use super::losses::answer_terms;
use super::rounding::{PartsPoint, PredictionErrors, RowErrors, row_errors};
use super::{Certificate, Form, LossTerms, RegularizerTerms, scaled};
use crate::backend::{self, Expansion, Interrupt};
use crate::linalg::{self, inner, view};
use crate::regularizer::{Regularizer, SumRegularizer};
use crate::rows::GradeSums;
use crate::{Error, Intercept, Matrix, Problem, ProblemSpec, Result, TaskNames};

/// A primal point V, with what a pass over some rows found about it.
#[derive(Debug)]
pub(crate) struct PartialCertificate {
    spec: ProblemSpec,
    v: Matrix,
    intercept: Option<Vec<f64>>,
    /// Of the first rows that were added here.
    units: Option<PassUnits>,
    sums: Option<PassSums>,
}

/// Sums over rows, in the caller's units.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PassSums {
    /// Units of the kernel and of coordinates that suit the first rows.
    kernel_unit: f64,
    coordinate_unit: f64,
    value: f64,
    conj: f64,
    gap: Vec<f64>,
    /// Of kappa, of gamma, and of gamma times the labels less offsets: of each task.
    duals: Vec<f64>,
    gammas: Vec<f64>,
    labels: Vec<f64>,
    /// `X'kappa` and `X'gamma`.
    v_a: Matrix,
    inputs: Matrix,
    errors: RowErrors,
}

/// The problem in its own units, those of the first rows.
#[derive(Debug)]
struct PassUnits {
    unit: f64,
    /// Coordinates in the caller's units over those in the problem's own.
    coordinates: f64,
    regularizer: Regularizer,
    /// `V Theta` in the caller's units, and errors of predictions.
    weights: Matrix,
    errors: Vec<PredictionErrors>,
}

impl PartialCertificate {
    pub(crate) fn new(spec: ProblemSpec, v: Matrix, intercept: Option<Vec<f64>>) -> Self {
        PartialCertificate { spec, v, intercept, units: None, sums: None }
    }

    /// Whether there are units for all rows.
    pub(crate) fn has_begun(&self) -> bool {
        self.units.is_some()
    }

    /// Takes the units that suit the first rows.
    pub(crate) fn begin(&mut self, problem: &Problem<'_>) -> Result<()> {
        let backend = problem.data().backend();
        self.units = Some(self.in_units((backend.unit(), backend.coordinate_unit()))?);
        Ok(())
    }

    /// The sums of the rows of a problem with the same specification, after the beginning.
    pub(crate) fn sums_of(&self, problem: &Problem<'_>) -> Result<PassSums> {
        if problem.only_loss().is_none_or(|loss| loss.name() != "squared") {
            return Err(Error::Incompatible(
                "rows in parts can be certified for the squared loss only".into(),
            ));
        }
        let backend = problem.data().backend();
        let scale = backend.unit() / backend.coordinate_unit();
        let (weights, errors) = self.units.as_ref().map_or_else(Default::default, |units| {
            let errors: Vec<_> = units.errors.iter().map(|error| error.scaled(scale)).collect();
            (scaled(&units.weights, scale), errors)
        });
        let of_rows = || PassSums::of_rows(problem, (&weights, &errors), self.intercept.as_deref());
        problem.data().pool().install(of_rows)
    }

    fn in_units(&self, units: (f64, f64)) -> Result<PassUnits> {
        PassUnits::new(&self.spec, (&self.v, self.intercept.as_deref().unwrap_or_default()), units)
    }

    /// Adds sums that another pass over other rows found.
    pub(crate) fn add_sums(&mut self, sums: &PassSums) {
        match &mut self.sums {
            Some(own) => own.absorb(sums),
            None => self.sums = Some(sums.clone()),
        }
    }

    /// The sums so far.
    pub(crate) fn sums(&self) -> Option<&PassSums> {
        self.sums.as_ref()
    }

    /// The certificate for all rows that were added.
    pub(crate) fn finish(self) -> Result<Certificate> {
        let Some(mut sums) = self.sums.clone() else {
            return Err(Error::Empty { what: "the list of rows" });
        };
        // The squared loss always has a best intercept, so free ones cost nothing.
        let rho = match self.spec.intercept {
            Intercept::None => None,
            Intercept::Free => Some(0.0),
            penalised => penalised.fixed_cost(self.spec.c),
        };
        let intercept = self.intercept.unwrap_or_default();
        sums.add_intercepts(rho, &intercept);
        let PassSums { kernel_unit, coordinate_unit, value, conj, gap, v_a, errors, .. } = sums;
        let units = PassUnits::new(&self.spec, (&self.v, &intercept), (kernel_unit, coordinate_unit))?;
        let terms = LossTerms { value, conj, gap, intercept };
        let rho = rho.map(|rho| vec![rho; terms.gap.len()]);
        units.certificate((&self.v, &v_a), terms, errors, rho.as_deref())
    }
}

/// What grades a point of rows that are elsewhere, whatever their losses: sums over all of them, in the caller's units,
/// for duals whose sums fit the intercepts.
pub(crate) struct RowsGrade<'a> {
    pub(crate) spec: &'a ProblemSpec,
    /// Units of the kernel and of coordinates.
    pub(crate) units: (f64, f64),
    pub(crate) v: &'a Matrix,
    pub(crate) intercept: &'a [f64],
    /// The factor of `b^2 / 2` in the objective for each task, if tasks have intercepts.
    pub(crate) rho: Option<&'a [f64]>,
}

/// What is accepted as a sum of zero, as a share of the sizes of duals.
const NEARLY_ZERO_SUM: f64 = 1e-11;

impl RowsGrade<'_> {
    /// How wrong predictions may be, in the caller's units: a part of the question to the rows.
    pub(crate) fn errors(&self) -> Result<Vec<PredictionErrors>> {
        Ok(PassUnits::new(self.spec, (self.v, self.intercept), self.units)?.errors)
    }

    /// The certificate of these sums.
    ///
    /// # Errors
    /// [`Error::DualSum`] if an intercept is free and the duals of its task do not add up to zero.
    pub(crate) fn certificate(&self, sums: &GradeSums, tasks: &TaskNames) -> Result<Certificate> {
        let GradeSums { value, conj, gap, sums: dual_sums, errors, v_a, .. } = sums;
        let (gap, intercept) = (gap.clone(), self.intercept.to_vec());
        let mut terms = LossTerms { value: *value, conj: *conj, gap, intercept };
        for (t, rho) in self.rho.unwrap_or_default().iter().enumerate() {
            let (sum, b) = (dual_sums[t], self.intercept[t]);
            if *rho > 0.0 {
                terms.value += 0.5 * rho * b * b;
                terms.conj += 0.5 * sum * (sum / rho);
                terms.gap[t] += 0.5 * rho * (b - sum / rho) * (b - sum / rho);
            } else {
                if sum.abs() > NEARLY_ZERO_SUM * errors.sizes[t] {
                    return Err(Error::DualSum { task: tasks.name(t), sum });
                }
                terms.gap[t] += (sum * b).abs();
            }
        }
        let units = PassUnits::new(self.spec, (self.v, self.intercept), self.units)?;
        units.certificate((self.v, v_a), terms, errors.clone(), self.rho)
    }
}

impl PassUnits {
    /// For these units of the kernel and of coordinates.
    fn new(
        spec: &ProblemSpec,
        (v, intercept): (&Matrix, &[f64]),
        (kernel, coordinate): (f64, f64),
    ) -> Result<Self> {
        let (unit, regularizer) = spec.in_own_units(v.cols(), kernel)?;
        let coordinates = unit * coordinate;
        let (weights, errors) = Default::default();
        let mut units = PassUnits { unit, coordinates, regularizer, weights, errors };
        let own = scaled(v, 1.0 / coordinates);
        let gram = linalg::gram(&own, 1);
        let output = units.entrywise()?;
        let theta = output.theta(&gram);
        let weights = linalg::times(view(&own), view(&theta), 1);
        let point = PartsPoint { output, v: &own, theta: &theta, gram: &gram, intercept };
        let errors =
            point.prediction_errors().into_iter().map(|own| own.scaled(coordinate / kernel)).collect();
        units.weights = scaled(&weights, coordinate / kernel);
        units.errors = errors;
        Ok(units)
    }

    /// Of a point V and duals with `V_a`, in the caller's units as the terms of the losses are, with what the rows say
    /// about rounding and the costs of intercepts.
    fn certificate(
        &self,
        (v, v_a): (&Matrix, &Matrix),
        terms: LossTerms,
        errors: RowErrors,
        rho: Option<&[f64]>,
    ) -> Result<Certificate> {
        let output = self.entrywise()?;
        let (v, v_a) = (scaled(v, 1.0 / self.coordinates), scaled(v_a, 1.0 / self.coordinates));
        let (gram, gram_a) = (linalg::gram(&v, 1), linalg::gram(&v_a, 1));
        let mut point = RegularizerTerms::at(output, &gram);
        let distance = linalg::gram(&v.minus(&v_a), 1);
        point.move_dual_to(output, &gram, &gram_a, inner(&point.theta, &distance));
        let own = |x: f64| x / self.unit;
        let LossTerms { value, conj, gap, intercept } = terms;
        let rho: Option<Vec<f64>> = rho.map(|rho| rho.iter().map(|rho| own(*rho)).collect());
        let costs = (rho.as_deref(), own(value));
        let gap = gap.into_iter().map(own).collect();
        let terms = LossTerms { value: own(value), conj: own(conj), gap, intercept: vec![] };
        let mut certificate = point.certificate(terms, Form::TwoPoint);
        let rows = errors.scaled(1.0 / self.unit, self.unit / self.coordinates);
        let graded = PartsPoint { output, v: &v, theta: &point.theta, gram: &gram, intercept: &intercept };
        certificate.set_rounding(graded.change(&rows, costs, certificate.gap));
        Ok(certificate.in_units(self.unit))
    }

    fn entrywise(&self) -> Result<&SumRegularizer> {
        let regularizer = self.regularizer.name();
        self.regularizer.entrywise().ok_or(Error::NotEntrywise { regularizer })
    }
}

impl PassSums {
    /// Of the rows of a problem, whose own units the weights are in.
    fn of_rows(
        problem: &Problem<'_>,
        (weights, errors): (&Matrix, &[PredictionErrors]),
        intercept: Option<&[f64]>,
    ) -> Result<Self> {
        let (data, obs, unit) = (problem.data(), problem.observations(), problem.unit());
        let (backend, threads, t) = (data.backend(), data.threads(), obs.n_tasks());
        let never = &mut Interrupt::never();
        let (kappa, terms) = answer_terms(problem, weights, intercept, never)?;
        let (mut duals, mut gammas, mut labels) = (vec![0.0; t], vec![0.0; t], vec![0.0; t]);
        for (o, kappa) in kappa.iter().enumerate() {
            let (task, gamma) = (obs.task(o), unit * problem.gamma(o));
            duals[task] += unit * kappa;
            gammas[task] += gamma;
            labels[task] += gamma * (obs.label(o) - obs.offset(o));
        }
        let scale = unit * backend.coordinate_unit();
        let state = |duals: &[f64], interrupt: &mut Interrupt<'_>| -> Result<Matrix> {
            let state = backend::state_of(backend, Expansion::Duals(obs, duals), threads, interrupt)?;
            Ok(scaled(&state, scale))
        };
        let inputs = match problem.uniform_gamma().filter(|_| obs.is_complete()) {
            Some(gamma) => {
                let mut inputs = Matrix::zeros(backend.dim(), t);
                let sum = backend::sum_of_inputs(backend, threads);
                sum.iter().enumerate().for_each(|(j, x)| inputs.row_mut(j).fill(gamma * scale * x));
                inputs
            }
            None => state(&(0..obs.len()).map(|o| problem.gamma(o)).collect::<Vec<f64>>(), never)?,
        };
        Ok(PassSums {
            kernel_unit: backend.unit(),
            coordinate_unit: backend.coordinate_unit(),
            value: unit * terms.value,
            conj: unit * terms.conj,
            gap: terms.gap.iter().map(|gap| unit * gap).collect(),
            duals,
            gammas,
            labels,
            v_a: state(&kappa, never)?,
            inputs,
            // Smooth losses do not ask for predictions.
            errors: row_errors(problem, (&kappa, &[]), |o| problem.gamma(o), errors)
                .scaled(unit, backend.coordinate_unit()),
        })
    }

    fn absorb(&mut self, other: &PassSums) {
        self.value += other.value;
        self.conj += other.conj;
        linalg::axpy(&mut self.gap, 1.0, &other.gap);
        linalg::axpy(&mut self.duals, 1.0, &other.duals);
        linalg::axpy(&mut self.gammas, 1.0, &other.gammas);
        linalg::axpy(&mut self.labels, 1.0, &other.labels);
        self.v_a.add_scaled(1.0, &other.v_a);
        self.inputs.add_scaled(1.0, &other.inputs);
        self.errors.absorb(other.errors.clone());
    }

    /// All numbers in a row, to be sent elsewhere.
    pub(crate) fn to_numbers(&self) -> Vec<f64> {
        let errors = self.errors.to_numbers();
        let lists: [&[f64]; 8] = [
            &[self.kernel_unit, self.coordinate_unit, self.value, self.conj],
            &self.gap,
            &self.duals,
            &self.gammas,
            &self.labels,
            &errors,
            self.v_a.as_slice(),
            self.inputs.as_slice(),
        ];
        lists.concat()
    }

    /// From all numbers in a row, for so many features and tasks; `None` if there are more or fewer.
    pub(crate) fn from_numbers(numbers: &[f64], d: usize, t: usize) -> Option<Self> {
        let (head, rest) = numbers.split_at_checked(4)?;
        let (of_tasks, rest) = rest.split_at_checked(4 * t)?;
        let (errors, of_features) = rest.split_at_checked(RowErrors::n_numbers(t))?;
        let matrix = |half: usize| {
            let values = of_features.get(half * d * t..(half + 1) * d * t)?;
            Matrix::from_vec(values.to_vec(), d, t).ok()
        };
        let list = |k: usize| of_tasks[k * t..(k + 1) * t].to_vec();
        let sound = of_features.len() == 2 * d * t && head[0] > 0.0 && head[1] > 0.0;
        sound.then_some(PassSums {
            kernel_unit: head[0],
            coordinate_unit: head[1],
            value: head[2],
            conj: head[3],
            gap: list(0),
            duals: list(1),
            gammas: list(2),
            labels: list(3),
            v_a: matrix(0)?,
            inputs: matrix(1)?,
            errors: RowErrors::from_numbers(errors, t)?,
        })
    }

    /// Moves the duals so that they add up to what intercepts of this weight ask for, and adds their terms.
    fn add_intercepts(&mut self, rho: Option<f64>, intercept: &[f64]) {
        let Some(rho) = rho else { return };
        for (t, b) in intercept.iter().enumerate() {
            let (sum, gamma) = (self.duals[t], self.gammas[t]);
            if rho > 0.0 {
                self.value += 0.5 * rho * b * b;
                self.conj += 0.5 * sum * (sum / rho);
                self.gap[t] += 0.5 * rho * (b - sum / rho) * (b - sum / rho);
            } else if gamma > 0.0 {
                let shift = sum / gamma;
                self.conj += shift * self.labels[t] - 0.5 * shift * sum;
                self.gap[t] += 0.5 * gamma * shift * shift;
                (0..self.v_a.rows()).for_each(|j| self.v_a[(j, t)] -= shift * self.inputs[(j, t)]);
            }
        }
    }
}
