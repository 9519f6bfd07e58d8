//! `kinfolk theta --parts`: what was found in the data, and what atoms contribute.

use super::ordered::{OrderedTheta, permuted};
use crate::failure::{Failure, Result};
use crate::report::{as_number, json_number};
use crate::text::{Grid, number};
use kinfolk::{Matrix, Model};
use kinfolk_train::{ThetaPart, percent, theta_parts};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// Tasks named as the largest lenders of a task.
const MAX_LENDERS: usize = 3;

/// Theta in parts, with the tasks in the order of the whole.
pub(super) struct OrderedParts<'a> {
    whole: &'a OrderedTheta,
    parts: Vec<ThetaPart>,
}

/// The answer with `--json`.
#[derive(Serialize)]
pub(super) struct PartsAnswer<'a> {
    model: &'a Path,
    tasks: &'a [String],
    parts: Vec<PartAnswer<'a>>,
    takes: Vec<TaskTakes<'a>>,
    out: Option<&'a Path>,
}

#[derive(Serialize)]
struct PartAnswer<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    /// Share of the model.
    #[serde(serialize_with = "as_number")]
    share: f64,
    theta: Vec<Vec<Value>>,
}

/// What a task takes from where.
#[derive(Serialize)]
struct TaskTakes<'a> {
    task: &'a str,
    /// By way of each part, in their order.
    parts: Vec<f64>,
    /// From other tasks, those that lend most first, each with the part by way of which.
    from: Vec<Lender<'a>>,
}

#[derive(Serialize)]
struct Lender<'a> {
    task: &'a str,
    theta: f64,
    part: &'a str,
}

impl<'a> OrderedParts<'a> {
    pub(super) fn new(model: &Model, whole: &'a OrderedTheta) -> Result<Self> {
        let moved = |part: ThetaPart| ThetaPart { matrix: permuted(&part.matrix, &whole.order), ..part };
        Ok(OrderedParts { whole, parts: theta_parts(model)?.into_iter().map(moved).collect() })
    }

    /// The share of each part in row t, `sum_s |part_ts|` over that of all parts.
    fn shares_of(&self, t: usize) -> Vec<f64> {
        let sums = self.parts.iter().map(|part| part.matrix.row(t).iter().map(|x| x.abs()).sum());
        let sums: Vec<f64> = sums.collect();
        let all: f64 = sums.iter().sum();
        sums.iter().map(|sum| if all > 0.0 { sum / all } else { 0.0 }).collect()
    }

    /// The other tasks with the largest entries of Theta.
    fn lenders(&self, t: usize) -> Vec<Lender<'_>> {
        let row = self.whole.theta.row(t);
        let mut others: Vec<usize> = (0..row.len()).filter(|&s| s != t && row[s] != 0.0).collect();
        others.sort_by(|&a, &b| row[b].abs().total_cmp(&row[a].abs()));
        let by = |s: usize| {
            let size = |part: &ThetaPart| part.matrix[(t, s)].abs();
            self.parts
                .iter()
                .reduce(|a, b| if size(b) > size(a) { b } else { a })
                .map_or("", |part| &part.name)
        };
        let lender = |&s: &usize| Lender { task: &self.whole.names[s], theta: row[s], part: by(s) };
        others.iter().take(MAX_LENDERS).map(lender).collect()
    }

    /// Parts with their shares, and what each task takes from where.
    pub(super) fn text(&self) -> String {
        let mut grid = Grid::new(&["part", ">weight", ">share"]);
        for part in &self.parts {
            let weight = part.weight.map_or(String::new(), |weight| number(weight, 3));
            grid.row([part.name.clone(), weight, format!("{} %", percent(part.share))]);
        }
        let heads: Vec<String> = self.parts.iter().map(|part| format!(">{}", part.name)).collect();
        let mut columns = vec!["task"];
        columns.extend(heads.iter().map(String::as_str));
        columns.push("takes most from");
        let mut tasks = Grid::new(&columns);
        for (t, name) in self.whole.names.iter().enumerate() {
            let shares = self.shares_of(t).into_iter().map(|share| format!("{} %", percent(share)));
            let lenders: Vec<String> =
                self.lenders(t).iter().map(|lender| format!("{} ({})", lender.task, lender.part)).collect();
            tasks.row(std::iter::once(name.clone()).chain(shares).chain([lenders.join(", ")]));
        }
        format!(
            "{grid}share: of the model, |F|^2, as fit, model show and report say it; what all tasks have in common \
             counts once there, and in every entry of Theta\n\n{tasks}in each line: of the row of the task in Theta, \
             sum of |part| over sum of all |parts|\n"
        )
    }

    /// One block of rows for each part: its name, the task, and the entries of the row.
    pub(super) fn csv(&self) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(vec![]);
        let head = ["part", "task"].into_iter().chain(self.whole.names.iter().map(String::as_str));
        writer.write_record(head).map_err(Failure::output)?;
        for part in &self.parts {
            for (t, name) in self.whole.names.iter().enumerate() {
                let entries = part.matrix.row(t).iter().map(f64::to_string);
                let row = [part.name.clone(), name.clone()].into_iter().chain(entries);
                writer.write_record(row).map_err(Failure::output)?;
            }
        }
        writer.into_inner().map_err(Failure::output)
    }

    pub(super) fn answer(&self, model: &'a Path, out: Option<&'a Path>) -> PartsAnswer<'_> {
        let rows =
            |m: &Matrix| (0..m.rows()).map(|r| m.row(r).iter().map(|x| json_number(*x)).collect()).collect();
        let takes = |(t, task)| TaskTakes { task, parts: self.shares_of(t), from: self.lenders(t) };
        let parts = self.parts.iter().map(|part| PartAnswer {
            name: &part.name,
            weight: part.weight,
            share: part.share,
            theta: rows(&part.matrix),
        });
        PartsAnswer {
            model,
            tasks: &self.whole.names,
            parts: parts.collect(),
            takes: self.whole.names.iter().map(String::as_str).enumerate().map(takes).collect(),
            out,
        }
    }
}
