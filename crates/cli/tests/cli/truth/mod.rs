//! A model tells one story: what fit prints, the file holds, certify checks and the report shows.

#[allow(dead_code, unreachable_pub)]
#[path = "../../../../core/tests/core/model_file/envelope.rs"]
mod envelope;
mod forgery;
mod old_models;
mod one_story;

/// Rows of three tasks: four features and a label of two values.
fn rows() -> String {
    let mut csv = String::from("task,a,b,c,d,y\n");
    for i in 0..36i32 {
        let x: Vec<f64> = (0..4).map(|j| f64::from((i * (7 + 4 * j) + 3 * j) % 23) / 11.0 - 1.0).collect();
        let task = ["oak", "elm", "ash"][i as usize % 3];
        let side = x[0] - 0.5 * x[1] + if task == "ash" { -0.3 } else { 0.3 } * x[2] + 0.2 * x[3] + 0.05;
        csv += &format!("{task},{},{},{},{},{}\n", x[0], x[1], x[2], x[3], if side > 0.0 { 1 } else { -1 });
    }
    csv
}
