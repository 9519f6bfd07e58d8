//! The way through the interior: predictor, corrector, and what is kept of it.

use super::Answer;
use super::atoms::{Atoms, Sums};
use super::guard::Ray;
use crate::design::{Curvature, Design};
use crate::linalg::{times, view};
use crate::output::OutputRegularizer;
use crate::solver::vspace::direct::Direct;
use crate::solver::vspace::{Derivative, gram};
use crate::solver::{Clock, Status, graded, start};
use crate::{Error, Matrix, Problem, Result};

pub(super) struct Path<'a, 'c> {
    problem: &'a Problem<'a>,
    design: &'a Design,
    output: &'a dyn OutputRegularizer,
    threads: usize,
    tolerance: f64,
    best: Best,
    pub(super) clock: Clock<'c>,
}

/// Where the duals are, and what follows from it.
struct Point {
    v: Matrix,
    gram: Matrix,
    theta: Matrix,
    f: Vec<f64>,
}

/// The best primal point and the best duals met so far, with what they are thought to be worth.
#[derive(Default)]
struct Best {
    primal: f64,
    v: Matrix,
    dual: f64,
    /// Of all entries.
    kappa: Vec<f64>,
    /// Least relative gap, of the two together or of any point alone.
    gap: f64,
    /// Least mean product of slack and multiplier.
    mean: f64,
    /// The same when a certificate was last made.
    certified: f64,
    /// Steps since there was something better.
    idle: usize,
}

/// Steps without anything better after which to give up.
const PATIENCE: usize = 12;

impl<'a, 'c> Path<'a, 'c> {
    pub(super) fn new(problem: &'a Problem<'a>, design: &'a Design, tolerance: f64, clock: Clock<'c>) -> Self {
        let best = Best {
            primal: f64::INFINITY,
            dual: f64::NEG_INFINITY,
            gap: f64::INFINITY,
            mean: f64::INFINITY,
            certified: f64::INFINITY,
            ..Best::default()
        };
        let (output, threads) = (problem.normal_output(), problem.data().threads());
        Path { problem, design, output, threads, tolerance, best, clock }
    }

    /// Goes on until the gap is certified, or nothing gets better.
    pub(super) fn run(&mut self, first: &[f64]) -> Result<(Answer, Status)> {
        let Some(mut atoms) = Atoms::new(self.problem, self.design) else {
            let why = "a loss has no quadratic conjugate".into();
            return Err(Error::Unsuitable { solver: "interior-point", why });
        };
        atoms.place(&self.design.gather(first));
        let mut point = self.point(&atoms);
        atoms.balance(&point.f);
        let status = loop {
            let (sums, curvatures) = atoms.linearise(&point.f);
            if !self.note(&atoms, &point, &sums) {
                break Status::Stalled;
            }
            if self.wants_certificate() {
                let answer = self.certify()?;
                if let Some(status) = self.clock.report(&answer.2.certificate, None) {
                    return Ok((answer, status));
                }
            }
            if self.best.idle > PATIENCE {
                break Status::Stalled;
            }
            if self.clock.is_over() {
                break self.clock.must_stop().unwrap_or(Status::PassLimit);
            }
            match self.step(&mut atoms, &point, &sums, curvatures) {
                Some(next) => point = next,
                None => break self.clock.must_stop().unwrap_or(Status::Stalled),
            }
        };
        if self.best.v.rows() == 0 && self.design.rank() > 0 {
            let (kappa, graded) = start::at_once(self.problem, None)?;
            return Ok(((kappa, None, graded), status));
        }
        let answer = self.certify()?;
        Ok((answer, status))
    }

    fn point(&self, atoms: &Atoms) -> Point {
        let v = self.design.backward(&atoms.kappa(), self.threads);
        let gram = gram(&v, self.threads);
        let theta = self.output.theta(&gram);
        let w = times(view(&v), view(&theta), self.threads);
        let f = self.design.forward(&w, self.threads);
        Point { v, gram, theta, f }
    }

    /// Keeps what is better than before; false if numbers ran out.
    fn note(&mut self, atoms: &Atoms, point: &Point, sums: &Sums) -> bool {
        let half_phi = 0.5 * self.output.phi_sum(&point.gram);
        let dual = -sums.conj - half_phi;
        let primal = dual + sums.gap;
        if !(dual.is_finite() && primal.is_finite()) {
            return false;
        }
        let best = &mut self.best;
        if primal < best.primal {
            (best.primal, best.v) = (primal, point.v.clone());
        }
        if dual > best.dual {
            (best.dual, best.kappa) = (dual, atoms.kappa());
        }
        let size = best.primal.abs().max(best.dual.abs()).max(f64::MIN_POSITIVE);
        let gap = (sums.gap / size).min(((best.primal - best.dual) / size).max(f64::EPSILON));
        let mean = atoms.mean_product(sums.products);
        if gap < 0.99 * best.gap || mean < 0.9 * best.mean {
            best.idle = 0;
        } else {
            best.idle += 1;
        }
        best.gap = best.gap.min(gap);
        best.mean = best.mean.min(mean);
        if std::env::var_os("IPM_TRACE").is_some() {
            eprintln!(
                "{:3} P {:.9e} D {:.9e} gap {:.2e} best {:.2e} mu {:.2e}",
                self.clock.passes,
                primal,
                dual,
                sums.gap / size,
                best.gap,
                atoms.mean_product(sums.products)
            );
        }
        true
    }

    /// Whether the gap is thought to be good enough, or a tenth of the last one certified.
    fn wants_certificate(&self) -> bool {
        let Best { gap, certified, .. } = self.best;
        gap < 0.1 * certified || (gap <= self.tolerance && gap < 0.5 * certified)
    }

    fn certify(&mut self) -> Result<Answer> {
        self.best.certified = self.best.gap;
        let mut kappa = self.design.scatter(&self.best.kappa, self.problem.observations().len());
        kappa = start::warm(self.problem, kappa);
        graded::grade(self.problem, kappa, &self.best.v, self.tolerance)
    }

    /// One step of predictor and corrector; `None` if it must stop or numbers ran out.
    fn step(
        &mut self,
        atoms: &mut Atoms,
        point: &Point,
        sums: &Sums,
        curvatures: Vec<f64>,
    ) -> Option<Point> {
        let (design, threads) = (self.design, self.threads);
        let curvature = Curvature::new(design, curvatures);
        let derivative = Derivative::new(self.output, &point.v, &point.gram, &point.theta, threads);
        let direct = Direct::new(design, &curvature, &derivative)?;
        self.clock.passes += 1;
        if self.clock.must_stop().is_some() {
            return None;
        }
        let towards = |atoms: &mut Atoms, tau: f64, second: f64| {
            let dv = direct.solve(&design.backward(&atoms.take_aim(tau, second), threads));
            let df = design.forward(&derivative.apply(&dv), threads);
            (dv, atoms.follow(&df))
        };
        let mean = atoms.mean_product(sums.products);
        let (mut dv, (primal, dual)) = towards(atoms, 0.0, 0.0);
        let (mut primal, mut dual) = (primal.min(1.0), dual.min(1.0));
        let mut tau = 0.0;
        if atoms.are_bounded() {
            let after = atoms.mean_product(atoms.products_after(primal, dual));
            tau = mean * (after / mean).powi(3).clamp(1e-4, 1.0);
            let most;
            (dv, most) = towards(atoms, tau, primal * dual);
            (primal, dual) = ((0.99 * most.0).min(1.0), (0.99 * most.1).min(1.0));
        }
        if dv.as_slice().iter().any(|x| !x.is_finite()) {
            return None;
        }
        let ray = Ray::new(self.output, &point.gram, &point.v, &dv, threads);
        let t = ray.guard(atoms, tau, primal);
        if t < primal {
            dual = dual.min(t);
        }
        atoms.advance(t, dual);
        if std::env::var_os("IPM_TRACE").is_some() {
            eprintln!("      tau {tau:.2e} primal {primal:.3} guarded {t:.3} dual {dual:.3}");
        }
        Some(self.point(atoms))
    }
}
