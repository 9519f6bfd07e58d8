//! `kinfolk theta`: the task matrix of a model, in an order that puts related tasks side by side.

mod kinship;
mod ordered;
mod parts;

use crate::args::Global;
use crate::failure::{Failure, Result};
use crate::outputs::{CommandFiles, OutputKind, check_ending};
use crate::report::{Report, json_number};
use crate::text::{Grid, number, plural};
use crate::{files, graphml};
use clap::{Args, ValueEnum};
use kinfolk::{Matrix, Model};
use kinship::{GROUP_CORRELATION, Relatives};
use ordered::{OrderedTheta, Shown};
use parts::OrderedParts;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk theta school.safetensors
  kinfolk theta school.safetensors --of functions -o alike.csv
  kinfolk theta school.safetensors --correlation -o kin.csv --svg kin.svg
  kinfolk theta school.safetensors -o kin.graphml --threshold 0.3
  kinfolk theta d.st --parts";

/// With more tasks, the matrix is printed only on request.
const MAX_PRINTED_TASKS: usize = 14;

/// Show the task matrix Theta of a model, which tasks are alike, and groups of tasks.
///
/// Theta says what tasks lend each other. What came of it is in the fitted functions: closest kin, opposites and groups
/// are those of functions, unless --of theta asks for those of Theta.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ThetaArgs {
    /// A model that fit wrote.
    model: PathBuf,
    /// Write it to a file, by its ending: csv, npy or graphml.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The format, if the ending of the file does not say it; without a file, it goes to stdout.
    #[arg(long)]
    format: Option<ThetaFormat>,
    /// What matrix, closest kin and groups are about [default: the matrix theta, the rest functions].
    #[arg(long, value_name = "WHAT")]
    of: Option<Of>,
    /// Correlations Theta_rs / sqrt(Theta_rr Theta_ss) instead of Theta itself.
    #[arg(long)]
    correlation: bool,
    /// Theta in parts instead: what atoms contribute, what was found in the data, and what each task takes from where.
    #[arg(long, conflicts_with_all = ["of", "correlation", "svg"])]
    parts: bool,
    /// Order of the tasks [default: cluster; for npy, which holds no names, given].
    #[arg(long)]
    order: Option<TaskOrder>,
    /// Leave out edges of the graph with a correlation below this size [default: 0].
    #[arg(long, value_name = "R")]
    threshold: Option<f64>,
    /// Also draw a picture, with a tree of the tasks.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the whole matrix however many tasks there are.
    #[arg(long)]
    full: bool,
}

/// The formats of a task matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ThetaFormat {
    Table,
    Csv,
    Npy,
    Graphml,
}

/// The order of the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum TaskOrder {
    /// By hierarchical clustering: related tasks side by side.
    Cluster,
    /// As in the model.
    Given,
}

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Of {
    /// Correlations of the fitted functions: how alike the tasks turned out.
    Functions,
    /// The task matrix Theta: what tasks lend each other.
    Theta,
}

/// The answer with `--json`.
#[derive(Serialize)]
struct ThetaAnswer<'a> {
    model: &'a Path,
    kind: &'static str,
    order: TaskOrder,
    tasks: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    theta: Option<Vec<Vec<serde_json::Value>>>,
    /// Correlations of the fitted functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    functions: Option<Vec<Vec<serde_json::Value>>>,
    /// Correlations without what each task has to itself, where there is such a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_correlation: Option<Vec<Vec<serde_json::Value>>>,
    /// What the groups are about.
    groups_of: Of,
    /// Tasks of each group, the largest first, and the mean correlation that they have at least.
    groups: Vec<Vec<&'a str>>,
    group_correlation: f64,
    /// Tasks with too few labels to be in a group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    few_labels: Vec<&'a str>,
    out: Option<&'a Path>,
    svg: Option<&'a Path>,
}

pub(crate) fn run(args: ThetaArgs, global: &Global, report: Report) -> Result<ExitCode> {
    let format = args.format()?;
    if args.threshold.is_some() && format != ThetaFormat::Graphml {
        return Err(Failure::usage(
            "--threshold is for the edges of a graph: write one with -o FILE.graphml or --format graphml",
        ));
    }
    CommandFiles::default()
        .reads([&args.model])
        .writes(&args.out, OutputKind::General)
        .writes(&args.svg, OutputKind::General)
        .check(global)?;
    args.svg.iter().try_for_each(|path| check_ending(path, "--svg", &["svg"]))?;
    let model = crate::files::load_any_model(&args.model)?;
    let order =
        args.order.unwrap_or(if format == ThetaFormat::Npy { TaskOrder::Given } else { TaskOrder::Cluster });
    let values = match args.of {
        Some(Of::Functions) => Shown::Functions,
        _ if args.correlation => Shown::Correlation,
        _ => Shown::Theta,
    };
    let ordered = OrderedTheta::new(&model, order, values)?;
    if args.parts {
        return args.run_parts(&model, &ordered, format, report);
    }
    let kinship = Relatives::new(&model, &ordered, args.of)?;
    let kind = values.name();
    let bytes = match format {
        ThetaFormat::Table => args.text(&ordered, &kinship).into_bytes(),
        ThetaFormat::Csv => csv(&ordered.names, ordered.values())?,
        ThetaFormat::Npy => kinfolk_io::npy_bytes(ordered.values()),
        ThetaFormat::Graphml => graphml::graphml(
            &ordered.names,
            &ordered.theta,
            ordered.correlations(),
            args.threshold.unwrap_or(0.0),
        )
        .into_bytes(),
    };
    let title = format!("{} of {}", values.in_words(), plural(ordered.names.len(), "task"));
    let picture = ordered.picture(&title);
    if let Some(path) = &args.svg {
        files::write(path, picture.to_svg().as_bytes())?;
    }
    if let Some(path) = &args.out {
        files::write(path, &bytes)?;
    }
    let rows = |values: &Matrix| {
        (0..values.rows()).map(|r| values.row(r).iter().map(|x| json_number(*x)).collect()).collect()
    };
    let printed = |m: Option<&Matrix>| m.filter(|_| args.out.is_none()).map(rows);
    let without_own = kinship.shared.as_ref().map(|(_, m)| m);
    let answer = ThetaAnswer {
        model: &args.model,
        kind,
        order,
        tasks: &ordered.names,
        theta: printed(values.is_theta().then(|| ordered.values())),
        functions: printed(ordered.functions.as_ref()),
        shared_correlation: printed(without_own),
        groups_of: kinship.of,
        groups: kinship.group_names(),
        group_correlation: GROUP_CORRELATION,
        few_labels: kinship.names_of(&kinship.untold),
        out: args.out.as_deref(),
        svg: args.svg.as_deref(),
    };
    match &args.out {
        None => report.answer(&answer, String::from_utf8_lossy(&bytes))?,
        Some(path) => {
            let what = format!(
                "{} of {} in {}\n",
                values.in_words(),
                plural(ordered.names.len(), "task"),
                path.display()
            );
            report.done(&answer, what)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl ThetaArgs {
    fn run_parts(
        &self,
        model: &Model,
        ordered: &OrderedTheta,
        format: ThetaFormat,
        report: Report,
    ) -> Result<ExitCode> {
        let parts = OrderedParts::new(model, ordered)?;
        let bytes = match format {
            ThetaFormat::Table => parts.text().into_bytes(),
            ThetaFormat::Csv => parts.csv()?,
            _ => return Err(Failure::usage("--parts can be written as csv or txt")),
        };
        let answer = parts.answer(&self.model, self.out.as_deref());
        match &self.out {
            None => report.answer(&answer, String::from_utf8_lossy(&bytes))?,
            Some(path) => {
                files::write(path, &bytes)?;
                let what = plural(ordered.names.len(), "task");
                report.done(&answer, format!("parts of Theta of {what} in {}\n", path.display()))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn format(&self) -> Result<ThetaFormat> {
        if let Some(format) = self.format {
            if format == ThetaFormat::Npy && self.out.is_none() {
                return Err(Failure::usage("npy cannot be printed: name a file with -o FILE"));
            }
            return Ok(format);
        }
        let Some(path) = &self.out else { return Ok(ThetaFormat::Table) };
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        match &*ending {
            "csv" => Ok(ThetaFormat::Csv),
            "npy" => Ok(ThetaFormat::Npy),
            "graphml" => Ok(ThetaFormat::Graphml),
            "txt" => Ok(ThetaFormat::Table),
            _ => Err(Failure::usage(format!(
                "{}: the ending {ending:?} is none of csv, npy, graphml, txt; choose one with --format",
                path.display()
            ))),
        }
    }

    /// The whole matrix if it is small, the closest tasks of each task, and groups of tasks.
    fn text(&self, ordered: &OrderedTheta, kinship: &Relatives<'_>) -> String {
        let n = ordered.names.len();
        let mut text = String::new();
        if n <= MAX_PRINTED_TASKS || self.full {
            text.push_str(&matrix(ordered));
            text.push('\n');
        } else {
            let what = ordered.kind.heading();
            text += &format!("{what} of {n} tasks: --full prints the matrix, -o FILE writes it\n\n");
        }
        text.push_str(&kinship.text());
        text
    }
}

fn matrix(ordered: &OrderedTheta) -> String {
    let values = ordered.values();
    let heads: Vec<String> = ordered.names.iter().map(|name| format!(">{name}")).collect();
    let mut columns = vec![ordered.kind.corner()];
    columns.extend(heads.iter().map(String::as_str));
    let mut grid = Grid::new(&columns);
    let cell = |x: &f64| if ordered.kind == Shown::Theta { number(*x, 3) } else { format!("{x:.2}") };
    for (r, name) in ordered.names.iter().enumerate() {
        grid.row(std::iter::once(name.clone()).chain(values.row(r).iter().map(cell)));
    }
    grid.to_string()
}

/// A header of names, and a first column of names. Numbers are written such that the same bits are read back.
fn csv(names: &[String], values: &Matrix) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(vec![]);
    let mut write = |first: &str, cells: Vec<String>| {
        writer.write_record(std::iter::once(first.to_string()).chain(cells)).map_err(Failure::output)
    };
    write("task", names.to_vec())?;
    for (r, name) in names.iter().enumerate() {
        write(name, values.row(r).iter().map(f64::to_string).collect())?;
    }
    writer.into_inner().map_err(Failure::output)
}
