//! The order in which observations are visited.

use super::VisitOrder;
use crate::Problem;
use crate::backend::{Columns, row_blocks};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Blocks to visit in a pass, in random order.
pub(super) struct Visits {
    order: VisitOrder,
    /// Inputs that may share a block.
    groups: Vec<(Vec<u32>, Columns)>,
    blocks: Vec<Visit>,
    /// In which order to visit the blocks.
    permutation: Vec<u32>,
    seed: ChaCha8Rng,
}

pub(super) struct Visit {
    pub(super) rows: Vec<u32>,
    pub(super) columns: Columns,
    /// Only this observation of the only row.
    pub(super) only: Option<usize>,
}

impl Visits {
    pub(super) fn new(problem: &Problem<'_>, order: VisitOrder, seed: u64) -> Self {
        let obs = problem.observations();
        let blocks = match order {
            VisitOrder::Blocked(_) => vec![],
            VisitOrder::Sequential | VisitOrder::Cyclic => (0..obs.len())
                .map(|o| Visit {
                    rows: vec![obs.input(o) as u32],
                    columns: Columns::One(obs.task(o)),
                    only: Some(o),
                })
                .collect(),
        };
        let groups = match order {
            VisitOrder::Blocked(_) => {
                row_blocks(obs, usize::MAX).into_iter().map(|b| (b.rows, b.columns)).collect()
            }
            VisitOrder::Sequential | VisitOrder::Cyclic => vec![],
        };
        Visits { order, groups, blocks, permutation: vec![], seed: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The blocks of pass number `pass`, and the source of whatever else is random in it. Both depend on the
    /// seed and that number, not on passes before it: a fit can be resumed anywhere.
    pub(super) fn of_pass(&mut self, pass: usize) -> (impl ExactSizeIterator<Item = &Visit>, ChaCha8Rng) {
        let mut rng = self.seed.clone();
        rng.set_stream(pass as u64);
        if let VisitOrder::Blocked(size) = self.order {
            self.blocks.clear();
            for (rows, columns) in &self.groups {
                let mut rows = rows.clone();
                rows.shuffle(&mut rng);
                let cut = rows.chunks(size.max(1));
                self.blocks.extend(cut.map(|rows| Visit {
                    rows: rows.to_vec(),
                    columns: *columns,
                    only: None,
                }));
            }
        }
        self.permutation.clear();
        self.permutation.extend(0..self.blocks.len() as u32);
        if self.order != VisitOrder::Cyclic {
            self.permutation.shuffle(&mut rng);
        }
        (self.permutation.iter().map(|&b| &self.blocks[b as usize]), rng)
    }
}
