//! Handwritten digits that come with the program; see `data/README.md` for where they are from.

use crate::{ColumnRoles, Table, read_bytes};
use std::path::Path;

/// The 1,797 test images of "Optical Recognition of Handwritten Digits": 8 x 8 pixels from 0 to 16, ten
/// classes.
///
/// ```
/// let digits = kinfolk_io::digits();
/// assert_eq!((digits.n_rows(), digits.inputs.n_features()), (1797, 64));
/// ```
pub fn digits() -> Table {
    let file = include_bytes!("../data/digits.npz");
    let read = read_bytes(Path::new("digits.npz"), file, &ColumnRoles::default(), None);
    read.expect("the built-in file is sound").0
}
