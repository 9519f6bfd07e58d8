//! The kernel matrix of all inputs, for iterations that work on it.

use kinfolk::backend::Panel;
use kinfolk::{Matrix, Observations};
use kinfolk_train::{Error, Job, Result};

/// K, if `copies` of it fit into the memory budget.
pub(super) fn kernel_matrix(method: &'static str, job: &Job<'_>, copies: u64) -> Result<Matrix> {
    let (backend, budget) = (job.data.backend(), job.data.options().memory);
    let n = backend.n_inputs();
    let needed = 8 * copies * (n as u64) * (n as u64);
    if needed > budget {
        let why = format!(
            "it would need {needed} bytes for kernel values of {n} inputs, the budget is {budget}; \
             the method without -published needs far less"
        );
        return Err(Error::Param { method, why });
    }
    let rows: Vec<u32> = (0..n as u32).collect();
    let (mut panel, mut gram) = (Panel::default(), Matrix::default());
    backend.load(&rows, &mut panel);
    backend.gram(&mut panel, &mut gram, 1);
    let unit = backend.unit();
    gram.as_mut_slice().iter_mut().for_each(|k| *k *= unit);
    Ok(gram)
}

/// Values of observations as a table, inputs x tasks; those of the same cell add up.
pub(super) fn table(observations: &Observations, values: &[f64]) -> Matrix {
    let mut table = Matrix::zeros(observations.n_inputs(), observations.n_tasks());
    for (o, value) in values.iter().enumerate() {
        table[(observations.input(o), observations.task(o))] += value;
    }
    table
}
