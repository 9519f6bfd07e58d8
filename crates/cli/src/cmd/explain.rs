//! `kinfolk explain`: the words of this program.

use crate::failure::{Failure, Result};
use crate::report::Report;
use clap::Args;
use serde::Serialize;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk explain
  kinfolk explain strength";

/// Explain a word that this program uses; without one, list all words.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// The word.
    word: Option<String>,
}

#[derive(Serialize)]
struct Explanation {
    word: &'static str,
    meaning: &'static str,
}

/// Words with their meanings.
const WORDS: [(&str, &str); 20] = [
    (
        "task",
        "One of the problems that are learned together: a shop, a sensor, a class, a column of labels. --task names \
      the column that says which one a row belongs to; with several targets each is a task.",
    ),
    (
        "Theta",
        "The task matrix that is learned: a number for each pair of tasks, large if the two are related. `kinfolk \
      theta` shows it, with --correlation as correlations.",
    ),
    (
        "gap",
        "How far the model can be from the best one, at most: the objective of the model minus a bound that no model \
      is below (duality gap). The relative gap is the gap divided by the objective; --tol says when a fit may end.",
    ),
    (
        "certificate",
        "The objective, the bound and the gap, computed in double precision from the data. `kinfolk certify` \
      computes them again from the model file and the data.",
    ),
    (
        "C",
        "The weight of the losses: small values regularise more, large ones follow the labels more closely. Its size \
      depends on the data; see strength.",
    ),
    (
        "strength",
        "C on a scale without units: 1 is the middle for the data at hand, 10 follows the labels ten times as \
      much. --c strength:1 asks for it; --c auto tries some on held-out rows and takes the best.",
    ),
    (
        "lambda",
        "The weight of the penalty on Theta. It only matters together with C, so it is 1 unless you say otherwise.",
    ),
    (
        "k",
        "The parameter of the power penalty on Theta: 1 is the Frobenius norm, larger values make Theta sparser, so \
      that fewer tasks are related.",
    ),
    (
        "atom",
        "A known relation of the tasks, such as groups or a tree, whose part in Theta is learned. --atom names it; \
      the default method has two: all tasks are one, and each task is alone.",
    ),
    (
        "kin",
        "The default method: a learned Theta plus the two atoms `common` and `own`. One model for all tasks and \
      independent models are its special cases.",
    ),
    (
        "method",
        "How tasks are learned together. `kinfolk methods` lists all; `kinfolk select --compare` compares them.",
    ),
    (
        "kernel",
        "How two rows are compared. linear learns a weight for each feature; rbf and others learn curved functions.",
    ),
    (
        "loss",
        "What a wrong prediction costs. auto is squared for numbers and logistic for classes and labels of two values.",
    ),
    (
        "scale",
        "Features are brought to mean 0 and variance 1 before they are learned from, and labels to the units of their \
      task. Predictions and coefficients are in the units of your data.",
    ),
    (
        "one-hot",
        "A column of words becomes one feature for each of its values, 1 where a row has it and 0 elsewhere. Rare \
      values share a feature; values that were not there in training have none.",
    ),
    (
        "missing",
        "Missing values of a feature become the mean of its column, and one more feature says where they were. \
      --missing chooses another way. A row without a label is not learned from.",
    ),
    (
        "interval",
        "predict --interval 0.9 gives a range that holds the label of a new row with probability 0.9, if new rows \
      are like the old ones. Its width comes from errors on held-out rows.",
    ),
    (
        "split",
        "A column that says which part a row belongs to: train (0), test (1) or validation (2). --split-column names \
      it, and --split takes one part.",
    ),
    (
        "held-out rows",
        "Rows that a fit does not see, so that errors on them are honest. A fold is one of several such parts; \
      each row is held out once.",
    ),
    (
        "duals",
        "One number per label that the solver finds; Theta and all predictions follow from them, and the \
      certificate is computed from them.",
    ),
];

pub(crate) fn run(args: ExplainArgs, report: Report) -> Result<ExitCode> {
    let explanation = |(word, meaning): &(&'static str, &'static str)| Explanation { word, meaning };
    let Some(wanted) = &args.word else {
        let all: Vec<Explanation> = WORDS.iter().map(explanation).collect();
        let text: String = WORDS.iter().map(|(word, meaning)| format!("{word}: {meaning}\n")).collect();
        report.answer(&all, text)?;
        return Ok(ExitCode::SUCCESS);
    };
    let plain = |word: &str| word.to_lowercase().trim_end_matches('s').replace(['-', '_'], " ");
    let Some(found) = WORDS.iter().find(|(word, _)| *word == wanted || plain(word) == plain(wanted)) else {
        let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        return Err(Failure::usage(format!("{wanted:?} is not among the words: {}", words.join(", "))));
    };
    report.answer(&explanation(found), format!("{}: {}\n", found.0, found.1))?;
    Ok(ExitCode::SUCCESS)
}
