//! The data of the demo.

use crate::failure::Result;
use crate::text::count;
use clap::ValueEnum;
use kinfolk_io::{Generator, Kinship, Table};
use kinfolk_train::select::folds;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DemoData {
    Tasks,
    Digits,
}

/// Rows of each generated task: fewer for training than there are features, plenty for the test.
const TRAIN_ROWS: usize = 20;
const TEST_ROWS: usize = 200;
const FEATURES: usize = 30;
const TASKS: usize = 20;
const GROUPS: usize = 3;
const OUTLIERS: usize = 2;
/// Size of the noise in the labels; the signal has size 1.
const NOISE: f64 = 0.3;

/// The share of the digits to learn from.
const DIGITS_SHARE: f64 = 0.1;

/// Rows to learn from, rows to test on, and the true group of each task where it is known.
pub(super) struct Split {
    pub(super) about: String,
    pub(super) train: Table,
    pub(super) test: Table,
    pub(super) groups: Option<Vec<usize>>,
}

pub(super) fn make(data: DemoData, seed: u64) -> Result<Split> {
    match data {
        DemoData::Tasks => tasks(seed),
        DemoData::Digits => digits(seed),
    }
}

fn tasks(seed: u64) -> Result<Split> {
    let rows = TRAIN_ROWS + TEST_ROWS;
    let generator = Generator {
        kinship: Kinship::Outliers(OUTLIERS),
        tasks: TASKS,
        groups: GROUPS,
        rows,
        features: FEATURES,
        noise: NOISE,
        seed,
        ..Generator::default()
    };
    let (table, truth) = generator.generate()?;
    // Rows come task by task.
    let is_train = |i: &u32| *i as usize % rows < TRAIN_ROWS;
    let (train, test): (Vec<u32>, Vec<u32>) = (0..table.n_rows() as u32).partition(is_train);
    let related = TASKS - OUTLIERS;
    let about = format!(
        "{TASKS} regression tasks of {FEATURES} features with {TRAIN_ROWS} rows each (and {TEST_ROWS} for the test): \
         {related} come\nin {GROUPS} groups of related tasks, {OUTLIERS} are related to none; the groups \
         are not given to \
         the methods."
    );
    let groups = Some(truth.group.iter().map(|&g| g as usize).collect());
    Ok(Split { about, train: table.select_rows(&train), test: table.select_rows(&test), groups })
}

fn digits(seed: u64) -> Result<Split> {
    let table = kinfolk_io::digits();
    let observations = table.observations(&table.label_encoding(false)?)?;
    let (train, test) = folds::split(&observations, DIGITS_SHARE, seed)?;
    let about = format!(
        "Handwritten digits of 8 x 8 pixels, one task per digit: is it this one? {} rows to learn from, {} \
         for the test.",
        count(train.len()),
        count(test.len())
    );
    Ok(Split { about, train: table.select_rows(&train), test: table.select_rows(&test), groups: None })
}
