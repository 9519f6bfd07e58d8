//! `kinfolk data generate`: tasks whose kinship is known, and the data set that comes with the program.

use crate::args::{Global, not_negative};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::outputs::{CommandFiles, OutputKind};
use crate::report::Report;
use clap::{Args, ValueEnum};
use kinfolk_io::{ColumnRoles, Generator, Kinship};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk data generate kin.npz --tasks 20 --groups 3 --rows 20
  kinfolk data generate kin.csv --kind hierarchical --groups 4 --binary --seed 7
  kinfolk data generate digits.npz --kind digits";

/// Write tasks whose relations are known, or the handwritten digits that come with the program.
///
/// Rows are standard normal, labels are w.x + noise or the sign of that; related tasks have similar weights w.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct GenerateArgs {
    #[arg(help = format!("The new file: {}", kinfolk_io::output_format_names(|format| format.holds_targets)))]
    out: PathBuf,
    /// What to write.
    #[arg(long, value_enum, default_value_t = GeneratedKind::Clustered)]
    kind: GeneratedKind,
    /// Number of tasks.
    #[arg(long, value_name = "N", default_value_t = 12)]
    tasks: usize,
    /// Number of groups of related tasks.
    #[arg(long, value_name = "N", default_value_t = 3)]
    groups: usize,
    /// With --kind outliers: tasks that are unrelated to all others [default: 2].
    #[arg(long, value_name = "N")]
    outliers: Option<usize>,
    /// Rows of each task.
    #[arg(long, value_name = "N", default_value_t = 20)]
    rows: usize,
    /// Number of features.
    #[arg(long, value_name = "N", default_value_t = 30)]
    features: usize,
    /// Size of the noise; the signal has size 1.
    #[arg(long, value_name = "X", default_value_t = 0.3, value_parser = not_negative)]
    noise: f64,
    /// Share of its weights that a task has in common with no other, from 0 to 1.
    #[arg(long, value_name = "X", default_value_t = 0.2, value_parser = not_negative)]
    own: f64,
    /// Labels -1 and +1 instead of numbers.
    #[arg(long)]
    binary: bool,
}

/// Outliers, unless it is said how many.
const USUAL_OUTLIERS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GeneratedKind {
    /// Groups of related tasks; different groups are unrelated.
    Clustered,
    /// Groups at the leaves of a tree.
    Hierarchical,
    /// Groups, and tasks unrelated to all others.
    Outliers,
    /// 1,797 handwritten digits of 8 x 8 pixels.
    Digits,
}

#[derive(Serialize)]
struct GenerateOutput<'a> {
    out: &'a Path,
    n_inputs: usize,
    n_features: usize,
    /// Options with which to read it.
    options: Option<String>,
    /// True group of each task.
    groups: Option<Vec<u32>>,
}

pub(super) fn run(args: GenerateArgs, global: &Global, report: Report) -> Result<ExitCode> {
    if args.outliers.is_some() && args.kind != GeneratedKind::Outliers {
        return Err(Failure::usage("--outliers is for --kind outliers: other kinds have none"));
    }
    CommandFiles::default().writes([&args.out], OutputKind::General).check(global)?;
    kinfolk_io::format_of(&args.out).map_err(Failure::usage)?;
    let (table, groups) = match args.kind {
        GeneratedKind::Digits => (kinfolk_io::digits(), None),
        _ => {
            let (table, truth) = args.generator(global.seed()).generate().map_err(Failure::usage)?;
            (table, Some(truth.group))
        }
    };
    interrupt::will_write(&args.out);
    kinfolk_io::write_table(&table, &args.out).map_err(Failure::output)?;
    let (n_inputs, n_features) = (table.inputs.n_inputs(), table.inputs.n_features());
    let usual = ColumnRoles::default();
    let options = super::how_to_read(&table, &args.out, &usual);
    let output = GenerateOutput { out: &args.out, n_inputs, n_features, options, groups };
    report.done(&output, super::written(&table, &args.out, &usual))?;
    Ok(ExitCode::SUCCESS)
}

impl GenerateArgs {
    fn generator(&self, seed: u64) -> Generator {
        Generator {
            kinship: match self.kind {
                GeneratedKind::Hierarchical => Kinship::Hierarchical,
                GeneratedKind::Outliers => Kinship::Outliers(self.outliers.unwrap_or(USUAL_OUTLIERS)),
                GeneratedKind::Clustered | GeneratedKind::Digits => Kinship::Clustered,
            },
            tasks: self.tasks,
            groups: self.groups,
            rows: self.rows,
            features: self.features,
            noise: self.noise,
            own: self.own,
            binary: self.binary,
            seed,
        }
    }
}
