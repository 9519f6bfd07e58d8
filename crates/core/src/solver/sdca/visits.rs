//! Who is visited when.

use super::Order;
use crate::Problem;
use crate::backend::{Columns, row_blocks};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Blocks to visit in a pass, in random order.
pub(super) struct Visits {
    order: Order,
    /// Inputs that may share a block.
    groups: Vec<(Vec<u32>, Columns)>,
    blocks: Vec<Visit>,
}

pub(super) struct Visit {
    pub(super) rows: Vec<u32>,
    pub(super) columns: Columns,
    /// Only this observation of the only row.
    pub(super) only: Option<usize>,
}

impl Visits {
    pub(super) fn new(problem: &Problem<'_>, order: Order) -> Self {
        let obs = problem.observations();
        let blocks = match order {
            Order::Blocked(_) => vec![],
            Order::Sequential | Order::Cyclic => (0..obs.len())
                .map(|o| Visit {
                    rows: vec![obs.input(o) as u32],
                    columns: Columns::One(obs.task(o)),
                    only: Some(o),
                })
                .collect(),
        };
        let groups = match order {
            Order::Blocked(_) => {
                row_blocks(obs, usize::MAX).into_iter().map(|b| (b.rows, b.columns)).collect()
            }
            Order::Sequential | Order::Cyclic => vec![],
        };
        Visits { order, groups, blocks }
    }

    pub(super) fn shuffle(&mut self, rng: &mut ChaCha8Rng) -> &[Visit] {
        match self.order {
            Order::Cyclic => return &self.blocks,
            Order::Sequential => {}
            Order::Blocked(size) => {
                self.blocks.clear();
                for (rows, columns) in &mut self.groups {
                    rows.shuffle(rng);
                    let cut = rows.chunks(size.max(1));
                    self.blocks.extend(cut.map(|rows| Visit {
                        rows: rows.to_vec(),
                        columns: *columns,
                        only: None,
                    }));
                }
            }
        }
        self.blocks.shuffle(rng);
        &self.blocks
    }
}
