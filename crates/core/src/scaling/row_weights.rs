//! How much each row counts for the numbers of a scaling.

/// Weights of rows, relative to the largest; all one where none are given.
pub(super) struct RowWeights<'a> {
    given: Option<&'a [f64]>,
    largest: f64,
    n: usize,
}

impl<'a> RowWeights<'a> {
    pub(super) fn new(given: Option<&'a [f64]>, n: usize) -> Self {
        let largest = given.map_or(1.0, |weights| weights.iter().copied().fold(0.0, f64::max));
        RowWeights { given, largest, n }
    }

    /// Zero for a row that does not count.
    pub(super) fn get(&self, i: usize) -> f64 {
        self.given.map_or(1.0, |weights| weights[i] / self.largest)
    }

    /// The rows that count.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.n).filter(|&i| self.get(i) > 0.0)
    }

    pub(super) fn sum(&self) -> f64 {
        self.rows().map(|i| self.get(i)).sum()
    }
}
