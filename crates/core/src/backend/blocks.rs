//! Cutting a list of observations into blocks of inputs.

use super::Columns;
use crate::{Matrix, Observations};

/// Some inputs, and the tasks their observations belong to.
#[derive(Debug, Clone)]
pub(crate) struct RowBlock {
    pub(crate) rows: Vec<u32>,
    pub(crate) columns: Columns,
}

/// Blocks of at most `size` inputs that together hold every input with an observation. Inputs with a single
/// observation are grouped by task, so that a product with such a block touches one column instead of all.
pub(crate) fn row_blocks(obs: &Observations, size: usize) -> Vec<RowBlock> {
    let n_tasks = obs.n_tasks();
    let mut alone: Vec<Vec<u32>> = vec![vec![]; n_tasks];
    let mut shared: Vec<u32> = vec![];
    for i in 0..obs.n_inputs() {
        let mut of_input = obs.of_input(i);
        match (of_input.next(), of_input.next()) {
            (None, _) => {}
            (Some(o), None) if n_tasks > 1 => alone[obs.task(o)].push(i as u32),
            _ => shared.push(i as u32),
        }
    }
    let mut blocks = vec![];
    let mut cut = |rows: &[u32], columns| {
        blocks.extend(rows.chunks(size).map(|rows| RowBlock { rows: rows.to_vec(), columns }));
    };
    cut(&shared, Columns::All);
    for (task, rows) in alone.iter().enumerate() {
        cut(rows, Columns::One(task));
    }
    blocks
}

/// The observations' values laid out as the block's table (rows x columns), zero where there is no
/// observation.
pub(crate) fn scatter(obs: &Observations, values: &[f64], block: &RowBlock, out: &mut Matrix) {
    match block.columns {
        Columns::One(_) => {
            out.reset(block.rows.len(), 1);
            for (row, &i) in block.rows.iter().enumerate() {
                out[(row, 0)] = obs.of_input(i as usize).map(|o| values[o]).sum();
            }
        }
        Columns::All => {
            let n_tasks = obs.n_tasks();
            out.reset(block.rows.len(), n_tasks);
            for (row, &i) in block.rows.iter().enumerate() {
                let i = i as usize;
                if obs.is_complete() {
                    out.row_mut(row).copy_from_slice(&values[i * n_tasks..(i + 1) * n_tasks]);
                } else {
                    obs.of_input(i).for_each(|o| out[(row, obs.task(o))] += values[o]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_observations_are_grouped_by_task_and_the_rest_stays_together() {
        let obs = Observations::from_triples(
            5,
            2,
            vec![0, 1, 1, 2, 4],
            vec![1, 0, 1, 0, 1],
            vec![1.0, 2.0, 3.0, 4.0, 5.0],
        )
        .unwrap();
        let blocks = row_blocks(&obs, 10);
        let seen: Vec<_> = blocks.iter().map(|b| (b.rows.clone(), b.columns)).collect();
        assert_eq!(
            seen,
            [(vec![1], Columns::All), (vec![2], Columns::One(0)), (vec![0, 4], Columns::One(1))]
        );
        let mut table = Matrix::default();
        scatter(&obs, obs.labels(), &blocks[0], &mut table);
        assert_eq!(table.as_slice(), [2.0, 3.0]);
        scatter(&obs, obs.labels(), &blocks[2], &mut table);
        assert_eq!(table.as_slice(), [1.0, 5.0]);
    }
}
