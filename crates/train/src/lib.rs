//! Methods of multi-task learning under one roof, and how to choose between them.
//!
//! A [`Method`] turns data into models along a grid of strengths; [`registry`] lists them all; [`select`] compares any of them
//! by cross-validation, on the same folds, with the same metric.

mod cmtl;
mod convex_okl;
mod describe;
mod error;
mod fmtl;
pub mod folds;
mod given;
mod gmtl;
mod method;
mod metric;
mod mtfl;
mod mtl_sdca;
mod mtrl;
mod okl;
mod params;
mod registry;
pub mod select;

pub use convex_okl::CONVEX_OKL;
pub use describe::markdown;
pub use error::{Error, Result};
pub use given::Engine;
pub use gmtl::{Gmtl, Regroup};
pub use kinfolk::Claim;
pub use method::{Job, Losses, Method, Point};
pub use metric::{Metric, Score, predict};
pub use mtl_sdca::MTL_SDCA;
pub use mtrl::MTRL;
pub use okl::OKL;
pub use params::{Param, Params, Value};
pub use registry::{find, registry};
