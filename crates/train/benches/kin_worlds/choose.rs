//! Methods chosen by cross-validation, scored on test rows, with the time of the choice.

use super::table::{about, base};
use super::world::{self, World, WorldSpec};
use kinfolk::{Kernel, Silent, Start};
use kinfolk_train::select::{Candidate, Study, candidates, cross_validate};
use kinfolk_train::{Data, FitSpec, Training, Unobserved, predict, train};
use serde_json::{Value, json};
use std::error::Error;
use std::time::Instant;

/// Methods on their default grids. `kin` with the linear kernel only, and with all kernels.
const METHODS: [(&str, &str, bool); 6] = [
    ("stl", "stl", true),
    ("pooled", "pooled", true),
    ("mtl", "mtl", true),
    ("fmtl", "fmtl", true),
    ("kin", "kin", true),
    ("kin, any kernel", "kin", false),
];

pub(crate) fn row(spec: &WorldSpec) -> Result<Value, Box<dyn Error>> {
    let World { train: (inputs, observations), test, .. } = world::build(spec);
    let mut found = vec![];
    for (label, method, is_linear) in METHODS {
        let kernel = is_linear.then_some(Kernel::Linear);
        let base = FitSpec { kernel, ..base(spec.seed) };
        let losses = Training::losses_of(&base, &observations);
        let study = Study::new(&inputs, &observations, losses.clone(), base);
        let candidate: Vec<Candidate> = candidates(&[method.to_string()], &[])?;
        let began = Instant::now();
        let selection = cross_validate(&study, &candidate, &Unobserved)?.ok_or("stopped")?;
        let seconds = began.elapsed().as_secs_f64();
        let winner = &selection.rows[selection.winner];
        let spec = FitSpec { threads: 1, ..study.spec_of(winner) };
        let trained = train(&spec, Data::Arrays(&inputs, &observations), Start::Cold, &mut Silent)?;
        let predictions = predict(&trained.model, &test.0, &test.1)?;
        let score = selection.metric.score(&test.1, &losses, &predictions)?.value;
        found.push(json!({
            "label": label, "chosen": winner.method.to_string(), "kernel": winner.kernel,
            "strength": winner.weight.number(), "cv": winner.score, "test": score, "seconds": seconds,
            "settings": selection.rows.len(), "metric": selection.metric,
        }));
    }
    Ok(json!({ "world": about(spec), "methods": found }))
}
