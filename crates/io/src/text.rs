//! Numbers as text, letters with accents, and characters that no text for people should hold.

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// A text in which letters with accents are one character each (NFC), as most programs write them; macOS may write the
/// accents as characters of their own.
pub fn nfc(text: Cow<'_, str>) -> Cow<'_, str> {
    match text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        true => text,
        false => Cow::Owned(text.nfc().collect()),
    }
}

/// The name of a column without blanks around it, in that form.
pub fn tidy_name(name: &str) -> Cow<'_, str> {
    nfc(name.trim().into())
}

/// Whether a character says something to a terminal or an editor, or shows nothing at all: control characters, those
/// that change the direction of the text around them, ends of lines and of paragraphs, and blanks without width. A name
/// in a file may have any of them.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

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
    fn what_changes_the_direction_of_a_text_is_unprintable() {
        let all =
            "\u{7}\n\u{85}\u{9b}\u{200b}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}\u{feff}";
        assert!(all.chars().all(is_unprintable));
        assert!(!"a é 日本 \u{a0}\u{301} 🙂".chars().any(is_unprintable));
    }

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
