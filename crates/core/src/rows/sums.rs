//! Answers of all rows, taken apart.

use crate::certificate::RowErrors;
use crate::{Error, Matrix, Result};

/// The sums of [`Look`](super::Question::Look).
#[derive(Debug, Clone)]
pub(crate) struct LookSums {
    pub(crate) value: f64,
    /// Of each task: positive duals, negative duals, curvatures.
    pub(crate) positive: Vec<f64>,
    pub(crate) negative: Vec<f64>,
    pub(crate) curvature: Vec<f64>,
    /// X'kappa and X'D.
    pub(crate) v_a: Matrix,
    pub(crate) moment: Matrix,
    /// Sums of how fast duals fall with mu, and X' of it; zeros without smoothing.
    pub(crate) falls: Vec<f64>,
    pub(crate) fall: Matrix,
    /// X'DX of each task, both triangles; none unless wanted.
    pub(crate) blocks: Vec<Matrix>,
}

/// The sums of [`Curve`](super::Question::Curve).
pub(crate) struct CurveSums {
    pub(crate) product: Matrix,
    pub(crate) sums: Vec<f64>,
}

/// The sums of [`Balance`](super::Question::Balance).
pub(crate) struct BalanceSums {
    pub(crate) positive: Vec<f64>,
    pub(crate) negative: Vec<f64>,
    /// Labels whose loss falls for ever upwards, downwards, or neither.
    pub(crate) directions: [Vec<f64>; 3],
}

/// The sums of [`Grade`](super::Question::Grade).
pub(crate) struct GradeSums {
    /// Rows and labels.
    pub(crate) counts: [f64; 2],
    pub(crate) value: f64,
    pub(crate) conj: f64,
    pub(crate) gap: Vec<f64>,
    /// Of the duals of each task.
    pub(crate) sums: Vec<f64>,
    pub(crate) errors: RowErrors,
    pub(crate) v_a: Matrix,
}

/// AnswerNumbers of an answer, taken from the front.
struct AnswerNumbers<'a>(&'a [f64]);

impl AnswerNumbers<'_> {
    fn list(&mut self, n: usize) -> Result<Vec<f64>> {
        let (head, rest) = self.0.split_at_checked(n).ok_or_else(wrong)?;
        self.0 = rest;
        Ok(head.to_vec())
    }

    fn number(&mut self) -> Result<f64> {
        Ok(self.list(1)?[0])
    }

    fn matrix(&mut self, rows: usize, cols: usize) -> Result<Matrix> {
        Matrix::from_vec(self.list(rows * cols)?, rows, cols)
    }

    fn finish(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(wrong()) }
    }
}

fn wrong() -> Error {
    Error::Incompatible("these numbers are not the answer to the question about rows".into())
}

impl LookSums {
    /// For d features and t tasks, with smoothing or without, with blocks or without.
    pub(crate) fn from_numbers(
        numbers: &[f64],
        (d, t): (usize, usize),
        smoothed: bool,
        with_blocks: bool,
    ) -> Result<Self> {
        let mut numbers = AnswerNumbers(numbers);
        let value = numbers.number()?;
        let (positive, negative) = (numbers.list(t)?, numbers.list(t)?);
        let curvature = numbers.list(t)?;
        let (v_a, moment) = (numbers.matrix(d, t)?, numbers.matrix(d, t)?);
        let (falls, fall) = match smoothed {
            true => (numbers.list(t)?, numbers.matrix(d, t)?),
            false => (vec![0.0; t], Matrix::zeros(d, t)),
        };
        let mut blocks = vec![];
        for _ in 0..if with_blocks { t } else { 0 } {
            let mut block = Matrix::zeros(d, d);
            for i in 0..d {
                block.row_mut(i)[..=i].copy_from_slice(&numbers.list(i + 1)?);
            }
            crate::linalg::mirror_lower(&mut block);
            blocks.push(block);
        }
        numbers.finish()?;
        Ok(LookSums { value, positive, negative, curvature, v_a, moment, falls, fall, blocks })
    }
}

impl CurveSums {
    pub(crate) fn from_numbers(numbers: &[f64], (d, t): (usize, usize)) -> Result<Self> {
        let mut numbers = AnswerNumbers(numbers);
        let sums = CurveSums { product: numbers.matrix(d, t)?, sums: numbers.list(t)? };
        numbers.finish()?;
        Ok(sums)
    }
}

impl BalanceSums {
    pub(crate) fn from_numbers(numbers: &[f64], t: usize) -> Result<Self> {
        let mut numbers = AnswerNumbers(numbers);
        let sums = BalanceSums {
            positive: numbers.list(t)?,
            negative: numbers.list(t)?,
            directions: [numbers.list(t)?, numbers.list(t)?, numbers.list(t)?],
        };
        numbers.finish()?;
        Ok(sums)
    }
}

impl GradeSums {
    pub(crate) fn from_numbers(numbers: &[f64], (d, t): (usize, usize)) -> Result<Self> {
        let mut numbers = AnswerNumbers(numbers);
        let sums = GradeSums {
            counts: [numbers.number()?, numbers.number()?],
            value: numbers.number()?,
            conj: numbers.number()?,
            gap: numbers.list(t)?,
            sums: numbers.list(t)?,
            errors: RowErrors::from_numbers(&numbers.list(RowErrors::n_numbers(t))?, t).ok_or_else(wrong)?,
            v_a: numbers.matrix(d, t)?,
        };
        numbers.finish()?;
        Ok(sums)
    }
}

/// The factors that make the duals of each task add up to zero where its intercept is free (rho = 0), one for positive
/// and one for negative ones: those whose sum is larger become smaller, and so stay inside their bounds, which contain
/// zero. Ones for intercepts with a cost.
pub(crate) fn balancing_factors(positive: &[f64], negative: &[f64], rho: Option<&[f64]>) -> Vec<[f64; 2]> {
    let factors = |(t, (up, down)): (usize, (&f64, &f64))| match rho {
        Some(rho) if rho[t] == 0.0 && *up > -down => [-down / up, 1.0],
        Some(rho) if rho[t] == 0.0 && *up < -down => [1.0, up / -down],
        _ => [1.0, 1.0],
    };
    positive.iter().zip(negative).enumerate().map(factors).collect()
}
