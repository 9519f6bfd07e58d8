//! Numbers on the command line.

use kinfolk_train::Memory;

/// Bytes: `500MB`, `4GB`, `2.5GiB`, `1000000`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    text.parse::<Memory>().map(|memory| memory.0).map_err(|error| error.to_string())
}

/// A number above zero.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a positive number".into()),
    }
}

/// A number, not below zero.
pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be zero or a positive number".into()),
    }
}

/// A part of the rows: train (0), test (1), validation (2), or a number.
pub(crate) fn part(text: &str) -> Result<i64, String> {
    kinfolk_io::part_number(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert_eq!((positive("1e-3"), not_negative("0")), (Ok(1e-3), Ok(0.0)));
        for wrong in ["0", "-1", "inf", "nan", "x"] {
            assert!(positive(wrong).is_err());
        }
        assert!(not_negative("-0.1").is_err());
    }
}
