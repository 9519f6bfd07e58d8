//! Which input carries which label for which task.

use crate::{Error, Result, TaskNames};
use std::borrow::Cow;

/// Observations: an input, a task, a label, a weight and an offset each, checked once.
///
/// Multi-task data, one-vs-all multi-class, multi-label, multi-output and any mixture are constructors of
/// this one type. A missing label is an observation that is not there. A task without observations is
/// allowed: its row of the task Gram matrix is zero, so `Theta = phi'(0)` there. It predicts 0 with the power
/// and cosh regularisers (nothing was learned, nothing is borrowed), the sum of all tasks' scores with `exp`
/// (whose Theta is 1 where nothing is known), and what the prior says where one is given.
///
/// An *offset* is a known part of the prediction: the loss of observation i is `L(y_i, F(x_i, t_i) +
/// offset_i)`. Use it for exposures, or to fit what another model leaves over. A model predicts F alone; add
/// offsets to its predictions yourself. For the squared loss an offset is the same as a label lower by as
/// much.
///
/// Observations are numbered in the order given; duals come back in that order.
///
/// ```
/// use kinfolk::Observations;
/// // Two sensors, three readings: the first two rows of X belong to task 0, the third to task 1.
/// let own_inputs = Observations::multi_task(&[0, 0, 1], vec![0.5, 1.0, -2.0])?;
/// assert_eq!((own_inputs.n_inputs(), own_inputs.n_tasks(), own_inputs.len()), (3, 2, 3));
/// // Three classes: every input is an observation of every one-vs-all task.
/// let classes = Observations::multi_class(&[0, 2, 1, 0], 3)?;
/// assert_eq!((classes.n_inputs(), classes.len()), (4, 12));
/// assert_eq!(classes.label(5), 1.0);
/// // A table with holes.
/// let wide = Observations::multi_output(&[1.0, f64::NAN, 3.0, 4.0], 2, 2)?;
/// assert_eq!(wide.len(), 3);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Observations {
    layout: ObservationLayout,
    label: Vec<f64>,
    weight: ObservationWeights,
    /// None where all are zero.
    offset: Option<Vec<f64>>,
    n_inputs: usize,
    tasks: TaskNames,
}

#[derive(Debug, Clone)]
enum ObservationLayout {
    /// Every input has every task: observation i T + t is (input i, task t). Nothing needs to be stored.
    Complete,
    /// Any list; `by_input[start[i]..start[i + 1]]` are the observations of input i.
    Listed { input: Vec<u32>, task: Vec<u32>, start: Vec<u32>, by_input: Vec<u32> },
}

#[derive(Debug, Clone)]
enum ObservationWeights {
    One,
    PerTask(Vec<f64>),
    Each(Vec<f64>),
}

impl Observations {
    /// Any list of (input, task, label).
    pub fn from_triples(
        n_inputs: usize,
        n_tasks: usize,
        input: Vec<u32>,
        task: Vec<u32>,
        label: Vec<f64>,
    ) -> Result<Self> {
        if label.is_empty() {
            return Err(Error::Empty { what: "the list of observations" });
        }
        check_count(label.len())?;
        same_length("the input column", input.len(), label.len())?;
        same_length("the task column", task.len(), label.len())?;
        for row in 0..label.len() {
            let (i, t) = (input[row] as usize, task[row] as usize);
            if t >= n_tasks {
                return Err(Error::TaskOutOfRange { row, task: t, n_tasks });
            }
            if i >= n_inputs {
                return Err(Error::InputOutOfRange { row, input: i, n_inputs });
            }
        }
        let complete = label.len() == n_inputs * n_tasks
            && (0..label.len()).all(|o| (input[o] as usize, task[o] as usize) == (o / n_tasks, o % n_tasks));
        let layout = if complete { ObservationLayout::Complete } else { listed(n_inputs, input, task) };
        Ok(Self::plain(layout, label, n_inputs, n_tasks))
    }

    /// Own inputs for each task: row i of the inputs belongs to task `task[i]` and has label `label[i]`.
    pub fn multi_task(task: &[u32], label: Vec<f64>) -> Result<Self> {
        let n_tasks = task.iter().max().map_or(0, |&t| t as usize + 1);
        Self::from_triples(task.len(), n_tasks, (0..task.len() as u32).collect(), task.to_vec(), label)
    }

    /// One-vs-all: task t asks "is it class t?", with labels +1 and -1, of every input.
    pub fn multi_class(class: &[u32], n_classes: usize) -> Result<Self> {
        for (row, &c) in class.iter().enumerate() {
            if c as usize >= n_classes {
                return Err(Error::TaskOutOfRange { row, task: c as usize, n_tasks: n_classes });
            }
        }
        let mut label = vec![-1.0; class.len() * n_classes];
        for (i, &c) in class.iter().enumerate() {
            label[i * n_classes + c as usize] = 1.0;
        }
        Self::complete(label, class.len(), n_classes)
    }

    /// Multi-label: a table (inputs x labels, row-major) of yes and no, which become +1 and -1.
    pub fn multi_label(table: &[bool], n_inputs: usize, n_tasks: usize) -> Result<Self> {
        Self::complete(table.iter().map(|&yes| if yes { 1.0 } else { -1.0 }).collect(), n_inputs, n_tasks)
    }

    /// Multi-output: a table (inputs x tasks, row-major) of labels, NaN where one is missing.
    pub fn multi_output(table: &[f64], n_inputs: usize, n_tasks: usize) -> Result<Self> {
        same_length("the table of labels", table.len(), n_inputs * n_tasks)?;
        if table.iter().all(|y| !y.is_nan()) {
            return Self::complete(table.to_vec(), n_inputs, n_tasks);
        }
        let (mut input, mut task, mut label) = (vec![], vec![], vec![]);
        for (cell, &y) in table.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
            input.push((cell / n_tasks) as u32);
            task.push((cell % n_tasks) as u32);
            label.push(y);
        }
        Self::from_triples(n_inputs, n_tasks, input, task, label)
    }

    fn complete(label: Vec<f64>, n_inputs: usize, n_tasks: usize) -> Result<Self> {
        same_length("the table of labels", label.len(), n_inputs * n_tasks)?;
        if label.is_empty() {
            return Err(Error::Empty { what: "the table of labels" });
        }
        check_count(label.len())?;
        Ok(Self::plain(ObservationLayout::Complete, label, n_inputs, n_tasks))
    }

    /// Weights of one, no offsets, numbered tasks.
    fn plain(layout: ObservationLayout, label: Vec<f64>, n_inputs: usize, n_tasks: usize) -> Self {
        let tasks = TaskNames::Numbered(n_tasks);
        Observations { layout, label, weight: ObservationWeights::One, offset: None, n_inputs, tasks }
    }

    /// Names the tasks. More names than tasks so far adds tasks without observations.
    pub fn with_task_names(mut self, names: TaskNames) -> Result<Self> {
        let n_tasks = self.n_tasks();
        if names.len() < n_tasks {
            return Err(Error::Length {
                what: "the list of task names",
                got: names.len(),
                expected: n_tasks,
            });
        }
        names.check_distinct()?;
        if names.len() > n_tasks {
            let added = names.len() - n_tasks;
            if let ObservationWeights::PerTask(w) = &mut self.weight {
                w.resize(w.len() + added, 1.0);
            }
            if matches!(self.layout, ObservationLayout::Complete) {
                let n = self.len() as u32;
                let (input, task) = ((0..n).map(|o| o / n_tasks as u32), (0..n).map(|o| o % n_tasks as u32));
                self.layout = listed(self.n_inputs, input.collect(), task.collect());
            }
        }
        self.tasks = names;
        Ok(self)
    }

    /// The same observations of tasks with these names, in this order: each keeps its task by name.
    ///
    /// # Errors
    /// [`Error::UnknownTask`] for a task that is not among them.
    pub fn for_tasks(self, names: &TaskNames) -> Result<Self> {
        if self.tasks == *names {
            return Ok(self);
        }
        let map: Vec<usize> = self.tasks.iter().map(|name| names.find(&name)).collect::<Result<_>>()?;
        let in_place = map.iter().enumerate().all(|(t, to)| t == *to);
        if in_place {
            return self.with_task_names(names.clone());
        }
        let n = self.len();
        let input = (0..n).map(|o| self.input(o) as u32).collect();
        let task = (0..n).map(|o| map[self.task(o)] as u32).collect();
        let mut out = Self::from_triples(self.n_inputs, names.len(), input, task, self.label.clone())?;
        let uniform = self.uniform_weight() == Some(1.0);
        out.weight = match uniform {
            true => ObservationWeights::One,
            false => ObservationWeights::Each((0..n).map(|o| self.weight(o)).collect()),
        };
        (out.offset, out.tasks) = (self.offset, names.clone());
        Ok(out)
    }

    /// Multiplies the weight of each observation.
    pub fn with_weights(mut self, weight: &[f64]) -> Result<Self> {
        same_length("the list of weights", weight.len(), self.len())?;
        check_weights(weight)?;
        self.weight = ObservationWeights::Each((0..self.len()).map(|o| self.weight(o) * weight[o]).collect());
        self.check_some_weight()
    }

    /// These weights instead of those it has; all one for `None`.
    pub(crate) fn with_only_weights(mut self, weight: Option<&[f64]>) -> Result<Self> {
        self.weight = ObservationWeights::One;
        match weight {
            Some(weight) => self.with_weights(weight),
            None => Ok(self),
        }
    }

    /// Multiplies the weights of all observations of a task.
    pub fn with_task_weights(mut self, weight: &[f64]) -> Result<Self> {
        same_length("the list of task weights", weight.len(), self.n_tasks())?;
        check_weights(weight)?;
        self.weight = match self.weight {
            ObservationWeights::One => ObservationWeights::PerTask(weight.to_vec()),
            ObservationWeights::PerTask(old) => {
                ObservationWeights::PerTask(old.iter().zip(weight).map(|(a, b)| a * b).collect())
            }
            ObservationWeights::Each(_) => ObservationWeights::Each(
                (0..self.len()).map(|o| self.weight(o) * weight[self.task(o)]).collect(),
            ),
        };
        self.check_some_weight()
    }

    /// Sets the offset of each observation: its loss becomes `L(y, z + offset)`. Replaces earlier offsets.
    ///
    /// ```
    /// use kinfolk::Observations;
    /// let obs = Observations::multi_task(&[0, 0, 1], vec![0.5, 1.0, -2.0])?;
    /// let obs = obs.with_offsets(vec![0.1, 0.0, -3.0])?;
    /// assert_eq!((obs.offset(2), obs.select_inputs(&[2])?.offset(0)), (-3.0, -3.0));
    /// # Ok::<(), kinfolk::Error>(())
    /// ```
    pub fn with_offsets(mut self, offset: Vec<f64>) -> Result<Self> {
        same_length("the list of offsets", offset.len(), self.len())?;
        if let Some(row) = offset.iter().position(|o| !o.is_finite()) {
            return Err(Error::Offset { row, value: offset[row] });
        }
        self.offset = offset.iter().any(|&o| o != 0.0).then_some(offset);
        Ok(self)
    }

    /// The same observations with other labels.
    pub fn with_labels(mut self, label: Vec<f64>) -> Result<Self> {
        same_length("the list of labels", label.len(), self.len())?;
        self.label = label;
        Ok(self)
    }

    /// The observations of these inputs, which become inputs 0, 1, ...; all tasks stay, some perhaps without
    /// observations.
    pub fn select_inputs(&self, inputs: &[u32]) -> Result<Self> {
        if let Some(row) = inputs.iter().position(|&i| i as usize >= self.n_inputs) {
            let (input, n_inputs) = (inputs[row] as usize, self.n_inputs);
            return Err(Error::InputOutOfRange { row, input, n_inputs });
        }
        let kept: Vec<usize> = inputs.iter().flat_map(|&i| self.of_input(i as usize)).collect();
        let label: Vec<f64> = kept.iter().map(|&o| self.label[o]).collect();
        let n_tasks = self.n_tasks();
        let mut out = if self.is_complete() {
            Self::complete(label, inputs.len(), n_tasks)?
        } else {
            let count = |(new, &i): (usize, &u32)| self.of_input(i as usize).map(move |_| new as u32);
            let input = inputs.iter().enumerate().flat_map(count).collect();
            let task = kept.iter().map(|&o| self.task(o) as u32).collect();
            Self::from_triples(inputs.len(), n_tasks, input, task, label)?
        };
        out.tasks = self.tasks.clone();
        out.weight = match &self.weight {
            ObservationWeights::Each(w) => ObservationWeights::Each(kept.iter().map(|&o| w[o]).collect()),
            other => other.clone(),
        };
        out.offset = self.offset.as_ref().map(|offset| kept.iter().map(|&o| offset[o]).collect());
        out.check_some_weight()
    }

    /// The observations of some tasks, which become tasks 0, 1, ... and keep their names. All inputs stay.
    ///
    /// # Errors
    /// If a task does not exist or is named twice, or no observation is left.
    pub fn select_tasks(&self, tasks: &[usize]) -> Result<Self> {
        let mut new_task = vec![None; self.n_tasks()];
        for (new, &task) in tasks.iter().enumerate() {
            if task >= self.n_tasks() || new_task[task].is_some() {
                return Err(Error::TaskOutOfRange { row: new, task, n_tasks: self.n_tasks() });
            }
            new_task[task] = Some(new as u32);
        }
        let kept: Vec<(usize, u32)> =
            (0..self.len()).filter_map(|o| Some((o, new_task[self.task(o)]?))).collect();
        let of_kept = |values: &[f64]| kept.iter().map(|&(o, _)| values[o]).collect::<Vec<f64>>();
        let input = kept.iter().map(|&(o, _)| self.input(o) as u32).collect();
        let task = kept.iter().map(|&(_, new)| new).collect();
        let mut out = Self::from_triples(self.n_inputs, tasks.len(), input, task, of_kept(&self.label))?;
        out.tasks = self.tasks.select(tasks);
        out.weight = match &self.weight {
            ObservationWeights::One => ObservationWeights::One,
            ObservationWeights::PerTask(w) => {
                ObservationWeights::PerTask(tasks.iter().map(|&task| w[task]).collect())
            }
            ObservationWeights::Each(w) => ObservationWeights::Each(of_kept(w)),
        };
        out.offset = self.offset.as_deref().map(of_kept);
        out.check_some_weight()
    }

    /// Gives both classes of a task the same total weight, keeping the task's total: `n_t / (2 n_t,class)`,
    /// as scikit-learn's `class_weight="balanced"`. Positive labels are one class, the others the other; a
    /// task with one class keeps its weights.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for labels that are numbers: more than one that is positive, or that is not.
    pub fn class_balanced(self) -> Result<Self> {
        self.check_two_values()?;
        let weight = self.class_weights();
        self.with_weights(&weight)
    }

    /// Takes back what [`class_balanced`](Self::class_balanced) did, up to rounding.
    pub(crate) fn without_class_balance(self) -> Result<Self> {
        let weight: Vec<f64> = self.class_weights().iter().map(|weight| 1.0 / weight).collect();
        self.with_weights(&weight)
    }

    /// `Err` if the sign of a label does not say which label it is.
    fn check_two_values(&self) -> Result<()> {
        let mut values: [Option<f64>; 2] = [None; 2];
        for &label in &self.label {
            let first = values[usize::from(label > 0.0)].get_or_insert(label);
            if *first != label {
                return Err(Error::Incompatible(format!(
                    "balanced class weights are for labels of two values and a loss for classification, and the labels \
                     are numbers, such as {first} and {label}"
                )));
            }
        }
        Ok(())
    }

    fn class_weights(&self) -> Vec<f64> {
        let mut counts = vec![[0.0f64; 2]; self.n_tasks()];
        for o in 0..self.len() {
            counts[self.task(o)][usize::from(self.label(o) > 0.0)] += 1.0;
        }
        let balanced = |o: usize| {
            let [negative, positive] = counts[self.task(o)];
            let own = if self.label(o) > 0.0 { positive } else { negative };
            if negative == 0.0 || positive == 0.0 { 1.0 } else { (negative + positive) / (2.0 * own) }
        };
        (0..self.len()).map(balanced).collect()
    }

    fn check_some_weight(self) -> Result<Self> {
        if let ObservationWeights::PerTask(w) | ObservationWeights::Each(w) = &self.weight {
            check_weights(w)?; // products of finite weights need not be finite
        }
        if (0..self.len()).any(|o| self.weight(o) > 0.0) { Ok(self) } else { Err(Error::AllWeightsZero) }
    }

    /// Number of observations.
    pub fn len(&self) -> usize {
        self.label.len()
    }

    /// Never true: an empty list is refused at construction.
    pub fn is_empty(&self) -> bool {
        self.label.is_empty()
    }

    /// Number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Number of tasks, those without observations included.
    pub fn n_tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Names of the tasks.
    pub fn task_names(&self) -> &TaskNames {
        &self.tasks
    }

    /// Whether every input has exactly one observation for every task, in row-major order.
    pub fn is_complete(&self) -> bool {
        matches!(self.layout, ObservationLayout::Complete)
    }

    /// Input of observation o.
    #[inline]
    pub fn input(&self, o: usize) -> usize {
        match &self.layout {
            ObservationLayout::Complete => o / self.n_tasks(),
            ObservationLayout::Listed { input, .. } => input[o] as usize,
        }
    }

    /// Task of observation o.
    #[inline]
    pub fn task(&self, o: usize) -> usize {
        match &self.layout {
            ObservationLayout::Complete => o % self.n_tasks(),
            ObservationLayout::Listed { task, .. } => task[o] as usize,
        }
    }

    /// Label of observation o.
    #[inline]
    pub fn label(&self, o: usize) -> f64 {
        self.label[o]
    }

    /// All labels.
    pub fn labels(&self) -> &[f64] {
        &self.label
    }

    /// Weight of observation o.
    #[inline]
    pub fn weight(&self, o: usize) -> f64 {
        match &self.weight {
            ObservationWeights::One => 1.0,
            ObservationWeights::PerTask(w) => w[self.task(o)],
            ObservationWeights::Each(w) => w[o],
        }
    }

    /// Offset of observation o: a known part of its prediction.
    #[inline]
    pub fn offset(&self, o: usize) -> f64 {
        self.offset.as_ref().map_or(0.0, |offset| offset[o])
    }

    /// All offsets, unless they are all zero.
    pub fn offsets(&self) -> Option<&[f64]> {
        self.offset.as_deref()
    }

    /// Adds offsets to what a model predicts for each observation.
    pub fn add_offsets(&self, predictions: &mut [f64]) {
        if let Some(offset) = &self.offset {
            predictions.iter_mut().zip(offset).for_each(|(z, o)| *z += o);
        }
    }

    /// Labels less offsets: what the squared loss wants predictions to be.
    pub(crate) fn targets(&self) -> Cow<'_, [f64]> {
        match &self.offset {
            None => Cow::Borrowed(&self.label),
            Some(offset) => self.label.iter().zip(offset).map(|(y, o)| y - o).collect(),
        }
    }

    /// The weight that all observations share, if they do.
    pub fn uniform_weight(&self) -> Option<f64> {
        match &self.weight {
            ObservationWeights::One => Some(1.0),
            ObservationWeights::PerTask(w) | ObservationWeights::Each(w) => {
                w.iter().all(|&v| v == w[0]).then_some(w[0])
            }
        }
    }

    /// The sum of the weights of each input's observations, unless it is the same for all inputs: how much an input
    /// counts.
    pub fn input_weights(&self) -> Option<Vec<f64>> {
        if self.is_complete() && self.uniform_weight().is_some() {
            return None;
        }
        let mut sums = vec![0.0; self.n_inputs];
        (0..self.len()).for_each(|o| sums[self.input(o)] += self.weight(o));
        let same = sums.iter().all(|sum| *sum == sums[0]);
        (!same && sums.iter().all(|sum| sum.is_finite())).then_some(sums)
    }

    /// The observations of input i.
    #[inline]
    pub fn of_input(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let (range, listed) = match &self.layout {
            ObservationLayout::Complete => (i * self.n_tasks()..(i + 1) * self.n_tasks(), None),
            ObservationLayout::Listed { start, by_input, .. } => {
                (start[i] as usize..start[i + 1] as usize, Some(by_input))
            }
        };
        range.map(move |k| listed.map_or(k, |order| order[k] as usize))
    }

    /// [`of_input`](Self::of_input), each with its task.
    #[inline]
    pub(crate) fn of_input_with_task(&self, i: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let (start, complete) = (i * self.n_tasks(), self.is_complete());
        // A complete table needs no division to know the task.
        self.of_input(i).map(move |o| (o as u32, if complete { o - start } else { self.task(o) } as u32))
    }

    /// Number of observations of each task.
    pub fn task_counts(&self) -> Vec<usize> {
        if self.is_complete() {
            return vec![self.n_inputs; self.n_tasks()];
        }
        let mut counts = vec![0; self.n_tasks()];
        (0..self.len()).for_each(|o| counts[self.task(o)] += 1);
        counts
    }
}

fn same_length(what: &'static str, got: usize, expected: usize) -> Result<()> {
    if got == expected { Ok(()) } else { Err(Error::Length { what, got, expected }) }
}

/// Observations are numbered by 32 bits inside.
fn check_count(n: usize) -> Result<()> {
    if n <= u32::MAX as usize {
        return Ok(());
    }
    Err(Error::Incompatible(format!("{n} observations are more than 2^32 - 1, the most there can be")))
}

fn check_weights(weight: &[f64]) -> Result<()> {
    match weight.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        Some(row) => Err(Error::Weight { row, value: weight[row] }),
        None => Ok(()),
    }
}

/// Sorts the observations by input (counting sort, order kept within an input).
fn listed(n_inputs: usize, input: Vec<u32>, task: Vec<u32>) -> ObservationLayout {
    let mut start = vec![0u32; n_inputs + 1];
    input.iter().for_each(|&i| start[i as usize + 1] += 1);
    for i in 0..n_inputs {
        start[i + 1] += start[i];
    }
    let mut next = start.clone();
    let mut by_input = vec![0u32; input.len()];
    for (o, &i) in input.iter().enumerate() {
        by_input[next[i as usize] as usize] = o as u32;
        next[i as usize] += 1;
    }
    ObservationLayout::Listed { input, task, start, by_input }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_tasks_keep_their_names_weights_and_offsets() {
        let obs = Observations::multi_task(&[2, 0, 1, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let obs =
            obs.with_weights(&[0.1, 0.2, 0.3, 0.4]).unwrap().with_offsets(vec![5.0, 6.0, 7.0, 8.0]).unwrap();
        let some = obs.select_tasks(&[2, 1]).unwrap();
        assert_eq!((some.n_inputs(), some.n_tasks(), some.labels()), (4, 2, &[1.0, 3.0, 4.0][..]));
        assert_eq!([0, 1, 2].map(|o| (some.input(o), some.task(o))), [(0, 0), (2, 1), (3, 0)]);
        assert_eq!([0, 1, 2].map(|o| (some.weight(o), some.offset(o))), [(0.1, 5.0), (0.3, 7.0), (0.4, 8.0)]);
        assert_eq!((some.task_names().name(0), some.task_names().name(1)), ("2".into(), "1".into()));
        assert!(obs.select_tasks(&[1, 1]).is_err() && obs.select_tasks(&[3]).is_err());
        let classes = Observations::multi_class(&[0, 1, 2], 3).unwrap().select_tasks(&[1]).unwrap();
        assert_eq!(classes.labels(), [-1.0, 1.0, -1.0]);
    }

    #[test]
    fn observations_are_found_by_input() {
        let obs =
            Observations::from_triples(3, 2, vec![2, 0, 2, 0], vec![0, 1, 1, 1], vec![1.0, 2.0, 3.0, 4.0])
                .unwrap();
        assert_eq!(obs.of_input(0).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(obs.of_input(1).count(), 0);
        assert_eq!(obs.of_input(2).collect::<Vec<_>>(), [0, 2]);
        assert!(!obs.is_complete());
    }

    #[test]
    fn a_complete_list_is_recognised() {
        let obs = Observations::from_triples(2, 2, vec![0, 0, 1, 1], vec![0, 1, 0, 1], vec![1.0; 4]).unwrap();
        assert!(obs.is_complete());
        assert_eq!(obs.of_input(1).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn balanced_classes_have_equal_weight() {
        let obs = Observations::multi_task(&[0, 0, 0, 0, 1], vec![1.0, -1.0, -1.0, -1.0, 1.0]).unwrap();
        let obs = obs.class_balanced().unwrap();
        let weight: Vec<f64> = (0..5).map(|o| obs.weight(o)).collect();
        assert_eq!(weight, [2.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 1.0]);
    }

    #[test]
    fn weights_multiply() {
        let obs = Observations::multi_task(&[0, 1], vec![1.0, 1.0]).unwrap();
        let obs = obs.with_task_weights(&[2.0, 3.0]).unwrap().with_weights(&[0.5, 1.0]).unwrap();
        assert_eq!((obs.weight(0), obs.weight(1)), (1.0, 3.0));
        assert_eq!(obs.uniform_weight(), None);
    }

    #[test]
    fn selected_inputs_keep_their_tasks_labels_and_weights() {
        let obs = Observations::multi_task(&[0, 1, 2, 1], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let obs = obs.with_weights(&[0.1, 0.2, 0.3, 0.4]).unwrap().select_inputs(&[3, 0]).unwrap();
        assert_eq!((obs.n_inputs(), obs.n_tasks(), obs.labels()), (2, 3, &[4.0, 1.0][..]));
        assert_eq!((obs.task(0), obs.input(0), obs.weight(0), obs.task(1)), (1, 0, 0.4, 0));
        let classes = Observations::multi_class(&[0, 1, 2], 3).unwrap().select_inputs(&[2, 2]).unwrap();
        assert!(classes.is_complete());
        assert_eq!(classes.labels(), [-1.0, -1.0, 1.0, -1.0, -1.0, 1.0]);
        assert!(classes.select_inputs(&[2]).is_err());
    }

    #[test]
    fn offsets_stay_with_their_observations() {
        let obs = Observations::multi_task(&[0, 1, 2, 1], vec![1.0, -1.0, 1.0, 1.0]).unwrap();
        let obs = obs.with_offsets(vec![0.1, 0.2, 0.3, 0.4]).unwrap();
        let names = TaskNames::Strings(["a", "b", "c", "d"].map(String::from).to_vec());
        let obs = obs.with_task_names(names).unwrap().with_weights(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        let obs = obs.with_task_weights(&[1.0, 2.0, 3.0, 4.0]).unwrap().class_balanced().unwrap();
        let obs = obs.with_labels(vec![5.0; 4]).unwrap().select_inputs(&[3, 0, 3]).unwrap();
        assert_eq!(obs.offsets(), Some(&[0.4, 0.1, 0.4][..]));
        assert_eq!(obs.targets().to_vec(), [5.0 - 0.4, 5.0 - 0.1, 5.0 - 0.4]);
        let mut predictions = [1.0, 2.0, 3.0];
        obs.add_offsets(&mut predictions);
        assert_eq!(predictions, [1.4, 2.1, 3.4]);
        let classes = Observations::multi_class(&[0, 1], 2).unwrap();
        let classes = classes.with_offsets(vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(classes.select_inputs(&[1]).unwrap().offsets(), Some(&[3.0, 4.0][..]));
    }

    #[test]
    fn zero_offsets_are_none_and_others_are_checked() {
        let obs = || Observations::multi_task(&[0, 1], vec![1.0, 2.0]).unwrap();
        assert_eq!(obs().with_offsets(vec![0.0, -0.0]).unwrap().offsets(), None);
        assert!(matches!(obs().with_offsets(vec![0.0]), Err(Error::Length { .. })));
        let infinite = obs().with_offsets(vec![0.0, f64::INFINITY]);
        assert!(matches!(infinite, Err(Error::Offset { row: 1, .. })));
    }

    #[test]
    fn names_may_add_tasks_without_observations() {
        let names = TaskNames::Strings(vec!["a".into(), "b".into(), "c".into()]);
        let obs = Observations::multi_class(&[0, 1], 2).unwrap().with_task_names(names).unwrap();
        assert_eq!((obs.n_tasks(), obs.len(), obs.task(3), obs.input(3)), (3, 4, 1, 1));
        assert_eq!(obs.task_counts(), [2, 2, 0]);
    }
}
