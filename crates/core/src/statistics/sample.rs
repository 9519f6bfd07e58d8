//! Some rows, kept for the scale of C and for its choice by held-out rows.
//!
//! Which rows are kept depends on their contents alone: those with the smallest hash. So any cutting of the rows into
//! parts, and any order of merging, keeps the same rows. Equal rows are one, with the sum of their weights.

use crate::inputs::Inputs;
use crate::{Observations, Result, TaskNames};

/// Rows that are loaded at a time. Sparse ones may have very many features.
const BLOCK_ROWS: usize = 16;

/// A label of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SampledLabel {
    pub(super) task: u32,
    /// Less its offset.
    pub(super) label: f64,
    pub(super) weight: f64,
}

/// A row with its labels, by increasing task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SampledRow {
    pub(super) hash: u64,
    pub(super) features: Vec<f64>,
    pub(super) labels: Vec<SampledLabel>,
}

impl SampledRow {
    /// A row without labels yet.
    pub(super) fn new(features: Vec<f64>) -> Self {
        SampledRow { hash: 0, features, labels: vec![] }
    }

    pub(super) fn set_hash(&mut self, task_hashes: &[u64]) {
        let factors = factors(self.features.len());
        self.hash = hash((&self.features, &factors), &self.labels, task_hashes);
    }
}

/// The rows with the smallest hashes, by increasing hash.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowSample {
    pub(super) most_rows: usize,
    pub(super) rows: Vec<SampledRow>,
}

impl RowSample {
    pub(super) fn new(most_rows: usize) -> Self {
        RowSample { most_rows, rows: vec![] }
    }

    /// Some inputs of a batch that may be among those with the smallest hashes; tasks are known by the hashes of their
    /// names.
    pub(super) fn of_inputs(
        &self,
        (inputs, observations): (&Inputs<'_>, &Observations),
        targets: &[f64],
        task_hashes: &[u64],
        rows: std::ops::Range<usize>,
    ) -> Self {
        let mut sample = RowSample::new(self.most_rows);
        if self.most_rows == 0 {
            return sample;
        }
        let (d, factors) = (inputs.n_features(), factors(inputs.n_features()));
        let (mut block, mut labels): (Vec<f64>, Vec<SampledLabel>) = (vec![], vec![]);
        // The largest hash that may still be among the smallest.
        let is_full = self.rows.len() >= self.most_rows;
        let mut limit = self.rows.last().filter(|_| is_full).map_or(u64::MAX, |row| row.hash);
        for first in rows.clone().step_by(BLOCK_ROWS) {
            let some: Vec<u32> = (first..rows.end.min(first + BLOCK_ROWS)).map(|i| i as u32).collect();
            block.resize(some.len() * d, 0.0);
            inputs.load(&some, &mut block);
            for (&i, features) in some.iter().zip(block.chunks_exact(d)) {
                let own = observations.of_input(i as usize).filter(|&o| observations.weight(o) > 0.0);
                labels.clear();
                labels.extend(own.map(|o| {
                    let (task, weight) = (observations.task(o) as u32, observations.weight(o));
                    SampledLabel { task, label: targets[o], weight }
                }));
                if labels.is_empty() {
                    continue;
                }
                labels.sort_by_key(|label| label.task);
                let hash = hash((features, &factors), &labels, task_hashes);
                if hash > limit {
                    continue;
                }
                let (features, labels) = (features.to_vec(), labels.clone());
                sample.rows.push(SampledRow { hash, features, labels });
                if sample.rows.len() >= 2 * self.most_rows {
                    sample.tidy();
                    limit = sample.rows.last().map_or(limit, |row| row.hash);
                }
            }
        }
        sample.tidy();
        sample
    }

    /// The rows of both.
    pub(super) fn absorb(&mut self, other: RowSample) {
        self.most_rows = self.most_rows.min(other.most_rows);
        self.rows.extend(other.rows);
        self.tidy();
    }

    /// Sorts, joins equal rows and keeps as many as there may be. A row that is kept was kept in every part, so its
    /// weight is complete.
    fn tidy(&mut self) {
        // Stable: the sums of weights have the order of the parts.
        self.rows.sort_by_key(|row| row.hash);
        self.rows.dedup_by(|next, kept| {
            let equal = next.hash == kept.hash && next.labels.len() == kept.labels.len();
            if equal {
                kept.labels.iter_mut().zip(&next.labels).for_each(|(kept, next)| kept.weight += next.weight);
            }
            equal
        });
        self.rows.truncate(self.most_rows);
    }

    /// The same with task t called `map[t]`.
    pub(super) fn with_tasks(&mut self, map: &[usize]) {
        for row in &mut self.rows {
            row.labels.iter_mut().for_each(|label| label.task = map[label.task as usize] as u32);
            row.labels.sort_by_key(|label| label.task);
        }
    }

    /// Inputs and observations, and nothing if there are none.
    pub(super) fn data(
        &self,
        n_features: usize,
        n_tasks: usize,
    ) -> Result<Option<(Inputs<'static>, Observations)>> {
        let rows = &self.rows;
        if rows.is_empty() {
            return Ok(None);
        }
        let features = rows.iter().flat_map(|row| row.features.iter().copied()).collect();
        let inputs = crate::inputs::Dense::f64_owned(features, rows.len(), n_features)?.into();
        let labels =
            || rows.iter().enumerate().flat_map(|(i, row)| row.labels.iter().map(move |label| (i, label)));
        let observations = Observations::from_triples(
            rows.len(),
            n_tasks,
            labels().map(|(i, _)| i as u32).collect(),
            labels().map(|(_, label)| label.task).collect(),
            labels().map(|(_, label)| label.label).collect(),
        )?;
        let weights: Vec<f64> = labels().map(|(_, label)| label.weight).collect();
        Ok(Some((inputs, observations.with_weights(&weights)?)))
    }

    /// The sum of the weights of all labels.
    pub(super) fn weight(&self) -> f64 {
        self.rows.iter().flat_map(|row| &row.labels).map(|label| label.weight).sum()
    }
}

/// The hashes of the names of tasks.
pub(super) fn hashes_of_names(tasks: &TaskNames) -> Vec<u64> {
    let hash = |name: String| {
        name.bytes().fold(mixed(name.len() as u64), |hash, byte| mixed(hash ^ u64::from(byte)))
    };
    tasks.iter().map(hash).collect()
}

/// An odd number for each feature.
fn factors(n_features: usize) -> Vec<u64> {
    (0..n_features as u64).map(|j| mixed(j) | 1).collect()
}

/// Of features, labels and tasks; not of weights. Features count with a factor for each, a sum that takes no feature to
/// be known before the next (multilinear hashing, Carter, Wegman 1979).
fn hash((features, factors): (&[f64], &[u64]), labels: &[SampledLabel], task_hashes: &[u64]) -> u64 {
    // Adding zero makes -0 and 0 the same. Of numbers with few digits, only the upper bits differ.
    let bits = |x: f64| {
        let bits = (x + 0.0).to_bits();
        bits ^ (bits >> 32)
    };
    let term = |(x, factor): (&f64, &u64)| bits(*x).wrapping_mul(*factor);
    let hash = features.iter().zip(factors).map(term).fold(0, u64::wrapping_add);
    // A sum: tasks may be in another order elsewhere.
    let of_label = |own: &SampledLabel| mixed(task_hashes[own.task as usize] ^ bits(own.label));
    mixed(labels.iter().fold(mixed(hash), |sum, label| sum.wrapping_add(of_label(label))))
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the result depends on every bit of `x`.
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
