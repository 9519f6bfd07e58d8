//! Seconds.

use crate::record::{Records, Timing};
use crate::{Options, Outcome, Recipe, Result, Watch};
use std::path::Path;

pub(crate) fn run(_: &Recipe, _: &Options, path: &Path, _: &dyn Watch) -> Result<Outcome> {
    let _: Records<Timing> = Records::open(path)?;
    Ok(Outcome::default())
}

pub(crate) fn page(
    _: &Recipe,
    _: &[Timing],
    _: &mut String,
    _: &mut String,
    _: &mut crate::page::Page,
) {
}
