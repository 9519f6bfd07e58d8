//! The duals as sums of atoms in boxes: all that the interior point method knows of a loss.
//!
//! With `a = kappa / gamma` an observation adds `gamma L*(-a)` to what is minimised, and
//! `L*(-a) = -y a + quad a^2 / 2 + eps |a|` on an interval. A kink at zero is split, `a = x + x'` with `x >= 0 >= x'`; each
//! part is an *atom* with the smooth cost `cost x + quad x^2 / 2`, `cost = -y` or `-y +- eps`, between two bounds of which either
//! may be infinite. Its slope is `g = F + cost + quad x` with F the prediction; at the solution `g` is the difference of the two
//! bounds' multipliers, and these are zero where x does not touch. Sums are weighted with gamma: an observation of weight two
//! is the same as two observations.

use super::atom::Atom;
use crate::Problem;
use crate::design::Design;
use crate::loss::QuadraticConjugate;
use rayon::prelude::*;

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
    /// Products of slacks and multipliers: the duality gap, once everything else fits.
    pub(super) products: f64,
    /// `gamma L*(-a)`.
    pub(super) conj: f64,
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
            let loss = problem.only_loss().unwrap_or_else(|| problem.loss(design.place(entry).1));
            loss.quadratic_conjugate(design.labels()[entry]).map(Some)
        };
        let shapes: Vec<_> = (0..design.len()).map(shape).collect::<Option<_>>()?;
        let per_entry = if shapes.iter().flatten().any(|shape| shape.eps > 0.0) { 2 } else { 1 };
        let mut all = Vec::with_capacity(shapes.len() * per_entry);
        for (shape, gamma) in shapes.iter().zip(gammas) {
            let end = all.len() + per_entry;
            match *shape {
                Some(QuadraticConjugate { y, quad, eps, low, high }) if eps > 0.0 => {
                    all.push(Atom::new(gamma, eps - y, quad, 0.0, -low));
                    all.push(Atom::new(gamma, -eps - y, quad, -high, 0.0));
                }
                Some(QuadraticConjugate { y, quad, low, high, .. }) => {
                    all.push(Atom::new(gamma, -y, quad, -high, -low));
                }
                None => {}
            }
            all.resize(end, Atom::default());
        }
        let finite = |bound: f64| f64::from(u8::from(bound.is_finite()));
        let bounds = all.iter().map(|atom| atom.weight * (finite(atom.low) + finite(atom.high))).sum();
        Some(Atoms { all, per_entry, bounds })
    }

    /// Whether anything is bounded at all.
    pub(super) fn are_bounded(&self) -> bool {
        self.bounds > 0.0
    }

    /// Puts all atoms where the predictions `f` and barriers push them. The weight of the barriers is `share` times what
    /// products of slacks and multipliers are thought to be.
    pub(super) fn place(&mut self, f: &[f64], share: f64) {
        let tau = (share * self.sum(f, |atom, f| atom.scale(f)) / self.bounds).max(1e-100);
        self.each(f, |atom, f| atom.place(f, tau));
    }

    /// Sum of the losses at predictions `f`.
    pub(super) fn losses(&self, f: &[f64]) -> f64 {
        self.sum(f, |atom, f| atom.loss(f))
    }

    /// Sum of the conjugates of given duals.
    pub(super) fn conj_of(&self, kappa: &[f64]) -> f64 {
        self.sum(kappa, |atom, kappa| atom.conj((kappa / atom.weight).max(atom.low).min(atom.high)))
    }

    /// The duals of all entries.
    pub(super) fn kappa(&self) -> Vec<f64> {
        let entry = |atoms: &[Atom]| atoms.iter().map(|atom| atom.weight * atom.x).sum();
        self.all.par_chunks(self.per_entry).with_min_len(CHUNK).map(entry).collect()
    }

    /// Slopes at predictions `f`; sums, and the curvature D of every entry.
    pub(super) fn linearise(&mut self, f: &[f64]) -> (Sums, Vec<f64>) {
        let (mut d, per_entry) = (vec![0.0; f.len()], self.per_entry);
        let parts: Vec<Sums> = self
            .all
            .par_chunks_mut(CHUNK * per_entry)
            .zip(f.par_chunks(CHUNK).zip(d.par_chunks_mut(CHUNK)))
            .map(|(atoms, (f, d))| {
                let mut sums = Sums::default();
                for (atoms, (f, d)) in atoms.chunks_mut(per_entry).zip(f.iter().zip(d)) {
                    for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                        sums.add(atom, *f);
                        *d += atom.weight * atom.give;
                    }
                }
                sums
            })
            .collect();
        let mut total = Sums::default();
        for Sums { products, conj } in parts {
            total.products += products;
            total.conj += conj;
        }
        (total, d)
    }

    /// Mean product of slack and multiplier, if this is their sum.
    pub(super) fn mean(&self, products: f64) -> f64 {
        if self.are_bounded() { products / self.bounds } else { 0.0 }
    }

    /// Aims at products `tau`, with a share of the second order of the last direction; what the duals would do if predictions
    /// did not change.
    pub(super) fn take_aim(&mut self, tau: f64, share: f64) -> Vec<f64> {
        self.pulls(|atom| atom.take_aim(tau, share))
    }

    /// Keeps the direction, and takes aim anew so that steps of these lengths lead to products of about `tau`.
    pub(super) fn centre(&mut self, lengths: (f64, f64), tau: f64) -> Vec<f64> {
        self.pulls(|atom| atom.centre(lengths, [0.1 * tau, 10.0 * tau]))
    }

    fn pulls(&mut self, change: impl Fn(&mut Atom) + Sync + Send) -> Vec<f64> {
        let entry = |atoms: &mut [Atom]| {
            let mut sum = 0.0;
            for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                change(atom);
                sum += atom.weight * atom.give * atom.pull();
            }
            sum
        };
        self.all.par_chunks_mut(self.per_entry).with_min_len(CHUNK).map(entry).collect()
    }

    /// Back to the direction kept.
    pub(super) fn revert(&mut self) {
        self.all.par_iter_mut().with_min_len(CHUNK).for_each(Atom::revert);
    }

    /// The direction, if predictions change by `df`; the longest steps of duals and of multipliers.
    pub(super) fn follow(&mut self, df: &[f64]) -> (f64, f64) {
        let per_entry = self.per_entry;
        // Inverse lengths: the largest counts.
        let part = |(atoms, df): (&mut [Atom], &[f64])| {
            let (mut primal, mut dual) = (0.0f64, 0.0f64);
            for (atoms, df) in atoms.chunks_mut(per_entry).zip(df) {
                for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                    atom.follow(*df);
                    primal = primal.max(-atom.dx / atom.lower.slack).max(atom.dx / atom.upper.slack);
                    for bound in [&atom.lower, &atom.upper] {
                        dual = dual.max(if bound.turn < 0.0 { -bound.turn / bound.force } else { 0.0 });
                    }
                }
            }
            (primal, dual)
        };
        let atoms = self.all.par_chunks_mut(CHUNK * per_entry);
        let parts: Vec<(f64, f64)> = atoms.zip(df.par_chunks(CHUNK)).map(part).collect();
        let most = parts.iter().fold((0.0f64, 0.0f64), |most, part| (most.0.max(part.0), most.1.max(part.1)));
        (1.0 / most.0, 1.0 / most.1)
    }

    /// Mean product of slack and multiplier after steps of these lengths.
    pub(super) fn mean_after(&self, lengths: (f64, f64)) -> f64 {
        let after = |atom: &Atom| {
            atom.lower.product_after(atom.dx, lengths) + atom.upper.product_after(-atom.dx, lengths)
        };
        let part = |atoms: &[Atom]| -> f64 {
            atoms.iter().filter(|atom| atom.weight > 0.0).map(|atom| atom.weight * after(atom)).sum()
        };
        let parts: Vec<f64> = self.all.par_chunks(CHUNK).map(part).collect();
        self.mean(parts.iter().sum())
    }

    /// Steps along the direction.
    pub(super) fn advance(&mut self, lengths: (f64, f64)) {
        let active = |atom: &&mut Atom| atom.weight > 0.0;
        self.all.par_iter_mut().with_min_len(CHUNK).filter(active).for_each(|atom| atom.advance(lengths));
    }

    /// Sum of weights times what `of` says of each atom and its entry's value.
    fn sum(&self, values: &[f64], of: impl Fn(&Atom, f64) -> f64 + Sync + Send) -> f64 {
        let per_entry = self.per_entry;
        let part = |(atoms, values): (&[Atom], &[f64])| {
            let mut sum = 0.0;
            for (atoms, value) in atoms.chunks(per_entry).zip(values) {
                for atom in atoms.iter().filter(|atom| atom.weight > 0.0) {
                    sum += atom.weight * of(atom, *value);
                }
            }
            sum
        };
        let atoms = self.all.par_chunks(CHUNK * per_entry);
        let parts: Vec<f64> = atoms.zip(values.par_chunks(CHUNK)).map(part).collect();
        parts.iter().sum()
    }

    /// Changes each atom by its entry's value.
    fn each(&mut self, values: &[f64], change: impl Fn(&mut Atom, f64) + Sync + Send) {
        let atoms = self.all.par_chunks_mut(self.per_entry).with_min_len(CHUNK);
        atoms.zip(values).for_each(|(atoms, value)| {
            atoms.iter_mut().filter(|atom| atom.weight > 0.0).for_each(|atom| change(atom, *value));
        });
    }
}

impl Sums {
    /// Sets slope and stiffness of an atom at the prediction f, and adds it.
    fn add(&mut self, atom: &mut Atom, f: f64) {
        let Atom { weight, cost, quad, x, lower, upper, .. } = *atom;
        atom.slope = f + cost + quad * x;
        atom.give = 1.0 / (quad + lower.force / lower.slack + upper.force / upper.slack);
        self.products += weight * (lower.product() + upper.product());
        self.conj += weight * atom.conj(x);
    }
}
