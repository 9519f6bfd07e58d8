//! A data set as the Python script left it: `meta.json`, `x.f64` or `x.f32` (row by row), and labels.

use kinfolk::Observations;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::kernel::Kernel;
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
pub(crate) struct Meta {
    pub(crate) rows: usize,
    pub(crate) features: usize,
    pub(crate) tasks: usize,
    form: DataForm,
    dtype: String,
    kernel: String,
    pub(crate) metric: String,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum DataForm {
    /// `class.u32`: a class for each row.
    Classes,
    /// `task.u32` and `y.f64`: a task and a label for each row.
    Tasks,
    /// `y.f64`: a label for each row and task.
    Table,
}

pub(crate) enum BenchLabels {
    Classes(Vec<u32>),
    Tasks(Vec<u32>, Vec<f64>),
    Table,
}

pub(crate) struct BenchData {
    pub(crate) meta: Meta,
    pub(crate) kernel: Kernel,
    pub(crate) inputs: Inputs<'static>,
    pub(crate) observations: Observations,
    pub(crate) labels: BenchLabels,
}

impl BenchData {
    pub(crate) fn read(folder: &Path) -> Self {
        let read = |name: &str| {
            std::fs::read(folder.join(name))
                .unwrap_or_else(|e| panic!("{}: {e}", folder.join(name).display()))
        };
        let meta: Meta =
            serde_json::from_slice(&read("meta.json")).expect("meta.json as solvers.py writes it");
        let (n, d) = (meta.rows, meta.features);
        let dense = match meta.dtype.as_str() {
            "f32" => Dense::f32_owned(numbers(&read("x.f32"), f32::from_le_bytes), n, d),
            _ => Dense::f64_owned(numbers(&read("x.f64"), f64::from_le_bytes), n, d),
        };
        let y = || numbers(&read("y.f64"), f64::from_le_bytes);
        let whole = |name: &str| numbers(&read(name), u32::from_le_bytes);
        let (observations, labels) = match meta.form {
            DataForm::Classes => {
                let class = whole("class.u32");
                (Observations::multi_class(&class, meta.tasks), BenchLabels::Classes(class))
            }
            DataForm::Tasks => {
                let (task, y) = (whole("task.u32"), y());
                (Observations::multi_task(&task, y.clone()), BenchLabels::Tasks(task, y))
            }
            DataForm::Table => (Observations::multi_output(&y(), n, meta.tasks), BenchLabels::Table),
        };
        BenchData {
            kernel: meta.kernel.parse().expect("a kernel"),
            inputs: dense.expect("finite features").into(),
            observations: observations.expect("labels in range"),
            labels,
            meta,
        }
    }
}

fn numbers<const N: usize, T>(bytes: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
    bytes.chunks_exact(N).map(|b| number(b.try_into().expect("N bytes"))).collect()
}
