//! Worlds where the truth is known: do the learned shares of atoms rank them rightly, and what do wrong atoms get?

use super::world::{self, Kind, World, WorldSpec};
use kinfolk::regularizer::{AtomKind, AtomSpec};
use kinfolk::{
    CScale, Dataset, DatasetOptions, Intercept, LossKind, Losses, Model, Problem, ProblemSpec,
    RegularizerKind, Settings, fit,
};
use kinfolk_train::{Measure, Metric, predict};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::error::Error;

/// Strengths of the fits.
const STRENGTHS: [f64; 3] = [0.1, 1.0, 10.0];

fn fitted(world: &World, k: u32, atoms: &[AtomSpec], strength: f64) -> Result<Model, Box<dyn Error>> {
    let (inputs, observations) = &world.train;
    let losses = Losses::from(LossKind::Squared);
    let data =
        Dataset::new(inputs, observations, DatasetOptions { threads: 1, ..DatasetOptions::default() })?;
    let output = RegularizerKind::Power { k };
    let scale = CScale::new(&data, &losses, Intercept::Free)?;
    let weights = scale.weights_with_atoms(&output, atoms, None, strength)?;
    let spec = ProblemSpec {
        loss: losses,
        output,
        c: weights.c,
        lambda: weights.lambda,
        atoms: atoms.to_vec(),
        intercept: Intercept::Free,
    };
    let settings = Settings { tolerance: 1e-4, ..Settings::default() };
    Ok(fit(&Problem::new(&data, spec)?, &settings)?.model)
}

/// The best score of test rows over the strengths, and the shares of the atoms there.
fn best(world: &World, k: u32, atoms: &[AtomSpec]) -> Result<(f64, Vec<f64>), Box<dyn Error>> {
    let mut best = (f64::NEG_INFINITY, vec![]);
    for strength in STRENGTHS {
        let model = fitted(world, k, atoms, strength)?;
        let predictions = predict(&model, &world.test.0, &world.test.1)?;
        let score =
            Metric::new(Measure::R2).score(&world.test.1, &LossKind::Squared.into(), &predictions)?.value;
        if score > best.0 {
            best = (score, model.atoms().iter().map(|atom| atom.share).collect());
        }
    }
    Ok(best)
}

pub(crate) fn row(seed: u64) -> Result<Value, Box<dyn Error>> {
    let relation = ["common", "groups", "both", "none"][seed as usize % 4];
    let spec = WorldSpec {
        relation,
        kind: Kind::Numbers,
        shared_rows: false,
        n_tasks: 20,
        n_features: 10,
        n_rows: 20,
        noise: 0.3,
        curved: false,
        seed,
    };
    let world = world::build(&spec);
    let mut wrong = world.groups.clone();
    wrong.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut found = vec![];
    for k in [1, 2] {
        for weight in [1.0, 10.0] {
            let atom = |name: &str, kind: AtomKind| AtomSpec::new(name, weight, kind);
            let known = [atom("common", AtomKind::Common), atom("own", AtomKind::Own)];
            let right =
                [&known[..], &[atom("groups", AtomKind::Groups { groups: world.groups.clone() })]].concat();
            let random = atom("random", AtomKind::Groups { groups: wrong.clone() });
            let with_wrong = [&known[..], std::slice::from_ref(&random)].concat();
            let with_both = [&right[..], &[random]].concat();
            let (score, shares) = best(&world, k, &right)?;
            let (base, _) = best(&world, k, &known)?;
            let (score_wrong, shares_wrong) = best(&world, k, &with_wrong)?;
            let (score_both, shares_both) = best(&world, k, &with_both)?;
            found.push(json!({
                "k": k, "weight": weight, "score": score, "shares": shares, "base": base,
                "wrong": { "score": score_wrong, "shares": shares_wrong },
                "both": { "score": score_both, "shares": shares_both },
            }));
        }
    }
    Ok(json!({ "seed": seed, "relation": relation, "found": found }))
}
