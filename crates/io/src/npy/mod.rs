//! numpy's array format: header, then items.

pub(crate) mod decode;
pub(crate) mod header;
pub(crate) mod rows;
mod source;

pub(crate) use source::open;
