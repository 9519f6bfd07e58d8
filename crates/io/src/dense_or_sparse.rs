//! How inputs are stored: the one place that decides between dense and sparse, single and double precision.
//!
//! The decision looks at the numbers, not at the file they came in: sparse if at most a tenth of them is not
//! zero, single precision if that loses nothing. A zero has no sign, and a sparse row does not store it. So
//! the same numbers give the same inputs, to the last bit, in whatever format.

use crate::{Error, Result, Storage};
use kinfolk::Inputs;
use kinfolk::inputs::{Dense, Gram, Sparse};
use std::collections::VecDeque;

/// Sparse if at most one number in this many is not zero.
const SPARSE_BELOW_ONE_IN: u128 = 10;
/// A sparse matrix does not become dense if it has more zeros than this for each number, or more than this in
/// all: a row with the one index 2147483647 must not fill the memory.
const MAX_ZEROS_PER_NUMBER: u128 = 1000;
const MAX_WRITTEN_OUT: u128 = 1 << 28;

/// Rows of a table, in pieces.
pub(crate) type Parts = VecDeque<Inputs<'static>>;

/// Some rows in a small form that loses nothing, to be [joined](join) later. A sparse matrix stays one.
pub(crate) fn compact(inputs: Inputs<'static>) -> Result<Inputs<'static>> {
    let (rows, cols) = (inputs.n_inputs(), inputs.n_features());
    let storage = match inputs {
        // The start of a sparse row takes room too.
        Inputs::Dense(_) if !is_sparse(nonzeros(&inputs) + rows as u128, rows as u128 * cols as u128) => {
            Storage::Dense
        }
        Inputs::Dense(_) | Inputs::Sparse(_) => Storage::Sparse,
        _ => return Ok(inputs),
    };
    let single = fits_single(&inputs);
    if single == is_single(&inputs) && is_stored(&inputs, cols, storage) {
        return Ok(inputs);
    }
    let mut parts = VecDeque::from([inputs]);
    match storage {
        Storage::Sparse => sparse(parts, cols, single),
        _ => dense(&mut parts, rows, cols, single),
    }
}

/// Puts rows together and stores them as `storage` says, or as the numbers say: then only `dense` overrules
/// them.
pub(crate) fn join(
    mut parts: Parts,
    cols: usize,
    storage: Option<Storage>,
    keep_dense: bool,
) -> Result<(Inputs<'static>, Storage)> {
    let rows: usize = parts.iter().map(Inputs::n_inputs).sum();
    let by_numbers = || {
        let nonzero: u128 = parts.iter().map(nonzeros).sum();
        let cells = rows as u128 * cols as u128;
        if is_sparse(nonzero, cells) && !keep_dense { Storage::Sparse } else { Storage::Dense }
    };
    let storage = storage.unwrap_or_else(by_numbers);
    let single = parts.iter().all(is_single);
    if parts.len() == 1 && is_stored(&parts[0], cols, storage) {
        let inputs = parts.pop_front().ok_or_else(|| wrong!("there are no rows"))?;
        return Ok((inputs, storage));
    }
    let inputs = match storage {
        Storage::Sparse => sparse(parts, cols, single)?,
        Storage::Dense | Storage::Kernel => dense(&mut parts, rows, cols, single)?,
    };
    Ok((inputs, storage))
}

/// Rows of kernel values between training inputs, all of them.
pub(crate) fn gram(inputs: &Inputs<'_>) -> Result<Inputs<'static>> {
    let (rows, cols) = (inputs.n_inputs(), inputs.n_features());
    if rows != cols {
        return Err(wrong!(
            "it has {rows} rows and {cols} columns; for fitting it must have as many columns as rows"
        )
        .in_column("K"));
    }
    let mut values = vec![];
    (0..rows).for_each(|i| for_each(inputs, i, |_, x| values.push(x)));
    Gram::new(values, rows).map(Inputs::from).map_err(|error| Error::of_table(error).in_column("K"))
}

/// Inputs after their own checks: an error names the row of the file and the feature.
pub(crate) fn checked(
    inputs: kinfolk::Result<impl Into<Inputs<'static>>>,
    first_row: usize,
    features: Option<&[String]>,
) -> Result<Inputs<'static>> {
    inputs.map(Into::into).map_err(|error| match error {
        kinfolk::Error::NonFiniteInput { row, column, value } => {
            let name = features.and_then(|names| names.get(column).cloned());
            wrong!("{value} is not a finite number")
                .at_row(first_row + row)
                .in_column(name.unwrap_or_else(|| column.to_string()))
        }
        other => Error::of_table(other),
    })
}

/// Calls `visit(column, value)` for the entries of a row; of a sparse one those stored.
pub(crate) fn for_each(inputs: &Inputs<'_>, row: usize, mut visit: impl FnMut(usize, f64)) {
    match inputs {
        Inputs::Dense(x) => (0..x.cols()).for_each(|j| visit(j, x.get(row, j))),
        Inputs::Sparse(x) => x.row(row).for_each(|(j, value)| visit(j, value)),
        Inputs::Gram(k) => k.row(row).iter().enumerate().for_each(|(j, &value)| visit(j, value)),
        _ => {}
    }
}

fn is_sparse(nonzero: u128, cells: u128) -> bool {
    nonzero * SPARSE_BELOW_ONE_IN <= cells
}

fn is_stored(inputs: &Inputs<'_>, cols: usize, storage: Storage) -> bool {
    let fits = match inputs {
        Inputs::Dense(x) => storage != Storage::Sparse && !has_minus_zero(x),
        Inputs::Sparse(x) => storage == Storage::Sparse && nonzeros(inputs) == x.nnz() as u128,
        _ => true,
    };
    fits && inputs.n_features() == cols
}

fn nonzeros(inputs: &Inputs<'_>) -> u128 {
    let count = match inputs {
        Inputs::Dense(x) => match (x.as_f32(), x.as_f64()) {
            (Some(values), _) => values.iter().filter(|&&x| x != 0.0).count(),
            (_, Some(values)) => values.iter().filter(|&&x| x != 0.0).count(),
            _ => 0,
        },
        Inputs::Sparse(x) => (0..x.rows()).map(|i| x.row(i).filter(|&(_, value)| value != 0.0).count()).sum(),
        Inputs::Gram(k) => k.as_slice().len(),
        _ => 0,
    };
    count as u128
}

fn has_minus_zero(x: &Dense<'_>) -> bool {
    // Some at a time: compilers make vector instructions of it.
    const AT_A_TIME: usize = 256;
    let any = |found: bool, is: bool| found | is;
    match (x.as_f32(), x.as_f64()) {
        (Some(values), _) => {
            let is = |x: &f32| x.to_bits() == (-0.0f32).to_bits();
            values.chunks(AT_A_TIME).any(|values| values.iter().map(is).fold(false, any))
        }
        (_, Some(values)) => {
            let is = |x: &f64| x.to_bits() == (-0.0f64).to_bits();
            values.chunks(AT_A_TIME).any(|values| values.iter().map(is).fold(false, any))
        }
        _ => false,
    }
}

pub(crate) fn is_single(inputs: &Inputs<'_>) -> bool {
    match inputs {
        Inputs::Dense(x) => x.is_f32(),
        Inputs::Sparse(x) => x.is_f32(),
        _ => false,
    }
}

fn fits_single(inputs: &Inputs<'_>) -> bool {
    let fits = |x: f64| f64::from(x as f32) == x;
    is_single(inputs)
        || match inputs {
            Inputs::Dense(x) => x.as_f64().is_some_and(|values| values.iter().all(|&x| fits(x))),
            Inputs::Sparse(x) => (0..x.rows()).all(|i| x.row(i).all(|(_, value)| fits(value))),
            _ => false,
        }
}

/// Takes the parts one by one, so that memory never holds all numbers twice.
fn dense(parts: &mut Parts, rows: usize, cols: usize, single: bool) -> Result<Inputs<'static>> {
    let cells = rows as u128 * cols as u128;
    let given = |part: &Inputs<'_>| match part {
        Inputs::Sparse(_) => nonzeros(part) * MAX_ZEROS_PER_NUMBER,
        part => part.n_inputs() as u128 * part.n_features() as u128,
    };
    if cells > parts.iter().map(given).sum::<u128>().max(MAX_WRITTEN_OUT) {
        return Err(wrong!(
            "dense inputs would be {rows} rows of {cols} numbers, almost all of them zero; keep them sparse"
        ));
    }
    let inputs = match single {
        true => Dense::f32_owned(written_out(parts, cells as usize, cols, |x| x as f32)?, rows, cols),
        false => Dense::f64_owned(written_out(parts, cells as usize, cols, |x| x)?, rows, cols),
    };
    checked(inputs, 0, None)
}

fn written_out<T: Copy + Default>(
    parts: &mut Parts,
    cells: usize,
    cols: usize,
    convert: impl Fn(f64) -> T,
) -> Result<Vec<T>> {
    let mut values: Vec<T> = vec![];
    values.try_reserve_exact(cells).map_err(|_| too_large(cells))?;
    while let Some(part) = parts.pop_front() {
        for row in 0..part.n_inputs() {
            let start = values.len();
            values.resize(start + cols, T::default());
            // Adding zero removes the sign of a zero.
            for_each(&part, row, |j, x| values[start + j] = convert(x + 0.0));
        }
    }
    Ok(values)
}

fn sparse(parts: Parts, cols: usize, single: bool) -> Result<Inputs<'static>> {
    let inputs = if single {
        let (starts, columns, values) = compressed(parts, |x| x as f32)?;
        Sparse::f32(starts, columns, values, cols)
    } else {
        let (starts, columns, values) = compressed(parts, |x| x)?;
        Sparse::f64(starts, columns, values, cols)
    };
    checked(inputs, 0, None)
}

type Compressed<T> = (Vec<usize>, Vec<u32>, Vec<T>);

fn compressed<T>(mut parts: Parts, convert: impl Fn(f64) -> T) -> Result<Compressed<T>> {
    let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
    let entries = parts.iter().map(nonzeros).sum::<u128>() as usize;
    let room = values.try_reserve_exact(entries).and_then(|()| columns.try_reserve_exact(entries));
    room.map_err(|_| too_large(entries))?;
    while let Some(part) = parts.pop_front() {
        for row in 0..part.n_inputs() {
            for_each(&part, row, |j, x| {
                if x != 0.0 {
                    columns.push(j as u32);
                    values.push(convert(x));
                }
            });
            starts.push(values.len());
        }
    }
    Ok((starts, columns, values))
}

fn too_large(numbers: usize) -> Error {
    wrong!("{numbers} numbers do not fit into memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f64s(values: &[f64], rows: usize) -> Inputs<'static> {
        Dense::f64_owned(values.to_vec(), rows, values.len() / rows).unwrap().into()
    }

    fn whole(parts: Vec<Inputs<'static>>, cols: usize) -> (Inputs<'static>, Storage) {
        let parts = parts.into_iter().map(|part| compact(part).unwrap()).collect();
        join(parts, cols, None, false).unwrap()
    }

    fn row(inputs: &Inputs<'_>, i: usize) -> Vec<(usize, f64)> {
        let mut entries = vec![];
        for_each(inputs, i, |j, x| entries.push((j, x)));
        entries
    }

    #[test]
    fn a_tenth_of_the_numbers_is_the_border() {
        let mut values = vec![0.0; 20];
        values[3] = 1.0;
        values[14] = -2.0;
        let (inputs, storage) = whole(vec![f64s(&values, 2)], 10);
        assert_eq!((inputs.kind(), storage), ("sparse", Storage::Sparse));
        assert_eq!(row(&inputs, 1), [(4, -2.0)]);
        values[15] = 1.0;
        assert_eq!(whole(vec![f64s(&values, 2)], 10).1, Storage::Dense);
    }

    #[test]
    fn the_cut_into_chunks_does_not_matter() {
        let mut values = vec![0.0; 40];
        (20..32).for_each(|i| values[i] = i as f64);
        let (whole_inputs, storage) = whole(vec![f64s(&values, 4)], 10);
        let (joined, joined_storage) = whole(vec![f64s(&values[..20], 2), f64s(&values[20..], 2)], 10);
        assert_eq!((storage, joined_storage), (Storage::Dense, Storage::Dense));
        (0..4).for_each(|i| assert_eq!(row(&whole_inputs, i), row(&joined, i)));
        assert!(is_single(&whole_inputs) && is_single(&joined));
    }

    #[test]
    fn single_precision_is_for_numbers_that_lose_nothing() {
        assert!(is_single(&whole(vec![f64s(&[0.5, 3.0], 1)], 2).0));
        assert!(!is_single(&whole(vec![f64s(&[0.1, 3.0], 1)], 2).0));
        assert!(!is_single(&whole(vec![f64s(&[0.5, 3.0], 1), f64s(&[1e300, 1.0], 1)], 2).0));
    }

    #[test]
    fn zeros_have_no_sign_and_are_not_stored() {
        let (inputs, _) = whole(vec![f64s(&[-0.0, 1.0], 1)], 2);
        assert!(row(&inputs, 0)[0].1.is_sign_positive());
        let stored = Sparse::f64(vec![0, 2], vec![1, 5], vec![0.0, 2.0], 30).unwrap();
        assert_eq!(row(&whole(vec![stored.into()], 30).0, 0), [(5, 2.0)]);
    }

    #[test]
    fn a_lone_huge_index_is_not_written_out() {
        let one =
            || Inputs::from(Sparse::f64(vec![0, 1], vec![2_000_000_000], vec![1.0], 2_000_000_001).unwrap());
        let error = join(VecDeque::from([one()]), 2_000_000_001, None, true).unwrap_err();
        assert!(error.to_string().contains("almost all of them zero"), "{error}");
        assert_eq!(join(VecDeque::from([one()]), 2_000_000_001, None, false).unwrap().1, Storage::Sparse);
    }

    #[test]
    fn a_gram_matrix_is_square() {
        assert_eq!(gram(&f64s(&[2.0, 1.0, 1.0, 2.0], 2)).unwrap().kind(), "Gram");
        let error = gram(&f64s(&[2.0, 1.0, 1.0, 2.0], 1)).unwrap_err().to_string();
        assert!(error.starts_with("column \"K\": it has 1 rows and 4 columns"), "{error}");
    }
}
