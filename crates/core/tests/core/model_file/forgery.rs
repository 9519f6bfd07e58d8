//! Files with the right checksums and something wrong inside: each refused in its own words.

use super::envelope::{Parts, Tensor};
use super::fixtures::{self, Case, one_thread};
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{
    Dataset, DatasetOptions, Error, Intercept, Model, Observations, Problem, ProblemSpec, Settings,
    TargetScale, TaskNames,
};
use serde_json::{Value, json};

/// The error of a file after an edit.
fn refusal(case: &Case, edit: impl FnOnce(&mut Parts)) -> String {
    let mut parts = Parts::of(&case.model.to_bytes().unwrap());
    edit(&mut parts);
    match Model::from_bytes(&parts.seal()) {
        Err(Error::Model(why)) => why,
        other => panic!("{}: {other:?}", case.name),
    }
}

/// The same with `about[path] = value`.
fn about_refusal(case: &Case, path: &str, value: Value) -> String {
    refusal(case, |parts| *parts.about.pointer_mut(path).unwrap_or_else(|| panic!("no {path}")) = value)
}

fn check(got: String, expected: &str) {
    assert!(got.contains(expected), "got {got:?}, expected {expected:?}");
}

#[test]
fn taken_apart_and_put_together_it_is_the_same_model() {
    for case in fixtures::all() {
        let bytes = case.model.to_bytes().unwrap();
        let model = Model::from_bytes(&Parts::of(&bytes).seal()).unwrap();
        assert_eq!(model.to_bytes().unwrap(), bytes, "{}", case.name);
    }
}

#[test]
fn a_newer_format_is_named() {
    let linear = fixtures::linear();
    let why = refusal(&linear, |parts| {
        parts.version = (json!(3), json!("7.1.0"));
        parts.about = json!("something else entirely");
    });
    let expected =
        "format version 3, written by kinfolk 7.1.0, is newer than version 2, the newest that kinfolk ";
    assert_eq!(why, format!("{expected}{} reads", env!("CARGO_PKG_VERSION")));
    for version in [json!(u64::MAX), json!(u64::from(u32::MAX) + 2)] {
        check(refusal(&linear, |parts| parts.version.0 = version), "is newer than version 2");
    }
    check(refusal(&linear, |parts| parts.version.0 = json!(0)), "format version 0 does not exist");
    for version in [json!(-1), json!(1.5), json!("1"), json!(null)] {
        check(refusal(&linear, |parts| parts.version.0 = version), "metadata: invalid");
    }
}

#[test]
fn every_tensor_has_its_type_and_shape() {
    let cases = [fixtures::linear(), fixtures::sparse_rbf(), fixtures::dense_rbf(), fixtures::two_point()];
    let labels = fixtures::scaled_labels(TargetScale::Common, true);
    for case in cases.into_iter().chain([fixtures::scaled(), labels, fixtures::with_atoms()]) {
        let parts = Parts::of(&case.model.to_bytes().unwrap());
        for (name, Tensor { dtype, shape, .. }) in &parts.tensors {
            let name = name.as_str();
            let other = match dtype.as_str() {
                "F64" => "I64",
                "U64" => "F64",
                "F32" => "U32",
                _ => "F32",
            };
            let real = matches!(name, "support" | "support_values");
            let expected = if real { "F32 or F64" } else { dtype };
            let why = refusal(&case, |parts| parts.tensor(name).dtype = other.into());
            check(why, &format!("tensor {name}: its type is {other}, expected {expected}"));
            let flat = vec![1, shape.iter().product()];
            let why = refusal(&case, |parts| parts.tensor(name).shape = flat);
            check(why, &format!("tensor {name}: its shape is [1, "));
            // One row less.
            let size = if matches!(dtype.as_str(), "F32" | "U32") { 4 } else { 8 };
            let row = size * shape[1..].iter().product::<usize>();
            let why = refusal(&case, |parts| {
                let tensor = parts.tensor(name);
                tensor.shape[0] -= 1;
                tensor.bytes.truncate(tensor.bytes.len() - row);
            });
            match name {
                // These two are what the others are compared with.
                "support_rows" => check(why, "its shape is "),
                "support_indices" => check(why, "tensor support_values: its shape is "),
                _ => check(why, &format!("tensor {name}: its shape is [{}", shape[0] - 1)),
            }
            let without = |case| refusal(case, |parts| drop(parts.tensors.remove(name)));
            match name {
                // Neither listed nor there.
                "v" => check(without(&case), "there is no tensor v"),
                "alpha" if case.model.v().is_some() => check(without(&case), "v: of no use without alpha"),
                "alpha" if case.model.observation_weights().is_some() => {
                    check(without(&case), "observation_weight: of no use without alpha")
                }
                // Duals dropped, weights all one, labels not centred.
                "alpha" | "observation_weight" | "target_centre" => {}
                _ => check(without(&case), "missing in the list of tensors"),
            }
        }
    }
}

#[test]
fn listed_and_present_are_the_same() {
    let linear = fixtures::linear();
    check(
        refusal(&linear, |parts| {
            parts.tensors.remove("theta");
            parts.missing.push("theta");
        }),
        "tensor theta: missing",
    );
    check(refusal(&linear, |parts| parts.unlisted.push("alpha")), "tensor alpha: not in the list of tensors");
    check(refusal(&linear, |parts| parts.missing.push("dual")), "tensor dual: it has no place");
    // The name of another kernel's tensor.
    let coefficients = Tensor::doubles(&[1, 3], &[0.0; 3]);
    check(
        refusal(&linear, |parts| drop(parts.tensors.insert("coefficients".into(), coefficients.clone()))),
        "tensor coefficients: it has no place in a model of the linear kernel",
    );
    check(
        refusal(&linear, |parts| {
            parts.tensors.insert("coefficients".into(), coefficients.clone());
            parts.unlisted.push("coefficients");
        }),
        "tensor coefficients: not in the list",
    );
    // Somebody's own tensors do no harm.
    let bytes = linear.model.to_bytes().unwrap();
    let mut parts = Parts::of(&bytes);
    parts.tensors.insert("notes".into(), Tensor::doubles(&[2], &[f64::NAN, 1.0]));
    parts.unlisted.push("notes");
    assert_eq!(Model::from_bytes(&parts.seal()).unwrap().to_bytes().unwrap(), bytes);
}

#[test]
fn numbers_must_be_finite_and_in_range() {
    let (linear, sparse, dense) = (fixtures::linear(), fixtures::sparse_rbf(), fixtures::dense_rbf());
    let two_point = fixtures::two_point();
    let set = |case: &Case, name: &str, i, value| refusal(case, |parts| parts.tensor(name).set(i, value));
    check(set(&linear, "theta", 1, f64::NAN), "theta: entry (0, 1) is NaN");
    check(set(&linear, "theta", 1, 0.5), "theta is not symmetric: entry (1, 0) is");
    check(set(&linear, "weights", 4, f64::INFINITY), "weights: entry (1, 1) is inf, not a finite number");
    check(set(&linear, "alpha", 3, f64::NEG_INFINITY), "alpha: entry 3 is -inf, not a finite number");
    check(set(&dense, "coefficients", 0, f64::NAN), "coefficients: entry (0, 0) is NaN");
    check(set(&dense, "support", 5, f64::NAN), "support: input row 1, column 1: NaN is not a finite number");
    check(set(&two_point, "v", 2, f64::NAN), "v: entry (0, 2) is NaN");
    let atoms = fixtures::with_atoms();
    check(set(&atoms, "atom_coefficient", 1, -1.0), "atom_coefficient: entry 1 is -1, out of its range");
    check(set(&atoms, "atom_coefficient", 2, f64::NAN), "atom_coefficient: entry 2 is NaN");
    check(set(&atoms, "atom_share", 3, 1.5), "atom_share: entry 3 is 1.5, out of its range");
    let scaled = fixtures::scaled();
    check(
        set(&scaled, "scale_mean", 2, f64::NAN),
        "scaling: the mean of feature 2 is NaN, not a finite number",
    );
    check(
        set(&scaled, "scale_factor", 1, 0.0),
        "scaling: the factor of feature 1 is 0, not a positive finite",
    );
    check(set(&scaled, "scale_factor", 3, f64::INFINITY), "scaling: the factor of feature 3 is inf");
    let labels = fixtures::scaled_labels(TargetScale::Task, true);
    check(set(&labels, "target_centre", 0, f64::NAN), "target_scale: the target centre of task 0 is NaN");
    check(
        set(&labels, "target_scale", 2, 0.0),
        "the target spread of task 2 is 0, not a positive finite number",
    );
    check(set(&sparse, "observation_weight", 1, -0.5), "observation_weight: entry 1 is -0.5, below zero");
    check(set(&sparse, "observation_weight", 1, f64::NAN), "observation_weight: entry 1 is NaN");
    check(
        refusal(&sparse, |parts| parts.tensor("observation_weight").bytes.fill(0)),
        "observation_weight: all are zero",
    );
    let rows = |i, value| refusal(&sparse, |parts| parts.tensor("support_rows").set_u32(i, value));
    check(rows(1, 0), "support_rows: entry 1 is 0, after 0; they must increase");
    check(rows(0, u32::MAX), "they must increase");
    let last = Parts::of(&sparse.model.to_bytes().unwrap()).tensors["support_rows"].shape[0] - 1;
    check(rows(last, 99), "support_rows: input 99 is out of range, there were 14 inputs");
    let indptr = |i, value| refusal(&sparse, |parts| parts.tensor("support_indptr").set_u64(i, value));
    check(indptr(0, 1), "support: sparse input row 0: indptr starts at 1");
    check(indptr(1, u64::MAX), "support: sparse input row 0: indptr ends it at entry 18446744073709551615");
    let why = refusal(&sparse, |parts| parts.tensor("support_indices").set_u32(0, 4));
    check(why, "column 4 is out of range, there are 4 columns");
}

#[test]
fn everything_in_about_is_checked() {
    let (linear, rbf, gram) = (fixtures::linear(), fixtures::dense_rbf(), {
        let case = fixtures::all().into_iter().find(|case| case.name == "precomputed, fixed");
        case.unwrap()
    });
    let (shared, scaled) = (fixtures::shared(), fixtures::scaled());
    let (labels, atoms) = (fixtures::scaled_labels(TargetScale::Task, true), fixtures::with_atoms());
    for (case, path, value, expected) in [
        (&atoms, "/problem/atoms/0/weight", json!(-1), "about: atom \"common\": its weight is -1"),
        (&atoms, "/problem/atoms/0/name", json!("likeness"), "about: there are two atoms \"likeness\""),
        (&atoms, "/problem/atoms/2/relation/groups", json!([0, 1]), "it has groups for 2 tasks, there are 3"),
        (&atoms, "/problem/atoms/3/relation/rows/1", json!([1]), "its matrix is 3 x 1, there are 3 tasks"),
        (&atoms, "/problem/atoms/1/relation", json!({"kind": "alien"}), "about: unknown variant"),
        (&linear, "/problem/c", json!(0.0), "about: C = 0: must be positive"),
        (&linear, "/problem/lambda", json!(-1), "about: lambda = -1"),
        (&linear, "/problem/lambda", json!(null), "about: invalid type: null"),
        (&linear, "/problem/loss", json!({"kind": "zero_one"}), "about: expected a loss with its parameter"),
        (&linear, "/problem/loss", json!([{"kind": "hinge"}]), "about: the list of losses has length 1"),
        (&linear, "/problem/loss", json!({"kind": "huber", "delta": 0}), "about: delta = 0"),
        (&linear, "/problem/output", json!({"kind": "power", "k": 0}), "about: "),
        (&linear, "/problem/output", json!({"kind": "norm"}), "about: unknown variant `norm`"),
        (&linear, "/problem/output", json!({"kind": "fixed", "theta": [[1]]}), "regulariser is not 3 x 3"),
        (&rbf, "/problem/output/prior/2", json!([1]), "the matrix of the exp regulariser is not 3 x 3"),
        (&linear, "/kernel", json!({"kind": "sigmoid"}), "about: unknown variant `sigmoid`"),
        (&linear, "/kernel", json!({"kind": "rbf", "gamma": 1}), "tensor support_rows: missing"),
        (&rbf, "/kernel", json!({"kind": "linear"}), "tensor weights: missing"),
        (&rbf, "/kernel/gamma", json!("scale"), "about: gamma is a rule for the training inputs"),
        (&rbf, "/kernel/gamma", json!(-2.0), "about: gamma = -2"),
        (&rbf, "/kernel", json!({"kind": "polynomial", "gamma": 1, "degree": 0}), "about: degree = 0"),
        (&linear, "/bias", json!(-1.0), "about: bias = -1"),
        (&linear, "/scaling", json!("standard"), "tensor scale_mean: missing in the list of tensors"),
        (&linear, "/scaling", json!("robust"), "about: unknown variant `robust`"),
        (&scaled, "/scaling", json!("none"), "tensor scale_factor: it has no place"),
        (&scaled, "/scaling", json!("spread"), "tensor scale_mean: it has no place"),
        (&linear, "/scaling", json!("auto"), "about: scaling auto is a wish"),
        (&labels, "/target_scale", json!("none"), "tensor target_centre: it has no place"),
        (&labels, "/target_scale", json!("class"), "about: unknown variant `class`"),
        (&linear, "/empty_tasks", json!([0, 0]), "about: empty_tasks must increase"),
        (&linear, "/empty_tasks", json!([3]), "about: empty_tasks must increase"),
        (&linear, "/task_labels", json!([3]), "about: task_labels must have a number for each task"),
        (&linear, "/rarer_labels", json!([3]), "about: rarer_labels must have a number for each task"),
        (&gram, "/scaling", json!("unit"), "scaling: unit scaling is about features"),
        (&linear, "/bias", json!(1.0), "tensor weights: its shape is [4, 3], expected [5, 3]"),
        (&linear, "/tasks", json!({"strings": ["a", "b", "a"]}), "\"a\" is given twice, to tasks 0 and 2"),
        (&linear, "/tasks", json!({"integers": [1, 2]}), "certificate: 3 task gaps for 2 tasks"),
        (&linear, "/tasks", json!({"numbered": 0}), "about: there are no tasks"),
        (&linear, "/tasks", json!({"numbered": u64::MAX}), "tasks are too many"),
        (&linear, "/tasks", json!({"numbered": 1_000_000}), "certificate: 3 task gaps for 1000000 tasks"),
        (&linear, "/n_inputs", json!(0), "about: there are no inputs"),
        (&linear, "/n_features", json!(0), "about: there are no features"),
        (&linear, "/n_features", json!(usize::MAX), "features are too many"),
        (&linear, "/n_features", json!(5), "tensor weights: its shape is [4, 3], expected [5, 3]"),
        (&linear, "/n_observations", json!(0), "about: there are no observations"),
        (&linear, "/n_observations", json!(15), "tensor alpha: its shape is [14], expected [15]"),
        (&shared, "/n_inputs", json!(13), "13 inputs with all of 3 tasks each do not make 42 observations"),
        (&shared, "/complete", json!(false), "tensor alpha: its shape is [14, 3], expected [42]"),
        (&linear, "/complete", json!(true), "do not make 14 observations"),
        (&gram, "/n_features", json!(13), "a precomputed kernel of 14 inputs has 14 columns, not 13"),
        (&linear, "/certificate/gap", json!(-1e-9), "certificate: a gap of -0.000000001"),
        (&linear, "/certificate/task_gaps/1", json!("nan"), "certificate: a gap of NaN"),
        (&linear, "/certificate/task_gaps", json!([]), "certificate: 0 task gaps for 3 tasks"),
        (&linear, "/certificate/primal", json!("nan"), "certificate: primal is NaN"),
        (&linear, "/certificate/primal", json!("much"), "expected a number"),
        (&linear, "/certificate/form", json!("two_point"), "there is no tensor v"),
    ] {
        check(about_refusal(case, path, value), expected);
    }
}

#[test]
fn infinite_objectives_are_read_and_written() {
    let mut parts = Parts::of(&fixtures::linear().model.to_bytes().unwrap());
    for (key, value) in [("primal", "inf"), ("dual", "-inf"), ("gap", "inf")] {
        parts.about["certificate"][key] = json!(value);
    }
    let model = Model::from_bytes(&parts.seal()).unwrap();
    assert_eq!(model.certificate().rel_gap(), f64::INFINITY);
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.certificate(), model.certificate());
}

/// Replaces every value inside about, one at a time, by every odd value: whatever is still accepted must be
/// usable.
#[test]
fn what_is_accepted_can_be_used() {
    let odd = [
        json!(null),
        json!(0),
        json!(-1),
        json!(1),
        json!(2),
        json!(0.5),
        json!(1e308),
        json!(5e-324),
        json!(1e18 as u64),
        json!(u64::MAX),
        json!("inf"),
        json!(""),
        json!(true),
        json!([]),
        json!({}),
        json!([[[1]]]),
    ];
    let mut accepted = 0;
    let cases = [fixtures::linear(), fixtures::sparse_rbf(), fixtures::dense_rbf(), fixtures::shared()];
    let labels = fixtures::scaled_labels(TargetScale::Task, true);
    for case in cases.into_iter().chain([fixtures::scaled(), labels]) {
        let original = Parts::of(&case.model.to_bytes().unwrap());
        for path in paths(&original.about) {
            for value in &odd {
                let mut parts = original.clone();
                *parts.about.pointer_mut(&path).unwrap() = value.clone();
                match Model::from_bytes(&parts.seal()) {
                    Err(Error::Model(_)) => {}
                    Err(other) => panic!("{path} = {value}: {other:?}"),
                    Ok(model) => {
                        accepted += 1;
                        let _ = model.predict_all(&case.new);
                        let _ = model.certify(&case.inputs, &case.observations, &one_thread());
                        let no_weights = Observations::multi_task(&[0, 1, 2], vec![1.0; 3]).unwrap();
                        let _ = model.certify(&case.inputs, &no_weights, &one_thread());
                        assert!(model.to_bytes().is_ok(), "{path} = {value}");
                    }
                }
            }
        }
    }
    assert!(accepted > 50, "{accepted}");
}

fn paths(value: &Value) -> Vec<String> {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, child)| (key.clone(), child)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, child)| (i.to_string(), child)).collect(),
        _ => vec![],
    };
    let below = children.into_iter().flat_map(|(key, child)| {
        std::iter::once(format!("/{key}"))
            .chain(paths(child).into_iter().map(move |rest| format!("/{key}{rest}")))
            .collect::<Vec<_>>()
    });
    below.collect()
}

/// Changes of a tensor that a forger may make. Those that change nothing are left out.
fn changes(name: &str, tensor: &Tensor) -> Vec<(&'static str, Tensor)> {
    let changed = |change: &dyn Fn(&mut Tensor)| {
        let mut tensor = tensor.clone();
        change(&mut tensor);
        tensor
    };
    let size = match tensor.dtype.as_str() {
        "F64" | "U64" => 8,
        _ => 4,
    };
    let mut all = match name {
        // No input is remembered, or the first one has no entries.
        "support_indices" if tensor.bytes.is_empty() => vec![],
        "support_indptr" if tensor.bytes.get(8).is_none_or(|first| *first == 0) => vec![],
        "support_rows" => unused_row(tensor).into_iter().map(|changed| ("another row", changed)).collect(),
        "support_indices" => vec![("another feature", changed(&|tensor| tensor.bytes[0] ^= 1))],
        "support_indptr" => vec![("an entry moved to the next row", changed(&|tensor| tensor.bytes[8] -= 1))],
        _ => vec![
            // The sign is the highest bit of the last byte.
            ("negated", changed(&|tensor| tensor.bytes.chunks_mut(size).for_each(|x| x[size - 1] ^= 0x80))),
            ("reversed", changed(&|tensor| tensor.bytes = reversed(&tensor.bytes, size))),
            ("noise", changed(&|tensor| noise(&mut tensor.bytes, size))),
        ],
    };
    all.retain(|(_, changed)| numbers_of(changed) != numbers_of(tensor));
    all
}

/// A bit of the digits of every number but zero.
fn noise(bytes: &mut [u8], size: usize) {
    // Zero may have a sign, in the last byte.
    let is_zero =
        |number: &[u8]| number[..size - 1].iter().all(|byte| *byte == 0) && number[size - 1] & 0x7f == 0;
    for number in bytes.chunks_mut(size).filter(|number| !is_zero(number)) {
        number[size - 2] ^= 0x04;
    }
}

fn reversed(bytes: &[u8], size: usize) -> Vec<u8> {
    bytes.chunks(size).rev().flatten().copied().collect()
}

/// One entry replaced by an input that is not among the others, in order.
fn unused_row(tensor: &Tensor) -> Option<Tensor> {
    let rows: Vec<u32> = tensor.bytes.chunks(4).map(|x| u32::from_le_bytes(x.try_into().unwrap())).collect();
    let place = (0..rows.len()).find(|&k| {
        let next = rows.get(k + 1).copied().unwrap_or(fixtures::INPUTS as u32);
        rows[k] + 1 < next
    })?;
    let mut changed = tensor.clone();
    changed.set_u32(place, rows[place] + 1);
    Some(changed)
}

/// Zeros have no sign.
fn numbers_of(tensor: &Tensor) -> Vec<u8> {
    let mut bytes = tensor.bytes.clone();
    let size = if tensor.dtype == "F32" { 4 } else { 8 };
    if tensor.dtype.starts_with('F') {
        for x in
            bytes.chunks_mut(size).filter(|x| x[..size - 1].iter().all(|b| *b == 0) && x[size - 1] == 0x80)
        {
            x[size - 1] = 0;
        }
    }
    bytes
}

#[test]
fn an_honest_model_has_no_mismatch() {
    for case in fixtures::all() {
        let model = Model::from_bytes(&case.model.to_bytes().unwrap()).unwrap();
        let check = model.check(&case.inputs, &case.observations, &one_thread()).unwrap();
        assert_eq!(check.mismatches, [], "{}", case.name);
        assert_eq!(
            check.certificate,
            model.certify(&case.inputs, &case.observations, &one_thread()).unwrap(),
            "{}",
            case.name
        );
    }
}

/// Every tensor of every kind of model, changed in every way, with the right checksums: the check names it.
#[test]
fn every_forged_tensor_is_named() {
    let mut names = std::collections::BTreeSet::new();
    for case in fixtures::all() {
        let original = Parts::of(&case.model.to_bytes().unwrap());
        for (name, tensor) in &original.tensors {
            for (change, forged) in changes(name, tensor) {
                let mut parts = original.clone();
                parts.tensors.insert(name.clone(), forged);
                let what = format!("{}: {name} {change}", case.name);
                names.insert(name.clone());
                let model = match Model::from_bytes(&parts.seal()) {
                    Ok(model) => model,
                    // Such a file is not even loaded.
                    Err(error) => {
                        let start = name.split("_ind").next().unwrap();
                        let known = error.to_string();
                        assert!(known.contains(start) || known.contains("factor"), "{what}: {known}");
                        continue;
                    }
                };
                match model.check(&case.inputs, &case.observations, &one_thread()) {
                    Err(Error::Infeasible { .. }) => {
                        assert!(["alpha", "observation_weight"].contains(&name.as_str()), "{what}")
                    }
                    Err(error) => panic!("{what}: {error}"),
                    Ok(check) => {
                        let parts: Vec<&str> =
                            check.mismatches.iter().map(|mismatch| mismatch.part).collect();
                        assert!(parts.contains(&name.as_str()), "{what}: {parts:?}");
                    }
                }
            }
        }
    }
    let known = "alpha atom_coefficient atom_share coefficients feature_mean observation_weight scale_factor \
                 scale_mean support support_indices support_indptr support_rows support_values target_centre \
                 target_scale theta v weights";
    assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>().join(" "), known);
}

/// What is not a tensor but decides about predictions.
#[test]
fn a_forged_kind_of_scaling_or_list_of_tasks_is_named() {
    let case = fixtures::scaled_labels(TargetScale::Task, true);
    let mut labels = case.observations.task_counts();
    labels[0] += 1;
    for (path, value, part) in [
        ("/target_scale", json!("common"), "target_scale"),
        ("/empty_tasks", json!([1]), "empty_tasks"),
        ("/task_labels", json!(labels), "task_labels"),
    ] {
        let mut parts = Parts::of(&case.model.to_bytes().unwrap());
        *parts.about.pointer_mut(path).unwrap() = value;
        let model = Model::from_bytes(&parts.seal()).unwrap();
        let check = model.check(&case.inputs, &case.observations, &one_thread()).unwrap();
        assert_eq!(check.mismatches.iter().map(|mismatch| mismatch.part).collect::<Vec<_>>(), [part]);
    }
}

/// Which tasks are named as kin depends on them.
#[test]
fn a_forged_number_of_labels_of_the_rarer_class_is_named() {
    let case = fixtures::linear();
    let rarer = case.model.rarer_labels().unwrap();
    let labels = case.model.task_labels().unwrap();
    assert!(rarer.iter().zip(&labels).all(|(rarer, all)| 2 * rarer <= *all), "{rarer:?} of {labels:?}");
    let mut parts = Parts::of(&case.model.to_bytes().unwrap());
    parts.about["rarer_labels"][0] = json!(rarer[0] + 1);
    let model = Model::from_bytes(&parts.seal()).unwrap();
    let check = model.check(&case.inputs, &case.observations, &one_thread()).unwrap();
    assert_eq!(check.mismatches.iter().map(|mismatch| mismatch.part).collect::<Vec<_>>(), ["rarer_labels"]);
    // Files of earlier versions do not have it.
    parts.about.as_object_mut().unwrap().remove("rarer_labels");
    let model = Model::from_bytes(&parts.seal()).unwrap();
    assert_eq!(model.rarer_labels(), None);
    assert!(model.check(&case.inputs, &case.observations, &one_thread()).unwrap().mismatches.is_empty());
}

/// Predictions do not use it, so nothing else shows a change.
#[test]
fn a_forged_intercept_of_a_task_without_labels_is_named() {
    let inputs = Inputs::from(Dense::f64(&[1.0, 0.5, 2.0, 0.1], 4, 1).unwrap());
    let tasks = TaskNames::from_texts(&["a", "b", "idle"]);
    let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 0.2, 1.1, 0.1]).unwrap();
    let observations = observations.with_task_names(tasks).unwrap();
    let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
    let spec = ProblemSpec { intercept: Intercept::Free, ..ProblemSpec::default() };
    let fit = kinfolk::fit(&Problem::new(&data, spec).unwrap(), &Settings::default()).unwrap();
    let mut parts = Parts::of(&fit.model.to_bytes().unwrap());
    assert!(fit.model.check(&inputs, &observations, &one_thread()).unwrap().mismatches.is_empty());
    parts.tensors.get_mut("intercept").unwrap().set(2, 7.0);
    let model = Model::from_bytes(&parts.seal()).unwrap();
    let check = model.check(&inputs, &observations, &one_thread()).unwrap();
    assert_eq!(check.mismatches.iter().map(|mismatch| mismatch.part).collect::<Vec<_>>(), ["intercept"]);
}
