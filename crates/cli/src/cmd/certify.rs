//! `kinfolk certify`: is the model what it says it is? From the data and the stored duals, without solving.

use crate::args::{ColumnArgs, Global};
use crate::cmd::fit::stream;
use crate::data_files::DataFiles;
use crate::failure::{self, Failure, NO};
use crate::limits::Need;
use crate::report::{Report, json_number};
use crate::text::{Grid, exact};
use clap::Args;
use kinfolk::{Certificate, CertificateSummary, CertifyOptions, Error, Mismatch, ModelCheck, Status};
use kinfolk_train::Trained;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk certify school.safetensors school.csv
  kinfolk certify school.safetensors school.csv --tol 1e-2 --json";

/// Check a model against the data it was fitted on.
///
/// Recomputes the certificate from the stored duals, and checks that Theta, weights, coefficients, support
/// inputs and scaling are those that the certified point and the data imply, and that claim, method and
/// settings in the file belong to the problem that was certified. Holds if all of that agrees and the
/// relative gap is within the tolerance. Exit code 1 if not; the parts that do not agree are named. Scores and
/// errors of held-out rows are not checked, and the output says so.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_args = ColumnArgs::hide_options_of_fits)]
pub(crate) struct CertifyArgs {
    /// A model that fit wrote.
    model: PathBuf,
    /// The data it was fitted on.
    #[arg(required = true)]
    data: Vec<PathBuf>,
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
struct CertifyOutput<'a> {
    holds: bool,
    agrees: bool,
    within_tol: bool,
    tol: f64,
    stored: &'a CertificateSummary,
    /// `None` if the duals cannot belong to these data.
    recomputed: Option<Numbers>,
    /// The parts of the file that do not agree.
    mismatches: &'a [Mismatch],
    /// The parts of the file that nothing checks.
    not_checked: &'a [&'static str],
    why: &'a str,
    /// What may be wrong with the data, where these and the model do not agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    model: &'a Path,
    data: &'a DataFiles,
}

#[derive(Serialize)]
struct Numbers {
    primal: serde_json::Value,
    dual: serde_json::Value,
    gap: serde_json::Value,
    rel_gap: serde_json::Value,
    rounding: serde_json::Value,
}

impl From<&Certificate> for Numbers {
    fn from(c: &Certificate) -> Self {
        let [primal, dual, gap, rel_gap, rounding] =
            [c.primal, c.dual, c.gap, c.rel_gap(), c.rounding].map(json_number);
        Numbers { primal, dual, gap, rel_gap, rounding }
    }
}

pub(crate) fn run(args: CertifyArgs, global: &Global, report: Report) -> failure::Result<ExitCode> {
    let trained = crate::files::load_model(&args.model)?;
    let tol = args.tol.unwrap_or(trained.spec.tol);
    let data = DataFiles::find(&args.data)?;
    let options = CertifyOptions { threads: global.threads(), memory: args.memory, device: global.device()? };
    let check = match check(&args, &data, &trained, &options, report)? {
        Ok(check) => Ok(check),
        // Duals outside their range for these labels, or with a wrong sum, cannot come from a fit to these data.
        Err(error @ (Error::Infeasible { .. } | Error::DualSum { .. })) => Err(error.to_string()),
        Err(error) => return Err(Failure::from(error).about(data.first())),
    };
    let stored = trained.model.summary();
    let mut verdict = Verdict::new(&stored, check, tol, trained.spec.tol);
    let hint = verdict.hint(trained.model.about().from_statistics);
    verdict.mismatches.extend(trained.spec_mismatches());
    let not_checked = trained.outcome.unchecked();
    let output = CertifyOutput {
        holds: verdict.holds(),
        agrees: verdict.mismatches.is_empty(),
        within_tol: verdict.within_tol,
        tol,
        stored: &stored,
        recomputed: verdict.recomputed.as_ref().map(Numbers::from),
        mismatches: &verdict.mismatches,
        not_checked: &not_checked,
        why: &verdict.why(),
        hint,
        model: &args.model,
        data: &data,
    };
    report.answer(&output, text(&stored, &verdict, hint, &not_checked))?;
    Ok(if verdict.holds() { ExitCode::SUCCESS } else { ExitCode::from(NO) })
}

/// The model against all rows at once; or against chunks of them, if it is one from statistics and they are more than
/// the memory.
fn check(
    args: &CertifyArgs,
    data: &DataFiles,
    trained: &Trained,
    options: &CertifyOptions,
    report: Report,
) -> failure::Result<Result<ModelCheck, Error>> {
    let columns = args.columns.for_model()?;
    if trained.model.about().from_statistics && data.bytes() > options.memory {
        let certificate = stream::certificate(data, &columns, options, report, trained)?;
        let certificate = certificate.ok_or_else(|| Failure::input("stopped"))?;
        report.note(
            "the files are more than --memory: their rows were read in chunks, and only the gap was checked",
        );
        return Ok(Ok(ModelCheck { certificate, mismatches: vec![] }));
    }
    let cure = "certify on a machine with more memory, or raise the limit";
    Need::rows(data, &trained.spec.columns, cure).check().map_err(|failure| failure.about(data.first()))?;
    let (table, observations) = trained.training_data(data.paths(), &columns)?;
    Ok(trained.model.check(&table.inputs, &observations, options))
}

struct Verdict {
    recomputed: Option<Certificate>,
    mismatches: Vec<Mismatch>,
    within_tol: bool,
    tol: f64,
}

impl Verdict {
    fn new(stored: &CertificateSummary, check: Result<ModelCheck, String>, tol: f64, fit_tol: f64) -> Self {
        let (recomputed, mut mismatches) = match check {
            Ok(ModelCheck { certificate, mismatches }) => (Some(certificate), mismatches),
            Err(why) => {
                let why = format!("the duals of the model do not belong to these data: {why}");
                (None, vec![Mismatch { part: "alpha", why }])
            }
        };
        let rel_error = recomputed.as_ref().map_or(f64::INFINITY, Certificate::rel_error);
        if stored.status == Some(Status::Certified) && rel_error > fit_tol {
            let why = format!(
                "certified, but the relative gap or rounding is {rel_error:.1e}, above the {fit_tol:.1e} of the fit"
            );
            mismatches.push(Mismatch { part: "status", why });
        }
        Verdict { recomputed, mismatches, within_tol: rel_error <= tol, tol }
    }

    fn holds(&self) -> bool {
        self.mismatches.is_empty() && self.within_tol
    }

    /// What to look at first, where the data and the model do not agree.
    fn hint(&self, from_statistics: bool) -> Option<&'static str> {
        let rows = match from_statistics {
            true => "the rows must be those of the fit",
            false => {
                "the rows must be those of the fit, in the same order, and so must files if there are several"
            }
        };
        (!self.mismatches.is_empty()).then_some(rows)
    }

    fn why(&self) -> String {
        let tol = self.tol;
        if !self.mismatches.is_empty() {
            let parts: Vec<&str> = self.mismatches.iter().map(|mismatch| mismatch.part).collect();
            return format!("the model file and the data do not agree: {}", parts.join(", "));
        }
        match self.within_tol {
            true => format!("model and data agree, and the relative gap is within {tol:.1e}"),
            false => format!("model and data agree, but the relative gap is not within {tol:.1e}"),
        }
    }
}

fn text(stored: &CertificateSummary, verdict: &Verdict, hint: Option<&str>, not_checked: &[&str]) -> String {
    let mut grid = Grid::new(&["", ">objective", ">no model below", ">gap", ">relative gap"]);
    let mut row = |name: &str, primal: f64, dual: f64, gap: f64, rel_gap: f64| {
        let (gap, rel_gap) = (format!("{gap:.6e}"), format!("{rel_gap:.3e}"));
        grid.row([name.into(), exact(primal), exact(dual), gap, rel_gap]);
    };
    row("model file", stored.primal, stored.dual, stored.gap, stored.rel_gap);
    if let Some(c) = &verdict.recomputed {
        row("recomputed", c.primal, c.dual, c.gap, c.rel_gap());
    }
    let claim = stored.claim.as_ref().map_or("not stated".into(), ToString::to_string);
    let status = stored.status.map_or("not stated".into(), |status| status.to_string());
    let mut text = format!("{grid}\nclaim: {claim}, status: {status}\n");
    text += &stored.remark.as_ref().map_or(String::new(), |remark| format!("not checked: {remark}\n"));
    text += &format!("{}: {}\n", if verdict.holds() { "holds" } else { "does not hold" }, verdict.why());
    verdict.mismatches.iter().for_each(|mismatch| text += &format!("  {mismatch}\n"));
    text += &hint.map_or(String::new(), |hint| format!("hint: {hint}\n"));
    if !not_checked.is_empty() {
        text += &format!("not checked: {}\n", not_checked.join(", "));
    }
    text
}
