//! Where the products of a certificate are computed: in memory, or on the device that holds the inputs.

use super::{LossTerms, losses};
use crate::backend::{self, Backend, Expansion, Interrupt};
use crate::{Matrix, Problem, Result};

/// States of functions and what the certificate computes from them.
pub(super) trait Place {
    /// A state, where it is.
    type State;

    /// The state of duals or coordinates.
    fn state(&self, expansion: Expansion<'_>, interrupt: &mut Interrupt<'_>) -> Result<Self::State>;

    /// The task Gram matrix, exactly symmetric.
    fn gram(&self, expansion: Expansion<'_>, state: &Self::State) -> Result<Matrix>;

    /// The task Gram matrix of the difference of a function with coordinates `v` and one of duals.
    fn gram_of_difference(
        &self,
        function: (&Matrix, &Self::State),
        duals: (Expansion<'_>, &Self::State),
    ) -> Result<Matrix>;

    /// A state times a matrix tasks x tasks.
    fn weights(&self, state: &Self::State, theta: &Matrix) -> Result<Self::State>;

    /// The terms of the losses; `None` if they are left to memory.
    fn loss_terms(
        &self,
        kappa: &[f64],
        weights: &Self::State,
        intercept: Option<&[f64]>,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<LossTerms>>;

    /// A state, in memory.
    fn in_memory(&self, state: Self::State) -> Result<Matrix>;
}

/// Through the backend, by blocks of rows.
pub(super) struct InMemory<'a>(pub(super) &'a Problem<'a>);

impl InMemory<'_> {
    fn backend(&self) -> &dyn Backend {
        self.0.data().backend()
    }

    fn threads(&self) -> usize {
        self.0.data().threads()
    }
}

impl Place for InMemory<'_> {
    type State = Matrix;

    fn state(&self, expansion: Expansion<'_>, interrupt: &mut Interrupt<'_>) -> Result<Matrix> {
        backend::state_of(self.backend(), expansion, self.threads(), interrupt)
    }

    fn gram(&self, expansion: Expansion<'_>, state: &Matrix) -> Result<Matrix> {
        backend::task_gram(self.backend(), expansion, state, self.threads())
    }

    fn gram_of_difference(
        &self,
        (v, state): (&Matrix, &Matrix),
        (duals, state_a): (Expansion<'_>, &Matrix),
    ) -> Result<Matrix> {
        let offset = v.minus(&backend::coordinates(self.backend(), duals, state_a));
        self.gram(Expansion::Coordinates(&offset), &state.minus(state_a))
    }

    fn weights(&self, state: &Matrix, theta: &Matrix) -> Result<Matrix> {
        backend::state_times(self.backend(), state, theta, self.threads())
    }

    fn loss_terms(
        &self,
        kappa: &[f64],
        weights: &Matrix,
        intercept: Option<&[f64]>,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<LossTerms>> {
        losses::loss_terms(self.0, kappa, weights, intercept, interrupt).map(Some)
    }

    fn in_memory(&self, state: Matrix) -> Result<Matrix> {
        Ok(state)
    }
}
