//! A forger changes a tensor and recomputes the checksums: certify ends with exit code 1 and names the
//! tensor.

use super::envelope::{Parts, Tensor};
use crate::common::Place;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Doubles and singles negated, reversed and changed in a digit. Zeros have no sign.
fn changes(tensor: &Tensor) -> Vec<(&'static str, Tensor)> {
    let size = if tensor.dtype == "F64" { 8 } else { 4 };
    let is_zero = |x: &[u8]| x[..size - 1].iter().all(|byte| *byte == 0) && x[size - 1] & 0x7f == 0;
    let with = |bytes: Vec<u8>| Tensor { bytes, ..tensor.clone() };
    let each = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = tensor.bytes.clone();
        bytes.chunks_mut(size).filter(|x| !is_zero(x)).for_each(change);
        with(bytes)
    };
    let reversed = tensor.bytes.chunks(size).rev().flatten().copied().collect();
    let mut all = vec![
        ("negated", each(&|x| x[size - 1] ^= 0x80)),
        ("reversed", with(reversed)),
        ("noise", each(&|x| x[size - 2] ^= 0x04)),
    ];
    // Equal entries in another order, up to rounding, are no forgery.
    let values = |tensor: &Tensor| -> Vec<f64> {
        let value = |x: &[u8]| match x.try_into() {
            Ok(double) => f64::from_le_bytes(double),
            Err(_) => f64::from(f32::from_le_bytes(x.try_into().unwrap())),
        };
        tensor.bytes.chunks(size).map(value).collect()
    };
    let before = values(tensor);
    all.retain(|(_, changed)| {
        values(changed).iter().zip(&before).any(|(a, b)| (a - b).abs() > 1e-9 * b.abs() || a.is_nan())
    });
    all
}

/// The first entry of a list of rows that can be another one.
fn another_row(tensor: &Tensor, n: u32) -> Option<Tensor> {
    let rows: Vec<u32> = tensor.bytes.chunks(4).map(|x| u32::from_le_bytes(x.try_into().unwrap())).collect();
    let place = (0..rows.len()).find(|&k| rows[k] + 1 < rows.get(k + 1).copied().unwrap_or(n))?;
    let mut changed = tensor.clone();
    changed.set_u32(place, rows[place] + 1);
    Some(changed)
}

/// Forges every tensor of the model; the names of those that certify saw.
fn forge(place: &Place, data: &str, options: &str) -> BTreeSet<String> {
    let fit = place.json(&format!("fit {data} {options} -o m.st --threads 1"));
    assert_eq!(fit["status"], "certified", "{options}");
    place.ok(&format!("certify m.st {data} --threads 1"));
    let original = Parts::of(&place.read("m.st"));
    let mut seen = BTreeSet::new();
    for (name, tensor) in &original.tensors {
        let forged = match tensor.dtype.as_str() {
            "F64" | "F32" => changes(tensor),
            _ if name == "support_rows" => {
                let n = original.about["n_inputs"].as_u64().unwrap() as u32;
                another_row(tensor, n).into_iter().map(|changed| ("another row", changed)).collect()
            }
            _ if name == "support_indices" => {
                let mut changed = tensor.clone();
                changed.set_u32(0, 1 + u32::from_le_bytes(tensor.bytes[..4].try_into().unwrap()));
                vec![("another feature", changed)]
            }
            _ => vec![],
        };
        for (change, forged) in forged {
            let mut parts = original.clone();
            parts.tensors.insert(name.clone(), forged);
            place.write("forged.st", parts.seal());
            let said = place.run(&format!("certify forged.st {data} --threads 1"));
            let what = format!("{options}: {name} {change}\n{}{}", said.stdout, said.stderr);
            if said.code == 3 {
                // Not loaded: a scale factor below zero, for example.
                assert!(said.stderr.contains(name.trim_start_matches("scale_")), "{what}");
                continue;
            }
            assert_eq!(said.code, 1, "{what}");
            assert!(
                said.stdout.contains("does not hold") && said.stdout.contains(&format!("  {name}: ")),
                "{what}"
            );
            seen.insert(name.clone());
        }
    }
    seen
}

#[test]
fn every_tensor_of_a_model_is_guarded() {
    let place = Place::new();
    place.write("d.csv", super::rows());
    let svm: String = super::rows()
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let task = ["oak", "elm", "ash"].iter().position(|name| *name == cells[0]).unwrap();
            let entries =
                (1..5).filter(|j| *j != 1 + task).map(|j| format!("{}:{}", 20 * j + task, cells[j]));
            format!("{} qid:{task} {}\n", cells[5], entries.collect::<Vec<_>>().join(" "))
        })
        .collect();
    place.write("d.svm", svm);
    let classes: String =
        super::rows().lines().map(|line| line.rsplit_once(',').unwrap().0.to_string() + "\n").collect();
    place.write("classes.csv", classes);
    let numbers: String = super::rows()
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("{line}\n"),
            _ => format!("{}{}\n", line, 100 * i % 37 + i),
        })
        .collect();
    place.write("numbers.csv", numbers);
    place.write("g.csv", "task,kind\noak,broad\nelm,broad\nash,narrow\n");
    let columns = "--task task --target y";
    let mut seen = BTreeSet::new();
    for (data, options) in [
        ("d.csv", format!("{columns} --loss squared")),
        ("d.csv", format!("{columns} --loss hinge --kernel rbf")),
        ("numbers.csv", columns.into()),
        ("numbers.csv", format!("{columns} --intercept ridge:2 --loss epsilon:0.1 --target-scale common")),
        ("numbers.csv", format!("{columns} --intercept none --kernel rbf")),
        ("d.csv", format!("{columns} --loss hinge --class-weight balanced")),
        ("d.csv", format!("{columns} --loss squared --scale standard")),
        ("d.csv", format!("{columns} --method mtrl")),
        ("d.csv", format!("{columns} --method fmtl --loss squared --atom groups=g.csv:kind --atom common")),
        ("d.csv", format!("{columns} --method gmtl:groups=2 --loss squared --kernel rbf")),
        ("d.csv", format!("{columns} --method mtfl --loss squared")),
        ("d.svm", "--kernel rbf --loss hinge --c 1".into()),
        ("d.svm", "--scale unit --loss hinge".into()),
        ("d.svm", "--scale spread --loss hinge".into()),
        ("classes.csv", "--target task --classes".into()),
    ] {
        seen.extend(forge(&place, data, &options));
    }
    let known = "alpha atom_coefficient atom_share coefficients feature_mean intercept observation_weight \
                 scale_factor scale_mean support support_indices support_rows support_values target_centre \
                 target_scale theta v weights";
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>().join(" "), known);
}

/// Metadata that change what the model means, with the right checksums.
#[test]
fn forged_metadata_do_not_hold() {
    let place = Place::new();
    place.write("d.csv", super::rows());
    place.ok("fit d.csv --task task --target y --loss squared --intercept none --bias 1 -o m.st --threads 1 --quiet");
    let original = Parts::of(&place.read("m.st"));
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit); 9] = [
        ("the objective", |about| {
            about["certificate"]["primal"] = json!(0.5 * about["certificate"]["primal"].as_f64().unwrap())
        }),
        ("the bound", |about| about["certificate"]["dual"] = about["certificate"]["primal"].clone()),
        ("C", |about| about["problem"]["c"] = json!(2.0 * about["problem"]["c"].as_f64().unwrap())),
        ("the bias", |about| about["bias"] = json!(3.0)),
        ("no claim", |about| about["claim"] = Value::Null),
        ("no status", |about| about["status"] = Value::Null),
        ("larger rounding", |about| about["certificate"]["rounding"] = json!(1.0)),
        ("rounding without end", |about| about["certificate"]["rounding"] = json!("inf")),
        ("the tasks", |about| about["tasks"].as_array_mut().map_or((), |tasks| tasks.reverse())),
    ];
    for (what, edit) in edits {
        let mut parts = original.clone();
        edit(&mut parts.about);
        if parts.about == original.about {
            continue;
        }
        place.write("forged.st", parts.seal());
        let said = place.run("certify forged.st d.csv --threads 1");
        assert_eq!(said.code, 1, "{what}: {}{}", said.stdout, said.stderr);
    }
}

/// The relation of a user's atom is part of the problem: another one, or another weight, does not hold.
#[test]
fn a_forged_relation_does_not_hold() {
    let place = Place::new();
    place.write("d.csv", super::rows());
    place.write("g.csv", "task,kind\noak,broad\nelm,broad\nash,narrow\n");
    place.ok(
        "fit d.csv --task task --target y --method fmtl --loss squared --atom groups=g.csv:kind -o m.st --threads 1 -q",
    );
    // Nothing but the model and the data is needed.
    std::fs::remove_file(place.path("g.csv")).unwrap();
    place.ok("certify m.st d.csv --threads 1");
    let original = Parts::of(&place.read("m.st"));
    for (what, key, value) in [
        ("another relation", "relation", json!({"kind": "groups", "groups": [0, 0, 1]})),
        ("another kind", "relation", json!({"kind": "common"})),
        ("another weight", "weight", json!(20.0)),
    ] {
        let mut parts = original.clone();
        assert_ne!(parts.about["problem"]["atoms"][0][key], value);
        parts.about["problem"]["atoms"][0][key] = value;
        place.write("forged.st", parts.seal());
        let said = place.run("certify forged.st d.csv --threads 1");
        assert_eq!(said.code, 1, "{what}: {}{}", said.stdout, said.stderr);
    }
}

/// A model of a method that searches cannot claim more than the method proves, nor anything else.
#[test]
fn a_forged_claim_does_not_hold() {
    let place = Place::new();
    place.write("d.csv", super::rows());
    let forged = [
        ("mtfl", json!("optimal")),
        ("mtfl", json!({"given": "the groups"})),
        ("gmtl:groups=2", json!("optimal")),
        ("fmtl", json!({"given": "the groups"})),
    ];
    for (method, claim) in forged {
        place.ok(&format!(
            "fit d.csv --task task --target y --loss squared --method {method} -o m.st --threads 1 --quiet"
        ));
        place.ok("certify m.st d.csv --threads 1");
        let mut parts = Parts::of(&place.read("m.st"));
        assert_ne!(parts.about["claim"], claim);
        parts.about["claim"] = claim;
        place.write("forged.st", parts.seal());
        let said = place.run("certify forged.st d.csv --threads 1");
        assert_eq!(said.code, 1, "{method}: {}{}", said.stdout, said.stderr);
        assert!(
            said.stdout.contains("do not agree: claim") && said.stdout.contains("  claim: it says"),
            "{method}: {}",
            said.stdout
        );
    }
}

/// The spec in a file cannot say that the model is of another method or problem, not even with the claim of that
/// method.
#[test]
fn a_forged_spec_does_not_hold() {
    let place = Place::new();
    place.write("d.csv", super::rows());
    let forged = [
        ("--method mtfl --loss squared", "method", json!("fmtl"), "method"),
        ("--method mtfl --loss squared", "method", json!("stl"), "method"),
        ("--method gmtl:groups=2 --loss squared", "method", json!("convex-okl"), "method"),
        ("--method fmtl:k=2", "method", json!("fmtl:k=1"), "method"),
        ("--loss hinge", "loss", json!("logistic"), "loss"),
        ("--c 1", "c", json!(2.0), "c"),
        ("--intercept free", "intercept", json!("ridge:1"), "intercept"),
        ("--kernel rbf:0.5", "kernel", json!("rbf:0.6"), "kernel"),
        ("--kernel rbf", "kernel", json!("laplacian"), "kernel"),
        ("--kernel rbf", "bias", json!(1.0), "bias"),
        ("--scale standard", "scale", json!("unit"), "scale"),
    ];
    for (options, key, value, part) in forged {
        place.ok(&format!("fit d.csv --task task --target y {options} -o m.st --threads 1 --quiet"));
        place.ok("certify m.st d.csv --threads 1");
        let mut parts = Parts::of(&place.read("m.st"));
        let mut attachments: Value = serde_json::from_str(parts.attachments.as_ref().unwrap()).unwrap();
        attachments["trained"]["spec"][key] = value.clone();
        parts.attachments = Some(attachments.to_string());
        parts.about["claim"] = json!("optimal");
        place.write("forged.st", parts.seal());
        let said = place.run("certify forged.st d.csv --threads 1");
        assert_eq!(said.code, 1, "{options}, {key} {value}: {}{}", said.stdout, said.stderr);
        assert!(said.stdout.contains(&format!("  {part}: the spec says")), "{options}: {}", said.stdout);
    }
}

#[test]
fn a_model_without_duals_says_so() {
    let place = Place::new();
    place.write("d.csv", super::rows());
    place.ok("fit d.csv --task task --target y -o m.st --threads 1 --quiet");
    let mut model = kinfolk::Model::load(place.path("m.st")).unwrap();
    model.drop_duals();
    model.save(place.path("m.st")).unwrap();
    let said = place.run("certify m.st d.csv");
    assert!(said.code != 0 && said.stderr.contains("duals of the model were dropped"), "{}", said.stderr);
}

/// Parts with checksums of their own that are of another size than the model: an error of one line, whatever reads it.
#[test]
fn parts_of_another_size_are_refused() {
    let place = Place::new();
    let label = |line: &str| line.replace(",-1", ",-1.5");
    place.write("d.csv", super::rows().lines().map(|line| label(line) + "\n").collect::<String>());
    place.ok("fit d.csv --task task --target y --loss squared -o m.st --threads 1 --quiet");
    place.ok("predict m.st d.csv --interval 0.5 -o p.csv");
    let original = Parts::of(&place.read("m.st"));
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit); 8] = [
        ("no features", |own| own["schema"]["features"] = json!([])),
        ("fewer features", |own| drop(own["schema"]["features"].as_array_mut().unwrap().pop())),
        ("another number of features", |own| own["schema"]["n_features"] = json!(5)),
        ("no named features, and another number", |own| {
            own["schema"]["features"] = Value::Null;
            own["schema"]["n_features"] = json!(0);
        }),
        ("no errors", |own| own["outcome"]["residuals"]["errors"] = json!([])),
        ("errors of fewer tasks", |own| own["outcome"]["residuals"]["sizes"] = json!([1.0])),
        ("errors of more tasks", |own| own["outcome"]["residuals"]["sizes"] = json!([1.0, 1.0, 1.0, 1.0])),
        ("errors of very many rows", |own| own["outcome"]["residuals"]["rows"] = json!(u64::MAX)),
    ];
    for (what, edit) in edits {
        let mut parts = original.clone();
        let mut attachments: Value = serde_json::from_str(parts.attachments.as_ref().unwrap()).unwrap();
        edit(&mut attachments["trained"]);
        parts.attachments = Some(attachments.to_string());
        place.write("forged.st", parts.seal());
        for words in
            ["predict forged.st d.csv --interval 0.5", "evaluate forged.st d.csv", "model show forged.st"]
        {
            let said = place.run(words);
            assert_eq!((said.code, said.stdout.as_str()), (3, ""), "{what}: {words}\n{}", said.stderr);
            assert_eq!(said.stderr.lines().count(), 1, "{what}: {}", said.stderr);
            assert!(said.stderr.contains("contradicts itself"), "{what}: {}", said.stderr);
        }
    }
}
