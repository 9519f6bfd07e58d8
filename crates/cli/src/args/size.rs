//! Numbers on the command line.

/// Bytes: `500MB`, `4GB`, `2.5GiB`, `1000000`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    // An exponent would be taken for a unit; nobody writes memory like that.
    let (number, unit) = (text[..split].trim(), text[split..].to_ascii_lowercase());
    let factor: f64 = match &*unit {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024f64.powi(2),
        "gib" => 1024f64.powi(3),
        "tib" => 1024f64.powi(4),
        _ => return Err(format!("the unit {unit:?} is none of B, KB, MB, GB, TB, KiB, MiB, GiB, TiB")),
    };
    match number.parse::<f64>() {
        Ok(n) if n > 0.0 && n * factor <= 1e18 => Ok((n * factor) as u64),
        _ => Err(format!("{number:?} is not a positive number")),
    }
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
        _ => Err("must be a number, not below zero".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_understood() {
        assert_eq!(bytes("4GB"), Ok(4_000_000_000));
        assert_eq!(bytes("1.5 gib"), Ok(1_610_612_736));
        assert_eq!(bytes("12"), Ok(12));
        for wrong in ["", "GB", "-1GB", "4 lb", "inf", "1e99TB", "0", "nan"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert_eq!((positive("1e-3"), not_negative("0")), (Ok(1e-3), Ok(0.0)));
        for wrong in ["0", "-1", "inf", "nan", "x"] {
            assert!(positive(wrong).is_err());
        }
        assert!(not_negative("-0.1").is_err());
    }
}
