//! Killed at any moment, a fit leaves the model file whole, and goes on from its checkpoint to the same bits.

use crate::common::Place;
use std::process::Stdio;
use std::time::{Duration, Instant};

const FIT: &str = "fit data.npz -o m.st --solver sdca --c strength:3 --tol 1e-9 --max-passes 100000 --threads 1 \
                   --seed 3 --json --checkpoint c.st --checkpoint-every 0.01";

/// What must not depend on how often a fit was killed.
fn certificate(json: &str) -> Vec<serde_json::Value> {
    let said: serde_json::Value = serde_json::from_str(json).unwrap();
    ["status", "primal", "dual", "gap", "rel_gap", "passes", "solver"].map(|key| said[key].clone()).to_vec()
}

#[test]
fn sigkill_at_twenty_moments_harms_nothing_and_resuming_gives_the_same_bits() {
    let place = Place::new();
    place.ok("data generate data.npz --tasks 12 --rows 80 --features 20 --binary --quiet");
    let start = Instant::now();
    let whole = certificate(&place.ok(FIT));
    let duration = start.elapsed();
    assert_eq!(whole[0], "certified");
    let final_model = place.read("m.st");
    place.ok("fit data.npz -o m.st --method stl --quiet");
    let old_model = place.read("m.st");
    assert_ne!(old_model, final_model);

    let mut in_the_middle = 0;
    let mut state = 20_261_115u64;
    for moment in 0..20 {
        std::fs::remove_file(place.path("c.st")).unwrap();
        place.write("m.st", &old_model);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (state >> 40) as f64 / (1u64 << 24) as f64;
        let mut child = place.command(FIT).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(duration.mul_f64(1.1 * share) + Duration::from_millis(1));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = place.read("m.st");
        assert!(
            left == old_model || left == final_model,
            "moment {moment}: the model file is neither old nor new"
        );
        in_the_middle += usize::from(left == old_model && place.path("c.st").exists());
        place.ok("theta m.st --quiet");
        let resumed = certificate(&place.ok(&format!("{FIT} --resume")));
        assert_eq!(resumed, whole, "moment {moment}");
        assert_eq!(place.read("m.st"), final_model, "moment {moment}");
    }
    assert!(in_the_middle > 0, "no fit was killed between its first checkpoint and its end");
}

#[test]
fn a_checkpoint_of_another_fit_is_refused_with_the_reason() {
    let place = Place::new();
    place.ok("data generate data.npz --tasks 4 --rows 20 --features 5 --binary --quiet");
    place.ok("data generate other.npz --tasks 4 --rows 20 --features 5 --binary --seed 1 --quiet");
    let said = place.run("fit data.npz -o m.st --checkpoint c.st --checkpoint-every 0 --resume");
    assert_eq!(said.stderr, "note: there is no c.st: starting from the beginning\n");
    assert_eq!(said.code, 0);
    let before = place.read("c.st");
    let said = place.run("fit data.npz -o m2.st --k 2 --c 7 --checkpoint c.st --resume");
    assert_eq!(said.code, 3);
    assert!(said.stderr.starts_with("error: c.st: this checkpoint is of another fit: "), "{}", said.stderr);
    let method = "method was \"kin:common=auto,k=1,own=auto\" and is \"kin:common=auto,k=2,own=auto\"";
    assert!(said.stderr.contains(method) && said.stderr.contains("c was "), "{}", said.stderr);
    let said = place.run("fit other.npz -o m2.st --checkpoint c.st --resume");
    assert!(said.stderr.contains("the values of the inputs differ"), "{}", said.stderr);
    assert_eq!((place.read("c.st"), place.path("m2.st").exists()), (before, false));
    // Another tolerance is the same fit.
    place.ok("fit data.npz -o m.st --tol 1e-6 --checkpoint c.st --resume");
    let whole = place.read("c.st");
    place.write("c.st", &whole[..whole.len() - 8]);
    let said = place.run("fit data.npz -o m.st --checkpoint c.st --resume");
    assert!(said.stderr.starts_with("error: c.st: it is not a valid checkpoint: "), "{}", said.stderr);
}

#[test]
fn a_run_that_fails_touches_nothing() {
    let place = Place::new();
    place.ok("data generate data.npz --tasks 4 --rows 20 --features 5 --quiet");
    place.write("m.st", "precious");
    place.write("bad.npz", "no archive");
    for words in [
        "fit bad.npz -o m.st",
        "fit missing.npz -o m.st",
        "fit data.npz --loss hinge -o m.st",
        "fit data.npz -o nowhere/m.st",
        "predict m.st data.npz -o p.csv",
        "theta m.st -o t.csv",
    ] {
        let said = place.run(words);
        assert!(said.code == 3 || said.code == 4, "kinfolk {words}: {} {}", said.code, said.stderr);
        assert_eq!(said.stdout, "");
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
        assert!(said.stderr.starts_with("error: "), "{}", said.stderr);
    }
    assert_eq!(place.read("m.st"), b"precious");
    assert_eq!(place.files(), ["bad.npz", "data.npz", "m.st"]);
}
