//! What the first line of a file written by us says: `# kinfolk {"n_features":3,...}`.

use crate::{Error, Result};
use kinfolk::TaskNames;
use serde::{Deserialize, Serialize};

const MARK: &str = "# kinfolk ";

/// What the rows mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Preamble {
    pub(super) n_features: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) feature_names: Option<Vec<String>>,
    pub(super) targets: TargetKind,
    /// Whether the comment of a row begins with its weight.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) weight: bool,
    /// Whether the comment of a row ends with its part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) split: bool,
}

/// What the first field of a row is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TargetKind {
    /// Nothing.
    None,
    /// Nothing; `qid` is a position in this list.
    TasksOnly(TaskNames),
    /// A number, or `nan` if it is missing.
    Numbers(TaskNames),
    /// A position in a list of words.
    Words {
        /// The tasks.
        tasks: TaskNames,
        /// The words.
        labels: TaskNames,
    },
    /// A position in this list of classes; there is no `qid`.
    Classes(TaskNames),
    /// Numbers separated by commas, one for each task, `nan` where one is missing; there is no `qid`.
    Wide(TaskNames),
    /// Names of those labels that a row has, separated by commas, as other programs write them: 1 for these, 0 for
    /// others.
    #[serde(skip)]
    Several(TaskNames),
}

impl Preamble {
    /// The line, without its end.
    pub(super) fn line(&self) -> Result<String> {
        let json = serde_json::to_string(self).map_err(Error::of_table)?;
        Ok(format!("{MARK}{json}"))
    }

    /// What a line says if it is such a line.
    pub(super) fn parse(line: &str) -> Result<Option<Self>> {
        let Some(json) = line.strip_prefix(MARK) else { return Ok(None) };
        let wrong = |why: String| wrong!("after {MARK:?}: {why}").at_line(1);
        let preamble: Preamble = serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
        if !(1..=1 << 31).contains(&preamble.n_features) {
            return Err(wrong(format!("n_features is {}; expected 1 to 2^31", preamble.n_features)));
        }
        let names = preamble.feature_names.as_ref().map(Vec::len);
        if names.is_some_and(|n| n != preamble.n_features) {
            return Err(wrong("as many feature_names as n_features are expected".into()));
        }
        preamble.targets.check().map_err(|error| wrong(error.to_string()))?;
        Ok(Some(preamble))
    }
}

impl TargetKind {
    fn check(&self) -> Result<()> {
        match self {
            TargetKind::None => Ok(()),
            TargetKind::TasksOnly(names)
            | TargetKind::Numbers(names)
            | TargetKind::Classes(names)
            | TargetKind::Wide(names)
            | TargetKind::Several(names) => check_names(names),
            TargetKind::Words { tasks, labels } => check_names(tasks).and_then(|()| check_names(labels)),
        }
    }
}

fn check_names(names: &TaskNames) -> Result<()> {
    // A number of names is a claim, not a list: it could be anything.
    match names {
        TaskNames::Numbered(n) => Err(wrong!("{n} numbered names; expected a list")),
        names if names.is_empty() => Err(wrong!("a list of names is empty")),
        names => crate::categories::check_distinct(names),
    }
}
