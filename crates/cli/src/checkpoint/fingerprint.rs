//! Whether a checkpoint belongs to a fit.

use kinfolk::{Inputs, Observations};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Data and parameters in short. A mistake is found, not an attack: checksums will do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    inputs: Part,
    labels: Part,
    tasks: Part,
    weights: Part,
    params: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    /// Shape and kind.
    what: String,
    crc32: u32,
}

/// Parameters that decide when to stop or how fast to be, not what is solved.
const FREE: [&str; 5] = ["tol", "max_passes", "max_seconds", "memory", "threads"];

impl Fingerprint {
    pub(crate) fn new(inputs: &Inputs<'_>, observations: &Observations, params: &impl Serialize) -> Self {
        let n = observations.len();
        let mut params = match serde_json::to_value(params) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        FREE.iter().for_each(|key| drop(params.remove(*key)));
        let each = |what: &str, value: &dyn Fn(usize) -> [u8; 8]| {
            let mut crc = Checksum::default();
            (0..n).for_each(|o| crc.add(&value(o)));
            Part { what: format!("{n} {what}"), crc32: crc.finish() }
        };
        Fingerprint {
            inputs: of_inputs(inputs),
            labels: each("labels", &|o| observations.label(o).to_le_bytes()),
            tasks: of_tasks(observations),
            weights: each("weights", &|o| observations.weight(o).to_le_bytes()),
            params,
        }
    }

    /// What differs, in words.
    pub(crate) fn differences(&self, now: &Fingerprint) -> Vec<String> {
        let parts = [
            ("inputs", &self.inputs, &now.inputs),
            ("labels", &self.labels, &now.labels),
            ("tasks", &self.tasks, &now.tasks),
            ("weights", &self.weights, &now.weights),
        ];
        let mut found = vec![];
        for (name, then, now) in parts {
            if then.what != now.what {
                found.push(format!("the {name} were {} and are {}", then.what, now.what));
            } else if then.crc32 != now.crc32 {
                found.push(format!("the values of the {name} differ"));
            }
        }
        let keys = self.params.keys().chain(now.params.keys().filter(|key| !self.params.contains_key(*key)));
        for key in keys {
            let value = |of: &Fingerprint| of.params.get(key).cloned().unwrap_or(Value::Null);
            if value(self) != value(now) {
                found.push(format!("{key} was {} and is {}", value(self), value(now)));
            }
        }
        found
    }
}

/// A checksum of many small pieces, taken in large ones for speed.
#[derive(Default)]
struct Checksum {
    hasher: crc32fast::Hasher,
    waiting: Vec<u8>,
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
        if self.waiting.len() >= 1 << 14 {
            self.hasher.update(&self.waiting);
            self.waiting.clear();
        }
    }

    fn finish(mut self) -> u32 {
        self.hasher.update(&self.waiting);
        self.hasher.finalize()
    }
}

fn of_inputs(inputs: &Inputs<'_>) -> Part {
    let mut crc = Checksum::default();
    match inputs {
        Inputs::Dense(x) => {
            x.as_f32().unwrap_or_default().iter().for_each(|v| crc.add(&v.to_le_bytes()));
            x.as_f64().unwrap_or_default().iter().for_each(|v| crc.add(&v.to_le_bytes()));
        }
        Inputs::Sparse(x) => {
            for i in 0..x.rows() {
                crc.add(&(x.row(i).len() as u64).to_le_bytes());
                for (j, v) in x.row(i) {
                    crc.add(&(j as u64).to_le_bytes());
                    crc.add(&v.to_le_bytes());
                }
            }
        }
        Inputs::Gram(k) => k.as_slice().iter().for_each(|v| crc.add(&v.to_le_bytes())),
        _ => {}
    }
    let what = format!("{} {} x {}", inputs.kind(), inputs.n_inputs(), inputs.n_features());
    Part { what, crc32: crc.finish() }
}

/// Names, and which observation belongs to which input and task.
fn of_tasks(observations: &Observations) -> Part {
    let mut crc = Checksum::default();
    for t in 0..observations.n_tasks() {
        crc.add(observations.task_names().name(t).as_bytes());
        crc.add(&[0]);
    }
    for o in 0..observations.len() {
        crc.add(&(observations.input(o) as u64).to_le_bytes());
        crc.add(&(observations.task(o) as u64).to_le_bytes());
    }
    Part { what: format!("{} tasks", observations.n_tasks()), crc32: crc.finish() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::Dense;

    impl Fingerprint {
        pub(in crate::checkpoint) fn example() -> Self {
            #[derive(Serialize)]
            struct Params {
                c: f64,
                tol: f64,
            }
            let inputs: Inputs<'_> = Dense::f64(&[1.0, 2.0], 2, 1).unwrap().into();
            let observations = Observations::multi_task(&[0, 1], vec![1.0, -1.0]).unwrap();
            Fingerprint::new(&inputs, &observations, &Params { c: 1.0, tol: 0.1 })
        }

        pub(in crate::checkpoint) fn with_other_c(&self) -> Self {
            let mut other = self.clone();
            other.params.insert("c".into(), 2.0.into());
            other
        }
    }

    #[test]
    fn every_difference_is_named() {
        let one = Fingerprint::example();
        let inputs: Inputs<'_> = Dense::f64(&[1.0, 2.5], 2, 1).unwrap().into();
        let observations = Observations::multi_task(&[0, 0], vec![1.0, 1.0]).unwrap();
        let other = Fingerprint::new(&inputs, &observations, &());
        assert_eq!(
            one.differences(&other),
            [
                "the values of the inputs differ",
                "the values of the labels differ",
                "the tasks were 2 tasks and are 1 tasks",
                "c was 1.0 and is null"
            ]
        );
        assert!(one.differences(&one).is_empty());
    }
}
