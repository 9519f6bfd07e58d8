//! Pictures of what kinfolk finds, as SVG and PNG, without fonts, browsers or other programs.
//!
//! A task matrix as a heat map with kin beside kin:
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
//! assert!(picture.to_png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Curves, dots with whiskers and bars: [`plot`].

mod brackets;
mod cluster;
mod colour;
mod heatmap;
pub mod plot;
mod raster;
mod text;

pub use brackets::{Bracket, End};
pub use cluster::{Tree, adjusted_rand_index, distances};
pub use heatmap::HeatMap;
pub use raster::Raster;
pub use text::{escape, number, shorten};
