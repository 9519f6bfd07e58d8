//! Chunks of rows put together to one table.

use crate::{
    Categorical, FoldKeys, Labels, Result, Schema, Source, Storage, Table, Targets, categories,
    dense_or_sparse, text,
};
use kinfolk::{Inputs, Matrix, TaskNames};
use std::collections::VecDeque;
use std::mem::{Discriminant, discriminant};

/// Numbers in a chunk, about.
const CHUNK_NUMBERS: usize = 1 << 21;
/// Rows in a chunk, at most.
const CHUNK_ROWS: usize = 1 << 16;

/// Reads a source to its end. With a `schema` the inputs are stored as it says; without, as the numbers say,
/// and kernel values become a Gram matrix. Returns the schema with the storage decided.
pub(crate) fn read_all(source: &mut dyn Source, schema: Option<&Schema>) -> Result<(Table, Schema)> {
    let own = source.schema();
    let max_rows = (CHUNK_NUMBERS / own.n_features.max(1)).clamp(1, CHUNK_ROWS);
    let mut assembly = Assembly::default();
    while let Some(chunk) = source.next_chunk(max_rows)? {
        assembly.push(chunk)?;
    }
    let mut schema_now = source.schema();
    let kernel = (schema_now.storage == Storage::Kernel).then_some(Storage::Kernel);
    let wanted = schema.map(|schema| schema.storage).or(kernel);
    let (mut table, storage) = assembly.finish(wanted, schema_now.columns.dense)?;
    if schema.is_none() && storage == Storage::Kernel {
        table.inputs = dense_or_sparse::gram(&table.inputs)?;
    }
    schema_now.n_features = table.inputs.n_features();
    schema_now.storage = storage;
    Ok((table, schema_now))
}

/// Rows so far.
#[derive(Default)]
pub(crate) struct Assembly {
    inputs: VecDeque<Inputs<'static>>,
    features: Option<Vec<String>>,
    rows: usize,
    cols: usize,
    targets: TargetsBuilder,
    weight: Option<Vec<f64>>,
    offset: Option<Vec<f64>>,
    split: Option<Vec<i64>>,
    fold_keys: Option<FoldKeys>,
    lines: Vec<u64>,
}

impl Assembly {
    /// Adds the rows of a chunk. Dense chunks have the same number of columns; sparse ones may widen.
    pub(crate) fn push(&mut self, chunk: Table) -> Result<()> {
        let (rows, cols) = (chunk.n_rows(), chunk.inputs.n_features());
        if self.rows == 0 {
            self.features = chunk.features;
        } else if self.features != chunk.features || (cols != self.cols && chunk.inputs.kind() != "sparse") {
            return Err(wrong!("the features are not the same as before").at_row(self.rows));
        }
        if (self.rows + rows) as u64 >= u64::from(u32::MAX) {
            return Err(wrong!("there are more than 2^32 - 2 rows, the most there can be"));
        }
        self.targets.push(chunk.targets).map_err(|error| error.at_row(self.rows))?;
        append(&mut self.weight, chunk.weight, self.rows, "weight")?;
        append(&mut self.offset, chunk.offset, self.rows, "offset")?;
        append(&mut self.split, chunk.split, self.rows, "split")?;
        self.fold_keys = match (self.fold_keys.take(), chunk.fold_keys) {
            (Some(keys), Some(more)) => Some(keys.concatenate(more)?),
            (keys, more) => keys.or(more),
        };
        // Of several files, only the first may have lines; then they say nothing about the others.
        if self.lines.len() == self.rows {
            self.lines.extend(chunk.lines);
        }
        self.inputs.push_back(dense_or_sparse::compact(chunk.inputs)?);
        (self.rows, self.cols) = (self.rows + rows, self.cols.max(cols));
        Ok(())
    }

    /// The table, and how its inputs are stored.
    pub(crate) fn finish(self, storage: Option<Storage>, keep_dense: bool) -> Result<(Table, Storage)> {
        if self.rows == 0 {
            return Err(wrong!("there are no rows"));
        }
        let (inputs, storage) = dense_or_sparse::join(self.inputs, self.cols, storage, keep_dense)?;
        let targets = self.targets.finish()?;
        let (features, weight, offset, split) = (self.features, self.weight, self.offset, self.split);
        let lines = if self.lines.len() == self.rows { self.lines } else { vec![] };
        let (kept, fold_keys) = (vec![], self.fold_keys);
        Ok((Table { inputs, features, targets, weight, offset, split, fold_keys, kept, lines }, storage))
    }
}

/// A whole table as reading a file gives it: names in order, inputs stored as their numbers say.
pub(crate) fn settle(table: Table) -> Result<Table> {
    if matches!(table.inputs, Inputs::Gram(_)) {
        return Ok(table);
    }
    let mut assembly = Assembly::default();
    assembly.push(table)?;
    Ok(assembly.finish(None, false)?.0)
}

fn append<T>(to: &mut Option<Vec<T>>, more: Option<Vec<T>>, rows: usize, what: &str) -> Result<()> {
    match (to.as_mut(), more) {
        (Some(to), Some(more)) => to.extend(more),
        (None, Some(more)) if rows == 0 => *to = Some(more),
        (None, None) => {}
        _ => {
            return Err(wrong!("some rows have one and others do not").at_row(rows).in_column(what));
        }
    }
    Ok(())
}

/// Targets so far, all of one kind.
#[derive(Default)]
struct TargetsBuilder {
    kind: Option<Discriminant<Targets>>,
    /// Tasks or classes of the rows.
    keys: Vec<Categorical>,
    /// Whether rows with a task have a label.
    labelled: Option<bool>,
    numbers: Vec<f64>,
    words: Vec<Categorical>,
    /// The tasks of a wide table.
    wide: Option<TaskNames>,
}

impl TargetsBuilder {
    fn push(&mut self, more: Targets) -> Result<()> {
        let other_kind = || Err(wrong!("the targets are not of the same kind as before"));
        let kind = discriminant(&more);
        if *self.kind.get_or_insert(kind) != kind {
            return other_kind();
        }
        match more {
            Targets::None => {}
            Targets::Classes(class) => push_names(&mut self.keys, class),
            Targets::Tasks { task, label } => {
                if *self.labelled.get_or_insert(label.is_some()) != label.is_some() {
                    return Err(wrong!("some rows have a label and others do not"));
                }
                push_names(&mut self.keys, task);
                label.map_or(Ok(()), |label| self.push_labels(label))?;
            }
            Targets::Wide { label, tasks } => {
                if *self.wide.get_or_insert_with(|| tasks.clone()) != tasks {
                    return other_kind();
                }
                self.numbers.extend_from_slice(label.as_slice());
            }
        }
        Ok(())
    }

    /// A chunk of numbers among words is a chunk of words that look like numbers.
    fn push_labels(&mut self, more: Labels) -> Result<()> {
        match more {
            Labels::Numbers(more) if self.words.is_empty() => self.numbers.extend(more),
            Labels::Numbers(more) => push_names(&mut self.words, as_words(&more)?),
            Labels::Words(more) => {
                if !self.numbers.is_empty() {
                    self.words.push(as_words(&std::mem::take(&mut self.numbers))?);
                }
                push_names(&mut self.words, more);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Targets> {
        if let Some(tasks) = self.wide {
            let tasks = TaskNames::from_texts(&tasks.iter().collect::<Vec<_>>());
            categories::check_distinct(&tasks)?;
            let rows = self.numbers.len() / tasks.len().max(1);
            return Ok(Targets::Wide { label: Matrix::from_vec(self.numbers, rows, tasks.len())?, tasks });
        }
        if self.keys.is_empty() {
            return Ok(Targets::None);
        }
        let keys = Categorical::concatenate(self.keys);
        let label = match self.words.is_empty() {
            true => Labels::Numbers(self.numbers),
            false => Labels::Words(Categorical::concatenate(self.words)),
        };
        Ok(match self.labelled {
            Some(labelled) => Targets::Tasks { task: keys, label: labelled.then_some(label) },
            None => Targets::Classes(keys),
        })
    }
}

fn as_words(numbers: &[f64]) -> Result<Categorical> {
    match numbers.iter().any(|x| x.is_nan()) {
        true => Err(wrong!("some labels are missing and others are words")),
        false => {
            Ok(Categorical::from_words(&numbers.iter().map(|&x| text::of_number(x)).collect::<Vec<_>>()))
        }
    }
}

/// Chunks that share their names are kept as one, so that many chunks of many names do not pile up.
fn push_names(to: &mut Vec<Categorical>, more: Categorical) {
    match to.last_mut() {
        Some(last) if last.names == more.names => last.index.extend(more.index),
        _ => to.push(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::Dense;

    fn chunk(targets: Targets, rows: usize) -> Table {
        let inputs = Dense::f64_owned(vec![0.3; rows], rows, 1).unwrap().into();
        Table::new(inputs, targets)
    }

    fn together(chunks: Vec<Table>) -> Result<Table> {
        let mut assembly = Assembly::default();
        chunks.into_iter().try_for_each(|chunk| assembly.push(chunk))?;
        Ok(assembly.finish(None, false)?.0)
    }

    fn tasks(names: &[&str], label: Labels) -> Targets {
        Targets::Tasks { task: Categorical::from_words(names), label: Some(label) }
    }

    #[test]
    fn tasks_of_chunks_are_joined_by_name() {
        let table = together(vec![
            chunk(tasks(&["b", "c"], Labels::Numbers(vec![1.0, 2.0])), 2),
            chunk(tasks(&["a"], Labels::Numbers(vec![3.0])), 1),
        ]);
        let wanted = tasks(&["b", "c", "a"], Labels::Numbers(vec![1.0, 2.0, 3.0]));
        assert_eq!(table.unwrap().targets, wanted);
    }

    #[test]
    fn a_chunk_of_numbers_among_words_is_words() {
        let table = together(vec![
            chunk(tasks(&["a"], Labels::Numbers(vec![1.0])), 1),
            chunk(tasks(&["a"], Labels::Words(Categorical::from_words(&["one"]))), 1),
        ]);
        let wanted = tasks(&["a", "a"], Labels::Words(Categorical::from_words(&["1", "one"])));
        assert_eq!(table.unwrap().targets, wanted);
    }

    #[test]
    fn numbered_tasks_are_integers() {
        let label = Matrix::from_vec(vec![1.0, 2.0], 1, 2).unwrap();
        let table = settle(chunk(Targets::Wide { label, tasks: TaskNames::Numbered(2) }, 1)).unwrap();
        let Targets::Wide { tasks, .. } = table.targets else { panic!() };
        assert_eq!(tasks, TaskNames::Integers(vec![0, 1]));
    }

    #[test]
    fn chunks_that_do_not_agree_are_an_error() {
        let mixed =
            together(vec![chunk(Targets::None, 2), chunk(tasks(&["a"], Labels::Numbers(vec![1.0])), 1)]);
        assert_eq!(mixed.unwrap_err().to_string(), "row 3: the targets are not of the same kind as before");
        assert_eq!(together(vec![]).unwrap_err().to_string(), "there are no rows");
    }
}
