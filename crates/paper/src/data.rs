//! From the files that an experiment names to inputs and observations.

use crate::experiment::{Generated, Set, SplitRule};
use crate::{Error, Result};
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{Matrix, Observations, TaskNames};
use kinfolk_io::{ColumnRoles, Generator, Kinship, Table, Targets, read, read_array};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where data sets are looked for.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// A folder that somebody named; else that of the environment variable `KINFOLK_DATA`; else
    /// `../shared/data`. `None` if the latter is not there.
    pub fn find(named: Option<PathBuf>) -> Option<Folder> {
        let of_environment = || std::env::var_os("KINFOLK_DATA").map(PathBuf::from);
        let beside = || Some(PathBuf::from("../shared/data")).filter(|folder| folder.is_dir());
        named.or_else(of_environment).or_else(beside).map(Folder)
    }

    /// The files of a set, if all are there.
    pub(crate) fn files(&self, set: &Set) -> Option<Vec<PathBuf>> {
        let paths: Vec<PathBuf> = set.files.iter().map(|file| self.0.join(file)).collect();
        (!paths.is_empty() && paths.iter().all(|path| path.is_file())).then_some(paths)
    }
}

/// Where rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The files that the experiment names.
    Files,
    /// Made up, as the experiment says.
    Generated,
}

/// A data set in memory.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) inputs: Inputs<'static>,
    pub(crate) observations: Observations,
    /// Official part of each row: 1 tests.
    pub(crate) part: Option<Vec<i64>>,
    /// Rows with the same number stay together.
    pub(crate) together: Option<Vec<i64>>,
    /// Training rows of each trial.
    pub(crate) trials: Option<Matrix>,
    pub(crate) origin: Origin,
}

/// Reads or generates a set. `None` if its files are not there and nothing may take their place.
pub(crate) fn load(set: &Set, folder: Option<&Folder>, quick: bool) -> Result<Option<Loaded>> {
    let files = folder.and_then(|folder| folder.files(set)).filter(|_| !(quick && set.large));
    match (files, &set.generated) {
        (Some(paths), _) => of_files(set, &paths).map(Some),
        (None, Some(generated)) if quick || set.files.is_empty() => of_generator(set, generated).map(Some),
        _ => Ok(None),
    }
}

fn of_files(set: &Set, paths: &[PathBuf]) -> Result<Loaded> {
    let mut tables = vec![];
    for path in paths {
        tables.push(read(path, &ColumnRoles::default(), None)?.0);
    }
    let part = (tables.len() == 1).then(|| tables[0].split.clone()).flatten();
    let table = if tables.len() == 1 { tables.remove(0) } else { stacked(tables)? };
    let (inputs, observations) = problem(&table, set)?;
    let array = |name: &String| read_array(&paths[0], name);
    let (mut together, mut trials) = (None, None);
    match &set.split {
        SplitRule::Task { together: Some(name), .. } => {
            together = Some(array(name)?.as_slice().iter().map(|&x| x as i64).collect());
        }
        SplitRule::Trials { array: name } => trials = Some(array(name)?),
        _ => (),
    }
    Ok(Loaded { inputs, observations, part, together, trials, origin: Origin::Files })
}

/// Inputs, and labels as numbers. A table with all tasks side by side becomes one with a task in each row.
fn problem(table: &Table, set: &Set) -> Result<(Inputs<'static>, Observations)> {
    let coding = table.label_encoding(set.loss.is_classification())?;
    let observations = table.observations(&coding)?;
    let Targets::Wide { tasks, .. } = &table.targets else {
        return Ok((table.inputs.view().into_owned(), observations));
    };
    let n = observations.len();
    let rows: Vec<u32> = (0..n).map(|o| observations.input(o) as u32).collect();
    let task: Vec<u32> = (0..n).map(|o| observations.task(o) as u32).collect();
    let labels = observations.labels().to_vec();
    let own = Observations::from_triples(n, tasks.len(), (0..n as u32).collect(), task, labels)?;
    Ok((table.inputs.select_rows(&rows), own.with_task_names(tasks.clone())?))
}

/// Rows of several tables with classes, one after another.
fn stacked(tables: Vec<Table>) -> Result<Table> {
    let d = tables[0].inputs.n_features();
    let (mut values, mut index, mut names) = (vec![], vec![], vec![]);
    for (number, table) in tables.iter().enumerate() {
        let (Inputs::Dense(dense), Targets::Classes(classes)) = (&table.inputs, &table.targets) else {
            return Err(Error::experiment("stack", "only dense tables with classes can be stacked"));
        };
        if dense.cols() != d {
            return Err(Error::experiment("stack", format!("{} features beside {d}", dense.cols())));
        }
        let start = values.len();
        values.resize(start + dense.rows() * d, 0.0);
        dense.load_range(0..dense.rows(), &mut values[start..]);
        let before = names.len() as u32;
        index.extend(classes.index.iter().map(|i| i + before));
        names.extend((0..classes.names.len()).map(|c| format!("{number} {}", classes.names.name(c))));
    }
    let n = index.len();
    let inputs = Dense::f64_owned(values, n, d)?.into();
    let classes = kinfolk_io::Categorical { index, names: TaskNames::Strings(names) };
    Ok(Table::new(inputs, Targets::Classes(classes)))
}

fn of_generator(set: &Set, generated: &Generated) -> Result<Loaded> {
    let generator = Generator {
        kinship: Kinship::Clustered,
        tasks: generated.tasks,
        groups: generated.groups,
        rows: generated.rows,
        features: generated.features,
        noise: 0.5,
        own: 0.4,
        binary: generated.binary,
        seed: 1,
    };
    let (inputs, observations) = match generated.classes {
        true => classes(&generator)?,
        false => problem(&generator.generate()?.0, set)?,
    };
    let n = inputs.n_inputs();
    let trials = matches!(set.split, SplitRule::Trials { .. }).then(|| alternating_trials(n));
    // The last fifth of the rows of every class.
    let test = |i: usize| i64::from(5 * (i % generated.rows) >= 4 * generated.rows);
    let part = (generated.classes).then(|| (0..n).map(test).collect());
    let together = matches!(set.split, SplitRule::Task { together: Some(_), .. })
        .then(|| (0..n).map(|i| (i / 2) as i64).collect());
    Ok(Loaded { inputs, observations, part, together, trials, origin: Origin::Generated })
}

/// A class for every task: rows lie around its weights.
fn classes(generator: &Generator) -> Result<(Inputs<'static>, Observations)> {
    let (table, truth) = Generator { binary: false, ..generator.clone() }.generate()?;
    let (n, d) = (table.n_rows(), generator.features);
    let Inputs::Dense(noise) = &table.inputs else {
        return Err(Error::experiment("generated", "normal numbers are dense"));
    };
    let mut values = vec![0.0; n * d];
    noise.load_range(0..n, &mut values);
    let class: Vec<u32> = (0..n).map(|i| (i / generator.rows) as u32).collect();
    // As if embedded: some directions matter, classes overlap.
    let spread = 1.5 / (d as f64).sqrt();
    for (row, &c) in values.chunks_mut(d).zip(&class) {
        row.iter_mut().zip(truth.weights.row(c as usize)).for_each(|(x, w)| *x = spread * *x + w);
    }
    Ok((Dense::f64_owned(values, n, d)?.into(), Observations::multi_class(&class, generator.tasks)?))
}

/// Two of three rows train, shifted by one from trial to trial.
fn alternating_trials(n: usize) -> Matrix {
    let mut trials = Matrix::zeros(3, n);
    for t in 0..3 {
        (0..n).filter(|i| (i + t) % 3 != 0).for_each(|i| trials[(t, i)] = 1.0);
    }
    trials
}

/// Whether a path is there, for messages.
pub(crate) fn listed(set: &Set, folder: Option<&Folder>) -> String {
    let files = set.files.join(", ");
    match folder {
        Some(Folder(path)) => format!("{files} not in {}", short(path)),
        None => format!("{files} not found: name their folder with --data or in KINFOLK_DATA"),
    }
}

fn short(path: &Path) -> String {
    path.display().to_string()
}
