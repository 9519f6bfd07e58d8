//! The data of the demo.

use super::DemoData;
use crate::failure::{Failure, Result, of_method};
use crate::text::count;
use kinfolk_io::{Generator, Kinship, Table, Targets};
use kinfolk_train::folds;

/// Rows of each generated task: fewer to learn from than there are features, plenty to test on.
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

/// Rows to learn from, rows to test on, and what should be found.
pub(super) struct World {
    pub(super) story: String,
    pub(super) train: Table,
    pub(super) test: Table,
    pub(super) truth: Option<Truth>,
}

/// Who is kin to whom.
pub(super) struct Truth {
    /// Group of each task.
    pub(super) group: Vec<usize>,
    pub(super) n_groups: usize,
}

impl World {
    pub(super) fn new(data: DemoData, seed: u64) -> Result<World> {
        match data {
            DemoData::Tasks => tasks(seed),
            DemoData::Digits => digits(seed),
        }
    }
}

fn tasks(seed: u64) -> Result<World> {
    let rows = TRAIN_ROWS + TEST_ROWS;
    let (kinship, noise) = (Kinship::Outliers(OUTLIERS), NOISE);
    let generator = Generator {
        kinship,
        tasks: TASKS,
        groups: GROUPS,
        rows,
        features: FEATURES,
        noise,
        seed,
        ..Generator::default()
    };
    let (table, truth) = generator.generate()?;
    // Rows come task by task.
    let (mut train, mut test) = (vec![], vec![]);
    (0..table.n_rows())
        .for_each(|i| if i % rows < TRAIN_ROWS { train.push(i as u32) } else { test.push(i as u32) });
    let group: Vec<usize> = truth.group.iter().map(|&g| g as usize).collect();
    let n_groups = group.iter().max().map_or(0, |g| g + 1);
    let kin = TASKS - OUTLIERS;
    let story = format!(
        "{TASKS} regression tasks of {FEATURES} features with {TRAIN_ROWS} rows each (and {TEST_ROWS} for the test): {kin} \
         come\nin {GROUPS} groups of kin, {OUTLIERS} are related to nobody, and the learner is not told."
    );
    Ok(World {
        story,
        train: table.select_rows(&train),
        test: table.select_rows(&test),
        truth: Some(Truth { group, n_groups }),
    })
}

fn digits(seed: u64) -> Result<World> {
    let table = kinfolk_io::digits();
    let Targets::Classes(_) = &table.targets else {
        return Err(Failure::output("the digits have no classes"));
    };
    let observations = table.observations(&table.label_encoding(false)?)?;
    let (train, test) = folds::split(&observations, DIGITS_SHARE, seed).map_err(of_method)?;
    let story = format!(
        "Handwritten digits of 8 x 8 pixels, one task per digit: is it this one? {} rows to learn from, {} for the test.",
        count(train.len()),
        count(test.len())
    );
    Ok(World { story, train: table.select_rows(&train), test: table.select_rows(&test), truth: None })
}
