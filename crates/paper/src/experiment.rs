//! What an experiment is, as a text that people write.

use crate::{Error, Result};
use kinfolk::{LossKind, ScalingKind, SolverKind};
use kinfolk_train::Metric;
use serde::{Deserialize, Deserializer};

/// The tables and figures of the paper, in its order.
pub const ITEMS: [&str; 5] =
    ["table-multitask", "figure-theta", "table-digits", "table-scenes", "figure-runtime"];

const TEXTS: [&str; 5] = [
    include_str!("../../../paper/table-multitask/experiment.toml"),
    include_str!("../../../paper/figure-theta/experiment.toml"),
    include_str!("../../../paper/table-digits/experiment.toml"),
    include_str!("../../../paper/table-scenes/experiment.toml"),
    include_str!("../../../paper/figure-runtime/experiment.toml"),
];

/// An experiment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Experiment {
    /// Name of the item; that of its folder.
    #[serde(skip)]
    pub item: String,
    /// Its heading.
    pub title: String,
    /// What it is about, and what differs from the paper, in Markdown.
    pub about: String,
    /// What is made of the records.
    pub kind: ItemKind,
    /// Of splits and folds; split s has this plus s.
    pub seed: u64,
    /// Number of random splits.
    pub splits: usize,
    /// Folds for choosing parameters, where a set has no validation rows of its own.
    pub folds: usize,
    /// Strengths to choose from.
    pub strengths: Vec<f64>,
    /// Relative gap at which fits end.
    pub tolerance: f64,
    /// What the paper's figures mean; there may be none.
    pub paper: Option<Paper>,
    /// What experiments say of figures that do not agree, in Markdown.
    #[serde(default)]
    pub exceptions: String,
    /// Data sets.
    #[serde(rename = "set")]
    pub sets: Vec<Set>,
    /// Methods.
    #[serde(rename = "method")]
    pub methods: Vec<ComparedMethod>,
    /// What is different for a quick look.
    pub quick: Quick,
    /// Of timings alone.
    pub runtime: Option<Runtime>,
}

impl Experiment {
    /// With these sets and methods alone; an empty list is all.
    ///
    /// # Errors
    /// If there is no such set or method.
    pub fn only(mut self, sets: &[String], methods: &[String]) -> Result<Self> {
        let known: Vec<&str> = self.sets.iter().map(|set| set.name.as_str()).collect();
        self.check_known("set", sets, &known)?;
        let known: Vec<&str> = self.methods.iter().map(|method| method.label.as_str()).collect();
        self.check_known("method", methods, &known)?;
        self.sets.retain(|set| sets.is_empty() || sets.contains(&set.name));
        self.methods.retain(|method| methods.is_empty() || methods.contains(&method.label));
        Ok(self)
    }

    fn check_known(&self, what: &str, wanted: &[String], known: &[&str]) -> Result<()> {
        match wanted.iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let why = format!("there is no {what} {name:?}; there are {}", known.join("; "));
                Err(Error::experiment(&self.item, why))
            }
        }
    }

    /// The methods that are tried on a set.
    pub(crate) fn methods_on(&self, set: &Set) -> impl Iterator<Item = &ComparedMethod> {
        let tried = |method: &&ComparedMethod| {
            let listed = set.methods.is_empty() || set.methods.contains(&method.label);
            listed && !method.except.contains(&set.name)
        };
        self.methods.iter().filter(tried)
    }
}

/// What is made of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemKind {
    /// Scores of methods on sets.
    Table,
    /// Pictures of Theta.
    Theta,
    /// Seconds.
    Runtime,
}

/// What the paper's figures mean.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Paper {
    /// Splits behind a figure.
    pub splits: usize,
    /// What stands behind its "+-".
    pub plus_minus: PlusMinus,
}

/// What stands behind a "+-".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlusMinus {
    /// The standard deviation over splits.
    Deviation,
    /// The standard error of the mean.
    Error,
}

/// A data set and how it is used.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Set {
    /// As in tables.
    pub name: String,
    /// Files whose rows are stacked; classes of different files are different.
    #[serde(default)]
    pub files: Vec<String>,
    /// Generated instead of read: always if there are no files, and in a quick look if they are not there.
    pub generated: Option<Generated>,
    /// Whether a quick look takes the generated one even if the files are there.
    #[serde(default)]
    pub large: bool,
    /// Score.
    pub metric: Metric,
    /// Score by which parameters are chosen, if it is another.
    pub choose_by: Option<Metric>,
    /// Loss, unless a method has its own.
    #[serde(deserialize_with = "loss")]
    pub loss: LossKind,
    /// Scaling of features.
    #[serde(default)]
    pub scale: ScalingKind,
    /// Whether labels of each task get mean 0 and variance 1 over its training rows. Explained variance does
    /// not mind.
    #[serde(default)]
    pub scale_labels: bool,
    /// A constant feature.
    #[serde(default)]
    pub bias: f64,
    /// Both classes of a task of the same weight.
    #[serde(default)]
    pub balanced: bool,
    /// Who trains.
    pub split: SplitRule,
    /// Whether the choice is fitted to the rows that chose, too, where a set has such rows of its own.
    #[serde(default)]
    pub refit: bool,
    /// Whether parameters are chosen by the test rows, and all others train: no choice of them can do better.
    #[serde(default)]
    pub chosen_on_test: bool,
    /// Whether it is an experiment, beside what the paper did, and none of its claims.
    #[serde(default)]
    pub experiment: bool,
    /// Only these methods, if there are any.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Whether the paper has this very data.
    #[serde(default)]
    pub matches_paper: bool,
    /// Sizes of the true groups of tasks, in their order, where they are known.
    #[serde(default)]
    pub groups: Vec<usize>,
    /// What a reader should know, in Markdown.
    #[serde(default)]
    pub note: String,
    /// Fewer splits than others.
    pub splits: Option<usize>,
    /// Parameters are chosen on so many splits; later ones take those of the first.
    pub chosen_on: Option<usize>,
    /// Where it is timed.
    #[serde(default)]
    pub timed: Timed,
}

/// Where a set is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timed {
    /// With all tasks, at the strength that cross-validation chooses.
    #[default]
    Once,
    /// Against the number of tasks, at that strength.
    Tasks,
    /// With all tasks, over a range of strengths.
    Strengths,
}

/// Tasks made up for the purpose.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Generated {
    /// Tasks, or classes.
    pub tasks: usize,
    /// Groups of kin.
    pub groups: usize,
    /// Rows of each task.
    pub rows: usize,
    /// Features.
    pub features: usize,
    /// Whether labels are -1 and +1.
    #[serde(default)]
    pub binary: bool,
    /// Whether each row has a class; else it has a task.
    #[serde(default)]
    pub classes: bool,
}

/// Which rows train, which choose, which test.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, tag = "by", rename_all = "kebab-case")]
pub enum SplitRule {
    /// A number of rows of each task; the rest tests.
    Task {
        /// How many.
        rows: usize,
        /// Rows with the same value of this array stay together.
        together: Option<String>,
    },
    /// A share of the rows of each task; the rest tests.
    Share {
        /// From 0 to 1.
        share: f64,
    },
    /// A number of rows of each class; tested on the official test rows, or on as many of the rest.
    Class {
        /// How many; all there are where there are fewer.
        rows: usize,
        /// Test rows of each class, at most, where there is no official part.
        test: usize,
    },
    /// Trials that came with the data: rows of an array, true for training rows; the other rows not in the
    /// official test part choose.
    Trials {
        /// Its name.
        array: String,
    },
}

/// A method to be compared.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ComparedMethod {
    /// As in tables.
    pub label: String,
    /// As on the command line: `fmtl:k=2`.
    pub method: String,
    /// Its own loss.
    #[serde(default, deserialize_with = "some_loss")]
    pub loss: Option<LossKind>,
    /// Values of its parameters to choose from: `groups=2,3`.
    #[serde(default)]
    pub grid: Vec<String>,
    /// Its own strengths to choose from.
    pub strengths: Option<Vec<f64>>,
    /// Which solver, where the method leaves it open.
    pub solver: Option<SolverKind>,
    /// Seconds after which it is given up, if not as for all.
    pub limit: Option<f64>,
    /// Not on these sets.
    #[serde(default)]
    pub except: Vec<String>,
}

/// What is different for a quick look.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Quick {
    /// Splits.
    pub splits: usize,
    /// Folds.
    pub folds: usize,
    /// Strengths.
    pub strengths: Vec<f64>,
}

/// What is timed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Runtime {
    /// How often each point is measured.
    pub repeats: usize,
    /// Seconds after which a fit is given up.
    pub limit: f64,
    /// What took longer than so many seconds is not repeated.
    #[serde(default = "for_ever")]
    pub repeat_below: f64,
    /// Memory that a fit may use, in GiB.
    #[serde(default = "four")]
    pub memory: u64,
    /// Numbers of tasks, increasing, on sets that are timed against them.
    pub tasks: Vec<usize>,
    /// Strengths, on sets that are timed over a range.
    pub range: Vec<f64>,
    /// The paper's factors.
    #[serde(default)]
    pub paper: Vec<PaperFactor>,
}

fn for_ever() -> f64 {
    f64::INFINITY
}

fn four() -> u64 {
    4
}

/// A factor that the paper reports.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PaperFactor {
    /// Where.
    pub set: String,
    /// Over which method.
    pub method: String,
    /// How many times faster.
    pub factor: f64,
}

/// As on the command line: `epsilon:0.1`.
fn loss<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<LossKind, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

fn some_loss<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<LossKind>, D::Error> {
    loss(from).map(Some)
}

impl Experiment {
    /// An experiment that is built in.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn named(item: &str) -> Result<Experiment> {
        match ITEMS.iter().position(|known| *known == item) {
            Some(place) => Experiment::parse(item, TEXTS[place]),
            None => Err(Error::experiment(item, format!("there is none; there are {}", ITEMS.join(", ")))),
        }
    }

    /// Reads an experiment.
    ///
    /// # Errors
    /// If it makes no sense, with the line.
    pub fn parse(item: &str, text: &str) -> Result<Experiment> {
        let mut experiment: Experiment =
            toml::from_str(text).map_err(|error| Error::experiment(item, error))?;
        experiment.item = item.to_string();
        experiment.check()?;
        Ok(experiment)
    }

    fn check(&self) -> Result<()> {
        let wrong = |why: String| Err(Error::experiment(&self.item, why));
        if let Some(set) = self.sets.iter().find(|set| set.files.is_empty() && set.generated.is_none()) {
            return wrong(format!("set {:?} has neither files nor a generator", set.name));
        }
        let mut labels: Vec<&str> = self.methods.iter().map(|method| method.label.as_str()).collect();
        labels.sort_unstable();
        if let Some(twice) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            return wrong(format!("there are two methods {:?}", twice[0]));
        }
        if self.kind == ItemKind::Runtime && self.runtime.is_none() {
            return wrong("it is of kind runtime but says nothing of what is timed".into());
        }
        Ok(())
    }

    /// Fewer splits, folds and strengths.
    pub fn quick(mut self) -> Experiment {
        let Quick { splits, folds, strengths } = self.quick.clone();
        (self.splits, self.folds, self.strengths) = (splits, folds, strengths);
        for set in &mut self.sets {
            (set.splits, set.chosen_on) = (None, None);
            if let Some(generated) = &mut set.generated {
                generated.tasks = generated.tasks.min(8);
                generated.groups = generated.groups.min(2);
                generated.features = generated.features.min(16);
            }
        }
        self.methods.iter_mut().for_each(|method| method.strengths = None);
        // The first value of each parameter.
        for axis in self.methods.iter_mut().flat_map(|method| &mut method.grid) {
            axis.truncate(axis.find(',').unwrap_or(axis.len()));
        }
        if let Some(runtime) = &mut self.runtime {
            (runtime.repeats, runtime.limit) = (1, runtime.limit.min(5.0));
            runtime.tasks.truncate(1);
            runtime.range.truncate(1);
        }
        self
    }

    /// Splits of a set.
    pub fn splits_of(&self, set: &Set) -> usize {
        set.splits.unwrap_or(self.splits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_recipes_can_be_read() {
        for item in ITEMS {
            let experiment = Experiment::named(item).unwrap();
            assert!(!experiment.sets.is_empty() && !experiment.methods.is_empty(), "{item}");
            // A quick look needs no files.
            assert!(experiment.sets.iter().any(|set| set.generated.is_some()), "{item}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let error = Experiment::named("table-9").unwrap_err().to_string();
        assert!(error.starts_with("experiment table-9: there is none; there are table-multitask"), "{error}");
        let error = Experiment::parse("mine", "titel = 'x'").unwrap_err().to_string();
        assert!(error.contains("titel"), "{error}");
    }
}
