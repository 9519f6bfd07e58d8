//! One wrong thing at a time: the right error, with the place and the value in its message.

use crate::common::*;
use kinfolk::inputs::{Dense, Gram, Inputs, Sparse};
use kinfolk::kernel::Gamma;
use kinfolk::{
    Dataset, DatasetOptions, Error, Fitter, Kernel, LossKind, Losses, Matrix, Model, Observations, Problem,
    ProblemSpec, RegularizerKind, Settings, SolverKind, Start, TaskNames, certify, fit,
};

/// Asserts variant and full text of an error.
macro_rules! assert_error {
    ($result:expr, $variant:pat, $text:expr) => {
        match $result.map(|_| ()) {
            Err(error) => {
                assert!(matches!(error, $variant), "{error:?}");
                assert_eq!(error.to_string(), $text);
            }
            Ok(()) => panic!("no error: {}", stringify!($result)),
        }
    };
}

const X: [f64; 6] = [1.0, 0.0, 0.5, 1.0, -1.0, 2.0];

fn inputs_of_three() -> Inputs<'static> {
    Dense::f64(&X, 3, 2).unwrap().into()
}

fn observations(label: [f64; 3]) -> Observations {
    Observations::multi_task(&[0, 1, 1], label.to_vec()).unwrap()
}

fn plain() -> ProblemSpec {
    spec(LossKind::Squared, power(1), 1.0, 1.0)
}

/// What [`Problem::new`] says to this specification and these labels of two tasks.
fn state(spec: ProblemSpec, label: [f64; 3]) -> Result<(), Error> {
    let (inputs, observations) = (inputs_of_three(), observations(label));
    let data = Dataset::new(&inputs, &observations, linear()).unwrap();
    Problem::new(&data, spec).map(|_| ())
}

/// A problem of three observations, handed to `body`.
fn with_problem<R>(spec: ProblemSpec, body: impl FnOnce(&Problem<'_>) -> R) -> R {
    let (inputs, observations) = (inputs_of_three(), observations([1.0, -1.0, 1.0]));
    let data = Dataset::new(&inputs, &observations, linear()).unwrap();
    body(&Problem::new(&data, spec).unwrap())
}

#[test]
fn inputs_that_are_not_numbers() {
    let dense = |value: f64| {
        let mut x = X;
        x[3] = value;
        Dense::f64_owned(x.to_vec(), 3, 2)
    };
    let text = |value: &str| format!("input row 1, column 1: {value} is not a finite number");
    assert_error!(dense(f64::NAN), Error::NonFiniteInput { row: 1, column: 1, .. }, text("NaN"));
    assert_error!(dense(f64::INFINITY), Error::NonFiniteInput { .. }, text("inf"));
    assert_error!(dense(f64::NEG_INFINITY), Error::NonFiniteInput { .. }, text("-inf"));
    let single = Dense::f32(&[1.0, 2.0, 3.0, f32::INFINITY], 2, 2);
    assert_error!(single, Error::NonFiniteInput { row: 1, column: 1, .. }, text("inf"));
    let sparse = |value: f64| Sparse::f64(vec![0, 1, 2], vec![0, 1], vec![1.0, value], 2);
    assert_error!(sparse(f64::NAN), Error::NonFiniteInput { row: 1, column: 1, .. }, text("NaN"));
    assert_error!(sparse(f64::INFINITY), Error::NonFiniteInput { .. }, text("inf"));
    let sparse = Sparse::f32(vec![0, 1, 2], vec![0, 1], vec![1.0, f32::NEG_INFINITY], 2);
    assert_error!(sparse, Error::NonFiniteInput { .. }, text("-inf"));
    let gram = Gram::new(vec![1.0, 0.0, 0.0, f64::NAN], 2);
    assert_error!(gram, Error::NonFiniteInput { row: 1, column: 1, .. }, text("NaN"));
}

#[test]
fn inputs_too_large_or_too_small_to_be_multiplied() {
    for inputs in [
        Inputs::from(Dense::f64(&[1.0, 1e200], 2, 1).unwrap()),
        Sparse::f64(vec![0, 1, 2], vec![0, 0], vec![1.0, 1e200], 1).unwrap().into(),
    ] {
        let observations = Observations::multi_task(&[0, 1], vec![1.0, 2.0]).unwrap();
        let text = "input row 1: its kernel value with itself is inf, outside the range of double precision";
        assert_error!(
            Dataset::new(&inputs, &observations, linear()),
            Error::KernelRange { row: 1, .. },
            text
        );
    }
    let tiny: Inputs<'_> = Dense::f64(&[0.0, 1e-200], 2, 1).unwrap().into();
    let observations = Observations::multi_task(&[0, 1], vec![1.0, 2.0]).unwrap();
    let text = "input row 1: its kernel value with itself is 0, outside the range of double precision";
    assert_error!(Dataset::new(&tiny, &observations, linear()), Error::KernelRange { row: 1, .. }, text);
}

#[test]
fn no_inputs_at_all() {
    assert_error!(Dense::f64(&[], 0, 3), Error::Empty { .. }, "list of input rows is empty");
    assert_error!(Dense::f64(&[], 3, 0), Error::Empty { .. }, "list of input columns is empty");
    let sparse = Sparse::f64(vec![0], vec![], vec![], 3);
    assert_error!(sparse, Error::Empty { .. }, "list of input rows is empty");
    let none = Observations::multi_task(&[], vec![]);
    assert_error!(none, Error::Empty { .. }, "the list of observations is empty");
    let none = Observations::multi_class(&[], 3);
    assert_error!(none, Error::Empty { .. }, "the table of labels is empty");
    let none = Observations::multi_class(&[], 0);
    assert_error!(none, Error::Empty { .. }, "the table of labels is empty");
    let none = Observations::multi_output(&[], 0, 2);
    assert_error!(none, Error::Empty { .. }, "the table of labels is empty");
    let none = Observations::multi_label(&[], 2, 0);
    assert_error!(none, Error::Empty { .. }, "the table of labels is empty");
    // Every label missing.
    let none = Observations::multi_output(&[f64::NAN; 4], 2, 2);
    assert_error!(none, Error::Empty { .. }, "the list of observations is empty");
}

#[test]
fn arrays_of_different_lengths() {
    let dense = Dense::f64(&X, 2, 2);
    assert_error!(dense, Error::Length { .. }, "array of input values has length 6, expected 4");
    let sparse = Sparse::f64(vec![0, 1], vec![0], vec![1.0, 2.0], 1);
    assert_error!(sparse, Error::Length { .. }, "array of sparse values has length 2, expected 1");
    let triples =
        |input: Vec<u32>, task: Vec<u32>| Observations::from_triples(3, 2, input, task, vec![1.0; 3]);
    let wrong = triples(vec![0, 1], vec![0, 1, 1]);
    assert_error!(wrong, Error::Length { .. }, "the input column has length 2, expected 3");
    let wrong = triples(vec![0, 1, 2], vec![0, 1, 1, 1]);
    assert_error!(wrong, Error::Length { .. }, "the task column has length 4, expected 3");
    let wrong = Observations::multi_task(&[0, 1], vec![1.0; 3]);
    assert_error!(wrong, Error::Length { .. }, "the input column has length 2, expected 3");
    let wrong = Observations::multi_output(&[1.0; 5], 2, 3);
    assert_error!(wrong, Error::Length { .. }, "the table of labels has length 5, expected 6");
    let wrong = Observations::multi_label(&[true; 5], 2, 3);
    assert_error!(wrong, Error::Length { .. }, "the table of labels has length 5, expected 6");
    let wrong = observations([1.0; 3]).with_weights(&[1.0; 2]);
    assert_error!(wrong, Error::Length { .. }, "the list of weights has length 2, expected 3");
    let wrong = observations([1.0; 3]).with_task_weights(&[1.0; 3]);
    assert_error!(wrong, Error::Length { .. }, "the list of task weights has length 3, expected 2");
    let wrong = observations([1.0; 3]).with_task_names(TaskNames::Numbered(1));
    assert_error!(wrong, Error::Length { .. }, "the list of task names has length 1, expected 2");
    let (inputs, four) = (inputs_of_three(), Observations::multi_task(&[0; 4], vec![1.0; 4]).unwrap());
    let wrong = Dataset::new(&inputs, &four, linear());
    assert_error!(wrong, Error::Length { .. }, "the list of inputs has length 3, expected 4");
}

#[test]
fn tasks_and_inputs_out_of_range() {
    let triples =
        |input: u32, task: u32| Observations::from_triples(3, 2, vec![0, input], vec![0, task], vec![1.0; 2]);
    let wrong = triples(1, 2);
    let text = "observation 1: task 2 is out of range, there are 2 tasks";
    assert_error!(wrong, Error::TaskOutOfRange { row: 1, task: 2, n_tasks: 2 }, text);
    let wrong = triples(3, 1);
    let text = "observation 1: input 3 is out of range, there are 3 inputs";
    assert_error!(wrong, Error::InputOutOfRange { row: 1, input: 3, n_inputs: 3 }, text);
    let wrong = Observations::multi_class(&[0, 1, 3], 3);
    let text = "observation 2: task 3 is out of range, there are 3 tasks";
    assert_error!(wrong, Error::TaskOutOfRange { row: 2, task: 3, n_tasks: 3 }, text);
    let twice = TaskNames::Strings(vec!["oak".into(), "oak".into()]);
    let text = "task name \"oak\" is given twice, to tasks 0 and 1";
    assert_error!(observations([1.0; 3]).with_task_names(twice), Error::DuplicateTask { .. }, text);
}

#[test]
fn weights_that_are_not_weights() {
    for (value, text) in [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let text = format!("observation weight 1: {text} is not a non-negative finite number");
        let wrong = observations([1.0; 3]).with_weights(&[1.0, value, 1.0]);
        assert_error!(wrong, Error::Weight { row: 1, .. }, text);
        let wrong = observations([1.0; 3]).with_task_weights(&[1.0, value]);
        assert_error!(wrong, Error::Weight { row: 1, .. }, text);
    }
    let text = "all observation weights are zero";
    assert_error!(observations([1.0; 3]).with_weights(&[0.0; 3]), Error::AllWeightsZero, text);
    assert_error!(observations([1.0; 3]).with_task_weights(&[0.0; 2]), Error::AllWeightsZero, text);
    // Each is fine alone, together nothing is left.
    let wrong = observations([1.0; 3]).with_task_weights(&[1.0, 0.0]).unwrap().with_weights(&[0.0, 1.0, 1.0]);
    assert_error!(wrong, Error::AllWeightsZero, text);
}

#[test]
fn labels_that_do_not_suit_the_loss() {
    let losses = LossKind::all_examples();
    for loss in losses.iter().filter(|loss| loss.is_classification()) {
        let name = loss.build().unwrap().name();
        for (value, text) in [(0.0, "0"), (2.0, "2"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
            let text = format!(
                "observation 2 (task 1): label {text} does not suit the {name} loss, which expects -1 or +1 \
                 (convert 0/1 labels by 2*y - 1)"
            );
            let wrong = state(ProblemSpec { loss: loss.clone().into(), ..plain() }, [1.0, -1.0, value]);
            assert_error!(wrong, Error::Label { row: 2, .. }, text);
        }
    }
    for loss in losses.iter().filter(|loss| !loss.is_classification()) {
        let name = loss.build().unwrap().name();
        for (value, text) in [(f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf")] {
            let wrong = state(ProblemSpec { loss: loss.clone().into(), ..plain() }, [0.0, value, 1.0]);
            let error = wrong.unwrap_err();
            assert!(matches!(error, Error::Label { row: 1, .. }), "{error:?}");
            let start =
                format!("observation 1 (task 1): label {text} does not suit the {name} loss, which expects ");
            assert!(error.to_string().starts_with(&start), "{error}");
        }
    }
    // Tasks are called by their names.
    let names = TaskNames::Strings(vec!["oak".into(), "elm".into()]);
    let (inputs, observations) =
        (inputs_of_three(), observations([1.0, -1.0, 0.0]).with_task_names(names).unwrap());
    let data = Dataset::new(&inputs, &observations, linear()).unwrap();
    let error =
        Problem::new(&data, ProblemSpec { loss: LossKind::Hinge.into(), ..plain() }).map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with("observation 2 (task elm): label 0 "), "{error}");
}

#[test]
fn parameters_out_of_range() {
    for (value, text) in
        [(0.0, "0"), (-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")]
    {
        let wrong = state(ProblemSpec { c: value, ..plain() }, [1.0; 3]);
        let expected = format!("C = {text}: must be positive and finite");
        assert_error!(wrong, Error::Parameter { name: "C", .. }, expected);
        let wrong = state(ProblemSpec { lambda: value, ..plain() }, [1.0; 3]);
        let expected = format!("lambda = {text}: must be positive and finite");
        assert_error!(wrong, Error::Parameter { name: "lambda", .. }, expected);
        let wrong = Settings { tolerance: value, ..Settings::default() }.check();
        let expected = format!("tolerance = {text}: must be positive and finite");
        assert_error!(wrong, Error::Parameter { name: "tolerance", .. }, expected);
        let wrong = with_problem(plain(), |problem| {
            fit(problem, &Settings { tolerance: value, ..Settings::default() }).map(|_| ())
        });
        assert!(matches!(wrong, Err(Error::Parameter { name: "tolerance", .. })), "{wrong:?}");
    }
    let (inputs, observations) = (inputs_of_three(), observations([1.0; 3]));
    for (bias, text) in [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let wrong = Dataset::new(&inputs, &observations, DatasetOptions { bias, ..linear() });
        let expected = format!("bias = {text}: must be finite and not negative");
        assert_error!(wrong, Error::Parameter { name: "bias", .. }, expected);
    }
    let kernel = Kernel::Rbf { gamma: Gamma::Value(-2.0) };
    let error =
        Dataset::new(&inputs, &observations, DatasetOptions { kernel, ..linear() }).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "gamma", value: -2.0, .. }), "{error:?}");
    assert!(error.to_string().starts_with("gamma = -2: "), "{error}");
    let wrong = state(ProblemSpec { output: power(0), ..plain() }, [1.0; 3]);
    assert_error!(wrong, Error::Parameter { name: "k", .. }, "k = 0: must be an integer from 1 to 1000");
    let wrong = state(ProblemSpec { loss: LossKind::Huber { delta: -1.0 }.into(), ..plain() }, [1.0; 3]);
    let error = wrong.unwrap_err();
    assert!(matches!(error, Error::Parameter { value: -1.0, .. }), "{error:?}");
    assert!(error.to_string().contains("delta = -1"), "{error}");
}

#[test]
fn gram_matrices_that_are_none() {
    let text = "Gram matrix is not symmetric: entry (0, 1) is 0.5, entry (1, 0) is 0.25";
    assert_error!(
        Gram::new(vec![1.0, 0.5, 0.25, 1.0], 2),
        Error::GramAsymmetric { row: 0, column: 1, .. },
        text
    );
    let text = "Gram matrix is not positive semidefinite: entry (1, 1) on its diagonal is -2e0";
    assert_error!(Gram::new(vec![1.0, 0.0, 0.0, -2.0], 2), Error::NotPsd { .. }, text);
    let error = Gram::new(vec![1.0, 3.0, 3.0, 1.0], 2).unwrap_err();
    assert!(matches!(error, Error::NotPsd { what: "Gram matrix", .. }), "{error:?}");
    assert!(error.to_string().contains("entry (0, 1) is 3e0"), "{error}");
    let gram = Gram::new(vec![1.0, 0.5, 1.0], 2);
    assert!(matches!(gram, Err(Error::Length { got: 3, expected: 4, .. })));
    // The wrong kind of kernel for the kind of inputs.
    let observations = Observations::multi_task(&[0, 1], vec![1.0, 2.0]).unwrap();
    let gram: Inputs<'_> = Gram::new(vec![1.0, 0.5, 0.5, 1.0], 2).unwrap().into();
    let error = Dataset::new(&gram, &observations, linear()).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Incompatible(_)), "{error:?}");
    assert!(error.to_string().contains("choose the precomputed kernel"), "{error}");
    let features: Inputs<'_> = Dense::f64(&[1.0, 2.0], 2, 1).unwrap().into();
    let options = DatasetOptions { kernel: Kernel::Precomputed, ..linear() };
    let error = Dataset::new(&features, &observations, options).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Incompatible(_)), "{error:?}");
    assert!(error.to_string().contains("needs a Gram matrix"), "{error}");
}

#[test]
fn task_matrices_of_the_wrong_size_or_sign() {
    let with = |output: RegularizerKind| state(ProblemSpec { output, ..plain() }, [1.0; 3]);
    let identity = |n: usize| rows(&Matrix::identity(n));
    let ones = |n: usize| vec![vec![1.0; n]; n];
    let wrong = with(RegularizerKind::Fixed { theta: identity(3) });
    assert_error!(wrong, Error::Length { .. }, "theta has length 3, expected 2");
    let wrong = with(RegularizerKind::Frobenius { prior: identity(1) });
    assert_error!(wrong, Error::Length { .. }, "frobenius prior has length 1, expected 2");
    let wrong = with(RegularizerKind::Exp { prior: Some(ones(4)) });
    assert_error!(wrong, Error::Length { .. }, "exp prior has length 4, expected 2");
    let wrong = with(RegularizerKind::Fixed { theta: vec![vec![1.0, 0.0], vec![0.0]] });
    assert_error!(wrong, Error::Length { .. }, "row of theta has length 1, expected 2");
    let wrong = with(RegularizerKind::Fixed { theta: vec![] });
    assert_error!(wrong, Error::Empty { .. }, "theta is empty");
    let wrong = with(RegularizerKind::Fixed { theta: vec![vec![1.0, 0.5], vec![0.25, 1.0]] });
    let text = "theta is not symmetric: entry (1, 0) is 0.25, entry (0, 1) is 0.5";
    assert_error!(wrong, Error::Asymmetric { row: 1, column: 0, .. }, text);
    let wrong = with(RegularizerKind::Fixed { theta: vec![vec![1.0, 2.0], vec![2.0, 1.0]] });
    let error = wrong.unwrap_err();
    assert!(matches!(error, Error::NotPsd { what: "theta", .. }), "{error:?}");
    assert!(
        error.to_string().contains("entry (1, 0) is 2, too large for the diagonal entries 1 and 1"),
        "{error}"
    );
    let wrong = with(RegularizerKind::Frobenius { prior: vec![vec![1.0, f64::NAN], vec![f64::NAN, 1.0]] });
    let text = "frobenius prior: entry (0, 1) is NaN, which is not a finite number";
    assert_error!(wrong, Error::Entry { row: 0, column: 1, .. }, text);
    let wrong = with(RegularizerKind::Exp { prior: Some(identity(2)) });
    assert_error!(wrong, Error::Entry { .. }, "exp prior: entry (0, 1) is 0, must be positive");
    let wrong = with(RegularizerKind::Series { coefficients: vec![0.0, 0.0, 1.0] });
    assert!(matches!(wrong, Err(Error::NotConvex { .. })), "{wrong:?}");
}

#[test]
fn as_many_losses_as_tasks() {
    for n in [0, 1, 3] {
        let loss = Losses::PerTask(vec![LossKind::Squared; n]);
        let text = format!("the list of losses has length {n}, expected 2");
        assert_error!(state(ProblemSpec { loss, ..plain() }, [1.0; 3]), Error::Length { .. }, text);
    }
}

fn model(kernel: Kernel, inputs: &Inputs<'_>) -> Model {
    let names = TaskNames::Strings(vec!["oak".into(), "elm".into()]);
    let observations = observations([1.0, -1.0, 1.0]).with_task_names(names).unwrap();
    let data = Dataset::new(inputs, &observations, DatasetOptions { kernel, ..linear() }).unwrap();
    fit(&Problem::new(&data, plain()).unwrap(), &Settings::default()).unwrap().model
}

#[test]
fn predictions_of_the_wrong_things() {
    let inputs = inputs_of_three();
    let wide: Inputs<'_> = Dense::f64(&[1.0; 6], 2, 3).unwrap().into();
    let wide_sparse: Inputs<'_> = Sparse::f64(vec![0, 1], vec![0], vec![1.0], 3).unwrap().into();
    for kernel in [Kernel::Linear, Kernel::Cosine, Kernel::Rbf { gamma: Gamma::Value(1.0) }] {
        let model = model(kernel, &inputs);
        let text = "the model was fitted on 2 features; the inputs to predict are dense with 3 columns";
        assert_error!(model.predict_all(&wide), Error::Incompatible(_), text);
        assert_error!(model.predict(&wide, &[0, 1]), Error::Incompatible(_), text);
        let text = "the model was fitted on 2 features; the inputs to predict are sparse with 3 columns";
        assert_error!(model.predict_all(&wide_sparse), Error::Incompatible(_), text);
        let text = "the list of tasks has length 2, expected 3";
        assert_error!(model.predict(&inputs, &[0, 1]), Error::Length { .. }, text);
        let text = "observation 2: task 2 is out of range, there are 2 tasks";
        assert_error!(model.predict(&inputs, &[0, 1, 2]), Error::TaskOutOfRange { row: 2, .. }, text);
        let text = "task \"fir\" is unknown; the tasks are oak, elm";
        assert_error!(model.tasks().find("fir"), Error::UnknownTask { .. }, text);
        assert_eq!(model.tasks().find("elm").unwrap(), 1);
        let gram: Inputs<'_> = Gram::new(vec![1.0, 0.0, 0.0, 1.0], 2).unwrap().into();
        let text = "the model was fitted on 2 features; the inputs to predict are Gram with 2 columns";
        assert_error!(model.predict_all(&gram), Error::Incompatible(_), text);
    }
    // A precomputed kernel wants kernel values with each of the training inputs.
    let gram: Inputs<'_> = Gram::new(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 3).unwrap().into();
    let model = model(Kernel::Precomputed, &gram);
    let text = "the model was fitted on 3 training inputs; the inputs to predict are dense with 2 columns";
    assert_error!(model.predict_all(&inputs), Error::Incompatible(_), text);
    assert_eq!(model.predict_all(&wide).unwrap().rows(), 2);
}

#[test]
fn budgets_that_are_too_small() {
    let kernel = Kernel::Rbf { gamma: Gamma::Value(1.0) };
    let (inputs, observations) = (inputs_of_three(), observations([1.0; 3]));
    let options = DatasetOptions { kernel, memory: 71, ..linear() };
    let wrong = Dataset::new(&inputs, &observations, options.clone());
    let text = "a panel of the Gram matrix needs 72 bytes of memory, the budget is 71 bytes";
    assert_error!(wrong, Error::Memory { needed: 72, budget: 71, .. }, text);
    assert!(Dataset::new(&inputs, &observations, DatasetOptions { memory: 72, ..options }).is_ok());
    // The eigenbasis is computed when it is needed, and refused then.
    let shared = Observations::multi_output(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, 2).unwrap();
    let data = Dataset::new(&inputs, &shared, DatasetOptions { memory: 10, ..linear() }).unwrap();
    let problem = Problem::new(&data, plain()).unwrap();
    let settings = Settings { solver: SolverKind::Spectral, ..Settings::default() };
    let error = fit(&problem, &settings).map(|_| ()).unwrap_err();
    let Error::Memory { needed, budget: 10, .. } = error else { panic!("{error:?}") };
    let text = format!("the eigenbasis of the inputs needs {needed} bytes of memory, the budget is 10 bytes");
    assert_eq!(error.to_string(), text);
    // Left to itself, the crate chooses a solver that fits, and says why.
    let fit = fit(&problem, &Settings::default()).unwrap();
    assert_eq!(fit.solver, "sdca");
    assert!(fit.reason.unwrap().contains("the budget is 10"));
}

#[test]
fn a_solver_that_does_not_suit() {
    let settings = Settings { solver: SolverKind::Spectral, ..Settings::default() };
    let inputs = inputs_of_three();
    let attempt = |observations: &Observations, loss: Losses| {
        let data = Dataset::new(&inputs, observations, linear()).unwrap();
        fit(&Problem::new(&data, ProblemSpec { loss, ..plain() }).unwrap(), &settings).map(|_| ())
    };
    let shared = Observations::multi_output(&[1.0, -1.0, 1.0, 1.0, -1.0, 1.0], 3, 2).unwrap();
    let text = |why: &str| format!("solver spectral cannot solve this problem: {why}");
    let squared = Losses::from(LossKind::Squared);
    assert_error!(
        attempt(&shared, LossKind::Hinge.into()),
        Error::Unsuitable { solver: "spectral", .. },
        text("not every task has the squared loss")
    );
    assert_error!(
        attempt(&shared, Losses::PerTask(vec![LossKind::Squared, LossKind::Absolute])),
        Error::Unsuitable { .. },
        text("not every task has the squared loss")
    );
    assert_error!(
        attempt(&observations([1.0; 3]), squared.clone()),
        Error::Unsuitable { .. },
        text("not every input has a label for every task")
    );
    let weighted = shared.clone().with_task_weights(&[1.0, 2.0]).unwrap();
    assert_error!(
        attempt(&weighted, squared.clone()),
        Error::Unsuitable { .. },
        text("observations have different weights")
    );
    assert!(attempt(&shared, squared).is_ok());
}

#[test]
fn duals_that_are_none() {
    let hinge = ProblemSpec { loss: LossKind::Hinge.into(), ..plain() };
    with_problem(hinge, |problem| {
        assert!(certify(problem, &[0.0, 0.0, 0.0], None).is_ok());
        for wrong in [certify(problem, &[0.0; 2], None).map(|_| ()), {
            Fitter::new(&Settings::default()).start(Start::Warm(&[0.0; 2])).fit(problem).map(|_| ())
        }] {
            assert_error!(wrong, Error::Length { .. }, "the list of duals has length 2, expected 3");
        }
        // Labels 1, -1, 1: duals in [0, 1], [-1, 0], [0, 1].
        for (alpha, observation, text) in [
            ([1.5, 0.0, 0.0], 0, "dual variable 1.5 is outside [0, 1]"),
            ([0.0, 0.5, 0.0], 1, "dual variable 0.5 is outside [-1, 0]"),
            ([0.0, 0.0, -0.25], 2, "dual variable -0.25 is outside [0, 1]"),
            ([0.0, 0.0, f64::NAN], 2, "dual variable NaN is outside [0, 1]"),
        ] {
            let error = certify(problem, &alpha, None).unwrap_err();
            assert!(
                matches!(error, Error::Infeasible { observation: o, .. } if o == observation),
                "{error:?}"
            );
            assert_eq!(error.to_string(), format!("observation {observation}: {text}"));
        }
    });
    // The squared loss takes any number.
    with_problem(plain(), |problem| {
        let text = "observation 1: dual variable NaN is outside [-inf, inf]";
        assert_error!(certify(problem, &[0.0, f64::NAN, 0.0], None), Error::Infeasible { .. }, text);
        let far = certify(problem, &[0.0, f64::INFINITY, 0.0], None).unwrap();
        assert_eq!((far.gap, far.rel_gap()), (f64::INFINITY, f64::INFINITY));
    });
}

#[test]
fn coordinates_of_the_wrong_shape() {
    with_problem(plain(), |problem| {
        for (n, t) in [(2, 1), (3, 2), (0, 0)] {
            let wrong = certify(problem, &[0.0; 3], Some(&Matrix::zeros(n, t)));
            let text = format!("the coordinates of the primal point are {n} x {t}, expected ");
            assert!(matches!(&wrong, Err(Error::Incompatible(why)) if why.starts_with(&text)), "{wrong:?}");
        }
    });
}

/// Products of weights used to be taken unchecked, and an infinite one ended in a panic.
#[test]
fn weights_whose_product_is_not_finite() {
    let obs = Observations::multi_task(&[0, 1], vec![1.0, -1.0]).unwrap();
    let twice = obs.with_task_weights(&[1e200, 1.0]).unwrap().with_weights(&[1e200, 1.0]);
    assert!(matches!(twice, Err(Error::Weight { row: 0, value }) if value.is_infinite()), "{twice:?}");
}

#[test]
fn a_weight_too_large_for_c() {
    let inputs = Inputs::from(Dense::f64(&[1e10, 2e10], 2, 1).unwrap());
    let obs =
        Observations::multi_task(&[0, 1], vec![1.0, -1.0]).unwrap().with_weights(&[1e305, 1.0]).unwrap();
    let data = Dataset::new(&inputs, &obs, DatasetOptions::default()).unwrap();
    let problem = Problem::new(&data, spec(LossKind::Hinge, power(1), 1e3, 1.0));
    assert!(matches!(problem, Err(Error::Parameter { name: "C", .. })), "{problem:?}");
}
