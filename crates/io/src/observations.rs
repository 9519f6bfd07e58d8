//! From a table to a learning problem: which row is an observation of which task.

use crate::error::quoted;
use crate::label_encoding::{coder, no_labels, numbers, words};
use crate::{Error, LabelEncoding, Labels, Result, Table, Targets, categories};
use kinfolk::{Matrix, Observations, TaskNames};

impl Table {
    /// The observations, with the tasks of the table, weights and offsets included.
    ///
    /// # Errors
    /// If there are no labels, or one is missing or not among those that `encoding` knows.
    pub fn observations(&self, encoding: &LabelEncoding) -> Result<Observations> {
        match &self.targets {
            Targets::None => Err(no_labels()),
            Targets::Tasks { task: keys, .. } | Targets::Classes(keys) => {
                self.observations_in(encoding, &keys.names)
            }
            Targets::Wide { tasks, .. } => self.observations_in(encoding, tasks),
        }
    }

    /// The observations, with the given tasks: those of a model, say. Tasks are found by name.
    ///
    /// # Errors
    /// As [`observations`](Self::observations), and if a task of some row is not among those given.
    pub fn observations_in(&self, encoding: &LabelEncoding, tasks: &TaskNames) -> Result<Observations> {
        self.labels_in(encoding, tasks).map_err(|error| self.place(error))
    }

    fn labels_in(&self, encoding: &LabelEncoding, tasks: &TaskNames) -> Result<Observations> {
        let n = self.n_rows();
        let unknown = |name: &str| unknown_task(name, tasks);
        let observations = match &self.targets {
            Targets::None | Targets::Tasks { label: None, .. } => return Err(no_labels()),
            Targets::Tasks { task, label: Some(label) } => {
                let labels = match label {
                    Labels::Numbers(labels) => numbers(labels, encoding)?,
                    Labels::Words(labels) => words(labels, encoding)?,
                };
                let of_rows = task.rows_in(tasks, unknown)?;
                // A row without a label is an input without an observation.
                let known: Vec<usize> = (0..n).filter(|&i| !labels[i].is_nan()).collect();
                let rows = known.iter().map(|&i| i as u32).collect();
                let tasks_of = known.iter().map(|&i| of_rows[i]).collect();
                let labels = known.iter().map(|&i| labels[i]).collect();
                Observations::from_triples(n, tasks.len(), rows, tasks_of, labels)
            }
            Targets::Classes(class) => {
                Observations::multi_class(&class.rows_in(tasks, unknown)?, tasks.len())
            }
            Targets::Wide { label, tasks: own } => wide(label, own, encoding, tasks)?,
        };
        let mut observations = observations.and_then(|o| o.with_task_names(tasks.clone()))?;
        let of_observations = |rows: &Vec<f64>, observations: &Observations| -> Vec<f64> {
            (0..observations.len()).map(|o| rows[observations.input(o)]).collect()
        };
        if let Some(weight) = &self.weight {
            let weights = of_observations(weight, &observations);
            observations = observations.with_weights(&weights)?;
        }
        if let Some(offset) = &self.offset {
            let offsets = of_observations(offset, &observations);
            observations = observations.with_offsets(offsets)?;
        }
        Ok(observations)
    }
}

/// The error of the list itself says which tasks there are.
fn unknown_task(name: &str, tasks: &TaskNames) -> Error {
    match tasks.find(name) {
        Err(error) => Error::of_table(error),
        Ok(_) => wrong!("task {} is unknown", quoted(name)),
    }
}

fn wide(
    label: &Matrix,
    own: &TaskNames,
    encoding: &LabelEncoding,
    tasks: &TaskNames,
) -> Result<kinfolk::Result<Observations>> {
    let found = categories::find_in(own, tasks).into_iter().enumerate();
    let to: Vec<u32> =
        found.map(|(t, to)| to.ok_or_else(|| unknown_task(&own.name(t), tasks))).collect::<Result<_>>()?;
    let mut table = Matrix::zeros(label.rows(), tasks.len());
    table.as_mut_slice().fill(f64::NAN);
    let coded = coder(encoding);
    for row in 0..label.rows() {
        for (t, &y) in label.row(row).iter().enumerate() {
            if y.is_infinite() {
                return Err(wrong!("label {y} is not a finite number").at_row(row).in_column(own.name(t)));
            }
            table[(row, to[t] as usize)] = coded(y, row).map_err(|error| error.in_column(own.name(t)))?;
        }
    }
    Ok(Observations::multi_output(table.as_slice(), label.rows(), tasks.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Categorical;
    use kinfolk::inputs::Dense;

    fn table(targets: Targets, rows: usize) -> Table {
        let inputs = Dense::f64_owned(vec![1.0; rows], rows, 1).unwrap().into();
        Table::new(inputs, targets)
    }

    #[test]
    fn wide_tables_have_holes_and_weights() {
        let label = Matrix::from_vec(vec![0.0, f64::NAN, 1.0, 0.0], 2, 2).unwrap();
        let tasks = TaskNames::Strings(vec!["b".into(), "a".into()]);
        let mut wide = table(Targets::Wide { label, tasks }, 2);
        wide.weight = Some(vec![2.0, 3.0]);
        wide.offset = Some(vec![0.5, -1.0]);
        let encoding = wide.label_encoding(true).unwrap();
        let own = wide.observations(&encoding).unwrap();
        assert_eq!(own.labels(), [-1.0, 1.0, -1.0]);
        assert_eq!((0..3).map(|o| own.weight(o)).collect::<Vec<_>>(), [2.0, 3.0, 3.0]);
        assert_eq!((0..3).map(|o| own.offset(o)).collect::<Vec<_>>(), [0.5, -1.0, -1.0]);
        let known = TaskNames::Strings(vec!["a".into(), "b".into()]);
        let of_model = wide.observations_in(&encoding, &known).unwrap();
        assert_eq!((0..3).map(|o| of_model.task(o)).collect::<Vec<_>>(), [1, 0, 1]);
        let unknown = TaskNames::Strings(vec!["a".into()]);
        assert_eq!(
            wide.observations_in(&encoding, &unknown).unwrap_err().to_string(),
            "task \"b\" is unknown; the tasks are a"
        );
    }

    #[test]
    fn classes_are_one_task_each() {
        let mut classes = table(Targets::Classes(Categorical::from_words(&["oak", "elm", "ash"])), 3);
        classes.weight = Some(vec![1.0, 2.0, 3.0]);
        let encoding = classes.label_encoding(true).unwrap();
        let observations = classes.observations(&encoding).unwrap();
        assert_eq!(observations.labels()[..3], [-1.0, -1.0, 1.0]);
        assert_eq!((observations.len(), observations.weight(8)), (9, 3.0));
        assert_eq!(observations.task_names().name(0), "ash");
        assert!(encoding.note().unwrap().starts_with("classes: one task each"));
    }
}
