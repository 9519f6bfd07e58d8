//! The command that fits a file, as far as its columns tell.

use crate::failure::{argument, missing_words};
use kinfolk_io::{ColumnProfile, ColumnRoles, FileProfile, Role};
use std::collections::BTreeMap;
use std::path::Path;

/// Rows that a task should have on average, at least, for a column to be taken for tasks.
const MIN_ROWS_PER_TASK: u64 = 4;
/// Different words, at least, of a column of an unknown name that is taken for tasks.
const MIN_UNKNOWN_TASKS: usize = 3;
/// Columns that are alike are taken for targets if there are so many, and one of so many values is missing in each.
const MIN_TARGETS: usize = 3;
const MIN_TARGET_GAPS: u64 = 10;
/// Names that targets often have.
const TARGETS: [&str; 29] = [
    "target",
    "y",
    "label",
    "class",
    "outcome",
    "score",
    "response",
    "price",
    "sales",
    "value",
    "result",
    "diagnosis",
    "category",
    "topic",
    "intent",
    "kategorie",
    "catégorie",
    "categoría",
    "ziel",
    "umsatz",
    "preis",
    "ergebnis",
    "ventes",
    "prix",
    "ventas",
    "precio",
    "vendas",
    "valor",
    "alvo",
];
/// Names that tasks often have, in English, German, French, Spanish and Portuguese.
const TASKS: [&str; 55] = [
    "task",
    "group",
    "school",
    "shop",
    "store",
    "branch",
    "site",
    "hospital",
    "clinic",
    "ward",
    "centre",
    "center",
    "patient",
    "subject",
    "sensor",
    "station",
    "machine",
    "region",
    "country",
    "city",
    "user",
    "customer",
    "filiale",
    "schule",
    "klinik",
    "krankenhaus",
    "station",
    "standort",
    "kunde",
    "maschine",
    "gruppe",
    "stadt",
    "land",
    "magasin",
    "école",
    "ecole",
    "clinique",
    "hôpital",
    "hopital",
    "ville",
    "tienda",
    "escuela",
    "clínica",
    "clinica",
    "ciudad",
    "paciente",
    "device",
    "meter",
    "vehicle",
    "loja",
    "filial",
    "escola",
    "cliente",
    "estação",
    "máquina",
];
/// Parts of names that say nothing about what is named.
const FILLERS: [&str; 8] = ["id", "name", "nr", "no", "code", "key", "number", "nummer"];

/// Whether a name is one of a list, but for parts such as `id`.
fn is_named(column: &ColumnProfile, names: &[&str]) -> bool {
    let name = column.name.to_lowercase();
    let parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.filter(|part| !FILLERS.contains(part)).collect();
    matches!(parts[..], [one] if names.contains(&one) || one.strip_suffix('s').is_some_and(|one| names.contains(&one)))
}

/// What a fit of a file needs besides what is given.
pub(super) struct Suggestion {
    /// As options of the command.
    pub(super) options: Vec<String>,
    /// What all columns are for then; `None` if the target is not known.
    pub(super) roles: Option<ColumnRoles>,
    /// What the options rest on where that is a guess: the target and the task, by names and values.
    pub(super) guess: Option<String>,
}

impl Suggestion {
    /// As far as the columns tell.
    pub(super) fn new(profile: &FileProfile, columns: &ColumnRoles) -> Self {
        let (mut options, mut roles) = (vec![], columns.clone());
        let free: Vec<&ColumnProfile> =
            profile.columns.iter().filter(|column| column.role.is_none()).collect();
        // A pattern such as 'tox_*' may stand for any number of targets.
        let given = || profile.columns.iter().filter(|column| column.role == Some(Role::Target));
        let mut target = given().next().map(|column| column.name.clone());
        if columns.target.is_empty() {
            let named = free.iter().find(|column| column.distinct > 1 && is_named(column, &TARGETS));
            target = named.map(|column| column.name.clone());
            // Columns that are alike and have gaps are many targets of the same rows.
            if let Some(stem) = family_with_gaps(profile, &free).filter(|_| target.is_none()) {
                roles.target = vec![format!("{stem}*")];
                let guess = guess(Some(&roles.target[0]), None);
                return Suggestion {
                    options: vec![format!("--target '{stem}*'")],
                    roles: Some(roles),
                    guess,
                };
            }
            options.push(format!("--target {}", target.as_deref().map_or("COLUMN".into(), argument)));
            roles.target = target.iter().cloned().collect();
        }
        let of_target = profile.columns.iter().find(|column| Some(&column.name) == target.as_ref());
        // Classes are tasks themselves.
        let has_classes = of_target.is_some_and(|column| column.kind == "words" && column.distinct > 2);
        if columns.task.is_none() && given().count() < 2 && !has_classes && !columns.classes {
            let others = free.iter().filter(|column| Some(&column.name) != target.as_ref());
            roles.task = best_task(profile, others).map(|column| column.name.clone());
            options.extend(roles.task.as_ref().map(|name| format!("--task {}", argument(name))));
        }
        let is_used = |name: &String| Some(name) == target.as_ref() || Some(name) == roles.task.as_ref();
        let in_the_way =
            free.iter().filter(|column| column.used_as == "in the way" && !is_used(&column.name));
        // Few cells that stand for missing values are no reason to leave a column out.
        let (with_word, in_the_way): (Vec<&ColumnProfile>, Vec<&ColumnProfile>) =
            in_the_way.partition(|column| !column.missing_words.is_empty());
        let targets = given().filter(|column| columns.target.contains(&column.name));
        for word in with_word.into_iter().chain(targets).flat_map(|column| &column.missing_words) {
            if !roles.missing_words.contains(word) {
                options.push(missing_words(std::slice::from_ref(word)));
                roles.missing_words.push(word.clone());
            }
        }
        let in_the_way: Vec<String> = in_the_way.iter().map(|column| column.name.clone()).collect();
        if !in_the_way.is_empty() {
            let names: Vec<String> = in_the_way.iter().map(|name| argument(name)).collect();
            options.push(format!("--drop {}", names.join(",")));
            roles.drop.extend(in_the_way);
        }
        let guess = guess(
            target.as_deref().filter(|_| columns.target.is_empty()),
            roles.task.as_deref().filter(|_| columns.task.is_none()),
        );
        Suggestion { options, roles: Some(roles).filter(|_| target.is_some()), guess }
    }
}

/// What nobody said, in words; `None` if all was said.
fn guess(target: Option<&str>, task: Option<&str>) -> Option<String> {
    let named = [("target", target), ("task", task)];
    let named = named.into_iter().filter_map(|(what, name)| Some(format!("{what} {:?}", name?)));
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| {
        let is_or_are = if named.len() == 1 { "is a guess" } else { "are guesses" };
        format!(
            "{} {is_or_are} from names and values of columns: look whether that is meant",
            named.join(" and ")
        )
    })
}

/// The first part of the names of many columns that all lack values, if there is such a family.
fn family_with_gaps<'a>(profile: &FileProfile, free: &[&'a ColumnProfile]) -> Option<&'a str> {
    let has_gaps = |column: &ColumnProfile| column.missing * MIN_TARGET_GAPS >= profile.rows;
    // Of each family, how many columns there are, and whether all have gaps.
    let mut families: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    for column in free.iter().filter(|column| column.in_list.is_none()) {
        if let Some(stem) = kinfolk_io::family(&column.name) {
            let own = families.entry(stem).or_insert((0, true));
            *own = (own.0 + 1, own.1 && has_gaps(column));
        }
    }
    let fits = families.into_iter().filter(|(_, (n, gaps))| *n >= MIN_TARGETS && *gaps);
    fits.max_by_key(|(_, (n, _))| *n).map(|(stem, _)| stem)
}

/// Whether values are numbers with zeros in front, as codes of branches have.
fn is_code(column: &ColumnProfile) -> bool {
    let is =
        |text: &String| text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    column.kind == "numbers" && column.examples.iter().any(is)
}

/// The column that is most likely to say which task a row belongs to: a known name first, then the most values.
fn best_task<'a>(
    profile: &FileProfile,
    columns: impl Iterator<Item = &'a &'a ColumnProfile>,
) -> Option<&'a ColumnProfile> {
    let is_possible = |column: &&ColumnProfile| {
        let enough = column.distinct as u64 * MIN_ROWS_PER_TASK <= profile.rows;
        let known = is_named(column, &TASKS);
        let likely = match column.kind {
            "words" => known || column.distinct >= MIN_UNKNOWN_TASKS,
            "integers" => known,
            _ => is_code(column),
        };
        enough && likely && column.distinct > 1 && !column.more_distinct && column.used_as != "left out"
    };
    let possible = columns.copied().filter(is_possible);
    // Of equals the first.
    possible.reduce(|best, column| {
        let rank = |column: &ColumnProfile| (is_named(column, &TASKS), column.distinct);
        if rank(column) > rank(best) { column } else { best }
    })
}

/// The command with the words that the user gave.
pub(super) fn command(given: &[String], options: &[String], data: &Path) -> String {
    let given: Vec<String> = given.iter().map(|word| argument(word)).collect();
    let stem = data.file_stem().filter(|stem| *stem != "-");
    let stem = stem.map_or("model".into(), |stem| stem.to_string_lossy().into_owned());
    let out = argument(&format!("{stem}.safetensors"));
    let words: Vec<&str> = given.iter().chain(options).map(String::as_str).collect();
    format!("kinfolk fit {} -o {out}", words.join(" "))
}

/// The words after `data info` that a fit takes too.
pub(super) fn given_words(all: impl Iterator<Item = String>) -> Vec<String> {
    let is_ours =
        |word: &String| ["--json", "--quiet", "-q", "--verbose", "-v", "-vv"].contains(&word.as_str());
    all.skip_while(|word| word != "info").skip(1).filter(|word| !is_ours(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(profile: &FileProfile, roles: &ColumnRoles) -> Vec<String> {
        Suggestion::new(profile, roles).options
    }

    fn profile(columns: &[(&str, &'static str, usize)]) -> FileProfile {
        let column = |(name, kind, distinct): &(&str, &'static str, usize)| ColumnProfile {
            name: name.to_string(),
            kind,
            missing: 0,
            distinct: *distinct,
            more_distinct: false,
            range: None,
            examples: vec![],
            role: None,
            used_as: "feature",
            why: String::new(),
            missing_words: vec![],
            in_list: None,
        };
        FileProfile { rows: 200, remark: None, columns: columns.iter().map(column).collect() }
    }

    #[test]
    fn the_task_is_the_best_candidate() {
        let roles = ColumnRoles { target: vec!["umsatz".into()], ..ColumnRoles::default() };
        let task = |columns: &[(&str, &'static str, usize)]| options(&profile(columns), &roles);
        assert_eq!(task(&[("region", "words", 4), ("Filiale_Nr", "integers", 20)]), ["--task Filiale_Nr"]);
        assert_eq!(task(&[("plan", "words", 9), ("magasin", "words", 5)]), ["--task magasin"]);
        assert_eq!(task(&[("plan", "words", 9), ("visits", "integers", 12)]), ["--task plan"]);
        let mut codes = profile(&[("code", "numbers", 20), ("plan", "words", 9)]);
        codes.columns[0].examples = vec!["758".into(), "0042".into()];
        assert_eq!(options(&codes, &roles), ["--task code"]);
        assert!(task(&[("shop", "words", 90), ("sex", "words", 2), ("visits", "integers", 12)]).is_empty());
    }

    #[test]
    fn columns_that_are_alike_and_have_gaps_are_targets() {
        let roles = ColumnRoles::default();
        let mut molecules =
            profile(&[("mass", "numbers", 90), ("tox_1", "integers", 2), ("tox_2", "integers", 2)]);
        molecules.columns.push(ColumnProfile { name: "tox_10".into(), ..molecules.columns[1].clone() });
        assert_eq!(options(&molecules, &roles), ["--target COLUMN"]);
        molecules.columns[1..].iter_mut().for_each(|column| column.missing = 60);
        assert_eq!(options(&molecules, &roles), ["--target 'tox_*'"]);
    }

    #[test]
    fn a_column_with_a_word_for_missing_values_is_kept() {
        let roles = ColumnRoles { target: vec!["y".into()], ..ColumnRoles::default() };
        let mut odd = profile(&[("age", "mixed", 60), ("size", "mixed", 60), ("code", "mixed", 60)]);
        odd.columns.iter_mut().for_each(|column| column.used_as = "in the way");
        odd.columns[..2].iter_mut().for_each(|column| column.missing_words = vec!["n. v.".into()]);
        assert_eq!(options(&odd, &roles), ["--missing-word \"n. v.\"", "--drop code"]);
    }

    #[test]
    fn classes_need_no_task_and_options_are_kept() {
        let roles = ColumnRoles::default();
        let found = options(&profile(&[("shop", "words", 4), ("class", "words", 5)]), &roles);
        assert_eq!(found, ["--target class"]);
        let words = ["kinfolk", "data", "info", "a b.csv", "--drop", "x", "--json"].map(String::from);
        let given = given_words(words.into_iter());
        assert_eq!(
            command(&given, &found, Path::new("a b.csv")),
            "kinfolk fit \"a b.csv\" --drop x --target class -o \"a b.safetensors\""
        );
    }
}
