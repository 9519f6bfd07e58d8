//! Where problems must agree: one task with single-task learning, independent tasks with many single ones,
//! regularisers with their special cases, weights with repeated observations.

use crate::common::*;
use faer::{Mat, Side};
use kinfolk::inputs::Inputs;
use kinfolk::{
    Dataset, Fit, LossKind, Losses, Matrix, Observations, Problem, ProblemSpec, RegularizerKind, Settings,
    Status, TaskNames, fit,
};

const C: f64 = 1.0;
const LAMBDA: f64 = 0.5;

fn fixed(theta: &Matrix) -> RegularizerKind {
    RegularizerKind::Fixed { theta: rows(theta) }
}

fn outputs() -> Vec<RegularizerKind> {
    RegularizerKind::entrywise_examples(TASKS)
}

/// Losses without linear pieces, which coordinate ascent solves to the last digits.
fn smooth_losses() -> [LossKind; 3] {
    [LossKind::Squared, LossKind::SquaredHinge, LossKind::Logistic]
}

/// A linear problem with predictions on its own inputs.
struct Solved {
    fit: Fit,
    predictions: Matrix,
}

fn solve_on(x: &[f64], observations: &Observations, spec: ProblemSpec, settings: &Settings) -> Solved {
    let inputs = dense(x);
    let data = Dataset::new(&inputs, observations, linear()).unwrap();
    let fit = fit(&Problem::new(&data, spec).unwrap(), settings).unwrap();
    let predictions = fit.model.predict_all(&inputs).unwrap();
    Solved { fit, predictions }
}

fn solve(sample: &Sample, spec: ProblemSpec, settings: &Settings) -> Solved {
    let Losses::Same(loss) = &spec.loss else { panic!("one loss") };
    solve_on(&sample.x, &sample.observations(loss), spec.clone(), settings)
}

/// |x|^2 of every row.
fn squares(x: &[f64]) -> Vec<f64> {
    x.chunks(FEATURES).map(|row| row.iter().map(|v| v * v).sum()).collect()
}

/// How far a prediction of a model with this gap can be from that of the optimal model with the same Theta:
/// the objective grows by |F - F*|^2 / 2, and `|F(x, t) - F*(x, t)| <= |F - F*| sqrt(Theta_tt k(x, x))`.
fn reach(gap: f64, theta: f64, square: f64) -> f64 {
    (2.0 * gap * theta * square).sqrt() + 1e-12
}

/// Objective intervals overlap.
fn assert_same_optimum(name: &str, a: (f64, f64), b: (f64, f64)) {
    let rounding = 1e-12 * (a.1.abs() + b.1.abs());
    assert!(a.0 <= b.1 + rounding && b.0 <= a.1 + rounding, "{name}: {a:?} and {b:?}");
}

fn interval(fit: &Fit) -> (f64, f64) {
    (fit.certificate().dual, fit.certificate().primal)
}

/// The rows and labels of one task, as a problem of its own.
fn alone(sample: &Sample, task: u32, loss: &LossKind) -> (Vec<f64>, Observations) {
    let own: Vec<usize> = (0..sample.task.len()).filter(|&o| sample.task[o] == task).collect();
    let row = |o: &usize| sample.x[sample.input[*o] as usize * FEATURES..][..FEATURES].to_vec();
    let labels = sample.labels(loss);
    let y = own.iter().map(|&o| labels[o]).collect();
    (own.iter().flat_map(row).collect(), Observations::multi_task(&vec![0; own.len()], y).unwrap())
}

/// Identity for Theta, one loss per task: as many problems as tasks.
fn is_independent_tasks(sample: &Sample, losses: [LossKind; TASKS], tolerance: f64) {
    let name = format!("{losses:?}");
    let mut label = vec![0.0; sample.task.len()];
    for (task, loss) in losses.iter().enumerate() {
        let own = sample.labels(loss);
        (0..label.len()).filter(|&o| sample.task[o] == task as u32).for_each(|o| label[o] = own[o]);
    }
    let observations = Observations::from_triples(
        sample.n_inputs(),
        TASKS,
        sample.input.clone(),
        sample.task.clone(),
        label,
    )
    .unwrap();
    let identity = fixed(&Matrix::identity(TASKS));
    let spec_all = spec(Losses::PerTask(losses.to_vec()), identity, C, LAMBDA);
    let all = solve_on(&sample.x, &observations, spec_all, &sdca(tolerance));
    assert_eq!(all.fit.status(), Status::Certified, "{name}");
    let mut sum = (0.0, 0.0);
    for (task, loss) in losses.iter().enumerate() {
        let (x, own) = alone(sample, task as u32, loss);
        let one =
            solve_on(&x, &own, spec(loss.clone(), fixed(&Matrix::identity(1)), C, LAMBDA), &sdca(tolerance));
        assert_eq!(one.fit.status(), Status::Certified, "{name}");
        sum = (sum.0 + one.fit.certificate().dual, sum.1 + one.fit.certificate().primal);
        let predictions = one.fit.model.predict_all(&dense(&sample.x)).unwrap();
        for (i, square) in squares(&sample.x).into_iter().enumerate() {
            let off = (predictions[(i, 0)] - all.predictions[(i, task)]).abs();
            let allowed =
                reach(one.fit.certificate().gap, 1.0, square) + reach(all.fit.certificate().gap, 1.0, square);
            assert!(off <= allowed, "{name} task {task} input {i}: {off:e} apart, allowed {allowed:e}");
        }
    }
    assert_same_optimum(&name, interval(&all.fit), sum);
}

#[test]
fn identity_means_independent_tasks() {
    for (seed, shape) in SHAPES.into_iter().enumerate() {
        for loss in LossKind::all_examples() {
            is_independent_tasks(&Sample::new(shape, seed as u64), [loss.clone(), loss.clone(), loss], 1e-9);
        }
    }
}

#[test]
fn every_task_may_have_its_own_loss() {
    let losses = LossKind::all_examples();
    for i in 0..losses.len() {
        let pick = |j: usize| losses[(i + 3 * j) % losses.len()].clone();
        is_independent_tasks(&Sample::new(Shape::Missing, 1), [pick(0), pick(1), pick(2)], 1e-9);
    }
}

#[test]
fn the_same_loss_for_every_task_is_one_loss() {
    let sample = Sample::new(Shape::Missing, 1);
    for loss in LossKind::all_examples() {
        for output in outputs() {
            let run = |losses: Losses| {
                let settings = Settings { max_passes: 5, ..sdca(1e-300) };
                let spec = spec(losses, output.clone(), C, LAMBDA);
                let fit = solve_on(&sample.x, &sample.observations(&loss), spec, &settings).fit;
                (fit.model.alpha().unwrap().to_vec(), fit.certificate().clone())
            };
            assert_eq!(
                run(loss.clone().into()),
                run(Losses::PerTask(vec![loss.clone(); TASKS])),
                "{loss} {output}"
            );
        }
    }
}

/// Binary and regression tasks learn from each other.
#[test]
fn mixed_losses_are_certified_with_a_learned_theta() {
    let sample = Sample::new(Shape::Own, 1);
    let losses = [LossKind::Hinge, LossKind::Squared, LossKind::Logistic];
    let label = (0..24).map(|o| sample.labels(&losses[sample.task[o] as usize])[o]).collect();
    let observations = Observations::multi_task(&sample.task, label).unwrap();
    for output in outputs() {
        let spec = spec(Losses::PerTask(losses.to_vec()), output.clone(), C, LAMBDA);
        let solved = solve_on(&sample.x, &observations, spec, &sdca(1e-6));
        assert_eq!(solved.fit.status(), Status::Certified, "{output}");
    }
}

/// A model is optimal for the Theta it found: solving again with that Theta given changes no prediction.
#[test]
fn a_learned_theta_given_back_gives_the_same_model() {
    let sample = Sample::new(Shape::Missing, 5);
    for loss in LossKind::all_examples() {
        for output in outputs() {
            let name = format!("{loss} {output}");
            // Whatever gap is reached says how close the two must be.
            let settings = Settings { max_passes: 2000, ..sdca(1e-8) };
            let learned = solve(&sample, spec(loss.clone(), output.clone(), C, LAMBDA), &settings);
            let theta = learned.fit.model.theta();
            let given = solve(&sample, spec(loss.clone(), fixed(theta), C, LAMBDA), &settings);
            for fit in [&learned.fit, &given.fit] {
                assert!(fit.certificate().rel_gap() <= 1e-2, "{name}: {:e}", fit.certificate().rel_gap());
            }
            for (i, square) in squares(&sample.x).into_iter().enumerate() {
                for t in 0..TASKS {
                    let off = (learned.predictions[(i, t)] - given.predictions[(i, t)]).abs();
                    let gaps = [learned.fit.certificate().gap, given.fit.certificate().gap];
                    let allowed: f64 = gaps.iter().map(|gap| reach(*gap, theta[(t, t)], square)).sum();
                    assert!(off <= allowed, "{name}: {off:e} apart, allowed {allowed:e}");
                }
            }
        }
    }
}

/// One task: Theta is a number, and a single-task problem with C Theta in place of C has the same
/// predictions.
#[test]
fn one_task_is_a_single_task_with_another_c() {
    let sample = Sample::new(Shape::Own, 2);
    for loss in LossKind::all_examples() {
        let (x, observations) = alone(&sample, 1, &loss);
        for output in RegularizerKind::entrywise_examples(1) {
            let name = format!("{loss} {output}");
            let learned =
                solve_on(&x, &observations, spec(loss.clone(), output.clone(), C, LAMBDA), &sdca(1e-8));
            let theta = learned.fit.model.theta()[(0, 0)];
            let single = spec(loss.clone(), fixed(&Matrix::identity(1)), C * theta, LAMBDA);
            let single = solve_on(&x, &observations, single, &sdca(1e-8));
            for fit in [&learned.fit, &single.fit] {
                assert_eq!(fit.status(), Status::Certified, "{name}");
            }
            for (i, square) in squares(&x).into_iter().enumerate() {
                let off = (learned.predictions[(i, 0)] - single.predictions[(i, 0)]).abs();
                let allowed = reach(learned.fit.certificate().gap, theta, square)
                    + reach(single.fit.certificate().gap, 1.0, square);
                assert!(off <= allowed, "{name}: {off:e} apart, allowed {allowed:e}");
            }
        }
    }
}

/// `a x = b` by elimination with pivots, in place.
fn eliminate(a: &mut [Vec<f64>], b: &mut [f64]) {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        let (row, value) = (a[k].clone(), b[k]);
        for i in (0..n).filter(|i| *i != k) {
            let factor = a[i][k] / row[k];
            a[i].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            b[i] -= factor * value;
        }
    }
    (0..n).for_each(|k| b[k] /= a[k][k]);
}

/// Squared loss: alpha solves `alpha_i / C + sum_j Theta_(t_i, t_j) k(x_i, x_j) alpha_j = y_i`, and Theta is
/// phi' of alpha's own task Gram matrix over 2 lambda. Nothing of the crate's solvers is used to see that
/// both hold.
#[test]
fn ridge_regression_in_closed_form() {
    for shape in SHAPES {
        let sample = Sample::new(shape, 6);
        let kernel = products(&sample.x, &sample.x);
        let (n, n_inputs) = (24, sample.n_inputs());
        let k = |i: usize, j: usize| kernel[sample.input[i] as usize * n_inputs + sample.input[j] as usize];
        let task = |o: usize| sample.task[o] as usize;
        for output in outputs() {
            let name = format!("{shape:?} {output}");
            let solved = solve(&sample, spec(LossKind::Squared, output.clone(), C, LAMBDA), &sdca(1e-14));
            let (theta, alpha) = (solved.fit.model.theta(), solved.fit.model.alpha().unwrap());
            let mut system: Vec<Vec<f64>> =
                (0..n).map(|i| (0..n).map(|j| theta[(task(i), task(j))] * k(i, j)).collect()).collect();
            (0..n).for_each(|i| system[i][i] += 1.0 / C);
            let mut exact = sample.label.clone();
            eliminate(&mut system, &mut exact);
            // The gap is the squared residual of this system over 2, and the smallest eigenvalue is at least
            // 1 / C.
            assert_close(&format!("{name}: alpha"), alpha, &exact, 1e-6);
            let mut rho = Matrix::zeros(TASKS, TASKS);
            for i in 0..n {
                for j in 0..n {
                    rho[(task(i), task(j))] += alpha[i] * k(i, j) * alpha[j] / (2.0 * LAMBDA);
                }
            }
            let expected = entrywise(&output).theta(&rho);
            assert_close(&format!("{name}: theta"), theta.as_slice(), expected.as_slice(), 1e-12);
        }
    }
}

/// The same regulariser for the tasks in another order: new task t is old task `order[t]`.
fn permuted(output: &RegularizerKind, order: [usize; TASKS]) -> RegularizerKind {
    let permute = |m: &[Vec<f64>]| order.iter().map(|&r| order.iter().map(|&s| m[r][s]).collect()).collect();
    match output {
        RegularizerKind::Exp { prior: Some(prior) } => RegularizerKind::Exp { prior: Some(permute(prior)) },
        RegularizerKind::Fixed { theta } => RegularizerKind::Fixed { theta: permute(theta) },
        RegularizerKind::Frobenius { prior } => RegularizerKind::Frobenius { prior: permute(prior) },
        other => other.clone(),
    }
}

#[test]
fn permuting_the_tasks_permutes_theta() {
    let order = [2, 0, 1];
    let new_task = |old: u32| order.iter().position(|&o| o == old as usize).unwrap() as u32;
    for shape in SHAPES {
        let sample = Sample::new(shape, 7);
        let other = Sample { task: sample.task.iter().map(|&t| new_task(t)).collect(), ..sample.clone() };
        for loss in smooth_losses() {
            for output in outputs() {
                let name = format!("{shape:?} {loss} {output}");
                let before = solve(&sample, spec(loss.clone(), output.clone(), C, LAMBDA), &sdca(1e-13));
                let after =
                    solve(&other, spec(loss.clone(), permuted(&output, order), C, LAMBDA), &sdca(1e-13));
                assert_same_optimum(&name, interval(&before.fit), interval(&after.fit));
                let back = |m: &Matrix, row: usize, t: usize| m[(row, new_task(t as u32) as usize)];
                let theta: Vec<f64> = (0..TASKS * TASKS)
                    .map(|e| back(after.fit.model.theta(), new_task((e / TASKS) as u32) as usize, e % TASKS))
                    .collect();
                // The objective grows with the square of the distance: half the digits of the gap.
                assert_close(&format!("{name}: theta"), before.fit.model.theta().as_slice(), &theta, 1e-5);
                let n = sample.n_inputs() * TASKS;
                let predictions: Vec<f64> =
                    (0..n).map(|e| back(&after.predictions, e / TASKS, e % TASKS)).collect();
                assert_close(
                    &format!("{name}: predictions"),
                    before.predictions.as_slice(),
                    &predictions,
                    1e-5,
                );
            }
        }
    }
}

/// Two names of one regulariser: with the same seed the solver does the same, up to rounding.
fn assert_same_regulariser(one: &RegularizerKind, other: &RegularizerKind) {
    for shape in SHAPES {
        let sample = Sample::new(shape, 8);
        for loss in LossKind::all_examples() {
            let name = format!("{one} {other} {shape:?} {loss}");
            let settings = Settings { max_passes: 20, ..sdca(1e-300) };
            let [a, b] =
                [one, other].map(|o| solve(&sample, spec(loss.clone(), o.clone(), C, LAMBDA), &settings));
            let values = |s: &Solved| [s.fit.certificate().primal, s.fit.certificate().dual];
            assert_close(&name, &values(&a), &values(&b), 1e-9);
            assert_close(&name, a.fit.model.theta().as_slice(), b.fit.model.theta().as_slice(), 1e-9);
            assert_close(&name, a.predictions.as_slice(), b.predictions.as_slice(), 1e-9);
        }
    }
}

#[test]
fn a_cubic_is_solved_in_closed_form_and_by_newton_alike() {
    // The fourth power is too small to change any sum, but its presence rules out the closed form.
    let nearly = RegularizerKind::Series { coefficients: vec![0.0, 0.5, 0.0, 1e-300] };
    assert_eq!(entrywise(&nearly).linear_slope(), None);
    assert!(entrywise(&power(1)).linear_slope().is_some());
    assert_same_regulariser(&power(1), &nearly);
    assert_same_regulariser(
        &RegularizerKind::Frobenius { prior: vec![vec![0.1; TASKS]; TASKS] },
        &RegularizerKind::Series { coefficients: vec![0.1, 0.5, 0.0, 1e-300] },
    );
}

#[test]
fn powers_are_series() {
    for k in 1..=4 {
        // phi = (q z)^2k / (2k q) with q = (2k-1) / k.
        let q = f64::from(2 * k - 1) / f64::from(k);
        let mut coefficients = vec![0.0; 2 * k as usize];
        coefficients[2 * k as usize - 1] = q.powi(2 * k - 1) / f64::from(2 * k);
        assert_same_regulariser(
            &RegularizerKind::Power { k: k as u32 },
            &RegularizerKind::Series { coefficients },
        );
    }
}

#[test]
fn no_prior_is_a_prior() {
    let all = |value: f64| vec![vec![value; TASKS]; TASKS];
    assert_same_regulariser(&power(1), &RegularizerKind::Frobenius { prior: all(0.0) });
    assert_same_regulariser(
        &RegularizerKind::Exp { prior: None },
        &RegularizerKind::Exp { prior: Some(all(1.0)) },
    );
    assert_same_regulariser(
        &RegularizerKind::Series { coefficients: vec![0.7] },
        &RegularizerKind::Fixed { theta: all(0.7) },
    );
}

/// A task without observations: Theta is phi'(0) in its row, so it predicts `sum_s phi'_ts(0) b_s(x)` with
/// b_s the scores of the other tasks; the rest of the problem does not notice.
#[test]
fn tasks_without_observations() {
    let sample = Sample::new(Shape::Own, 9);
    let kernel = products(&sample.x, &sample.x);
    for loss in smooth_losses() {
        for output in RegularizerKind::entrywise_examples(TASKS + 1) {
            let name = format!("{loss} {output}");
            let names = TaskNames::Numbered(TASKS + 1);
            let observations = sample.observations(&loss).with_task_names(names).unwrap();
            let spec = spec(loss.clone(), output.clone(), C, LAMBDA);
            let solved = solve_on(&sample.x, &observations, spec, &sdca(1e-9));
            assert_eq!(solved.fit.status(), Status::Certified, "{name}");
            let (alpha, regulariser) = (solved.fit.model.alpha().unwrap(), entrywise(&output));
            let nothing: Vec<f64> = (0..=TASKS).map(|s| regulariser.dphi((TASKS, s), 0.0)).collect();
            assert_close(&format!("{name}: theta"), solved.fit.model.theta().row(TASKS), &nothing, 1e-15);
            let expected: Vec<f64> = (0..24)
                .map(|i| {
                    (0..24).map(|j| nothing[sample.task[j] as usize] * alpha[j] * kernel[24 * i + j]).sum()
                })
                .collect();
            let got: Vec<f64> = (0..24).map(|i| solved.predictions[(i, TASKS)]).collect();
            assert_close(&format!("{name}: predictions"), &got, &expected, 1e-12);
            if matches!(output, RegularizerKind::Power { .. } | RegularizerKind::Cosh) {
                assert!(got.iter().all(|f| *f == 0.0), "{name}: {got:?}");
            }
            if output == (RegularizerKind::Exp { prior: None }) {
                assert_eq!(nothing, [1.0; TASKS + 1]);
            }
        }
        // Where no matrix ties the regulariser to the number of tasks, the problem without the empty task is
        // the same.
        for output in outputs() {
            if matches!(
                output,
                RegularizerKind::Fixed { .. }
                    | RegularizerKind::Frobenius { .. }
                    | RegularizerKind::Exp { prior: Some(_) }
            ) {
                continue;
            }
            let settings = Settings { max_passes: 10, ..sdca(1e-300) };
            let spec = spec(loss.clone(), output.clone(), C, LAMBDA);
            let without = solve(&sample, spec.clone(), &settings);
            let names = TaskNames::Numbered(TASKS + 1);
            let observations = sample.observations(&loss).with_task_names(names).unwrap();
            let with = solve_on(&sample.x, &observations, spec, &settings);
            let values = |s: &Solved| [s.fit.certificate().primal, s.fit.certificate().dual];
            assert_close(&format!("{loss} {output}"), &values(&with), &values(&without), 1e-12);
        }
    }
}

/// Two ways to say the same: equal optima, Theta and predictions. The second problem may have more inputs.
fn assert_same_problem(name: &str, a: &Solved, b: &Solved) {
    for solved in [a, b] {
        assert_eq!(
            solved.fit.status(),
            Status::Certified,
            "{name}: {:e}",
            solved.fit.certificate().rel_gap()
        );
    }
    assert_same_optimum(name, interval(&a.fit), interval(&b.fit));
    // Half the digits of a gap of 1e-13.
    assert_close(
        &format!("{name}: theta"),
        a.fit.model.theta().as_slice(),
        b.fit.model.theta().as_slice(),
        1e-5,
    );
    let n = a.predictions.as_slice().len().min(b.predictions.as_slice().len());
    let (a, b) = (&a.predictions.as_slice()[..n], &b.predictions.as_slice()[..n]);
    assert_close(&format!("{name}: predictions"), a, b, 1e-5);
}

/// The sample with some observations given again: on the same input, or on a copy of it.
fn repeated(sample: &Sample, again: &[usize], copy_input: bool) -> Sample {
    let mut out = sample.clone();
    for &o in again {
        let mut input = sample.input[o];
        if copy_input {
            let row = sample.x[input as usize * FEATURES..][..FEATURES].to_vec();
            input = out.n_inputs() as u32;
            out.x.extend(row);
        }
        out.input.push(input);
        out.task.push(sample.task[o]);
        out.label.push(sample.label[o]);
    }
    out
}

#[test]
fn a_weight_of_two_is_an_observation_given_twice() {
    let twice = [0, 5, 11, 22];
    let weight: Vec<f64> = (0..24).map(|o| if twice.contains(&o) { 2.0 } else { 1.0 }).collect();
    for shape in SHAPES {
        let sample = Sample::new(shape, 10);
        for loss in smooth_losses() {
            for output in outputs() {
                let spec = spec(loss.clone(), output.clone(), C, LAMBDA);
                let observations = sample.observations(&loss).with_weights(&weight).unwrap();
                let weighted = solve_on(&sample.x, &observations, spec.clone(), &sdca(1e-13));
                for copy_input in [false, true] {
                    let name = format!("{shape:?} {loss} {output} copied: {copy_input}");
                    let given = solve(&repeated(&sample, &twice, copy_input), spec.clone(), &sdca(1e-13));
                    assert_same_problem(&name, &weighted, &given);
                }
            }
        }
    }
}

#[test]
fn a_weight_of_zero_is_an_observation_left_out() {
    let out = [3, 4, 17];
    let weight: Vec<f64> = (0..24).map(|o| if out.contains(&o) { 0.0 } else { 1.0 }).collect();
    for shape in SHAPES {
        let sample = Sample::new(shape, 11);
        let keep =
            |values: &[u32]| (0..24).filter(|o| !out.contains(o)).map(|o| values[o]).collect::<Vec<u32>>();
        for loss in smooth_losses() {
            for output in outputs() {
                let name = format!("{shape:?} {loss} {output}");
                let spec = spec(loss.clone(), output.clone(), C, LAMBDA);
                let observations = sample.observations(&loss).with_weights(&weight).unwrap();
                let weighted = solve_on(&sample.x, &observations, spec.clone(), &sdca(1e-13));
                let alpha = weighted.fit.model.alpha().unwrap();
                assert!(out.iter().all(|&o| alpha[o] == 0.0), "{name}: {alpha:?}");
                let labels = sample.labels(&loss);
                let label = (0..24).filter(|o| !out.contains(o)).map(|o| labels[o]).collect();
                let (input, task) = (keep(&sample.input), keep(&sample.task));
                let fewer = Observations::from_triples(sample.n_inputs(), TASKS, input, task, label).unwrap();
                assert_same_problem(&name, &weighted, &solve_on(&sample.x, &fewer, spec, &sdca(1e-13)));
            }
        }
    }
}

#[test]
fn weights_of_tasks_classes_and_all_observations() {
    let sample = Sample::new(Shape::Missing, 12);
    let loss = LossKind::SquaredHinge;
    let plain = || sample.observations(&loss);
    let run = |observations: Observations, c: f64| {
        let settings = Settings { max_passes: 10, ..sdca(1e-300) };
        let spec = spec(loss.clone(), power(2), c, LAMBDA);
        let fit = solve_on(&sample.x, &observations, spec, &settings).fit;
        (fit.certificate().clone(), fit.model.alpha().unwrap().to_vec())
    };
    // One weight per task is that weight for each of its observations.
    let of_task = [0.5, 2.0, 3.0];
    let each: Vec<f64> = sample.task.iter().map(|&t| of_task[t as usize]).collect();
    let (by_task, by_observation) =
        (plain().with_task_weights(&of_task).unwrap(), plain().with_weights(&each).unwrap());
    assert_eq!(run(by_task, C), run(by_observation, C));
    // The same weight for all is part of C: a power of two, so that not even rounding differs.
    assert_eq!(run(plain().with_weights(&[4.0; 24]).unwrap(), C), run(plain(), 4.0 * C));
    // Balanced classes: n_t / (2 n_t,class).
    let labels = sample.labels(&loss);
    let count = |t: u32, positive: Option<bool>| {
        let counts = |o: &usize| sample.task[*o] == t && positive.is_none_or(|p| (labels[*o] > 0.0) == p);
        (0..24).filter(counts).count() as f64
    };
    let balanced: Vec<f64> = (0..24)
        .map(|o| {
            let (t, own) = (sample.task[o], Some(labels[o] > 0.0));
            assert!(count(t, Some(true)) > 0.0 && count(t, Some(false)) > 0.0, "both classes are there");
            count(t, None) / (2.0 * count(t, own))
        })
        .collect();
    assert!(balanced.iter().any(|w| *w != 1.0));
    assert_eq!(run(plain().class_balanced().unwrap(), C), run(plain().with_weights(&balanced).unwrap(), C));
}

/// For every alpha, optimal or not, and every regulariser.
#[test]
fn theta_is_positive_semidefinite() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let n_tasks = 2 + seed as usize % 7;
        let n = 4 * n_tasks;
        let x = inputs(n, &mut random);
        let task: Vec<u32> = (0..n).map(|i| (i % n_tasks) as u32).collect();
        let label: Vec<f64> = (0..n).map(|_| if random.fine() < 0.0 { -1.0 } else { 1.0 }).collect();
        let observations = Observations::multi_task(&task, label).unwrap();
        for output in RegularizerKind::entrywise_examples(n_tasks) {
            for (c, max_passes) in [(1e-3, 0), (1.0, 3), (1e3, 1)] {
                let settings = Settings { max_passes, seed, ..sdca(1e-300) };
                let spec = spec(LossKind::Hinge, output.clone(), c, LAMBDA);
                let theta = solve_on(&x, &observations, spec, &settings).fit.model.theta().clone();
                let matrix = Mat::from_fn(n_tasks, n_tasks, |r, s| theta[(r, s)]);
                let values = matrix.self_adjoint_eigenvalues(Side::Lower).unwrap();
                let (low, high) = (values[0], values[n_tasks - 1]);
                // Rounding of rho, times up to 2k - 1 = 7, and of the eigenvalues, each some n_tasks units.
                assert!(low >= -1e-13 * high, "{output} seed {seed} C {c}: eigenvalues {low:e} to {high:e}");
                assert!(
                    (0..n_tasks).all(|r| (0..r).all(|s| theta[(r, s)] == theta[(s, r)])),
                    "{output}: {theta:?}"
                );
            }
        }
    }
}

/// Inputs nobody looks at.
#[test]
fn inputs_without_observations_change_nothing() {
    let sample = Sample::new(Shape::Missing, 13);
    let mut more = sample.x.clone();
    more.extend(inputs(5, &mut Random(1)));
    let observations = Observations::from_triples(
        sample.n_inputs() + 5,
        TASKS,
        sample.input.clone(),
        sample.task.clone(),
        sample.labels(&LossKind::Hinge),
    );
    let spec = spec(LossKind::Hinge, power(1), C, LAMBDA);
    let settings = Settings { max_passes: 10, ..sdca(1e-300) };
    let (a, b) =
        (solve(&sample, spec.clone(), &settings), solve_on(&more, &observations.unwrap(), spec, &settings));
    assert_close("theta", a.fit.model.theta().as_slice(), b.fit.model.theta().as_slice(), 1e-12);
    let fresh: Inputs<'_> = dense(&sample.x);
    let predictions = b.fit.model.predict_all(&fresh).unwrap();
    assert_close("predictions", a.predictions.as_slice(), predictions.as_slice(), 1e-12);
}
