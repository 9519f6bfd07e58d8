//! What a model remembers of its fit: nobody has to repeat it by hand.

use crate::common::Place;
use kinfolk::inputs::{Dense, Gram};
use kinfolk::{Inputs, TaskNames};
use kinfolk_io::{Categorical, Labels, Table, Targets, write_table};

/// Fits, and checks that the certificate holds with no further words, and that predictions can be made.
fn fit_certify_predict(place: &Place, data: &str, options: &str) -> serde_json::Value {
    let fit = place.json(&format!("fit {data} {options} -o m.st --threads 1"));
    assert_eq!(fit["status"], "certified", "{options}");
    let checked = place.json(&format!("certify m.st {data} --threads 1"));
    assert_eq!(checked["holds"], true, "{options}: {checked}");
    for key in ["primal", "dual", "gap"] {
        let (told, found) = (fit[key].as_f64().unwrap(), checked["recomputed"][key].as_f64().unwrap());
        let size = fit["primal"].as_f64().unwrap().abs();
        assert!((told - found).abs() <= 1e-12 * size, "{options}: {key} {told} {found}");
    }
    fit
}

#[test]
fn every_loss_output_kernel_and_scaling_can_be_certified_and_evaluated() {
    let place = Place::with_examples();
    let options = [
        "--loss squared",
        "--loss hinge",
        "--loss squared_hinge",
        "--loss smoothed_hinge:0.5",
        "--loss logistic",
        "--loss epsilon:0.1",
        "--loss squared_epsilon:0.1",
        "--loss huber:1",
        "--k 2",
        "--k 4",
        "--output exp",
        "--output cosh",
        "--method stl",
        "--method pooled",
        "--method mtl:mu=0.1",
        "--kernel rbf",
        "--kernel rbf --gamma 0.1",
        "--kernel polynomial --degree 2 --coef0 1",
        "--kernel laplacian --gamma auto",
        "--kernel cosine",
        "--scale standard",
        "--scale unit",
        "--bias 0",
        "--class-weight balanced",
        "--c 0.1",
        "--c 0.1 --lambda 2",
        "--solver sdca-sequential",
        "--memory 1GB --max-seconds 1000",
    ];
    for option in options {
        let fit = fit_certify_predict(&place, "mines.npz", option);
        assert!(fit["c"].as_f64().unwrap() > 0.0);
        let said = place.json("evaluate m.st mines.npz");
        let metric = if said["metrics"]["auc"].is_object() { "auc" } else { "explained_variance" };
        assert!(said["metrics"][metric]["mean"].as_f64().unwrap() > 0.3, "{option}: {said}");
        assert_eq!(place.ok("predict m.st mines.npz").lines().count(), 181);
    }
}

#[test]
fn weights_parts_and_balance_are_remembered() {
    let place = Place::new();
    let mut csv = String::from("task,x,z,y,w,part\n");
    for i in 0..60 {
        let (x, z) = (f64::from(i * 7 % 13) - 6.0, f64::from(i * 5 % 11) - 5.0);
        let label = if x + 0.5 * z + f64::from(i % 3) > 0.0 { "yes" } else { "no" };
        csv += &format!("{},{x},{z},{label},{},{}\n", ["a", "b", "c"][i as usize % 3], 1 + i % 4, i % 2);
    }
    place.write("d.csv", csv);
    let columns = "--task task --target y --weight w --split-column part";
    fit_certify_predict(&place, "d.csv", columns);
    fit_certify_predict(&place, "d.csv", &format!("{columns} --class-weight balanced"));
    let fit = fit_certify_predict(&place, "d.csv", &format!("{columns} --class-weight balanced --split 0"));
    assert_eq!(fit["n_inputs"], 30);
    assert_eq!(place.json("evaluate m.st d.csv --split 1")["n_inputs"], 30);
    assert_eq!(place.json("evaluate m.st d.csv --weighted")["n_inputs"], 60);
    let labels = place.ok("predict m.st d.csv --split 1 --labels");
    assert_eq!(labels.lines().count(), 31);
    assert!(labels.lines().skip(1).all(|line| line.ends_with(",yes") || line.ends_with(",no")), "{labels}");
}

/// Points on a line with the kernel exp(-|x - z|), two tasks.
fn gram(points: &[f64], against: &[f64]) -> Vec<f64> {
    points.iter().flat_map(|x| against.iter().map(move |z| (-(x - z).abs()).exp())).collect()
}

fn table(inputs: Inputs<'static>, points: &[f64], split: bool) -> Table {
    let task = (0..points.len()).map(|i| (i % 2) as u32).collect();
    let task = Categorical::new(task, TaskNames::Strings(vec!["even".into(), "odd".into()])).unwrap();
    let label = Some(Labels::Numbers(points.iter().map(|x| x.sin()).collect()));
    let split = split.then(|| (0..points.len()).map(|i| i64::from(i >= 15)).collect());
    Table { split, ..Table::new(inputs, Targets::Tasks { task, label }) }
}

#[test]
fn kernel_values_instead_of_features() {
    let place = Place::new();
    let points: Vec<f64> = (0..20).map(|i| f64::from(i) * 0.3).collect();
    let square = |points: &[f64]| Inputs::from(Gram::new(gram(points, points), points.len()).unwrap());
    write_table(&table(square(&points), &points, true), &place.path("k.npz")).unwrap();
    let fit = fit_certify_predict(&place, "k.npz", "--tol 1e-6 --c 10");
    assert_eq!(fit["kernel"]["kind"], "precomputed");
    let own = place.ok("predict m.st k.npz");
    assert_eq!(own.lines().count(), 21);
    // The same kernel from features gives the same scores.
    let features = Inputs::from(Dense::f64_owned(points.clone(), 20, 1).unwrap());
    write_table(&table(features, &points, true), &place.path("x.npz")).unwrap();
    place.ok(
        "fit x.npz --kernel laplacian --scale none --gamma 1 --tol 1e-6 --c 10 --threads 1 -o x.st --quiet",
    );
    let score = |text: &str, row: usize| -> f64 {
        text.lines().nth(row + 1).unwrap().rsplit(',').next().unwrap().parse().unwrap()
    };
    let features = place.ok("predict x.st x.npz");
    (0..20).for_each(|row| assert!((score(&own, row) - score(&features, row)).abs() < 1e-9));
    // A part of a Gram matrix is a Gram matrix; new inputs are rows against those of the part.
    let fit = fit_certify_predict(&place, "k.npz", "--tol 1e-6 --c 10 --split 0");
    assert_eq!(fit["n_inputs"], 15);
}

#[test]
fn missing_labels_are_left_out() {
    let place = Place::new();
    place.write("wide.csv", "a,b,first,second\n1,2,3,\n2,1,,1\n3,3,1,2\n0,1,2,4\n");
    let fit = fit_certify_predict(&place, "wide.csv", "--target first,second --tol 1e-8");
    assert_eq!((fit["n_inputs"].as_u64(), fit["n_observations"].as_u64()), (Some(4), Some(6)));
    let said = place.json("evaluate m.st wide.csv");
    assert_eq!(said["n_labels"], 6);
}
