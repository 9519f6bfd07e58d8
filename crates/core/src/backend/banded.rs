//! The inputs in a basis where X'X is a band.

use super::basis::of_inputs;
use super::{Backend, Interrupt, MomentOf, OrthonormalBasis, SecondMoment};
use crate::linalg::band::{Band, Reflections, Root, reduce};
use crate::{Matrix, Result};

/// `X'X = Q B Q'`: Q is the frame. Of inputs `K = Q B Q'`, `B = R'R`, and the frame is `X'Q R^-1`: its
/// columns are orthonormal, X'X is the band `R R'` there, and `P'X'Z = R Q'Z`.
#[derive(Debug)]
pub(crate) struct Banded {
    pub(crate) band: Band,
    turn: Reflections,
    root: Option<Root>,
    of: MomentOf,
}

impl Banded {
    /// `None` if inputs are linearly dependent: then some directions must be left out, and only eigenvectors
    /// show which.
    pub(crate) fn of(moment: SecondMoment<'_>, interrupt: &mut Interrupt<'_>) -> Result<Option<Self>> {
        let (band, turn) = reduce(moment.matrix.into_owned(), interrupt)?;
        if moment.of == MomentOf::Features {
            return Ok(Some(Banded { band, turn, root: None, of: moment.of }));
        }
        let Some(root) = Root::of(&band) else { return Ok(None) };
        Ok(Some(Banded { band: root.square(), turn, root: Some(root), of: moment.of }))
    }
}

impl OrthonormalBasis for Banded {
    fn coordinates(&self, backend: &dyn Backend, v: &Matrix, threads: usize) -> Matrix {
        let mut x = v.clone();
        if let Some(root) = &self.root {
            root.solve(&mut x);
        }
        self.turn.forth(&mut x, threads);
        if self.of == MomentOf::Inputs { of_inputs(backend, &x, threads) } else { x }
    }

    fn projects_state(&self) -> bool {
        self.root.is_none()
    }

    fn project_state(&self, mut state: Matrix, threads: usize) -> Matrix {
        self.turn.back(&mut state, threads);
        state
    }

    fn project_coefficients(&self, mut z: Matrix, threads: usize) -> Matrix {
        self.turn.back(&mut z, threads);
        match &self.root {
            Some(root) => root.times(&z),
            None => z,
        }
    }
}
