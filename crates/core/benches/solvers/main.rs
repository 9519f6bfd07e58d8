//! Times solvers on a prepared data set. Driven by `benches/solvers.py` and `benches/scaling.py`.
//!
//! `solvers FOLDER` reads the data set, then a request per line of standard input, and answers each by a line
//! of JSON:
//!
//! ```text
//! {"mode": "fit", "loss": "hinge", "output": {"kind": "power", "k": 1}, "c": 1, "lambda": 1, "solver": "auto",
//!  "threads": 2, "cap_seconds": 30, "tolerance": 1e-6, "repeats": 5}
//! {"mode": "cv", "loss": ..., "output": ..., "threads": 2, "cap_seconds": 5}
//! {"mode": "weights", "loss": ..., "output": ..., "threads": 2, "strength": 1}
//! {"mode": "product", "threads": 2}
//! ```

#![allow(clippy::print_stdout, missing_docs)]

mod cv;
mod data;
mod product;
mod timed;

use data::BenchData;
use kinfolk::{LossKind, RegularizerKind, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, Write};

/// Loss and output regulariser.
#[derive(Deserialize)]
pub(crate) struct Pair {
    loss: String,
    output: RegularizerKind,
    threads: usize,
}

impl Pair {
    pub(crate) fn loss(&self) -> Result<LossKind> {
        self.loss.parse()
    }
}

#[derive(Deserialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
enum Request {
    Fit(timed::Cell),
    Cv {
        #[serde(flatten)]
        pair: Pair,
        cap_seconds: f64,
    },
    Weights {
        #[serde(flatten)]
        pair: Pair,
        strength: f64,
    },
    Product {
        threads: usize,
    },
}

fn answer(data: &BenchData, line: &str) -> Result<Value> {
    let request = serde_json::from_str(line).expect("a request as in the head of this file");
    Ok(match request {
        Request::Fit(cell) => timed::answer(data, &cell)?,
        Request::Cv { pair, cap_seconds } => cv::answer(data, &pair, cap_seconds)?,
        Request::Weights { pair, strength } => cv::weights(data, &pair, strength)?,
        Request::Product { threads } => product::answer(data, threads),
    })
}

fn main() {
    let Some(folder) = std::env::args().skip(1).find(|a| a != "--bench") else {
        println!("run benches/solvers.py or benches/scaling.py instead");
        return;
    };
    let data = BenchData::read(folder.as_ref());
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("text on standard input");
        let said = answer(&data, &line).unwrap_or_else(|error| json!({"error": error.to_string()}));
        println!("{said}");
        std::io::stdout().flush().expect("a reader of standard output");
    }
}
