//! Generated tasks: how they are related is known, so that one can see whether a method finds it.

use crate::{Categorical, Labels, Result, Table, Targets, assemble, text};
use kinfolk::inputs::Dense;
use kinfolk::{Matrix, TaskNames};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What is to be generated.
///
/// Task t has weights w_t of d numbers. Its rows are standard normal, its labels `w_t . x + noise e` with
/// standard normal e, or the sign of that. The weights have about unit length:
/// `w_t = sqrt(1 - own^2) g + own u_t`, where g is common to the tasks of a group and u_t is the task's own.
///
/// ```
/// use kinfolk_io::{Generator, Kinship};
/// let (table, truth) = Generator { tasks: 6, groups: 2, ..Generator::default() }.generate()?;
/// assert_eq!((table.n_rows(), truth.group), (6 * 20, vec![0, 0, 0, 1, 1, 1]));
/// # Ok::<(), kinfolk_io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Generator {
    /// How the tasks are related.
    pub kinship: Kinship,
    /// Number of tasks.
    pub tasks: usize,
    /// Number of groups of related tasks.
    pub groups: usize,
    /// Rows of each task.
    pub rows: usize,
    /// Number of features.
    pub features: usize,
    /// Size of the noise; the signal has size 1.
    pub noise: f64,
    /// Share of a task's weights that is its own, from 0 (none) to 1 (all).
    pub own: f64,
    /// Whether labels are -1 and +1.
    pub binary: bool,
    /// The same seed gives the same tasks and rows, on any machine.
    pub seed: u64,
}

/// How generated tasks are related.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kinship {
    /// Groups of related tasks; the groups are unrelated.
    Clustered,
    /// Groups at the leaves of a binary tree: neighbouring groups share more than distant ones.
    Hierarchical,
    /// As clustered, but the last so many tasks are unrelated to all others.
    Outliers(usize),
}

/// What a learner should find.
#[derive(Debug, Clone, PartialEq)]
pub struct GroundTruth {
    /// The group of each task. Every outlier is a group by itself.
    pub group: Vec<u32>,
    /// Tasks x features.
    pub weights: Matrix,
}

impl Default for Generator {
    /// Twelve regression tasks in three groups, each with fewer rows than features.
    fn default() -> Self {
        Generator {
            kinship: Kinship::Clustered,
            tasks: 12,
            groups: 3,
            rows: 20,
            features: 30,
            noise: 0.3,
            own: 0.2,
            binary: false,
            seed: 0,
        }
    }
}

impl Generator {
    /// The table, and the truth behind it.
    ///
    /// # Errors
    /// If a number is zero or out of range, or the table would be too large.
    pub fn generate(&self) -> Result<(Table, GroundTruth)> {
        self.check()?;
        let mut random = NormalSampler(ChaCha8Rng::seed_from_u64(self.seed));
        let truth = self.truth(&mut random);
        let n = self.tasks * self.rows;
        let (mut inputs, mut labels) = (Vec::with_capacity(n * self.features), Vec::with_capacity(n));
        for t in 0..self.tasks {
            for _ in 0..self.rows {
                let x = random.vector(self.features);
                let signal: f64 = truth.weights.row(t).iter().zip(&x).map(|(w, x)| w * x).sum();
                let label = signal + self.noise * random.next();
                if !label.is_finite() {
                    let noise = text::of_number(self.noise);
                    return Err(wrong!(
                        "generator: noise = {noise} is too large: labels would not be finite"
                    ));
                }
                labels.push(if self.binary { 1f64.copysign(label) } else { label });
                inputs.extend(x);
            }
        }
        let index = (0..n).map(|i| (i / self.rows) as u32).collect();
        let task = Categorical::new(index, TaskNames::Strings(self.names(&truth.group)))?;
        let targets = Targets::Tasks { task, label: Some(Labels::Numbers(labels)) };
        let table = Table::new(Dense::f64_owned(inputs, n, self.features)?.into(), targets);
        Ok((assemble::settle(table)?, truth))
    }

    fn check(&self) -> Result<()> {
        let outliers = self.outliers();
        let wrong = |why: String| Err(wrong!("generator: {why}"));
        if self.groups == 0 || self.rows == 0 || self.features == 0 {
            return wrong("groups, rows and features must be at least 1".into());
        }
        if self.tasks < self.groups.saturating_add(outliers) {
            let (tasks, groups) = (self.tasks, self.groups);
            return wrong(format!("{tasks} tasks are too few for {groups} groups and {outliers} outliers"));
        }
        if !((0.0..=1.0).contains(&self.own) && self.noise >= 0.0 && self.noise.is_finite()) {
            return wrong(format!(
                "own = {}, noise = {}: expected 0 to 1, and at least 0",
                self.own, self.noise
            ));
        }
        let numbers = self.tasks as u128 * self.rows as u128 * self.features as u128;
        if numbers > 1 << 32 || self.tasks as u128 * self.rows as u128 > 1 << 31 {
            return wrong(format!("{numbers} numbers are too many"));
        }
        Ok(())
    }

    fn outliers(&self) -> usize {
        match self.kinship {
            Kinship::Outliers(n) => n,
            _ => 0,
        }
    }

    fn truth(&self, random: &mut NormalSampler) -> GroundTruth {
        let centres = match self.kinship {
            Kinship::Hierarchical => self.leaves(random),
            _ => (0..self.groups).map(|_| random.direction(self.features)).collect(),
        };
        let kin = self.tasks - self.outliers();
        let (shared, own) = ((1.0 - self.own * self.own).sqrt(), self.own);
        let mut weights = Matrix::zeros(self.tasks, self.features);
        let mut group = vec![];
        for t in 0..self.tasks {
            let alone = random.direction(self.features);
            // Groups of nearly the same size, one after another.
            let g = if t < kin { t * self.groups / kin } else { self.groups + t - kin };
            group.push(g as u32);
            for (j, (w, u)) in weights.row_mut(t).iter_mut().zip(alone).enumerate() {
                *w = centres.get(g).map_or(u, |centre: &Vec<f64>| shared * centre[j] + own * u);
            }
        }
        GroundTruth { group, weights }
    }

    /// The sum of all steps from the root to a leaf, of equal variance and unit length together.
    fn leaves(&self, random: &mut NormalSampler) -> Vec<Vec<f64>> {
        let depth = self.groups.next_power_of_two().trailing_zeros().max(1);
        let step = 1.0 / f64::from(depth).sqrt();
        let mut nodes = vec![vec![0.0; self.features]];
        for _ in 0..depth {
            nodes = nodes
                .iter()
                .flat_map(|node| [node.clone(), node.clone()])
                .map(|mut node| {
                    let direction = random.direction(self.features);
                    node.iter_mut().zip(direction).for_each(|(w, u)| *w += step * u);
                    node
                })
                .collect();
        }
        nodes.truncate(self.groups);
        nodes
    }

    /// By group and number, so that related tasks are neighbours in alphabetical order.
    fn names(&self, group: &[u32]) -> Vec<String> {
        let (wide_group, wide) = (digits(self.groups), digits(self.tasks));
        let name = |(t, &g): (usize, &u32)| match (g as usize) < self.groups {
            true => format!("g{:0wide_group$}-t{:0wide$}", g + 1, t + 1),
            false => format!("lone-t{:0wide$}", t + 1),
        };
        group.iter().enumerate().map(name).collect()
    }
}

fn digits(n: usize) -> usize {
    n.to_string().len()
}

/// Standard normal numbers by Marsaglia's polar method. The logarithm is in software, hence the same on every
/// machine.
struct NormalSampler(ChaCha8Rng);

impl NormalSampler {
    fn next(&mut self) -> f64 {
        loop {
            let (u, v): (f64, f64) = (self.0.random::<f64>() * 2.0 - 1.0, self.0.random::<f64>() * 2.0 - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * libm::log(s) / s).sqrt();
            }
        }
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }

    /// Of about unit length.
    fn direction(&mut self, n: usize) -> Vec<f64> {
        let scale = 1.0 / (n as f64).sqrt();
        self.vector(n).into_iter().map(|x| x * scale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(truth: &GroundTruth, a: usize, b: usize) -> f64 {
        truth.weights.row(a).iter().zip(truth.weights.row(b)).map(|(a, b)| a * b).sum()
    }

    fn truth(kinship: Kinship) -> GroundTruth {
        let generator =
            Generator { kinship, tasks: 10, groups: 4, features: 2000, rows: 1, ..Generator::default() };
        generator.generate().unwrap().1
    }

    #[test]
    fn kin_are_alike_and_strangers_are_not() {
        let truth = truth(Kinship::Clustered);
        assert_eq!(truth.group, [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]);
        assert!((similarity(&truth, 0, 1) - 0.96).abs() < 0.1);
        assert!(similarity(&truth, 0, 9).abs() < 0.1);
    }

    #[test]
    fn neighbours_in_the_tree_are_alike() {
        let truth = truth(Kinship::Hierarchical);
        let (near, far) = (similarity(&truth, 0, 3), similarity(&truth, 0, 5));
        assert!((near - 0.48).abs() < 0.1 && far.abs() < 0.1, "{near} {far}");
    }

    #[test]
    fn outliers_are_alone() {
        let truth = truth(Kinship::Outliers(2));
        assert_eq!(truth.group, [0, 0, 1, 1, 2, 2, 3, 3, 4, 5]);
        assert!((0..9).all(|t| similarity(&truth, t, 9).abs() < 0.1));
    }

    #[test]
    fn labels_follow_the_weights() {
        let generator = Generator { binary: true, noise: 0.0, ..Generator::default() };
        let (table, truth) = generator.generate().unwrap();
        let Targets::Tasks { task, label: Some(Labels::Numbers(labels)) } = &table.targets else { panic!() };
        let kinfolk::Inputs::Dense(x) = &table.inputs else { panic!() };
        assert_eq!(task.name(0), "g1-t01");
        for (i, &y) in labels.iter().enumerate() {
            let w = truth.weights.row(i / generator.rows);
            let signal: f64 = w.iter().enumerate().map(|(j, w)| w * x.get(i, j)).sum();
            assert_eq!(y, signal.signum());
        }
    }

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let first = |seed| {
            let (table, _) = Generator { seed, ..Generator::default() }.generate().unwrap();
            let kinfolk::Inputs::Dense(x) = table.inputs else { panic!() };
            x.get(0, 0)
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn impossible_wishes_are_refused() {
        let refused = |generator: Generator| generator.generate().unwrap_err().to_string();
        let some = Generator::default();
        assert!(refused(Generator { tasks: 2, ..some.clone() }).contains("too few"));
        assert!(refused(Generator { rows: 0, ..some.clone() }).contains("at least 1"));
        assert!(refused(Generator { own: f64::NAN, ..some.clone() }).contains("own = NaN"));
        assert!(refused(Generator { noise: 1e308, ..some.clone() }).contains("noise = 1e308 is too large"));
        assert!(refused(Generator { rows: usize::MAX, ..some }).contains("too many"));
    }
}
