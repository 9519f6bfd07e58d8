//! `kinfolk certify`: is the model as good as it says? From the data and the stored duals, without solving.

use crate::args::{ColumnArgs, Global};
use crate::failure::{self, Failure, NO};
use crate::fitted::Fitted;
use crate::report::{Report, json_number};
use crate::text::Grid;
use clap::Args;
use kinfolk::{Certificate, CertifyOptions, Error};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk certify school.safetensors school.csv
  kinfolk certify school.safetensors school.csv --tol 1e-2 --json";

/// Numbers that should agree may differ by rounding, relative to the objective value.
const ROUNDING: f64 = 1e-12;

/// Recompute the certificate of a model from the data it was fitted on.
///
/// Holds if the stored certificate is that of the data, and its relative gap within the tolerance. Exit code 1 if not.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CertifyArgs {
    /// A model that fit wrote.
    model: PathBuf,
    /// The data it was fitted on.
    data: PathBuf,
    /// Relative duality gap to hold [default: that of the fit].
    #[arg(long, value_name = "GAP", value_parser = crate::args::positive)]
    tol: Option<f64>,
    /// Memory for kernel matrices.
    #[arg(long, value_name = "SIZE", default_value = "4GB", value_parser = crate::args::bytes)]
    memory: u64,
    #[command(flatten)]
    columns: ColumnArgs,
}

#[derive(Serialize)]
struct Said<'a> {
    holds: bool,
    agrees: bool,
    within_tol: bool,
    tol: f64,
    stored: Numbers,
    /// `None` if the duals cannot belong to these data.
    recomputed: Option<Numbers>,
    why: &'a str,
    model: &'a Path,
    data: &'a Path,
}

#[derive(Serialize)]
struct Numbers {
    primal: serde_json::Value,
    dual: serde_json::Value,
    gap: serde_json::Value,
    rel_gap: serde_json::Value,
}

impl From<&Certificate> for Numbers {
    fn from(c: &Certificate) -> Self {
        let [primal, dual, gap, rel_gap] = [c.primal, c.dual, c.gap, c.rel_gap()].map(json_number);
        Numbers { primal, dual, gap, rel_gap }
    }
}

pub(crate) fn run(args: CertifyArgs, global: &Global, report: Report) -> failure::Result<ExitCode> {
    let fitted = Fitted::load(&args.model)?;
    let tol = args.tol.unwrap_or(fitted.fit.tol);
    let (table, observations) = fitted.training_data(&args.data, &args.columns)?;
    let stored = fitted.model.certificate();
    let options = CertifyOptions { threads: global.threads(), memory: args.memory };
    let recomputed = match fitted.model.certify(&table.inputs, &observations, &options) {
        Ok(certificate) => Ok(certificate),
        // No solver would leave such duals on these data: they belong to others.
        Err(error @ Error::Infeasible { .. }) => Err(error.to_string()),
        Err(error) => return Err(Failure::from(error).about(&args.data)),
    };
    let verdict = Verdict::new(stored, recomputed.as_ref(), tol);
    let said = Said {
        holds: verdict.holds(),
        agrees: verdict.agrees,
        within_tol: verdict.within_tol,
        tol,
        stored: stored.into(),
        recomputed: recomputed.as_ref().ok().map(Numbers::from),
        why: &verdict.why,
        model: &args.model,
        data: &args.data,
    };
    report.answer(&said, text(stored, recomputed.as_ref().ok(), &verdict))?;
    Ok(if verdict.holds() { ExitCode::SUCCESS } else { ExitCode::from(NO) })
}

struct Verdict {
    agrees: bool,
    within_tol: bool,
    why: String,
}

impl Verdict {
    fn new(stored: &Certificate, recomputed: Result<&Certificate, &String>, tol: f64) -> Self {
        let (agrees, within_tol, why) = match recomputed {
            Err(why) => (false, false, format!("the duals of the model do not belong to these data: {why}")),
            Ok(found) => match (agree(stored, found), found.rel_gap() <= tol) {
                (true, true) => (true, true, format!("they agree, and the relative gap is within {tol:.1e}")),
                (true, false) => {
                    (true, false, format!("they agree, but the relative gap is not within {tol:.1e}"))
                }
                (false, within) => (false, within, "the model file says something else than the data".into()),
            },
        };
        Verdict { agrees, within_tol, why }
    }

    fn holds(&self) -> bool {
        self.agrees && self.within_tol
    }
}

/// The same up to rounding. The gap is a difference of the other two, so their size is its scale.
pub(crate) fn agree(stored: &Certificate, recomputed: &Certificate) -> bool {
    let size = recomputed.primal.abs().max(recomputed.dual.abs());
    let close = |a: f64, b: f64| a == b || (a - b).abs() <= ROUNDING * size;
    close(stored.primal, recomputed.primal)
        && close(stored.dual, recomputed.dual)
        && close(stored.gap, recomputed.gap)
}

fn text(stored: &Certificate, recomputed: Option<&Certificate>, verdict: &Verdict) -> String {
    let mut grid = Grid::new(&["", ">objective", ">no model below", ">gap", ">relative gap"]);
    for (name, c) in [("model file", Some(stored)), ("recomputed", recomputed)] {
        let Some(c) = c else { continue };
        let gap = format!("{:.6e}", c.gap);
        grid.row([
            name.into(),
            c.primal.to_string(),
            c.dual.to_string(),
            gap,
            format!("{:.3e}", c.rel_gap()),
        ]);
    }
    format!("{grid}\n{}: {}\n", if verdict.holds() { "holds" } else { "does not hold" }, verdict.why)
}
