//! Which of two values is the positive one.

use crate::columns::cells::folded;

/// What says yes, in lower case: in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and the
/// languages of Scandinavia.
const POSITIVE: [&str; 43] = [
    "1",
    "true",
    "yes",
    "y",
    "active",
    "positive",
    "pos",
    "present",
    "case",
    "on",
    "pass",
    "passed",
    "success",
    "toxic",
    "abnormal",
    "malignant",
    "diseased",
    "event",
    "dead",
    "died",
    "+",
    "ja",
    "j",
    "wahr",
    "aktiv",
    "positiv",
    "oui",
    "vrai",
    "actif",
    "positif",
    "si",
    "sí",
    "verdadero",
    "positivo",
    "sì",
    "vero",
    "attivo",
    "sim",
    "verdadeiro",
    "ativo",
    "waar",
    "actief",
    "tak",
];
/// What says no, in lower case.
const NEGATIVE: [&str; 44] = [
    "0", "-1", "false", "no", "n", "inactive", "negative", "neg", "absent", "control", "off", "fail",
    "failed", "failure", "normal", "benign", "healthy", "censored", "alive", "survived", "-", "nein",
    "falsch", "inaktiv", "negativ", "non", "faux", "inactif", "négatif", "falso", "negativo", "none",
    "never", "safe", "inattivo", "não", "nao", "inativo", "nee", "onwaar", "inactief", "nie", "nej", "nei",
];
/// What makes the opposite of a word.
const NEGATIONS: [&str; 14] = [
    "in", "un", "non", "non-", "non ", "non_", "not ", "not-", "not_", "no ", "no-", "no_", "nicht ", "kein ",
];

/// The negative and the positive one of two values. Words for yes and no are known; of other words the later one in the
/// alphabet is positive, and of numbers the larger one.
pub(crate) fn in_order<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let b_is_positive = match (number(a), number(b)) {
        (Some(a), Some(b)) => b > a,
        _ => match known_sign(b).cmp(&known_sign(a)) {
            std::cmp::Ordering::Equal => is_opposite(a, b) || !is_opposite(b, a) && b > a,
            order => order.is_gt(),
        },
    };
    if b_is_positive { (a, b) } else { (b, a) }
}

/// Of two words the one that says yes and the one that says no; `None` if there are others, or they say something else.
pub(crate) fn yes_and_no<'a>(words: impl Iterator<Item = &'a String>) -> Option<(&'a String, &'a String)> {
    let words: Vec<&String> = words.collect();
    match words[..] {
        [a, b] if known_sign(a) > known_sign(b) && known_sign(a) * known_sign(b) < 0 => Some((a, b)),
        [a, b] if known_sign(a) * known_sign(b) < 0 => Some((b, a)),
        _ => None,
    }
}

/// Whether a word says yes or no; `None` if it says something else.
pub(crate) fn is_yes(word: &str) -> Option<bool> {
    match (known_sign(word), folded(word).as_str()) {
        (1, _) | (_, "t") => Some(true),
        (-1, _) | (_, "f") => Some(false),
        _ => None,
    }
}

/// 1 for what says yes, -1 for what says no, 0 for other values.
pub(crate) fn known_sign(value: &str) -> i8 {
    let value = value.trim().to_lowercase();
    let is_in = |list: &[&str]| i8::from(list.contains(&value.as_str()));
    is_in(&POSITIVE) - is_in(&NEGATIVE)
}

/// Whether two values are spellings of one word: they differ in letter case or spaces, or one is the first letter of
/// the other, and both say yes or both say no.
fn are_spellings(a: &str, b: &str) -> bool {
    let (a, b) = (folded(a), folded(b));
    let is_initial = |short: &str, long: &str| short.chars().count() == 1 && long.starts_with(short);
    a == b
        || known_sign(&a) != 0
            && known_sign(&a) == known_sign(&b)
            && (is_initial(&a, &b) || is_initial(&b, &a))
}

/// Which of two values, negative (-1) and positive (+1), a value is a spelling of; `None` if of neither, or of both.
pub(crate) fn spelling_of(value: &str, negative: &str, positive: &str) -> Option<f64> {
    match (are_spellings(value, negative), are_spellings(value, positive)) {
        (true, false) => Some(-1.0),
        (false, true) => Some(1.0),
        _ => None,
    }
}

/// The most frequent spelling of each of two words that more than two values, with their rows, are spellings of; `None`
/// if they are not of exactly two words.
pub(crate) fn of_several(values: &[(String, usize)]) -> Option<(String, String)> {
    let mut frequent: Vec<&(String, usize)> = values.iter().collect();
    // Of equally frequent ones the last, which has small letters.
    frequent.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
    let (one, _) = frequent.first()?;
    let (other, _) = frequent.iter().find(|(value, _)| !are_spellings(value, one))?;
    let (negative, positive) = in_order(one, other);
    let all = values.iter().all(|(value, _)| spelling_of(value, negative, positive).is_some());
    (values.len() > 2 && all).then(|| (negative.to_string(), positive.to_string()))
}

/// Whether the first value is the second one with a negation before it: `not toxic` and `toxic`.
fn is_opposite(value: &str, of: &str) -> bool {
    let (value, of) = (value.trim().to_lowercase(), of.trim().to_lowercase());
    value.strip_suffix(&of).is_some_and(|negation| !of.is_empty() && NEGATIONS.contains(&negation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_yes_and_no_are_known() {
        for (negative, positive) in [
            ("inactive", "active"),
            ("No", "yes"),
            ("nein", "Ja"),
            ("nee", "ja"),
            ("N\u{e3}o", "sim"),
            ("0", "1"),
            ("-1", "1"),
            ("2", "10"),
            ("not sold", "sold"),
            ("uncured", "cured"),
            ("high", "low"),
            ("none", "mild"),
            ("inconclusive", "active"),
        ] {
            assert_eq!(in_order(negative, positive), (negative, positive));
            assert_eq!(in_order(positive, negative), (negative, positive));
        }
    }

    #[test]
    fn spellings_of_two_words_are_two_values() {
        let found = |values: &[&str]| {
            let rows: Vec<(String, usize)> =
                values.iter().enumerate().map(|(i, value)| (value.to_string(), 10 - i)).collect();
            of_several(&rows)
        };
        let pair = |a: &str, b: &str| Some((a.to_string(), b.to_string()));
        assert_eq!(found(&["yes", "no", "Yes", "Y", "n "]), pair("no", "yes"));
        assert_eq!(found(&["N", "No", "YES"]), pair("N", "YES"));
        assert_eq!(found(&["sold", "open", "Sold"]), pair("open", "sold"));
        // Other words, one word alone, and letters that may be several words.
        for other in [
            &["yes", "no", "maybe"][..],
            &["yes", "Yes", "YES"],
            &["died", "survived", "yes"],
            &["sold", "open", "s"],
        ] {
            assert_eq!(found(other), None, "{other:?}");
        }
        assert_eq!((spelling_of("Y", "no", "yes"), spelling_of("y", "Y", "y")), (Some(1.0), None));
    }
}
