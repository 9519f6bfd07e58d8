//! Numbers as text.

/// The shortest text that gives the number back: `1`, `0.1`, `1e300`.
pub(crate) fn of_number(x: f64) -> String {
    let mut text = format!("{x:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}

/// The same with four significant digits, for people.
pub(crate) fn rounded(x: f64) -> String {
    format!("{x:.3e}").parse().map_or_else(|_| of_number(x), of_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_gives_the_number_back() {
        for x in [0.0, 1.0, -1.5, 1e300, 5e-324, f64::from(0.1f32), 123456789.0, 1e16, 2f64.powi(70)] {
            assert_eq!(of_number(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
        assert_eq!(
            (rounded(41.263157), rounded(-3.0), rounded(0.0)),
            ("41.26".into(), "-3".into(), "0".into())
        );
        assert_eq!(
            (of_number(-1.0), of_number(0.5), of_number(1e300)),
            ("-1".into(), "0.5".into(), "1e300".into())
        );
    }
}
