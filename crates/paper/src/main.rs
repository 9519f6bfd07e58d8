//! The tables and figures of the paper, from data to a page: `cargo run --release -p kinfolk-paper --
//! table-digits`.

#![allow(clippy::print_stdout)] // the answers of a command

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use kinfolk_paper::{Error, Experiment, Folder, ITEMS, Options, Result, RunSummary, page, run};
use kinfolk_train::StudyObserver;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Exit codes, the same as those of the command `kinfolk`.
const BAD_INPUT: u8 = 3;
const INTERRUPTED: u8 = 130;

const EXAMPLES: &str = "\
Examples:
  kinfolk-paper table-digits --quick -o look
  kinfolk-paper table-digits --quick -o look --resume
  kinfolk-paper table-digits --quick -o look --resume --set USPS --method STL
  kinfolk-paper page -o look --page look.md

Exit codes: 0 fine, 2 usage, 3 bad input or a file that cannot be written, 130 interrupted.";

/// Reproduce a table or figure of the paper, or all of them.
///
/// Items: table-multitask, figure-theta, table-digits, table-scenes, figure-runtime; `all` of them; or
/// `page`, which writes the page again from the records. Every fit is recorded as a line of DIR/ITEM.jsonl
/// as soon as it is done; the page and its pictures are made from these lines alone. Sets whose files are
/// not found are skipped and listed.
#[derive(Debug, Parser)]
#[command(name = "kinfolk-paper", version, max_term_width = 100, after_help = EXAMPLES)]
struct Args {
    /// table-multitask, figure-theta, table-digits, table-scenes, figure-runtime, all or page.
    #[arg(value_name = "ITEM", value_parser = item)]
    item: String,
    /// Folder for records.
    #[arg(short, long, value_name = "DIR", default_value = "target/paper")]
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
    /// Continue with the records that are there.
    #[arg(long)]
    resume: bool,
    /// Only sets with this name; may be repeated.
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Only methods with this name; may be repeated.
    #[arg(long, value_name = "NAME")]
    method: Vec<String>,
    /// Fits at a time; 0 = one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

fn item(text: &str) -> std::result::Result<String, String> {
    match ITEMS.contains(&text) || text == "all" || text == "page" {
        true => Ok(text.into()),
        false => Err(format!("it is one of {}, all, page", ITEMS.join(", "))),
    }
}

/// Whether Ctrl-C was pressed; a second time ends the program at once.
static INTERRUPT: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let args = Args::parse();
    let listening = ctrlc::set_handler(|| {
        if INTERRUPT.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    if let Err(error) = listening {
        eprintln!("Ctrl-C cannot be caught: {error}");
    }
    match reproduce(&args) {
        Ok(()) if INTERRUPT.load(Ordering::SeqCst) => ExitCode::from(INTERRUPTED),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Runs the items, then writes the page.
fn reproduce(args: &Args) -> Result<()> {
    if let Some(folder) = args.data.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Error::file(folder, "there is no such folder"));
    }
    let options = Options {
        data: Folder::find(args.data.clone()),
        quick: args.quick,
        resume: args.resume,
        threads: args.threads,
        out: args.out.clone(),
    };
    for item in ITEMS.iter().filter(|item| args.item == **item || args.item == "all") {
        let experiment = Experiment::named(item)?.only(&args.set, &args.method)?;
        let bar = ItemProgress::new(item);
        let outcome = run(&experiment, &options, &bar);
        bar.0.finish_and_clear();
        let outcome = outcome?;
        println!("{}", summary(item, &outcome));
        outcome.skipped.iter().for_each(|set| eprintln!("skipped {item}: {set}"));
        if outcome.stopped {
            eprintln!("stopped; --resume continues");
            break;
        }
    }
    let path = args.page.clone().unwrap_or_else(|| args.out.join("reproduction.md"));
    write_page(&args.out, &path)?;
    println!("page in {}", path.display());
    Ok(())
}

fn summary(item: &str, outcome: &RunSummary) -> String {
    let mut text = format!("{item}: {} done", outcome.done);
    if outcome.before > 0 {
        text += &format!(", {} before", outcome.before);
    }
    if !outcome.skipped.is_empty() {
        text += &format!(", {} skipped", outcome.skipped.len());
    }
    text
}

/// The page and its pictures, from the records.
fn write_page(records: &Path, path: &Path) -> Result<()> {
    let folder = path.with_extension("");
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let page = page::of_folder(records, &name)?;
    if !page.pictures.is_empty() {
        std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
    }
    for picture in &page.pictures {
        write(&folder.join(&picture.name), &picture.svg)?;
    }
    write(path, &page.markdown)
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| Error::file(path, error))
}

/// A progress bar; hidden unless stderr is a terminal.
struct ItemProgress(ProgressBar);

impl ItemProgress {
    fn new(item: &str) -> Self {
        let bar = match std::io::stderr().is_terminal() {
            true => ProgressBar::new(0),
            false => ProgressBar::hidden(),
        };
        let template = "{prefix} {elapsed} {wide_bar} {pos}/{len}, ETA {eta}, last {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(item.to_string());
        bar.enable_steady_tick(Duration::from_millis(250));
        ItemProgress(bar)
    }
}

impl StudyObserver for ItemProgress {
    fn done(&self, key: &str, done: usize, of: usize) {
        self.0.set_length(of as u64);
        self.0.set_position(done as u64);
        self.0.set_message(key.to_string());
    }

    fn stop(&self) -> bool {
        INTERRUPT.load(Ordering::SeqCst)
    }
}
