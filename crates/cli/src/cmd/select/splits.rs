//! `kinfolk select --splits`: methods compared on rows that selection never saw.

use super::{Bar, stopped};
use crate::failure::Result;
use crate::report::Report;
use crate::text::{Grid, number};
use kinfolk_train::Metric;
use kinfolk_train::select::{self, Candidate, SplitResult, Study, mean_and_sd};
use serde::Serialize;
use std::process::ExitCode;

/// More settings than these are counted in the text and not listed.
const MAX_LISTED: usize = 8;

#[derive(Serialize)]
struct SplitsOutput<'a> {
    metric: Metric,
    folds: usize,
    train_share: f64,
    summary: Vec<Summary>,
    splits: &'a [SplitResult],
}

/// How a candidate did over all splits.
#[derive(Serialize)]
struct Summary {
    method: &'static str,
    /// The settings to choose from.
    settings: Vec<String>,
    mean: f64,
    sd: f64,
    /// Over the first candidate, split by split; positive is better whatever the metric.
    gain: f64,
    gain_standard_error: f64,
}

pub(super) fn run(
    study: &Study<'_>,
    candidates: &[Candidate],
    n: usize,
    share: f64,
    report: Report,
) -> Result<ExitCode> {
    let bar = Bar::new(report.quiet);
    let results = select::repeat(study, candidates, share, n, &bar, &mut |_| ());
    bar.finish();
    let Some(results) = results? else { return stopped(report) };
    let asked = study.metric();
    let metric = results.first().map_or(asked, |first| first.metric);
    if metric != asked {
        report.note(format!("{asked} is undefined for most test rows: scored by {metric} instead"));
    }
    if let Some(other) = results.iter().map(|result| result.chosen_by).find(|chosen_by| *chosen_by != asked) {
        report.note(format!("{asked} is undefined for most tasks in some folds: chosen by {other} there"));
    }
    let summary = summaries(metric, candidates, &results);
    let text = text(metric, &summary, n, share);
    let output = SplitsOutput { metric, folds: study.folds, train_share: share, summary, splits: &results };
    report.answer(&output, text)?;
    Ok(ExitCode::SUCCESS)
}

fn summaries(metric: Metric, candidates: &[Candidate], results: &[SplitResult]) -> Vec<Summary> {
    let scores = |c: usize| -> Vec<f64> {
        results.iter().skip(c).step_by(candidates.len()).map(|result| result.test.value).collect()
    };
    let base = scores(0);
    let sign = if metric.higher_is_better() { 1.0 } else { -1.0 };
    let one = |(c, candidate): (usize, &Candidate)| {
        let own = scores(c);
        let (mean, sd) = mean_and_sd(&own);
        let gains: Vec<f64> = own.iter().zip(&base).map(|(a, b)| sign * (a - b)).collect();
        let (gain, gain_sd) = mean_and_sd(&gains);
        let gain_standard_error = gain_sd / (own.len() as f64).sqrt();
        Summary {
            method: candidate.settings.first().map_or("", |method| method.name()),
            settings: candidate.settings.iter().map(|method| method.brief()).collect(),
            mean,
            sd,
            gain,
            gain_standard_error,
        }
    };
    candidates.iter().enumerate().map(one).collect()
}

fn text(metric: Metric, summary: &[Summary], n: usize, share: f64) -> String {
    let mut grid = Grid::new(&["method", "settings", &format!(">{metric}"), ">+-", ">gain", ">+-"]);
    for s in summary {
        let settings = match s.settings.len() {
            0..=MAX_LISTED => s.settings.join(" | "),
            n => format!("the best of {n}"),
        };
        let short = |x: f64| if x.is_nan() { "undefined".into() } else { format!("{x:.4}") };
        grid.row([
            s.method.into(),
            settings,
            short(s.mean),
            short(s.sd),
            if s.gain.is_nan() { "undefined".into() } else { format!("{:+.4}", s.gain) },
            short(s.gain_standard_error),
        ]);
    }
    let first = summary.first().map_or("the first", |s| s.method);
    format!(
        "{grid}\nmean and standard deviation over {n} splits, {} of the rows of each task for training;\n\
         gain over {first}, split by split, with its standard error\n",
        number(share, 3)
    )
}
