//! Names of months in the languages of most of Europe.

/// The names of each month in English, German, French, Spanish, Italian, Dutch, Portuguese, Swedish, Danish and
/// Norwegian, in lower case; an abbreviation has at least three letters of one, or is listed.
const MONTHS: [&[&str]; 12] = [
    &["january", "januar", "jänner", "janvier", "enero", "gennaio", "januari", "janeiro"],
    &["february", "februar", "février", "fevrier", "febrero", "febbraio", "februari", "fevereiro"],
    &["march", "märz", "maerz", "mars", "marzo", "maart", "mrt", "março", "marts"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "mei", "maio", "maj"],
    &["june", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "juli", "juillet", "julio", "luglio", "julho"],
    &["august", "août", "aout", "agosto", "augustus", "augusti"],
    &["september", "septembre", "septiembre", "settembre", "setembro"],
    &["october", "oktober", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "novembre", "noviembre", "novembro"],
    &["december", "dezember", "décembre", "decembre", "diciembre", "dicembre", "dezembro", "desember"],
];

/// A month by its number, of one or two digits, or by its name or the beginning of it; `None` if that can be two
/// months, as `jui` can in French.
pub(crate) fn month_number(text: &str) -> Option<i64> {
    if text.len() <= 2 {
        return text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    }
    let name = text.trim_end_matches('.').to_lowercase();
    if name.chars().count() < 3 {
        return None;
    }
    let mut fits = (1..).zip(MONTHS).filter(|(_, names)| names.iter().any(|full| full.starts_with(&name)));
    let first = fits.next().map(|(month, _)| month);
    first.filter(|_| fits.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_have_names_in_many_languages() {
        for (text, month) in [
            ("3", 3),
            ("Mar", 3),
            ("M\u{e4}rz", 3),
            ("Okt", 10),
            ("d\u{e9}c", 12),
            ("AO\u{db}T", 8),
            ("Sept", 9),
            ("mrt", 3),
            ("lug", 7),
            ("Dezember", 12),
            ("juin", 6),
        ] {
            assert_eq!(month_number(text), Some(month), "{text}");
        }
        for text in ["", "jui", "ma", "xyz", "marchy", "1x"] {
            assert_eq!(month_number(text), None, "{text:?}");
        }
    }
}
