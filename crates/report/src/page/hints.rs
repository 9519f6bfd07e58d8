//! Who makes a page, and what a reader can do there about sections without a source.

use super::inputs::file_name;
use std::path::Path;

/// Who makes the page. Hints are in the words of its reader: options of the command, or methods of an estimator.
#[derive(Debug, Clone, Copy)]
pub enum MadeBy<'a> {
    /// The command, from a model file.
    Command {
        /// The file, as it is named on the page.
        model: &'a Path,
    },
    /// The Python package, from an estimator.
    Python {
        /// The name of its class.
        class: &'a str,
        /// How it is constructed.
        estimator: &'a str,
    },
}

impl MadeBy<'_> {
    /// The title of the page.
    pub(super) fn title(self) -> String {
        match self {
            MadeBy::Command { model } => file_name(model),
            MadeBy::Python { class, .. } => class.into(),
        }
    }

    /// What the model is, for the list of what was fitted.
    pub(super) fn model_line(self) -> (&'static str, String) {
        match self {
            MadeBy::Command { model } => ("Model file", model.display().to_string()),
            MadeBy::Python { estimator, .. } => ("Estimator", estimator.into()),
        }
    }

    /// How to get the comparison with independent tasks.
    pub(super) fn comparison(self) -> String {
        let how = match self {
            MadeBy::Command { model } => {
                let model = model.display();
                format!(
                    "kinfolk select DATA --compare --results results.json -o {model}, then kinfolk report {model} \
                     DATA --select results.json"
                )
            }
            MadeBy::Python { .. } => "MultiTaskCV(compare=True).fit(X, y), then its report(path)".into(),
        };
        format!("Answered by cross-validation against independent tasks: {how}.")
    }

    /// How to get the path along C.
    pub(super) fn path(self) -> String {
        let how = match self {
            MadeBy::Command { .. } => "kinfolk select ... --results FILE",
            MadeBy::Python { .. } => "MultiTaskCV",
        };
        format!("Score and gap along C are drawn from the results of {how}.")
    }

    /// How to get rows and scores of each task.
    pub(super) fn scores(self) -> String {
        let how = match self {
            MadeBy::Command { .. } => "kinfolk report MODEL DATA",
            MadeBy::Python { .. } => "report(path, X, y)",
        };
        format!("Rows and scores of each task are shown if data are given: {how}.")
    }

    /// How to get the course of the fit.
    pub(super) fn trace(self) -> String {
        let how = match self {
            MadeBy::Command { .. } => {
                "a trace of the fit: kinfolk fit ... --trace FILE, then kinfolk report ... --trace FILE"
            }
            MadeBy::Python { .. } => "the estimator that was fitted: files do not keep the trace of the fit",
        };
        format!("Curves of the gap over passes and seconds need {how}.")
    }

    /// How to have the certificate recomputed.
    pub(super) fn recheck(self) -> String {
        let how = match self {
            MadeBy::Command { model } => format!("kinfolk report {} DATA", model.display()),
            MadeBy::Python { .. } => "report(path, X, y)".into(),
        };
        format!("The certificate is recomputed here if the data of the fit are given: {how}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_python_are_not_told_about_the_command() {
        let python = MadeBy::Python { class: "MultiTaskRegressor", estimator: "MultiTaskRegressor(k=2)" };
        for hint in [python.comparison(), python.path(), python.scores(), python.trace(), python.recheck()] {
            assert!(!hint.contains("kinfolk"), "{hint}");
        }
        assert_eq!(python.title(), "MultiTaskRegressor");
        let command = MadeBy::Command { model: Path::new("models/school.safetensors") };
        assert_eq!(command.title(), "school.safetensors");
        assert!(command.recheck().contains("kinfolk report models/school.safetensors DATA"));
    }
}
