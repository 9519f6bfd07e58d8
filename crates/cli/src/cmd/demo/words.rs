//! What the demo says.

use super::contest::{Contest, Entry};
use super::kin::Kin;
use super::world::World;
use super::{DemoData, Files};
use crate::report::as_number;
use crate::text::{self, Grid, number, plural};
use kinfolk::{Certificate, Status};
use kinfolk_train::Metric;
use serde::Serialize;

/// Everything there is to tell.
pub(super) struct Scene<'a> {
    pub(super) world: &'a World,
    pub(super) contest: &'a Contest,
    pub(super) recomputed: &'a Certificate,
    pub(super) kin: &'a Kin,
    pub(super) files: &'a Files,
    pub(super) seconds: f64,
}

#[derive(Serialize)]
pub(super) struct Said<'a> {
    data: DemoData,
    n_train: usize,
    n_test: usize,
    metric: Metric,
    methods: Vec<SaidMethod>,
    best: &'static str,
    #[serde(serialize_with = "as_number")]
    primal: f64,
    #[serde(serialize_with = "as_number")]
    dual: f64,
    #[serde(serialize_with = "as_number")]
    rel_gap: f64,
    groups: Option<SaidGroups<'a>>,
    files: &'a Files,
    seconds: f64,
}

#[derive(Serialize)]
struct SaidMethod {
    method: &'static str,
    c: f64,
    cross_validated: f64,
    test: f64,
    status: Status,
    #[serde(serialize_with = "as_number")]
    rel_gap: f64,
    passes: usize,
}

#[derive(Serialize)]
struct SaidGroups<'a> {
    found: &'a [usize],
    truth: &'a [usize],
    adjusted_rand_index: f64,
}

impl Scene<'_> {
    pub(super) fn said(&self, data: DemoData) -> Said<'_> {
        let groups = self.kin.groups.as_ref().zip(self.world.truth.as_ref());
        let entry = |entry: &Entry| SaidMethod {
            method: entry.title,
            c: entry.c,
            cross_validated: entry.cross_validated,
            test: entry.test,
            status: entry.fit.status(),
            rel_gap: entry.fit.certificate().rel_gap(),
            passes: entry.fit.passes,
        };
        Said {
            data,
            n_train: self.world.train.n_rows(),
            n_test: self.world.test.n_rows(),
            metric: self.contest.metric,
            methods: self.contest.entries.iter().map(entry).collect(),
            best: self.contest.best_kinfolk().title,
            primal: self.recomputed.primal,
            dual: self.recomputed.dual,
            rel_gap: self.recomputed.rel_gap(),
            groups: groups.map(|(groups, truth)| SaidGroups {
                found: &groups.found,
                truth: &truth.group,
                adjusted_rand_index: groups.agreement,
            }),
            files: self.files,
            seconds: self.seconds,
        }
    }

    pub(super) fn text(&self) -> String {
        let best = self.contest.best_kinfolk();
        format!(
            "{}\n\n{}\n{}\n\nIts certificate, recomputed from the data and the stored duals:\n  \
             no model can have an objective below {};\n  this one has                         {}.\n\n{}{}",
            self.world.story,
            self.table(),
            self.verdict(best),
            number(self.recomputed.dual, 8),
            number(self.recomputed.primal, 8),
            self.groups(),
            self.ending()
        )
    }

    /// The choice is made without the test rows; what they say is told, whatever it is.
    fn verdict(&self, best: &Entry) -> String {
        let others = self.contest.entries.iter().filter(|entry| !entry.learns_theta);
        let others: Vec<String> =
            others.map(|entry| format!("{:.3} for {}", entry.test, entry.title)).collect();
        format!(
            "Best by cross-validation among those that learn Theta: {}. Test score {:.3}, against\n{}.",
            best.title,
            best.test,
            others.join(" and ")
        )
    }

    fn table(&self) -> String {
        let metric = self.contest.metric.to_string().replace('-', " ");
        let test = format!(">test {metric}");
        let mut grid = Grid::new(&["method", ">C", ">cross-validated", &test, ">relative gap"]);
        for entry in &self.contest.entries {
            grid.row([
                entry.title.to_string(),
                number(entry.c, 3),
                format!("{:.3}", entry.cross_validated),
                format!("{:.3}", entry.test),
                format!("{:.0e}", entry.fit.certificate().rel_gap()),
            ]);
        }
        grid.to_string()
    }

    fn groups(&self) -> String {
        let (Some(groups), Some(truth)) = (&self.kin.groups, &self.world.truth) else { return String::new() };
        let name = |task: usize| self.contest.entries[0].fit.model.tasks().name(task);
        let mut text = format!(
            "Theta as correlations: {:.2} on average between true kin, {:.2} else. Cut into {}\n(adjusted Rand index {:.2}; \
             1 = the truth, 0 = chance):\n",
            groups.between_kin,
            groups.between_others,
            plural(truth.n_groups, "group"),
            groups.agreement
        );
        for group in 0..truth.n_groups {
            let members: Vec<String> = self
                .kin
                .order
                .iter()
                .filter(|&&task| groups.found[task] == group)
                .map(|&task| name(task))
                .collect();
            text += &format!("  {}\n", members.join(" "));
        }
        text + "\n"
    }

    fn ending(&self) -> String {
        let Files { train, test, model, predictions, theta, report, .. } = self.files;
        format!(
            "Written in {}: {}, {}, {}.\nA page to look at: open {} in a browser.\nNow try:\n  kinfolk certify {} {}\n  kinfolk evaluate {} {}\n  \
             kinfolk theta {} --correlation\n",
            text::seconds(self.seconds),
            model.display(),
            predictions.display(),
            theta.display(),
            report.display(),
            model.display(),
            train.display(),
            model.display(),
            test.display(),
            model.display()
        )
    }
}
