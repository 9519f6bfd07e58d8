//! A task matrix and correlations of fitted functions, with related tasks side by side.

use super::TaskOrder;
use crate::failure::{Failure, Result};
use kinfolk::{Matrix, Model};
use kinfolk_report::{HeatMap, Tree, distances, signed_distances};

/// The values that are printed, written or drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Theta,
    /// Of Theta.
    Correlation,
    /// Correlations of the fitted functions.
    Functions,
}

impl Shown {
    /// In answers for programs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Shown::Theta => "theta",
            Shown::Correlation => "correlation",
            Shown::Functions => "functions",
        }
    }

    /// In sentences and titles.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Shown::Functions => "correlations of the fitted functions",
            _ => self.name(),
        }
    }

    /// The first words of a line.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Shown::Theta => "Theta",
            Shown::Correlation => "correlations",
            Shown::Functions => self.in_words(),
        }
    }

    /// The first cell of a printed matrix.
    pub(super) fn corner(self) -> &'static str {
        match self {
            Shown::Theta => "Theta",
            _ => self.name(),
        }
    }

    pub(super) fn is_theta(self) -> bool {
        self != Shown::Functions
    }
}

/// Matrices with their tasks in this order.
pub(super) struct OrderedTheta {
    pub(super) names: Vec<String>,
    pub(super) theta: Matrix,
    /// Of Theta.
    pub(super) correlation: Matrix,
    /// Correlations of the fitted functions; `None` for models that do not keep what is needed.
    pub(super) functions: Option<Matrix>,
    /// The one that is shown.
    pub(super) kind: Shown,
    /// Places in the model.
    pub(super) order: Vec<usize>,
    /// Its leaves are the tasks in this order.
    tree: Option<Tree>,
}

impl OrderedTheta {
    pub(super) fn new(model: &Model, order: TaskOrder, kind: Shown) -> Result<Self> {
        let (correlation, functions) = (model.correlation(), model.function_correlation()?);
        let d = match (kind, &functions) {
            (Shown::Functions, Some(functions)) => signed_distances(functions),
            (Shown::Functions, None) => {
                return Err(Failure::input(
                    "the model has no kernel values, so its fitted functions cannot be compared; see --of theta",
                ));
            }
            _ => distances(&correlation),
        };
        let (order, tree) = match order {
            TaskOrder::Given => ((0..d.rows()).collect(), None),
            TaskOrder::Cluster => {
                let tree = Tree::new(&d);
                let order = tree.order(&d);
                let moved = tree.renumbered(&order);
                (order, Some(moved))
            }
        };
        let names = order.iter().map(|&t| model.tasks().name(t)).collect();
        let (theta, correlation) = (permuted(model.theta(), &order), permuted(&correlation, &order));
        let functions = functions.map(|functions| permuted(&functions, &order));
        Ok(OrderedTheta { names, theta, correlation, functions, kind, order, tree })
    }

    pub(super) fn picture<'a>(&'a self, title: &'a str) -> HeatMap<'a> {
        let map = HeatMap::new(title, &self.names, self.values());
        match &self.tree {
            Some(tree) => map.with_tree(tree),
            None => map,
        }
    }

    pub(super) fn values(&self) -> &Matrix {
        if self.kind == Shown::Theta { &self.theta } else { self.correlations() }
    }

    /// Of the functions if they are shown, else of Theta.
    pub(super) fn correlations(&self) -> &Matrix {
        self.functions.as_ref().filter(|_| !self.kind.is_theta()).unwrap_or(&self.correlation)
    }
}

pub(super) fn permuted(m: &Matrix, order: &[usize]) -> Matrix {
    let mut out = Matrix::zeros(order.len(), order.len());
    for (r, &from) in order.iter().enumerate() {
        for (s, &of) in order.iter().enumerate() {
            out[(r, s)] = m[(from, of)];
        }
    }
    out
}
