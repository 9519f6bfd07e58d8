//! What `kinfolk demo` prints.

use super::Files;
use super::data::{DemoData, Split};
use crate::report::as_number;
use crate::text::{self, Grid, number, plural};
use kinfolk::{Certificate, Status};
use kinfolk_train::{Metric, Trained};
use serde::Serialize;

/// How one method did.
pub(super) struct Entry {
    pub(super) method: String,
    pub(super) learns_theta: bool,
    pub(super) cross_validated: f64,
    pub(super) test: f64,
    pub(super) trained: Trained,
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
    data: DemoData,
    n_train: usize,
    n_test: usize,
    metric: Metric,
    methods: Vec<MethodOutput<'a>>,
    best: &'a str,
    #[serde(serialize_with = "as_number")]
    primal: f64,
    #[serde(serialize_with = "as_number")]
    dual: f64,
    #[serde(serialize_with = "as_number")]
    rel_gap: f64,
    groups: Option<Groups>,
    files: &'a Files,
    seconds: f64,
    #[serde(skip)]
    best_test: f64,
}

#[derive(Serialize)]
struct MethodOutput<'a> {
    method: &'a str,
    c: f64,
    cross_validated: f64,
    test: f64,
    status: Option<Status>,
    #[serde(serialize_with = "as_number")]
    rel_gap: f64,
    passes: Option<usize>,
    #[serde(skip)]
    learns_theta: bool,
}

impl<'a> From<&'a Entry> for MethodOutput<'a> {
    fn from(entry: &'a Entry) -> Self {
        let Entry { method, trained, .. } = entry;
        MethodOutput {
            method,
            c: trained.model.about().problem.c,
            cross_validated: entry.cross_validated,
            test: entry.test,
            status: trained.model.status(),
            rel_gap: trained.model.certificate().rel_gap(),
            passes: trained.outcome.passes,
            learns_theta: entry.learns_theta,
        }
    }
}

/// The one that cross-validation chooses among those that learn Theta, without looking at the test rows.
pub(super) fn best(entries: &[Entry], metric: Metric) -> usize {
    let score = |&i: &usize| {
        if metric.higher_is_better() { entries[i].cross_validated } else { -entries[i].cross_validated }
    };
    let learned = (0..entries.len()).filter(|&i| entries[i].learns_theta);
    learned.reduce(|a, b| if score(&b) > score(&a) { b } else { a }).unwrap_or(0)
}

impl<'a> DemoOutput<'a> {
    pub(super) fn new(
        data: DemoData,
        made: &Split,
        metric: Metric,
        entries: &'a [Entry],
        best: usize,
        recomputed: &Certificate,
        groups: Option<Groups>,
        files: &'a Files,
        seconds: f64,
    ) -> Self {
        DemoOutput {
            data,
            n_train: made.train.n_rows(),
            n_test: made.test.n_rows(),
            metric,
            methods: entries.iter().map(MethodOutput::from).collect(),
            best: &entries[best].method,
            primal: recomputed.primal,
            dual: recomputed.dual,
            rel_gap: recomputed.rel_gap(),
            groups,
            files,
            seconds,
            best_test: entries[best].test,
        }
    }

    pub(super) fn text(&self, about: &str) -> String {
        let others = self.methods.iter().filter(|method| !method.learns_theta);
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
        for method in &self.methods {
            grid.row([
                method.method.to_string(),
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
