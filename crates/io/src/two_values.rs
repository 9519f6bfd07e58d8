//! Which of two values is the positive one.

/// What says yes, in lower case.
const POSITIVE: [&str; 34] = [
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
];
/// What says no, in lower case.
const NEGATIVE: [&str; 34] = [
    "0", "-1", "false", "no", "n", "inactive", "negative", "neg", "absent", "control", "off", "fail",
    "failed", "failure", "normal", "benign", "healthy", "censored", "alive", "survived", "-", "nein",
    "falsch", "inaktiv", "negativ", "non", "faux", "inactif", "négatif", "falso", "negativo", "none",
    "never", "safe",
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

/// 1 for what says yes, -1 for what says no, 0 for other values.
pub(crate) fn known_sign(value: &str) -> i8 {
    let value = value.trim().to_lowercase();
    let is_in = |list: &[&str]| i8::from(list.contains(&value.as_str()));
    is_in(&POSITIVE) - is_in(&NEGATIVE)
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
}
