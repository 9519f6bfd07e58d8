//! Is `kin`, chosen by cross-validation, as good as the best simple model, on random worlds? See benches/README.md.
//!
//! `cargo bench -p kinfolk-train --bench kin_worlds -- MODE FIRST LAST`, one line of JSON for each world:
//!
//! | Mode | What |
//! |---|---|
//! | `table` | every setting with its scores of folds and of test rows |
//! | `choose` | methods chosen by cross-validation, with scores of test rows and times |
//! | `curved` | the same where functions are not linear |
//! | `shares` | shares of right and wrong atoms |
//! | `cost` | times of fits with and without atoms, not for each world |

#![allow(clippy::print_stdout, missing_docs)]

mod choose;
mod cost;
mod shares;
mod table;
mod world;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let (Some(mode), Some(first), Some(last)) = (args.first(), args.get(1), args.get(2)) else {
        return Err("expected MODE FIRST LAST".into());
    };
    if mode == "cost" {
        return cost::rows();
    }
    for seed in first.parse::<u64>()?..last.parse()? {
        match mode.as_str() {
            "table" => println!("{}", table::row(seed)?),
            "choose" => println!("{}", choose::row(&world::draw(seed))?),
            "curved" => {
                let spec = world::WorldSpec { curved: true, n_features: 5, n_rows: 60, ..world::draw(seed) };
                let spec = world::WorldSpec { n_tasks: 8, ..spec };
                println!("{}", choose::row(&spec)?);
            }
            "shares" => println!("{}", shares::row(seed)?),
            other => return Err(format!("there is no mode {other:?}").into()),
        }
    }
    Ok(())
}
