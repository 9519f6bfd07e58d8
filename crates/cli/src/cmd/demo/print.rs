//! What `kinfolk demo` prints.

use super::Files;
use super::data::DemoData;
use crate::report::as_number;
use crate::text::{self, Grid, number, plural};
use kinfolk::Status;
use kinfolk_train::{Metric, Trained};
use serde::Serialize;

/// How one method did.
#[derive(Serialize)]
pub(super) struct Entry {
    pub(super) method: String,
    pub(super) c: f64,
    pub(super) cross_validated: f64,
    pub(super) test: f64,
    pub(super) status: Option<Status>,
    #[serde(serialize_with = "as_number")]
    pub(super) rel_gap: f64,
    pub(super) passes: Option<usize>,
    #[serde(skip)]
    pub(super) trained: Trained,
}

impl Entry {
    pub(super) fn learns_theta(&self) -> bool {
        !self.trained.spec.method.method().info().is_baseline
    }
}

/// Clusters of Theta, as many as there are true groups.
#[derive(Serialize)]
pub(super) struct Groups {
    /// Cluster of each task.
    pub(super) found: Vec<usize>,
    pub(super) truth: Vec<usize>,
    pub(super) adjusted_rand_index: f64,
    /// Clusters and names of tasks, related ones side by side.
    #[serde(skip)]
    pub(super) ordered: Vec<(usize, String)>,
}

/// The JSON object of a demo.
#[derive(Serialize)]
pub(super) struct DemoOutput<'a> {
    pub(super) data: DemoData,
    pub(super) n_train: usize,
    pub(super) n_test: usize,
    pub(super) metric: Metric,
    pub(super) methods: &'a [Entry],
    pub(super) best: &'a str,
    #[serde(skip)]
    pub(super) best_test: f64,
    #[serde(serialize_with = "as_number")]
    pub(super) primal: f64,
    #[serde(serialize_with = "as_number")]
    pub(super) dual: f64,
    #[serde(serialize_with = "as_number")]
    pub(super) rel_gap: f64,
    pub(super) groups: Option<Groups>,
    pub(super) files: &'a Files,
    pub(super) seconds: f64,
}

impl DemoOutput<'_> {
    pub(super) fn text(&self, about: &str) -> String {
        let others = self.methods.iter().filter(|method| !method.learns_theta());
        let others: Vec<String> =
            others.map(|method| format!("{:.3} for {}", method.test, method.method)).collect();
        format!(
            "{about}\n\n{}\nBest by cross-validation among those that learn Theta: {}. Test score {:.3}, \
             against\n{}.\n\n\
             Its certificate, recomputed from the data and the stored duals:\n  \
             no model can have an objective below {};\n  this one has                         {}.\n\n{}{}",
            self.table(),
            self.best,
            self.best_test,
            others.join(" and "),
            number(self.dual, 8),
            number(self.primal, 8),
            self.groups(),
            self.ending()
        )
    }

    fn table(&self) -> String {
        let test = format!(">test {}", self.metric.to_string().replace('-', " "));
        let mut grid = Grid::new(&["method", ">C", ">cross-validated", &test, ">relative gap"]);
        for method in self.methods {
            grid.row([
                method.method.clone(),
                number(method.c, 3),
                format!("{:.3}", method.cross_validated),
                format!("{:.3}", method.test),
                format!("{:.0e}", method.rel_gap),
            ]);
        }
        grid.to_string()
    }

    fn groups(&self) -> String {
        let Some(groups) = &self.groups else { return String::new() };
        let n = groups.truth.iter().max().map_or(0, |g| g + 1);
        let mut text = format!(
            "Theta as correlations, cut into {} (adjusted Rand index {:.2}; 1 = the true groups, 0 = chance):\n",
            plural(n, "group"),
            groups.adjusted_rand_index
        );
        for group in 0..n {
            let members = groups.ordered.iter().filter(|(own, _)| *own == group);
            let members: Vec<&str> = members.map(|(_, name)| name.as_str()).collect();
            text += &format!("  {}\n", members.join(" "));
        }
        text + "\n"
    }

    fn ending(&self) -> String {
        let Files { train, test, model, predictions, theta, report, .. } = self.files;
        let [train, test, model] = [train, test, model].map(|path| path.display());
        format!(
            "Written in {}: {model}, {}, {}.\nA page to look at: open {} in a browser.\nNow try:\n  \
             kinfolk certify {model} {train}\n  kinfolk evaluate {model} {test}\n  \
             kinfolk theta {model} --correlation\n",
            text::seconds(self.seconds),
            predictions.display(),
            theta.display(),
            report.display(),
        )
    }
}
