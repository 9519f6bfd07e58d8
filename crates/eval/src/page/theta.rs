//! Pictures of Theta.

use super::Picture;
use crate::{Record, Recipe, Result};

pub(super) fn section(_: &Recipe, _: &[Record], _: &mut String, _: &mut Vec<Picture>) -> Result<()> {
    Ok(())
}
