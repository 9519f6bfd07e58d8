//! Questions about rows, and their bytes.

use crate::certificate::PredictionErrors;
use crate::tensors::{self, FileKind, Tensors, doubles, matrix, wrong};
use crate::{Matrix, Result};
use serde::{Deserialize, Serialize};

/// Where losses are evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsPoint {
    /// Features x tasks, for scaled features.
    pub weights: Matrix,
    /// Of each task; zeros where there are none.
    pub intercept: Vec<f64>,
    /// mu: losses with kinks are softened, each `max(0, s)` in them becomes `mu log(1 + exp(s / mu))`. Zero where all
    /// losses are smooth by themselves.
    pub smoothing: f64,
}

/// What can be asked about rows. With z the predictions at a point, `kappa = -C w L'(y, z)` the duals that answer to
/// them and D the curvatures `C w L''(y, z)`, x a row of scaled features. Sums are over rows; of most of them there is
/// one for each task.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// The value of the losses, sums of positive and of negative duals, of curvatures, X'kappa and X'D. With smoothing,
    /// how fast the duals fall with mu: the sums of g and X'g, for `g = -d kappa / d mu`. With blocks, also the lower
    /// triangles of X'DX of each task.
    Look(RowsPoint, TaskSquares),
    /// The values of the losses at several points, all of the same smoothing.
    Values(Vec<RowsPoint>),
    /// `X'(D o X U)` for a matrix U (features x tasks), and the sums of D o X U.
    Curve(RowsPoint, Matrix),
    /// Sums of positive and of negative duals, and how many labels are such that their loss falls for ever upwards,
    /// downwards, or neither.
    Balance(RowsPoint),
    /// The terms of the certificate for duals kappa: values of losses and conjugates, Fenchel-Young terms, sums of
    /// duals, X'kappa. With what rounding may change, and the numbers of rows and of labels.
    Grade(RowsPoint, GradeAt),
}

/// What duals and predictions of each task are graded with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GradeAt {
    /// Factors of the positive and of the negative duals.
    pub(crate) factors: Vec<[f64; 2]>,
    /// Rounding of predictions, for inputs of length one.
    pub(crate) errors: Vec<PredictionErrors>,
}

/// Whether X'DX is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskSquares {
    /// Of each task.
    Wanted,
    /// Not at all.
    Unwanted,
}

const FILE_KIND: FileKind = FileKind { key: "kinfolk_question", name: "a question", newest_version: 1 };

/// Every name that means something in some question.
const NAMES: [&str; 6] = ["weights", "intercept", "smoothing", "direction", "factors", "errors"];

/// Everything that is not an array.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionAbout {
    kind: QuestionKind,
    features: usize,
    tasks: usize,
    points: usize,
}

#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum QuestionKind {
    Look,
    LookWithBlocks,
    Values,
    Curve,
    Balance,
    Grade,
}

impl Question {
    /// Where losses are evaluated.
    pub fn points(&self) -> &[RowsPoint] {
        match self {
            Question::Values(points) => points,
            Question::Look(point, _)
            | Question::Curve(point, _)
            | Question::Balance(point)
            | Question::Grade(point, _) => std::slice::from_ref(point),
        }
    }

    /// In a word, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Question::Look(..) => "look",
            Question::Values(_) => "values",
            Question::Curve(..) => "curve",
            Question::Balance(_) => "balance",
            Question::Grade(..) => "grade",
        }
    }

    /// As bytes, for another process.
    ///
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) if it cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let points = self.points();
        let kind = match self {
            Question::Look(_, TaskSquares::Unwanted) => QuestionKind::Look,
            Question::Look(_, TaskSquares::Wanted) => QuestionKind::LookWithBlocks,
            Question::Values(_) => QuestionKind::Values,
            Question::Curve(..) => QuestionKind::Curve,
            Question::Balance(_) => QuestionKind::Balance,
            Question::Grade(..) => QuestionKind::Grade,
        };
        let (features, tasks) = points.first().map_or((0, 0), |one| (one.weights.rows(), one.weights.cols()));
        let n = points.len();
        let list = |of: &dyn Fn(&RowsPoint) -> Vec<f64>| points.iter().flat_map(of).collect::<Vec<f64>>();
        let mut out = vec![
            ("weights", doubles(&list(&|one| one.weights.as_slice().to_vec()), vec![n, features, tasks])),
            ("intercept", doubles(&list(&|one| one.intercept.clone()), vec![n, tasks])),
            ("smoothing", doubles(&list(&|one| vec![one.smoothing]), vec![n])),
        ];
        match self {
            Question::Curve(_, direction) => out.push(("direction", matrix(direction))),
            Question::Grade(_, GradeAt { factors, errors }) => {
                let errors: Vec<[f64; 2]> = errors.iter().map(|one| [one.score, one.added]).collect();
                out.push(("factors", doubles(factors.as_flattened(), vec![tasks, 2])));
                out.push(("errors", doubles(errors.as_flattened(), vec![tasks, 2])));
            }
            Question::Look(..) | Question::Values(_) | Question::Balance(_) => {}
        }
        tensors::to_bytes(&FILE_KIND, &out, &QuestionAbout { kind, features, tasks, points: n }, None)
    }

    /// From bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) if they are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (envelope, mut tensors) = Tensors::open(bytes, &FILE_KIND)?;
        let QuestionAbout { kind, features, tasks, points } =
            serde_json::from_str(envelope.about.get()).map_err(|error| wrong("about", error))?;
        let weights = tensors.doubles("weights", &[points, features, tasks])?;
        let intercepts = tensors.doubles("intercept", &[points, tasks])?;
        let smoothing = tensors.doubles("smoothing", &[points])?;
        let size = features * tasks;
        let point = |i: usize| -> Result<RowsPoint> {
            Ok(RowsPoint {
                weights: Matrix::from_vec(weights[i * size..(i + 1) * size].to_vec(), features, tasks)?,
                intercept: intercepts[i * tasks..(i + 1) * tasks].to_vec(),
                smoothing: smoothing[i],
            })
        };
        let mut all: Vec<RowsPoint> = (0..points).map(point).collect::<Result<_>>()?;
        if let QuestionKind::Values = kind {
            tensors.finish(&NAMES, "a question about rows")?;
            return Ok(Question::Values(all));
        }
        let point =
            all.pop().filter(|_| points == 1).ok_or_else(|| wrong("weights", "not those of one point"))?;
        let question = match kind {
            QuestionKind::Look | QuestionKind::Values => Question::Look(point, TaskSquares::Unwanted),
            QuestionKind::LookWithBlocks => Question::Look(point, TaskSquares::Wanted),
            QuestionKind::Curve => Question::Curve(point, tensors.matrix("direction", features, tasks)?),
            QuestionKind::Balance => Question::Balance(point),
            QuestionKind::Grade => {
                let factors = tensors.doubles("factors", &[tasks, 2])?;
                let errors = tensors.doubles("errors", &[tasks, 2])?;
                let error = |&[score, added]: &[f64; 2]| PredictionErrors { score, added };
                let errors = errors.as_chunks().0.iter().map(error).collect();
                Question::Grade(point, GradeAt { factors: factors.as_chunks().0.to_vec(), errors })
            }
        };
        tensors.finish(&NAMES, "a question about rows")?;
        Ok(question)
    }
}
