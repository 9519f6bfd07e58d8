//! Models that scale their inputs themselves.

use super::envelope::Parts;
use super::fixtures::{self, Case, FEATURES, all, one_thread};
use kinfolk::{Error, Inputs, Model, Scaling, ScalingKind};

#[test]
fn raw_inputs_are_scaled_for_predictions_and_certificates() {
    for case in all().into_iter().filter(|case| case.model.about().scaling != ScalingKind::None) {
        let Case { name, inputs, new, observations, model } = case;
        let mut bare = model.clone();
        bare.set_scaling(Scaling::None).unwrap();
        let by_hand = |inputs: &Inputs<'_>| model.scaling().apply(inputs).unwrap().into_owned();
        assert_eq!(model.predict_all(&new).unwrap(), bare.predict_all(&by_hand(&new)).unwrap(), "{name}");
        assert_ne!(model.predict_all(&new).unwrap(), bare.predict_all(&new).unwrap(), "{name}");
        let tasks: Vec<u32> = (0..new.n_inputs() as u32).map(|i| i % 3).collect();
        assert_eq!(
            model.predict(&new, &tasks).unwrap(),
            bare.predict(&by_hand(&new), &tasks).unwrap(),
            "{name}"
        );
        let own = model.certify(&inputs, &observations, &one_thread()).unwrap();
        assert_eq!(own, bare.certify(&by_hand(&inputs), &observations, &one_thread()).unwrap(), "{name}");
        assert_eq!(&own, model.certificate(), "{name}");
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.scaling(), model.scaling(), "{name}");
        assert_eq!(loaded.predict_all(&new).unwrap(), model.predict_all(&new).unwrap(), "{name}");
    }
}

#[test]
fn files_without_a_word_about_scaling_have_none() {
    let case = fixtures::linear();
    let bytes = case.model.to_bytes().unwrap();
    let mut parts = Parts::of(&bytes);
    parts.about.as_object_mut().unwrap().remove("scaling").unwrap();
    let model = Model::from_bytes(&parts.seal()).unwrap();
    assert_eq!(model.scaling(), &Scaling::None);
    assert_eq!(model.to_bytes().unwrap(), bytes);
}

#[test]
fn a_scaling_must_fit_the_model() {
    let refusal = |model: &mut Model, scaling: Scaling| {
        let (before, error) = (model.scaling().clone(), model.set_scaling(scaling).unwrap_err());
        assert!(matches!(error, Error::Incompatible(_)), "{error}");
        assert_eq!(model.scaling(), &before);
        error.to_string()
    };
    let mut model = fixtures::scaled().model;
    let standard = |n, factor| Scaling::Standard { mean: vec![0.0; n], factor: vec![factor; n] };
    assert_eq!(
        refusal(&mut model, standard(3, 1.0)),
        "the scaling has 3 means and 3 factors, there are 4 features"
    );
    assert_eq!(
        refusal(&mut model, standard(FEATURES, -1.0)),
        "the factor of feature 0 is -1, not a positive finite number"
    );
    let gram = all().into_iter().find(|case| case.name == "precomputed, fixed");
    let why = refusal(&mut gram.unwrap().model, Scaling::Unit);
    assert_eq!(why, "unit scaling is about features, the model was fitted on kernel values");
    // What a model cannot scale it does not predict.
    let error = model.predict_all(&fixtures::sparse()).unwrap_err().to_string();
    assert!(error.contains("would fill sparse inputs"), "{error}");
}
