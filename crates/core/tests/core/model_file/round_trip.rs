//! Saving and loading.

use super::fixtures::{self, Case, INPUTS, TASKS, all, one_thread};
use kinfolk::model::{KernelExpansion, Predictor};
use kinfolk::{
    CertifyOptions, Dataset, DatasetOptions, Error, Fitter, Form, Inputs, Intercept, LossKind, Model,
    Problem, ProblemSpec, RegularizerKind, Settings, Start, certify_duals,
};

/// Bits of all predictions, of all tasks and of pairs.
fn predictions(model: &Model, new: &Inputs<'_>) -> Vec<u64> {
    let tasks: Vec<u32> = (0..new.n_inputs() as u32).map(|i| i % TASKS as u32).collect();
    let all = model.predict_all(new).unwrap().into_vec();
    all.into_iter().chain(model.predict(new, &tasks).unwrap()).map(f64::to_bits).collect()
}

fn bits(values: Option<&[f64]>) -> Option<Vec<u64>> {
    values.map(|values| values.iter().map(|x| x.to_bits()).collect())
}

#[test]
fn every_kind_of_model_comes_back_to_the_last_bit() {
    for Case { name, new, model, .. } in all() {
        let bytes = model.to_bytes().unwrap();
        let loaded = Model::from_bytes(&bytes).unwrap();
        assert_eq!(loaded.about(), model.about(), "{name}");
        assert_eq!(bits(Some(loaded.theta().as_slice())), bits(Some(model.theta().as_slice())), "{name}");
        assert_eq!(bits(loaded.alpha()), bits(model.alpha()), "{name}");
        assert_eq!(bits(loaded.observation_weights()), bits(model.observation_weights()), "{name}");
        assert_eq!(loaded.v(), model.v(), "{name}");
        assert_eq!(predictions(&loaded, &new), predictions(&model, &new), "{name}");
        assert_eq!(loaded.to_bytes().unwrap(), bytes, "{name}: the same model has the same bytes");
    }
}

#[test]
fn certificates_are_the_same_from_file_and_data() {
    for Case { name, inputs, observations, model, .. } in all() {
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        for threads in [1, 2] {
            let options = CertifyOptions { threads, ..CertifyOptions::default() };
            let again = loaded.certify(&inputs, &observations, &options).unwrap();
            let stored = model.certificate();
            let tolerance = 1e-12 * stored.primal.abs().max(stored.dual.abs());
            for (a, b) in [
                (again.primal, stored.primal),
                (again.dual, stored.dual),
                (again.gap, stored.gap),
                (again.task_gaps[0], stored.task_gaps[0]),
            ] {
                assert!((a - b).abs() <= tolerance, "{name}, {threads} threads: {a} and {b}");
            }
            assert_eq!(again.form, stored.form);
        }
    }
}

#[test]
fn a_primal_point_of_its_own_is_kept() {
    let Case { inputs, observations, model, new, .. } = fixtures::two_point();
    let (v, stored) = (model.v().unwrap(), model.certificate());
    assert_eq!((v.rows(), stored.form), (fixtures::FEATURES + 1, Form::TwoPoint));
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.v(), Some(v));
    assert_eq!(predictions(&loaded, &new), predictions(&model, &new));
    let again = loaded.certify(&inputs, &observations, &one_thread()).unwrap();
    assert_eq!(again.form, Form::TwoPoint);
    assert!((again.gap - stored.gap).abs() <= 1e-12 * stored.primal, "{again:?} {stored:?}");
}

#[test]
fn without_duals_the_file_is_smaller_and_still_predicts() {
    for Case { name, new, mut model, .. } in all() {
        let (whole, before) = (model.to_bytes().unwrap().len(), predictions(&model, &new));
        model.drop_duals();
        let bytes = model.to_bytes().unwrap();
        let loaded = Model::from_bytes(&bytes).unwrap();
        assert!(bytes.len() < whole, "{name}");
        assert_eq!((loaded.alpha(), loaded.v(), loaded.observation_weights()), (None, None, None));
        assert_eq!(predictions(&loaded, &new), before, "{name}");
    }
}

#[test]
fn a_model_may_remember_no_input() {
    for inputs in [fixtures::dense(), fixtures::sparse()] {
        let Case { model, new, .. } = fixtures::zeros(inputs);
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        match loaded.predictor() {
            Predictor::Kernel(KernelExpansion { support: Some(support), rows, .. }) => {
                assert_eq!(
                    (support.n_inputs(), support.n_features(), rows.len()),
                    (0, fixtures::FEATURES, 0)
                );
            }
            other => panic!("{other:?}"),
        }
        assert!(loaded.predict_all(&new).unwrap().as_slice().iter().all(|z| *z == 0.0));
    }
}

#[test]
fn shapes_are_those_of_the_table() {
    let shape = |case: &Case, name: &str| {
        let bytes = case.model.to_bytes().unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        tensors.tensor(name).ok().map(|tensor| tensor.shape().to_vec())
    };
    let (shared, own) = (fixtures::shared(), fixtures::linear());
    assert_eq!(shape(&shared, "alpha"), Some(vec![INPUTS, TASKS]));
    assert_eq!(shape(&own, "alpha"), Some(vec![INPUTS]));
    assert_eq!(shape(&shared, "weights"), Some(vec![fixtures::FEATURES + 1, TASKS]));
    assert_eq!(shape(&own, "observation_weight"), None);
    assert_eq!(shape(&fixtures::sparse_rbf(), "observation_weight"), Some(vec![INPUTS]));
}

#[test]
fn files_are_replaced_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.safetensors");
    let (first, second) = (fixtures::linear().model, fixtures::sparse_rbf().model);
    first.save(&path).unwrap();
    second.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap().to_bytes().unwrap(), second.to_bytes().unwrap());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn a_failed_save_touches_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let model = fixtures::linear().model;
    let folder = directory.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    for path in
        [folder.clone(), directory.path().join("nowhere/model"), file.join("model"), "".into(), "/".into()]
    {
        let error = model.save(&path).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
    let mut left: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["file", "folder"]);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_keeps_its_file() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model");
    fixtures::linear().model.save(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let permit = |mode| std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(mode));
    permit(0o555).unwrap();
    let saved = fixtures::sparse_rbf().model.save(&path);
    permit(0o755).unwrap();
    // The superuser may write anywhere.
    if saved.is_err() {
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn permissions_of_a_replaced_file_stay() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model");
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    fixtures::linear().model.save(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn what_is_no_model_file_is_told_with_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    assert!(matches!(Model::load(&path), Err(Error::Io { .. })), "there is none");
    std::fs::write(&path, "These are my notes about oak and elm.").unwrap();
    let message = Model::load(&path).unwrap_err().to_string();
    assert!(message.starts_with("model file: ") && message.contains("notes.txt"), "{message}");
    assert!(message.contains("not a safetensors file"), "{message}");
}

#[test]
fn a_model_of_infinite_numbers_is_an_error() {
    let (inputs, observations) = (fixtures::dense(), fixtures::own_inputs(true));
    let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
    let (loss, output) = (LossKind::Hinge.into(), RegularizerKind::Exp { prior: None });
    let problem = Problem::new(
        &data,
        ProblemSpec { loss, output, c: 1e3, lambda: 1e-3, atoms: vec![], intercept: Intercept::None },
    )
    .unwrap();
    // All duals at the end of their range: Theta overflows. A solver has the zero function instead, but a point that is
    // handed over is taken as it is.
    let alpha: Vec<f64> = observations.labels().iter().map(|y| 1e3 * y).collect();
    let settings = Settings { max_passes: 0, ..Settings::default() };
    let solved = Fitter::new(&settings).start(Start::Warm(&alpha)).fit(&problem).unwrap();
    assert_eq!(solved.certificate().primal, 1e3 * observations.len() as f64);
    let error = certify_duals(&problem, &alpha, None, &settings, ("given", 0)).unwrap_err().to_string();
    assert!(error.starts_with("theta of the model is out of the range of double precision"), "{error}");
}
