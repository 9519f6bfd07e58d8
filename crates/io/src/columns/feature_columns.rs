//! Which columns are learned from: those of a fit, and those of a model in another file.

use super::ColumnNames;
use super::encoder::FeatureColumn;
use crate::error::quoted;
use crate::{ColumnRoles, Error, Feature, FoldsBy, Hint, LeftOut, Result, Role, Schema};

/// Those that are listed and the one-hot ones; without a list, all that have no other role. Columns that cannot be
/// meant are left out.
pub(super) fn features_to_fit(
    names: &ColumnNames,
    columns: &ColumnRoles,
    roles: &[Option<Role>],
) -> Result<(Vec<FeatureColumn>, Vec<LeftOut>)> {
    let group = match &columns.folds_by {
        Some(FoldsBy::Group(name)) => names.find(name),
        _ => None,
    };
    let is_one_hot = |column: usize| roles[column] == Some(Role::OneHot);
    let mut left_out = vec![];
    let chosen: Vec<usize> = match &columns.features {
        None => {
            let why_not = |i: usize| match names.is_unnamed(i) {
                true => Some("it has no name"),
                _ if group == Some(i) => Some("its values are the groups of the folds"),
                false => is_index(names.name(i)).then_some("it is the index of a pandas table"),
            };
            let leave =
                (0..names.len()).filter(|&i| roles[i].is_none()).filter_map(|i| Some((i, why_not(i)?)));
            left_out =
                leave.map(|(i, why)| LeftOut { column: names.name(i).into(), why: why.into() }).collect();
            let free = |i: usize| roles[i].is_none() && why_not(i).is_none();
            (0..names.len()).filter(|&i| free(i) || is_one_hot(i)).collect()
        }
        Some(features) => {
            let rest = columns.one_hot.iter().filter(|name| !features.contains(name));
            features.iter().chain(rest).filter_map(|name| names.find(name)).collect()
        }
    };
    if chosen.is_empty() {
        return Err(nothing_left(&left_out));
    }
    let feature = |column| FeatureColumn::new(column, Feature::Number(names.name(column).into()));
    Ok((chosen.into_iter().map(feature).collect(), left_out))
}

pub(super) fn nothing_left(left_out: &[LeftOut]) -> Error {
    const MAX_NAMED: usize = 4;
    let named = left_out
        .iter()
        .take(MAX_NAMED)
        .map(|own| format!("; {} is left out: {}", quoted(&own.column), own.why));
    let more = if left_out.len() > MAX_NAMED { "; ..." } else { "" };
    wrong!("there is no column left to learn from{}{more}", named.collect::<String>())
}

/// The column in which pandas keeps an index.
fn is_index(name: &str) -> bool {
    let number = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Columns of a recipe; an error names all that are not there.
pub(super) fn known_features(names: &ColumnNames, features: &[Feature]) -> Result<Vec<FeatureColumn>> {
    let missing: Vec<&str> =
        features.iter().map(Feature::column).filter(|name| names.find(name).is_none()).collect();
    whole_lists(names, features)?;
    if let [only] = missing[..] {
        let error = wrong!("the model needs column {}; {}", quoted(only), names.instead_of(only));
        return Err(error.hint(Hint::FillColumns));
    }
    let missing: Vec<String> = missing.into_iter().map(quoted).collect();
    if !missing.is_empty() {
        const MAX_NAMED: usize = 8;
        let more = if missing.len() > MAX_NAMED { ", ..." } else { "" };
        let missing = missing[..missing.len().min(MAX_NAMED)].join(", ");
        let error = wrong!("the model needs columns {missing}{more}, and there are only {}", names.listed());
        return Err(error.hint(Hint::FillColumns));
    }
    let place = |feature: &Feature| Some(FeatureColumn::new(names.find(feature.column())?, feature.clone()));
    Ok(features.iter().filter_map(place).collect())
}

/// The same with columns that are not there filled in.
pub(super) fn present_features(
    names: &ColumnNames,
    features: &[Feature],
    schema: &Schema,
) -> Result<Vec<FeatureColumn>> {
    whole_lists(names, features)?;
    if !features.is_empty() && features.iter().all(|feature| names.find(feature.column()).is_none()) {
        return Err(wrong!("none of the columns of the model is there; there are {}", names.listed()));
    }
    let mut first = 0;
    let place = |feature: &Feature| {
        let width = feature.names().len();
        let means = schema.feature_means.as_ref().and_then(|means| means.get(first..first + width));
        first += width;
        match names.find(feature.column()) {
            Some(column) => Ok(FeatureColumn::new(column, feature.clone())),
            None => FeatureColumn::absent(feature.clone(), schema.columns.missing, means).ok_or_else(|| {
                wrong!(
                    "the column is not there, had no gaps in training, and the model does not know its mean (its \
                     features are not scaled)"
                )
                .in_column(feature.column())
            }),
        }
    };
    features.iter().map(place).collect()
}

/// Has missing values filled in with the means of the training rows where none was missing, if these are known.
pub(super) fn fill_cells(columns: &mut [FeatureColumn], schema: &Schema) {
    let Some(means) = &schema.feature_means else { return };
    let mut first = 0;
    for column in columns {
        if let Some(means) = means.get(first..first + column.width) {
            column.fill_gaps(means);
        }
        first += column.width;
    }
}

/// `Err` if lists of numbers have another length than in training: their numbers mean something else.
fn whole_lists(names: &ColumnNames, features: &[Feature]) -> Result<()> {
    for list in names.lists() {
        let is_element = |column: &str| {
            let number = column.strip_prefix(list.name.as_str()).and_then(|rest| rest.strip_prefix('_'));
            number.is_some_and(|number| number.parse::<usize>().is_ok())
        };
        let wanted = features.iter().filter(|feature| is_element(feature.column())).count();
        if wanted > 0 && wanted != list.length {
            let n = list.length;
            return Err(wrong!("its lists have {n} numbers, and in training they had {wanted}")
                .in_column(list.name.as_str()));
        }
    }
    Ok(())
}
