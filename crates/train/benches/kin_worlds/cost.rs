//! The time of a fit with `common` and `own` against one without, at the same strength.

use super::world::{self, Kind, World, WorldSpec};
use kinfolk::{Silent, Start, Status};
use kinfolk_train::{Data, FitSpec, LossSpec, Weight, train};
use serde_json::{Value, json};
use std::error::Error;
use std::time::Instant;

/// Fits of each, of which the fastest counts.
const ROUNDS: usize = 5;

const SHAPES: [(bool, usize, usize, usize); 4] =
    [(false, 10, 20, 50), (false, 50, 20, 20), (true, 10, 20, 300), (true, 50, 50, 300)];

pub(crate) fn rows() -> Result<(), Box<dyn Error>> {
    for (loss, kind) in [
        ("squared", Kind::Numbers),
        ("huber:1", Kind::Numbers),
        ("epsilon:0.1", Kind::Numbers),
        ("hinge", Kind::Signs),
        ("logistic", Kind::Signs),
    ] {
        for (shared_rows, n_tasks, n_features, n_rows) in SHAPES {
            for k in [1, 2] {
                let spec = WorldSpec {
                    relation: "both",
                    kind,
                    shared_rows,
                    n_tasks,
                    n_features,
                    n_rows,
                    noise: 0.4,
                    curved: false,
                    seed: 3,
                };
                println!("{}", one(&spec, loss, k)?);
            }
        }
    }
    Ok(())
}

fn one(world: &WorldSpec, loss: &str, k: u32) -> Result<Value, Box<dyn Error>> {
    let World { train: (inputs, observations), .. } = world::build(world);
    let mut seconds = [f64::INFINITY; 2];
    let mut about = vec![];
    for round in 0..ROUNDS {
        for (i, atoms) in ["common=0,own=0", "common=10,own=10"].iter().enumerate() {
            let spec = FitSpec {
                method: format!("kin:k={k},{atoms}").parse()?,
                loss: loss.parse::<LossSpec>()?,
                c: Weight::Relative(1.0),
                threads: 1,
                ..FitSpec::default()
            };
            let began = Instant::now();
            let trained = train(&spec, Data::Arrays(&inputs, &observations), Start::Cold, &mut Silent)?;
            seconds[i] = seconds[i].min(began.elapsed().as_secs_f64());
            if round == 0 {
                let done = trained.model.status() == Some(Status::Certified);
                about.push(json!([trained.outcome.solver, trained.outcome.passes, done]));
            }
        }
    }
    Ok(json!({
        "loss": loss, "k": k, "shared": world.shared_rows, "tasks": world.n_tasks, "rows": world.n_rows,
        "features": world.n_features, "seconds": seconds, "ratio": seconds[1] / seconds[0], "fits": about,
    }))
}
