//! Every setting with its scores of folds and of test rows: to compare ways of choosing.

use super::world::{self, World, WorldSpec};
use kinfolk::{Silent, Start};
use kinfolk_train::select::{Candidate, Study, cross_validate};
use kinfolk_train::{Data, FitSpec, MethodSpec, Training, Unobserved, Weight, predict, train};
use serde_json::{Value, json};
use std::error::Error;

const COMMON: [&str; 4] = ["0", "10", "100", "1000"];
const OWN: [&str; 3] = ["0", "10", "100"];

fn methods() -> Result<Vec<MethodSpec>, kinfolk_train::Error> {
    let mut texts: Vec<String> = ["stl", "pooled"].map(String::from).to_vec();
    texts.extend(["0.01", "0.1", "1", "10", "100"].map(|mu| format!("mtl:mu={mu}")));
    for k in [1, 2, 4] {
        for common in COMMON {
            texts.extend(OWN.map(|own| format!("kin:k={k},common={common},own={own}")));
        }
    }
    texts.iter().map(|text| text.parse()).collect()
}

pub(crate) fn base(seed: u64) -> FitSpec {
    FitSpec { threads: 2, tol: 1e-3, seed, ..FitSpec::default() }
}

/// The world in words.
pub(crate) fn about(spec: &WorldSpec) -> Value {
    json!({
        "seed": spec.seed, "relation": spec.relation, "kind": format!("{:?}", spec.kind),
        "shared": spec.shared_rows, "tasks": spec.n_tasks, "features": spec.n_features, "rows": spec.n_rows,
        "noise": spec.noise, "curved": spec.curved,
    })
}

pub(crate) fn row(seed: u64) -> Result<Value, Box<dyn Error>> {
    let spec = world::draw(seed);
    let World { train: (inputs, observations), test, .. } = world::build(&spec);
    let losses = Training::losses_of(&base(seed), &observations);
    let study = Study::new(&inputs, &observations, losses.clone(), base(seed));
    let weights: Vec<Weight> = (-3..=3).map(|i| Weight::Relative(10f64.powi(i))).collect();
    let candidate = |method: MethodSpec| Candidate::on_weights(vec![method], weights.clone());
    let candidates: Vec<Candidate> = methods()?.into_iter().map(candidate).collect();
    let found = cross_validate(&study, &candidates, &Unobserved)?.ok_or("stopped")?;
    let mut rows = vec![];
    let mut last: Option<(String, Vec<f64>)> = None;
    for row in &found.rows {
        let spec = FitSpec { threads: 1, ..study.spec_of(row) };
        let name = row.method.to_string();
        let start = last.as_ref().filter(|(other, _)| *other == name).map(|(_, alpha)| alpha.clone());
        let start = start.as_deref().map_or(Start::Cold, Start::Warm);
        let trained = train(&spec, Data::Arrays(&inputs, &observations), start, &mut Silent)?;
        let predictions = predict(&trained.model, &test.0, &test.1)?;
        let score = found.metric.score(&test.1, &losses, &predictions)?.value;
        let folds: Vec<f64> = row.folds.iter().map(|fold| fold.value).collect();
        rows.push(json!([name, row.weight.number(), row.score, folds, score]));
        last = Some((name, trained.model.alpha().unwrap_or_default().to_vec()));
    }
    Ok(json!({ "world": about(&spec), "metric": found.metric, "rows": rows }))
}
