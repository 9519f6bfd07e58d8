//! The report of a model as one HTML page, and its pictures as SVG, without fonts, browsers or other programs.
//!
//! [`render`] makes the page from [`ReportInputs`]. The pictures can be had alone: a task matrix as a heat map whose
//! related tasks stand side by side,
//!
//! ```
//! use kinfolk::Matrix;
//! use kinfolk_report::{HeatMap, Tree, distances};
//!
//! let correlation = Matrix::from_vec(vec![1.0, 0.1, 0.9, 0.1, 1.0, 0.2, 0.9, 0.2, 1.0], 3, 3)?;
//! let names = ["a", "b", "c"].map(String::from);
//! let d = distances(&correlation);
//! let tree = Tree::new(&d);
//! let picture = HeatMap::new("Theta", &names, &correlation).ordered(tree.order(&d)).with_tree(&tree);
//! assert!(picture.to_svg().starts_with("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! and curves, dots with intervals, and bars: [`plot`].

mod cluster;
mod colour;
mod dendrogram;
mod heatmap;
mod page;
pub mod plot;
mod text;

pub use cluster::{Tree, adjusted_rand_index, distances, signed_distances};
pub use dendrogram::{Branch, BranchEnd};
pub use heatmap::HeatMap;
pub use page::{DataCheck, MadeBy, Recheck, RenderError, ReportInputs, render};
pub use text::{count, escape, number, plural, score, shorten};
