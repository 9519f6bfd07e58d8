//! Short numbers and texts, safe in XML.

/// Text for XML, also inside quotes. Characters that XML does not allow become question marks.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// At most this many characters, the last three of them dots if there were more.
pub fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect(),
        None => text.to_string(),
    }
}

/// A number in about this many significant digits, as people write it: `0.0123`, `12.3`, `1.23e9`.
pub fn number(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let exponent = x.abs().log10().floor() as i32;
    if !(-4..=8).contains(&exponent) {
        return format!("{x:.*e}", digits.saturating_sub(1));
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// 1234567 as `1,234,567`.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 task`, `2 tasks`.
pub fn plural(n: usize, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A score: four decimals, or six digits where it is large.
pub fn score(x: f64) -> String {
    if x.abs() < 10.0 { format!("{x:.4}") } else { number(x, 6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (12.3456, "12.35"), (0.000123456, "0.0001235"), (1.5e-9, "1.500e-9"), (3.0, "3")];
        for (x, text) in cases {
            assert_eq!(number(x, 4), text);
        }
        assert_eq!(number(123456.7, 4), "123457");
        assert_eq!(number(-0.25, 3), "-0.25");
        assert_eq!(number(f64::INFINITY, 3), "inf");
    }

    #[test]
    fn counts_have_commas() {
        assert_eq!((count(7), count(1234567), count(100)), ("7".into(), "1,234,567".into(), "100".into()));
        assert_eq!((plural(1, "task"), plural(1200, "row")), ("1 task".into(), "1,200 rows".into()));
    }

    #[test]
    fn texts_are_escaped_and_shortened() {
        assert_eq!(escape("<a & \"b\">\n\u{1}"), "&lt;a &amp; &quot;b&quot;&gt; ?");
        assert_eq!((shorten("abcdef", 6), shorten("abcdefg", 6)), ("abcdef".into(), "abc...".into()));
        assert_eq!(shorten("\u{1F600}\u{1F600}\u{1F600}\u{1F600}\u{1F600}", 4), "\u{1F600}...");
    }
}
