//! `kinfolk reproduce`: the tables and figures of the paper, from its data to a page.

mod progress;

use crate::args::Global;
use crate::failure::{Failure, INTERRUPTED, Result, of_method};
use crate::report::Report;
use crate::text::plural;
use crate::{files, interrupt};
use clap::Args;
use kinfolk_paper::{Folder, ITEMS, Options, Outcome, Recipe, page, run as run_recipe};
use progress::Bar;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk reproduce table-digits --quick -o look
  kinfolk reproduce table-digits --quick -o look --resume
  kinfolk reproduce table-digits --quick -o look --resume --set USPS --method STL
  kinfolk reproduce page -o look --page look.md";

/// Reproduce a table or figure of the paper, or all of them.
///
/// Items: table-multitask, figure-theta, table-digits, table-scenes, figure-runtime; `all` of them; or `page`, to write the page anew
/// from the records there are. Every fit is recorded as a line of DIR/ITEM.jsonl as soon as it is done; the page and its
/// pictures are made from these lines alone. Sets whose files are not found are left out, and named.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArgs {
    /// table-multitask, figure-theta, table-digits, table-scenes, figure-runtime, all or page.
    #[arg(value_name = "ITEM", value_parser = item)]
    item: String,
    /// Folder for records.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// The page; its pictures go into a folder of the same name beside it [default: DIR/reproduction.md].
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Where the data sets are [default: KINFOLK_DATA, else ../shared/data].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Tiny versions, on generated sets where files are large or absent.
    #[arg(long)]
    quick: bool,
    /// Go on with the records that are there.
    #[arg(long)]
    resume: bool,
    /// Only sets with this name; may be repeated.
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Only methods with this name; may be repeated.
    #[arg(long, value_name = "NAME")]
    method: Vec<String>,
}

fn item(text: &str) -> std::result::Result<String, String> {
    match ITEMS.contains(&text) || text == "all" || text == "page" {
        true => Ok(text.into()),
        false => Err(format!("it is one of {}, all, page", ITEMS.join(", "))),
    }
}

#[derive(Serialize)]
struct Said<'a> {
    items: Vec<SaidItem<'a>>,
    page: &'a Path,
}

#[derive(Serialize)]
struct SaidItem<'a> {
    item: &'a str,
    done: usize,
    before: usize,
    skipped: &'a [String],
    stopped: bool,
}

pub(crate) fn run(args: ReproduceArgs, global: &Global, report: Report) -> Result<ExitCode> {
    if let Some(folder) = args.data.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::input(format!("{}: there is no such folder", folder.display())));
    }
    let options = Options {
        data: Folder::find(args.data.clone()),
        quick: args.quick,
        resume: args.resume,
        threads: global.threads,
        out: args.out.clone(),
    };
    interrupt::end_well();
    let wanted: Vec<&str> = ITEMS.iter().copied().filter(|i| args.item == *i || args.item == "all").collect();
    let mut outcomes: Vec<(&str, Outcome)> = vec![];
    for item in wanted {
        let recipe = Recipe::named(item).and_then(|r| r.only(&args.set, &args.method)).map_err(failed)?;
        let bar = Bar::new(item, report.quiet);
        let outcome = run_recipe(&recipe, &options, &bar);
        bar.finish();
        let outcome = outcome.map_err(failed)?;
        outcome.skipped.iter().for_each(|skipped| report.note(format!("skipped {item}: {skipped}")));
        let stopped = outcome.stopped;
        outcomes.push((item, outcome));
        if stopped {
            report.note("stopped; --resume goes on with what is left");
            break;
        }
    }
    let page = args.page.clone().unwrap_or_else(|| args.out.join("reproduction.md"));
    write_page(&args.out, &page)?;
    let items = outcomes.iter().map(|(item, outcome)| SaidItem {
        item,
        done: outcome.done,
        before: outcome.before,
        skipped: &outcome.skipped,
        stopped: outcome.stopped,
    });
    report.done(&Said { items: items.collect(), page: &page }, text(&outcomes, &page))?;
    Ok(if interrupt::asked() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// The page and its pictures, from the records.
fn write_page(records: &Path, path: &Path) -> Result<()> {
    let folder = path.with_extension("");
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let page = page::of_folder(records, &name).map_err(failed)?;
    if !page.pictures.is_empty() {
        let failed = |error| Failure::output(format!("{}: {error}", folder.display()));
        std::fs::create_dir_all(&folder).map_err(failed)?;
    }
    for picture in &page.pictures {
        files::write(&folder.join(&picture.name), picture.svg.as_bytes())?;
    }
    files::write(path, page.markdown.as_bytes())
}

fn text(outcomes: &[(&str, Outcome)], page: &Path) -> String {
    let mut text = String::new();
    for (item, outcome) in outcomes {
        let _ = write!(text, "{item}: {} done", plural(outcome.done, "unit"));
        if outcome.before > 0 {
            let _ = write!(text, ", {} before", outcome.before);
        }
        if !outcome.skipped.is_empty() {
            let _ = write!(text, ", {} skipped", plural(outcome.skipped.len(), "set"));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "page in {}", page.display());
    text
}

fn failed(error: kinfolk_paper::Error) -> Failure {
    match error {
        kinfolk_paper::Error::Method(error) => of_method(error),
        kinfolk_paper::Error::Engine(error) => error.into(),
        other => Failure::input(other),
    }
}
