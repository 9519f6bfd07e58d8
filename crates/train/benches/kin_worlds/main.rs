//! Is `kin`, chosen by cross-validation, as good as the best simple model, on random worlds? See benches/README.md.
//!
//! `cargo bench -p kinfolk-train --bench kin_worlds -- MODE FIRST LAST`, one line of JSON for each world:
//!
//! | Mode | What |
//! |---|---|
//! | `table` | every setting with its scores of folds and of test rows |

#![allow(missing_docs)]

mod table;
mod world;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let (Some(mode), Some(first), Some(last)) = (args.first(), args.get(1), args.get(2)) else {
        return Err("expected MODE FIRST LAST".into());
    };
    for seed in first.parse::<u64>()?..last.parse()? {
        match mode.as_str() {
            "table" => println!("{}", table::row(seed)?),
            other => return Err(format!("there is no mode {other:?}").into()),
        }
    }
    Ok(())
}
