//! `kinfolk explain`: the words of this program.

use crate::failure::{Failure, Result};
use crate::report::Report;
use clap::Args;
use kinfolk::SolverKind;
use kinfolk_train::{MethodInfo, Metric, registry};
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
struct Explanation<'a> {
    word: &'a str,
    meaning: &'a str,
}

/// Words with their meanings.
const WORDS: [(&str, &str); 35] = [
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
        "correlation",
        "How alike two tasks are: of their fitted functions, <f_s, f_t> / (|f_s| |f_t|). At 1 they are predicted \
      alike up to scale and level, at 0 what they depend on is unrelated, below 0 they are opposite. The correlation \
      in Theta, Theta_rs / sqrt(Theta_rr Theta_ss), says how much they lend each other; what each task has to itself \
      (own) makes it smaller, so `kinfolk theta --of theta` also shows it without that part.",
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
      much. --c strength:1 asks for it; --c auto tries some and takes the one with \
      the smallest mean loss of held-out rows; the score that is printed (such as AUC) may be best at another.",
    ),
    (
        "kernel",
        "How two rows are compared. linear gives functions with a coefficient for each feature; rbf gives curved ones, \
      whose model contains the training rows. --kernel auto tries rbf beside linear where C is auto and there are \
      20 to 6,000 rows, and takes it if it predicts held-out rows better.",
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
        "method",
        "How tasks are learned together. `kinfolk methods` lists all; `kinfolk select --compare` compares them.",
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
        "Missing values of a feature become the mean of its column; where at least 5 % are missing, one more feature \
      says where they were. --missing chooses another way. A row without a label is not learned from.",
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
        "held-out",
        "Not seen by the fit: see held-out rows. A score on held-out rows says how good predictions for new rows are.",
    ),
    (
        "score",
        "What a model predicts for a row: a number for labels that are numbers; for two classes, positive means the \
      positive label. Also the value of a metric, as in the first line that fit prints.",
    ),
    (
        "proba",
        "predict --proba writes probabilities instead of scores, for models with the logistic loss: of the positive \
      label, or of each class.",
    ),
    (
        "intercept",
        "A number that each task adds to its predictions, outside Theta. --intercept free costs nothing; shrunk:K \
      draws it to what all tasks have in common, as K more rows of each task would; ridge:B draws it to zero; none \
      leaves it out; auto, the default, is free or shrunk:K, whichever predicts held-out rows better. With logistic \
      loss, the intercept of a task of one class is always drawn to what all tasks have in common: otherwise \
      probabilities would be 0 or 1.",
    ),
    (
        "auto",
        "Left to the data: the rows that --c auto holds out decide about C, the kernel and what tasks have in common. \
      `fit` prints what was chosen, and from which rows.",
    ),
    (
        "common",
        "The atom that says that all tasks are one. Its part of Theta is what all tasks have in common; it predicts \
      for tasks that the model does not know.",
    ),
    (
        "own",
        "The atom that says that each task is alone. Its part of Theta is what each task learns for itself.",
    ),
    (
        "tasks alone",
        "What fit and select compare a model with: each task learned from its own rows, at the strength that is best \
      for all of them (method stl). If it predicts held-out rows better, tasks have little in common.",
    ),
    (
        "one model for all",
        "What fit and select compare a model with: one function for the rows of all tasks, as if they were one \
      (method pooled). If it predicts held-out rows better, tasks hardly differ.",
    ),
    (
        "each task's mean",
        "What fit compares a model with: the mean label of the training rows of each task, without features. R2 \
      around these means is 0.",
    ),
    ("majority", "What fit compares a model with: the most frequent class of each task, without features."),
    (
        "found in the data",
        "The part of Theta that no atom contributes: relations of tasks that nobody named, learned from the rows.",
    ),
    (
        "importance",
        "evaluate --importance: by how much the score falls when a column is shuffled, so that it says nothing. It is \
      for any kernel. Columns that say the same can stand in for each other, and then both look unimportant.",
    ),
    (
        "solver",
        "What computes the optimum; all find the same one, to within --tol. auto chooses one, and switches to another \
      that is faster; `explain NAME` says what each one is.",
    ),
    (
        "noise",
        "What another division of the rows into folds could change. A difference is beyond noise if it is larger than \
      twice its standard error over folds; for single tasks, if it passes Student's test at 5 % for all of them.",
    ),
    (
        "duals",
        "One number per label that the solver finds; Theta and all predictions follow from them, and the \
      certificate is computed from them.",
    ),
];

/// Names that the output prints, and the words that explain them.
const OTHER_NAMES: [(&str, &str); 24] = [
    ("closest kin", "correlation"),
    ("nearest kin", "correlation"),
    ("kinship", "correlation"),
    ("fitted functions", "correlation"),
    ("opposite", "correlation"),
    ("without own", "own"),
    ("fold", "held-out rows"),
    ("proof", "certificate"),
    ("objective", "gap"),
    ("free part", "found in the data"),
    ("probability", "proba"),
    ("probabilities", "proba"),
    ("categorical", "one-hot"),
    ("group", "atom"),
    ("relation", "atom"),
    ("certify", "certificate"),
    ("certified", "certificate"),
    ("shrunk", "intercept"),
    ("ridge", "intercept"),
    ("coverage", "interval"),
    ("conformal", "interval"),
    ("beyond noise", "noise"),
    ("standard error", "noise"),
    ("unit", "scale"),
];

/// A word with its meaning: of this list, a method, or a metric.
fn find(wanted: &str) -> Option<(String, String)> {
    let plain = |word: &str| word.to_lowercase().trim_end_matches('s').replace(['-', '_'], " ");
    let same = |word: &str| word == wanted || plain(word) == plain(wanted);
    if let Some((word, meaning)) = WORDS.iter().find(|(word, _)| same(word)) {
        return Some((word.to_string(), meaning.to_string()));
    }
    if let Some(method) = registry().iter().find(|method| same(method.name())) {
        let MethodInfo { title, learns, about, reference, .. } = *method.info();
        let about = if about.is_empty() { String::new() } else { format!(" {about}") };
        let meaning =
            format!("A method: {title}. It learns about the tasks: {learns}.{about} Source: {reference}.");
        return Some((method.name().into(), meaning));
    }
    if let Some(solver) =
        SolverKind::ALL.iter().find(|solver| **solver != SolverKind::Auto && same(solver.name()))
    {
        let meaning = format!("A solver: {}. For {}.", solver.about(), solver.suits());
        return Some((solver.name().into(), meaning));
    }
    if let Some((_, word)) = OTHER_NAMES.iter().find(|(name, _)| same(name)) {
        return find(word);
    }
    let metric: Metric = wanted.to_lowercase().replace([' ', '_'], "-").parse().ok()?;
    Some((metric.to_string(), format!("A metric: {}", metric.meaning())))
}

pub(crate) fn run(args: ExplainArgs, report: Report) -> Result<ExitCode> {
    let Some(wanted) = &args.word else {
        let all: Vec<Explanation<'_>> =
            WORDS.iter().map(|(word, meaning)| Explanation { word, meaning }).collect();
        let text: String = WORDS.iter().map(|(word, meaning)| format!("{word}: {meaning}\n")).collect();
        let methods: Vec<&str> = registry().iter().map(|method| method.name()).collect();
        let more = format!("Methods: {}.\nMetrics: {}.\n", methods.join(", "), Metric::names().join(", "));
        report.answer(&all, text + &more)?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some((word, meaning)) = find(wanted) else {
        let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        let known = words.join(", ");
        return Err(Failure::usage(format!(
            "{wanted:?} is not a method, a metric or among the words: {known}"
        )));
    };
    let text = format!("{word}: {meaning}\n");
    report.answer(&Explanation { word: &word, meaning: &meaning }, text)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_methods_and_metrics_have_a_meaning() {
        for word in [
            "common",
            "own",
            "held-out",
            "score",
            "proba",
            "Strengths",
            "held_out rows",
            "newton",
            "sdca",
            "noise",
        ] {
            assert!(find(word).is_some(), "{word}");
        }
        for method in registry() {
            assert!(find(method.name()).unwrap().1.contains(method.info().title), "{}", method.name());
        }
        for metric in Metric::names() {
            let (_, meaning) = find(&format!("pooled-{metric}")).unwrap();
            assert!(meaning.contains("Of the rows of all tasks together"), "{metric}: {meaning}");
        }
        assert!(find("top-3").is_some() && find("pooled r2").is_some() && find("nothing").is_none());
    }
}
