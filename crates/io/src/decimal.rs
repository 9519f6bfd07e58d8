//! Decimals as files store them: an integer and a power of ten.
#![cfg_attr(not(feature = "parquet"), allow(dead_code))]

/// Powers of ten up to this are exact in double precision, and so are integers up to 2^53.
const MAX_EXACT_SCALE: u32 = 22;
const MAX_EXACT: u128 = 1 << 53;

/// `value / 10^scale`, rounded once: the number that its text gives.
pub(crate) fn number(value: i128, scale: u32) -> f64 {
    if value.unsigned_abs() <= MAX_EXACT && scale <= MAX_EXACT_SCALE {
        return value as f64 / 10f64.powi(scale as i32);
    }
    text(value, scale).parse().unwrap_or(f64::NAN)
}

/// `-12.50` of -1250 and 2.
pub(crate) fn text(value: i128, scale: u32) -> String {
    let (minus, digits, scale) =
        (if value < 0 { "-" } else { "" }, value.unsigned_abs().to_string(), scale as usize);
    if scale == 0 {
        return format!("{minus}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{minus}{whole}.{fraction}")
}

/// A number of at most 16 bytes in two's complement, the largest byte first.
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<i128> {
    if bytes.is_empty() || bytes.len() > 16 {
        return None;
    }
    let start = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
    Some(bytes.iter().fold(start, |value: i128, byte| value << 8 | i128::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_the_numbers_of_their_texts() {
        for (value, scale, words) in [
            (1250, 2, "12.50"),
            (-5, 3, "-0.005"),
            (7, 0, "7"),
            (123_456_789_012_345_678_901_i128, 10, "12345678901.2345678901"),
        ] {
            assert_eq!(text(value, scale), words);
            assert_eq!(number(value, scale), words.parse::<f64>().unwrap());
        }
        assert_eq!(
            (from_bytes(&[0xff, 0xfe]), from_bytes(&[0, 200]), from_bytes(&[])),
            (Some(-2), Some(200), None)
        );
    }
}
