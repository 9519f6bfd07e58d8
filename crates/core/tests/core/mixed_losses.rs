//! Tasks with different losses under regularisers of Theta as a whole.

use crate::common::*;
use kinfolk::{Dataset, LossKind, Losses, Problem, RegularizerKind, Settings, Status, fit};

/// Of one kind, of both kinds, and with and without kinks.
fn mixes() -> [[LossKind; TASKS]; 3] {
    [
        [LossKind::Logistic, LossKind::Hinge, LossKind::Logistic],
        [LossKind::Squared, LossKind::Epsilon { epsilon: 0.1 }, LossKind::Huber { delta: 1.0 }],
        [LossKind::Logistic, LossKind::Squared, LossKind::SmoothedHinge { gamma: 0.5 }],
    ]
}

/// Every mix, every spectral regulariser, from strong to weak regularisation.
#[test]
fn all_thirty_six_fits_are_certified() {
    let mut certified = 0;
    for losses in mixes() {
        let sample = Sample::new(Shape::Own, 3);
        let label = |o: usize| sample.labels(&losses[sample.task[o] as usize])[o];
        let labels = (0..sample.label.len()).map(label).collect();
        let obs = sample.observations(&LossKind::Squared).with_labels(labels).unwrap();
        let inputs = dense(&sample.x);
        let data = Dataset::new(&inputs, &obs, linear()).unwrap();
        for output in RegularizerKind::spectral_examples() {
            for c in [1e-2, 1e3, 1e6] {
                let problem_spec = spec(Losses::PerTask(losses.to_vec()), output.clone(), c, 0.5);
                let problem = Problem::new(&data, problem_spec).unwrap();
                let settings = Settings { tolerance: 1e-6, max_passes: 20_000, ..Settings::default() };
                let solved = fit(&problem, &settings).unwrap();
                let name = format!("{losses:?} {output} C = {c:e}");
                assert_eq!(solved.status(), Status::Certified, "{name}: {}", solved.certificate());
                println!("{name}: {} rounds, {:.2} s", solved.passes, solved.seconds);
                certified += 1;
            }
        }
    }
    assert_eq!(certified, 36);
}
