//! The duals as sums of atoms in boxes: all that the interior point method knows of a loss.
//!
//! With `a = kappa / gamma` an observation adds `gamma L*(-a)` to what is minimised, and
//! `L*(-a) = -y a + quad a^2 / 2 + eps |a|` on an interval. A kink at zero is split, `a = x + x'` with `x >= 0 >= x'`; each
//! part is an *atom* with the smooth cost `cost x + quad x^2 / 2`, `cost = -y` or `-y +- eps`, between two bounds of which either
//! may be infinite. Its slope is `g = F + cost + quad x` with F the prediction; at the solution `g = below - above` with
//! multipliers that are zero wherever x does not touch the bound. Slacks and multipliers are numbers of their own: next to a
//! bound, or to zero, none of them is a difference.

use crate::Problem;
use crate::design::Design;
use crate::loss::QuadraticConjugate;
use rayon::prelude::*;

/// A bound's slack and multiplier.
#[derive(Debug, Clone, Copy, Default)]
struct Bound {
    /// Distance of x from the bound: infinite if there is none.
    slack: f64,
    /// The multiplier: zero if there is none.
    force: f64,
    /// What the product of slack and multiplier is to become, divided by the slack.
    aim: f64,
    /// Direction of the multiplier.
    turn: f64,
}

impl Bound {
    fn product(&self) -> f64 {
        if self.force > 0.0 { self.slack * self.force } else { 0.0 }
    }

    /// Takes aim at a product of `tau`, less the second order of the direction last computed, `second dx turn`.
    fn take_aim(&mut self, tau: f64, second: f64, dx: f64) {
        self.aim = (tau - second * dx * self.turn) / self.slack;
    }

    /// The direction of the multiplier if the slack changes by `dx`.
    fn follow(&mut self, dx: f64) {
        self.turn = self.aim - self.force - self.force / self.slack * dx;
    }

    fn advance(&mut self, dx: f64, turn: f64) {
        // Steps end short of the bounds; rounding must not carry anything beyond.
        self.slack = (self.slack + dx).max(1e-3 * self.slack);
        self.force = (self.force + turn).max(1e-3 * self.force);
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Atom {
    /// gamma; zero for atoms that are only there to fill a table.
    weight: f64,
    cost: f64,
    quad: f64,
    x: f64,
    lower: Bound,
    upper: Bound,
    slope: f64,
    /// One over the stiffness, `quad + force / slack` of both bounds.
    give: f64,
    dx: f64,
}

impl Atom {
    fn new(weight: f64, cost: f64, quad: f64, low: f64, high: f64) -> Self {
        let bound = |slack| Bound { slack, ..Bound::default() };
        Atom { weight, cost, quad, lower: bound(0.0 - low), upper: bound(high), ..Atom::default() }
    }

    /// What fills a table up.
    fn idle() -> Self {
        Atom::new(0.0, 0.0, 0.0, f64::NEG_INFINITY, f64::INFINITY)
    }

    fn width(&self) -> f64 {
        self.lower.slack + self.upper.slack
    }

    /// Moves x of a fresh atom inside its box, at least `margin` away from bounds if there is room.
    fn place(&mut self, x: f64, margin: f64) {
        let margin = margin.min(0.1 * self.width());
        let (low, high) = (-self.lower.slack, self.upper.slack);
        self.x = x.max(low + margin).min(high - margin);
        // Next to a bound at zero these are exact.
        self.lower.slack = self.x - low;
        self.upper.slack = high - self.x;
    }

    /// What this atom adds to the duality gap: `max over d of slope d - quad d^2 / 2` within the box.
    fn gap(&self) -> f64 {
        let (g, quad) = (self.slope, self.quad);
        let d = if g > 0.0 { (g / quad).min(self.lower.slack) } else { (g / quad).max(-self.upper.slack) };
        if g == 0.0 { 0.0 } else { d * (g - 0.5 * quad * d) }
    }
}

/// All atoms, as many for each entry of the design.
#[derive(Debug)]
pub(super) struct Atoms {
    all: Vec<Atom>,
    per_entry: usize,
    /// Sum of the weights of all bounds.
    bounds: f64,
}

/// Sums over atoms.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    /// Products of slacks and multipliers.
    pub(super) products: f64,
    /// `gamma L*(-a)`.
    pub(super) conj: f64,
    /// The duality gap if V is the one of the duals.
    pub(super) gap: f64,
}

/// Entries at a time: sums are taken over these first, whatever the number of threads.
const CHUNK: usize = 2048;

impl Atoms {
    /// `None` if a loss has no quadratic conjugate.
    pub(super) fn new(problem: &Problem<'_>, design: &Design) -> Option<Self> {
        let gammas = design.gammas(problem);
        let shape = |entry: usize| -> Option<Option<QuadraticConjugate>> {
            if gammas[entry] == 0.0 {
                return Some(None);
            }
            let task = design.place(entry).1;
            problem.loss(task).quadratic_conjugate(design.labels()[entry]).map(Some)
        };
        let shapes: Vec<_> = (0..design.len()).map(shape).collect::<Option<_>>()?;
        let per_entry = if shapes.iter().flatten().any(|shape| shape.eps > 0.0) { 2 } else { 1 };
        let mut all = Vec::with_capacity(shapes.len() * per_entry);
        for (shape, gamma) in shapes.iter().zip(gammas) {
            let end = all.len() + per_entry;
            if let Some(QuadraticConjugate { y, quad, eps, low, high }) = *shape {
                if eps > 0.0 {
                    all.push(Atom::new(gamma, eps - y, quad, 0.0, -low));
                    all.push(Atom::new(gamma, -eps - y, quad, -high, 0.0));
                } else {
                    all.push(Atom::new(gamma, -y, quad, -high, -low));
                }
            }
            all.resize(end, Atom::idle());
        }
        let finite = |bound: &Bound| f64::from(u8::from(bound.slack < f64::INFINITY));
        let bounds = all.iter().map(|atom| atom.weight * (finite(&atom.lower) + finite(&atom.upper))).sum();
        Some(Atoms { all, per_entry, bounds })
    }

    /// Whether anything is bounded at all.
    pub(super) fn are_bounded(&self) -> bool {
        self.bounds > 0.0
    }

    /// Starts near given duals, inside all boxes.
    pub(super) fn place(&mut self, kappa: &[f64]) {
        let (mut sum, mut count) = (0.0, 0.0);
        for (atoms, kappa) in self.all.chunks(self.per_entry).zip(kappa) {
            if atoms[0].weight > 0.0 {
                (sum, count) = (sum + (kappa / atoms[0].weight).abs(), count + 1.0);
            }
        }
        let margin = 0.1 * (sum / f64::max(count, 1.0)).max(1e-300);
        for (atoms, kappa) in self.all.chunks_mut(self.per_entry).zip(kappa) {
            for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                let a = kappa / atom.weight;
                atom.place(a.clamp(-atom.lower.slack, atom.upper.slack), margin);
            }
        }
    }

    /// The first multipliers, from the first predictions.
    pub(super) fn balance(&mut self, f: &[f64]) {
        let sums = self.linearise(f);
        drop(sums);
        let mut mean = 0.0;
        let mut count = 0.0;
        for atom in self.all.iter().filter(|atom| atom.weight > 0.0) {
            (mean, count) = (mean + atom.slope.abs(), count + 1.0);
        }
        let floor = 0.5 * mean / f64::max(count, 1.0) + 1e-300;
        for atom in self.all.iter_mut().filter(|atom| atom.weight > 0.0) {
            if atom.lower.slack < f64::INFINITY {
                atom.lower.force = atom.slope.max(0.0) + floor;
            }
            if atom.upper.slack < f64::INFINITY {
                atom.upper.force = (-atom.slope).max(0.0) + floor;
            }
        }
    }

    /// The duals of all entries.
    pub(super) fn kappa(&self) -> Vec<f64> {
        let entry = |atoms: &[Atom]| atoms.iter().map(|atom| atom.weight * atom.x).sum();
        self.all.par_chunks(self.per_entry).with_min_len(CHUNK).map(entry).collect()
    }

    /// Slopes at predictions `f`; sums, and the curvature D of every entry.
    pub(super) fn linearise(&mut self, f: &[f64]) -> (Sums, Vec<f64>) {
        let mut d = vec![0.0; f.len()];
        let per_entry = self.per_entry;
        let parts: Vec<Sums> = self
            .all
            .par_chunks_mut(CHUNK * per_entry)
            .zip(f.par_chunks(CHUNK).zip(d.par_chunks_mut(CHUNK)))
            .map(|(atoms, (f, d))| {
                let mut sums = Sums::default();
                for (atoms, (f, d)) in atoms.chunks_mut(per_entry).zip(f.iter().zip(d)) {
                    for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                        let Atom { weight, cost, quad, x, lower, upper, .. } = *atom;
                        atom.slope = f + cost + quad * x;
                        atom.give = 1.0 / (quad + lower.force / lower.slack + upper.force / upper.slack);
                        *d += weight * atom.give;
                        sums.products += weight * (lower.product() + upper.product());
                        sums.conj += weight * x * (cost + 0.5 * quad * x);
                        sums.gap += weight * atom.gap();
                    }
                }
                sums
            })
            .collect();
        let mut total = Sums::default();
        for part in parts {
            total.products += part.products;
            total.conj += part.conj;
            total.gap += part.gap;
        }
        (total, d)
    }

    /// Mean product of slack and multiplier.
    pub(super) fn mean_product(&self, products: f64) -> f64 {
        if self.bounds > 0.0 { products / self.bounds } else { 0.0 }
    }

    /// Takes aim at products `tau`, with the second order of the last direction; what the duals would do if predictions
    /// did not change.
    pub(super) fn take_aim(&mut self, tau: f64, second: f64) -> Vec<f64> {
        let entry = |atoms: &mut [Atom]| {
            let mut sum = 0.0;
            for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                atom.lower.take_aim(tau, second, atom.dx);
                atom.upper.take_aim(tau, second, -atom.dx);
                sum += atom.weight * atom.give * (atom.lower.aim - atom.upper.aim - atom.slope);
            }
            sum
        };
        self.all.par_chunks_mut(self.per_entry).with_min_len(CHUNK).map(entry).collect()
    }

    /// The direction, if predictions change by `df`; the largest steps of duals and multipliers.
    pub(super) fn follow(&mut self, df: &[f64]) -> (f64, f64) {
        let per_entry = self.per_entry;
        let parts: Vec<(f64, f64)> = self
            .all
            .par_chunks_mut(CHUNK * per_entry)
            .zip(df.par_chunks(CHUNK))
            .map(|(atoms, df)| {
                // Inverse step lengths: the largest counts.
                let (mut primal, mut dual) = (0.0f64, 0.0f64);
                for (atoms, df) in atoms.chunks_mut(per_entry).zip(df) {
                    for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                        let rise = atom.lower.aim - atom.upper.aim - atom.slope;
                        let dx = (rise - df) * atom.give;
                        atom.dx = dx;
                        atom.lower.follow(dx);
                        atom.upper.follow(-dx);
                        primal = primal.max(-dx / atom.lower.slack).max(dx / atom.upper.slack);
                        for bound in [&atom.lower, &atom.upper] {
                            dual = dual.max(if bound.turn < 0.0 { -bound.turn / bound.force } else { 0.0 });
                        }
                    }
                }
                (primal, dual)
            })
            .collect();
        let most = parts.iter().fold((0.0f64, 0.0f64), |m, part| (m.0.max(part.0), m.1.max(part.1)));
        (1.0 / most.0, 1.0 / most.1)
    }

    /// Sum of the products of slacks and multipliers after steps of these lengths.
    pub(super) fn products_after(&self, primal: f64, dual: f64) -> f64 {
        self.sum(|atom| {
            let after = |bound: &Bound, dx: f64| {
                let force = bound.force + dual * bound.turn;
                if force > 0.0 { (bound.slack + primal * dx) * force } else { 0.0 }
            };
            after(&atom.lower, atom.dx) + after(&atom.upper, -atom.dx)
        })
    }

    /// Derivative along the direction, t steps away, of the conjugates with logarithmic barriers of weight `tau`.
    pub(super) fn barrier_slope(&self, t: f64, tau: f64) -> f64 {
        self.sum(|atom| {
            let Atom { cost, quad, x, dx, .. } = *atom;
            let barrier = dx / (atom.upper.slack - t * dx) - dx / (atom.lower.slack + t * dx);
            (cost + quad * (x + t * dx)) * dx + tau * barrier
        })
    }

    /// Sum of weights times what `of` says of each atom.
    fn sum(&self, of: impl Fn(&Atom) -> f64 + Sync) -> f64 {
        let part = |atoms: &[Atom]| -> f64 {
            atoms.iter().filter(|atom| atom.weight > 0.0).map(|atom| atom.weight * of(atom)).sum()
        };
        let parts: Vec<f64> = self.all.par_chunks(CHUNK * self.per_entry).map(part).collect();
        parts.iter().sum()
    }

    /// Steps along the direction.
    pub(super) fn advance(&mut self, primal: f64, dual: f64) {
        self.all.par_chunks_mut(CHUNK).for_each(|atoms| {
            for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                atom.x += primal * atom.dx;
                atom.lower.advance(primal * atom.dx, dual * atom.lower.turn);
                atom.upper.advance(-primal * atom.dx, dual * atom.upper.turn);
            }
        });
    }
}
