//! Certifying a loaded model again, and what data it must not be certified with.

use super::fixtures::{self, Case, INPUTS, one_thread};
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{Dataset, DatasetOptions, Error, Matrix, Model, Observations, Problem, TaskNames, certify};

fn refusal(model: &Model, inputs: &Inputs<'_>, observations: &Observations) -> String {
    match model.certify(inputs, observations, &one_thread()) {
        Err(Error::Incompatible(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn weights_and_names_come_from_the_model() {
    let Case { inputs, observations, model, .. } = fixtures::sparse_rbf();
    let plain = fixtures::own_inputs(true);
    assert_eq!(
        model.certify(&inputs, &plain, &one_thread()).unwrap(),
        model.certify(&inputs, &observations, &one_thread()).unwrap()
    );
    let other = plain.clone().with_weights(&[2.0; INPUTS]).unwrap();
    let why = refusal(&model, &inputs, &other);
    assert_eq!(why, "observation 0 has weight 1 in the model and 2 in the data given");

    let Case { inputs, observations, model, .. } = fixtures::linear();
    let named = model.certify(&inputs, &observations, &one_thread()).unwrap();
    assert_eq!(model.certify(&inputs, &plain, &one_thread()).unwrap(), named);
    let why = refusal(&model, &inputs, &other);
    assert_eq!(why, "observation 0 has weight 1 in the model and 2 in the data given");
    let integers = plain.with_task_names(TaskNames::Integers(vec![1, 2, 3])).unwrap();
    assert!(refusal(&model, &inputs, &integers).starts_with("task 0 is \"oak"));
}

#[test]
fn data_of_another_size_are_refused() {
    let Case { inputs, observations, mut model, .. } = fixtures::linear();
    let wide = Dense::f64_owned(vec![1.0; INPUTS * 5], INPUTS, 5).unwrap().into();
    assert_eq!(
        refusal(&model, &wide, &observations),
        "the model was fitted on 4 features, the data given have 5"
    );
    let short = inputs.select_rows(&[0, 1, 2]);
    assert!(refusal(&model, &short, &observations).contains("14 inputs, the data given have 3"));
    let few = Observations::from_triples(INPUTS, 3, vec![0], vec![0], vec![1.0]).unwrap();
    assert!(refusal(&model, &inputs, &few).contains("14 observations, the data given have 1"));
    let many = Observations::multi_task(&[7], vec![1.0]).unwrap();
    assert!(refusal(&model, &inputs, &many).contains("3 tasks, the data given have 8"));
    assert!(refusal(&model, &fixtures::gram(), &observations).contains("4 features"));
    model.drop_duals();
    assert!(refusal(&model, &inputs, &observations).contains("duals of the model were dropped"));
}

#[test]
fn a_table_in_another_order_is_refused() {
    let Case { inputs, observations, model, .. } = fixtures::shared();
    let n = observations.len();
    let column = |f: &dyn Fn(usize) -> u32| (0..n).rev().map(f).collect::<Vec<u32>>();
    let backwards = Observations::from_triples(
        INPUTS,
        3,
        column(&|o| observations.input(o) as u32),
        column(&|o| observations.task(o) as u32),
        (0..n).rev().map(|o| observations.label(o)).collect(),
    );
    assert!(refusal(&model, &inputs, &backwards.unwrap()).contains("were a table"));
}

#[test]
fn other_labels_show() {
    let Case { inputs, model, .. } = fixtures::linear();
    let labels = fixtures::own_inputs(true).labels().iter().map(|y| -y).collect();
    let task: Vec<u32> = (0..INPUTS as u32).map(|i| i % 3).collect();
    let flipped = Observations::multi_task(&task, labels).unwrap();
    assert!(matches!(model.certify(&inputs, &flipped, &one_thread()), Err(Error::Infeasible { .. })));
}

#[test]
fn coordinates_of_another_shape_are_refused() {
    let Case { inputs, observations, model, .. } = fixtures::linear();
    let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
    let problem = Problem::new(&data, model.about().problem.clone()).unwrap();
    let graded = certify(&problem, model.alpha().unwrap(), Some(&Matrix::zeros(3, 4)));
    let message = graded.unwrap_err().to_string();
    assert_eq!(message, "the coordinates of the primal point are 3 x 4, expected 4 x 3");
}
