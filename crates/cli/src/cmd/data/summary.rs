//! What is in a file, counted chunk by chunk.

use kinfolk::Inputs;
use kinfolk_io::{Categorical, Labels, Table, Targets};
use kinfolk_train::LabelCorrelations;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Different values that are listed; more are many.
const MAX_LISTED_VALUES: usize = 10;

/// TaskCounts over the rows seen so far.
#[derive(Debug, Default)]
pub(super) struct RowCounts {
    pub(super) rows: usize,
    pub(super) features: usize,
    pub(super) nonzero: u64,
    pub(super) targets: &'static str,
    pub(super) tasks: TaskCounts,
    pub(super) labels: LabelCounts,
    pub(super) weights: bool,
    pub(super) offsets: bool,
    pub(super) parts: BTreeMap<i64, usize>,
    /// Of features with labels that are numbers.
    pub(super) correlations: LabelCorrelations,
}

/// Names with the number of their labels, as they first appear.
#[derive(Debug, Default)]
pub(super) struct TaskCounts {
    pub(super) names: Vec<String>,
    pub(super) counts: Vec<usize>,
    place: HashMap<String, usize>,
}

impl TaskCounts {
    fn add(&mut self, name: String, n: usize) {
        let place = *self.place.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.counts.push(0);
            self.names.len() - 1
        });
        self.counts[place] += n;
    }

    fn add_names(&mut self, column: &Categorical) {
        counts(column).into_iter().enumerate().for_each(|(t, n)| self.add(column.names.name(t), n));
    }

    /// Smallest, median and largest.
    pub(super) fn spread(&self) -> Option<[usize; 3]> {
        let mut sorted = self.counts.clone();
        sorted.sort_unstable();
        Some([*sorted.first()?, sorted[sorted.len() / 2], *sorted.last()?])
    }
}

/// How many rows have each name.
fn counts(column: &Categorical) -> Vec<usize> {
    let mut counts = vec![0; column.names.len()];
    column.index.iter().for_each(|&t| counts[t as usize] += 1);
    counts
}

/// What labels are like.
#[derive(Debug, Default)]
pub(super) struct LabelCounts {
    pub(super) known: usize,
    pub(super) missing: usize,
    /// Up to [`MAX_LISTED_VALUES`] and one more.
    pub(super) values: BTreeSet<String>,
    pub(super) range: Option<(f64, f64)>,
}

impl LabelCounts {
    fn add_numbers(&mut self, labels: &[f64]) {
        for &y in labels {
            if y.is_nan() {
                self.missing += 1;
                continue;
            }
            self.known += 1;
            let (low, high) = self.range.unwrap_or((y, y));
            self.range = Some((low.min(y), high.max(y)));
            if self.values.len() <= MAX_LISTED_VALUES {
                self.values.insert(y.to_string());
            }
        }
    }

    fn add_words(&mut self, column: &Categorical) {
        for (t, rows) in counts(column).into_iter().enumerate().filter(|(_, rows)| *rows > 0) {
            let name = column.names.name(t);
            if name.is_empty() {
                self.missing += rows;
                continue;
            }
            self.known += rows;
            if self.values.len() <= MAX_LISTED_VALUES {
                self.values.insert(name);
            }
        }
    }

    /// The different values, if there are few.
    pub(super) fn few(&self) -> Option<Vec<&str>> {
        (1..=MAX_LISTED_VALUES)
            .contains(&self.values.len())
            .then(|| self.values.iter().map(String::as_str).collect())
    }
}

impl RowCounts {
    pub(super) fn add(&mut self, table: &Table) {
        self.rows += table.inputs.n_inputs();
        self.features = table.inputs.n_features();
        self.look_at_inputs(&table.inputs);
        self.weights |= table.weight.is_some();
        self.offsets |= table.offset.is_some();
        table.split.iter().flatten().for_each(|part| *self.parts.entry(*part).or_default() += 1);
        match &table.targets {
            Targets::None => self.targets = "none",
            Targets::Classes(keys) => {
                self.targets = "classes";
                // A row without a class has the empty name.
                for (t, n) in counts(keys).into_iter().enumerate().filter(|(_, n)| *n > 0) {
                    match keys.names.name(t) {
                        name if name.is_empty() => self.labels.missing += n,
                        name => self.tasks.add(name, n),
                    }
                }
            }
            Targets::Tasks { task, label } => {
                self.targets = "tasks";
                self.tasks.add_names(task);
                match label {
                    Some(Labels::Numbers(labels)) => {
                        self.labels.add_numbers(labels);
                        self.correlations.add(&table.inputs, labels);
                    }
                    Some(Labels::Words(words)) => self.labels.add_words(words),
                    None => {}
                }
            }
            Targets::Wide { label, tasks } => {
                self.targets = "wide";
                let known = |t: usize| (0..label.rows()).filter(|&i| !label[(i, t)].is_nan()).count();
                (0..tasks.len()).for_each(|t| self.tasks.add(tasks.name(t), known(t)));
                self.labels.add_numbers(label.as_slice());
            }
        }
    }

    fn look_at_inputs(&mut self, inputs: &Inputs<'_>) {
        match inputs {
            Inputs::Dense(x) => {
                let nonzero = match (x.as_f32(), x.as_f64()) {
                    (Some(values), _) => values.iter().filter(|v| **v != 0.0).count(),
                    (_, Some(values)) => values.iter().filter(|v| **v != 0.0).count(),
                    _ => 0,
                };
                self.nonzero += nonzero as u64;
            }
            Inputs::Sparse(x) => self.nonzero += x.nnz() as u64,
            Inputs::Gram(k) => self.nonzero += k.as_slice().iter().filter(|v| **v != 0.0).count() as u64,
            _ => {}
        }
    }

    /// Share of the numbers that are not zero.
    pub(super) fn density(&self) -> f64 {
        self.nonzero as f64 / (self.rows as f64 * self.features as f64).max(1.0)
    }
}
