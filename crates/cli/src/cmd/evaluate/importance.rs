//! How much scores fall when a column is shuffled.

use super::EvaluateArgs;
use crate::args::Global;
use crate::cmd::select::progress::Bar;
use crate::data_files::DataFiles;
use crate::failure::{Failure, INTERRUPTED, Result};
use crate::limits::Need;
use crate::report::Report;
use crate::scores::{places, without_labels};
use crate::text::{Grid, plural, score};
use crate::{interrupt, training};
use kinfolk_io::{Table, Targets};
use kinfolk_train::{Importances, Metric, Shuffles, Trained, importances, source_columns};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;
use std::process::ExitCode;

#[derive(Serialize)]
struct ImportanceOutput<'a> {
    model: &'a Path,
    data: &'a DataFiles,
    n_inputs: usize,
    metric: Metric,
    score: f64,
    shuffles: usize,
    columns: Vec<ColumnFall<'a>>,
}

#[derive(Serialize)]
struct ColumnFall<'a> {
    column: &'a str,
    fall: f64,
    sd: f64,
    #[serde(skip_serializing_if = "Map::is_empty")]
    tasks: Map<String, Value>,
}

pub(super) fn run(
    args: &EvaluateArgs,
    data: &DataFiles,
    trained: &Trained,
    global: &Global,
    report: Report,
) -> Result<ExitCode> {
    let about = |failure: Failure| failure.about(data.first());
    let cure = "give fewer rows: some hundreds tell which columns matter";
    Need::rows(data, &trained.spec.columns, cure).check().map_err(about)?;
    let table = trained.read_all(data.paths(), &args.new_rows.roles(&args.columns)?)?;
    let table = training::part(table, args.split).map_err(about)?;
    let (table, left_out) = labelled(table, trained);
    if left_out > 0 {
        report.note(format!("{} without a label or a task of the model left out", plural(left_out, "row")));
    }
    if table.n_rows() == 0 {
        return Err(about(without_labels(trained)));
    }
    let observations = trained.observations(&table, data.first(), 0)?;
    let metric = match args.metric[..] {
        [] => Metric::default_for(&observations),
        [metric] => metric,
        _ => return Err(Failure::usage("--importance is about one score: give --metric one name")),
    };
    let columns = source_columns(&trained.schema, table.inputs.n_features());
    let shuffles = Shuffles { times: args.shuffles as usize, seed: global.seed(), threads: global.threads() };
    interrupt::end_well();
    let bar = Bar::of("columns", report.quiet);
    let found = importances(&trained.model, (&table.inputs, &observations), &columns, metric, shuffles, &bar);
    bar.finish();
    interrupt::end_at_once();
    let Some(found) = found? else {
        report.note("stopped before the last column: nothing is known yet");
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let tasks: Vec<String> = trained.model.tasks().iter().collect();
    let output = ImportanceOutput {
        model: &args.model,
        data,
        n_inputs: table.n_rows(),
        metric: found.metric,
        score: found.score,
        shuffles: shuffles.times,
        columns: output(&found, if args.by_task { &tasks } else { &[] }),
    };
    let text = in_words(&found, table.n_rows(), shuffles.times, if args.by_task { &tasks } else { &[] });
    report.answer(&output, text)?;
    Ok(ExitCode::SUCCESS)
}

/// Rows with a label of a task or class that the model knows, and how many others there are.
fn labelled(table: Table, trained: &Trained) -> (Table, usize) {
    let (table, unlabelled) = table.labelled();
    let known = known_rows(&table, trained);
    let others = table.n_rows() - known.len();
    if others == 0 { (table, unlabelled) } else { (table.select_rows(&known), unlabelled + others) }
}

/// Rows of a task or class that the model knows.
pub(super) fn known_rows(table: &Table, trained: &Trained) -> Vec<u32> {
    let all = 0..table.n_rows() as u32;
    match &table.targets {
        Targets::Tasks { task: names, .. } | Targets::Classes(names) => {
            let places = places(names, &trained.model);
            all.filter(|&i| places[i as usize].is_some()).collect()
        }
        Targets::Wide { .. } | Targets::None => all.collect(),
    }
}

fn output<'a>(found: &'a Importances, tasks: &[String]) -> Vec<ColumnFall<'a>> {
    let one = |own: &'a kinfolk_train::Importance| ColumnFall {
        column: &own.column,
        fall: own.fall,
        sd: own.sd,
        tasks: tasks.iter().zip(&own.per_task).map(|(task, fall)| (task.clone(), (*fall).into())).collect(),
    };
    found.columns.iter().map(one).collect()
}

fn in_words(found: &Importances, rows: usize, shuffles: usize, tasks: &[String]) -> String {
    let metric = found.metric;
    // Of an error, it is how much larger it becomes.
    let change = if metric.higher_is_better() { "fall" } else { "rise" };
    let head = format!(">{change}");
    let mut grid = Grid::new(&["column", &head, ">+-"]);
    for own in &found.columns {
        let spread = if shuffles > 1 { score(own.sd) } else { "undefined".into() };
        grid.row([own.column.clone(), score(own.fall), spread]);
    }
    let mut text = format!(
        "{grid}\n{change} of {metric}, {} with all columns as they are ({}), when a column is shuffled: mean and \
         standard deviation over {}\n",
        score(found.score),
        plural(rows, "row"),
        plural(shuffles, "shuffle")
    );
    if !tasks.is_empty() {
        let mut grid = Grid::new(&["column", "task", &head]);
        for own in &found.columns {
            for (task, fall) in tasks.iter().zip(&own.per_task) {
                grid.row([own.column.clone(), task.clone(), fall.map_or("undefined".into(), score)]);
            }
        }
        text += &format!("\n{grid}");
    }
    text
}
