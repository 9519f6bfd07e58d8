//! Which column is what.

use super::{Header, OneHot};
use crate::error::quoted;
use crate::{Coding, Columns, Error, Feature, Recipe, Result};

/// What is to be taken from a file with named columns.
pub(crate) struct Layout {
    /// The columns to learn from, in their order.
    pub(crate) features: Vec<FeatureColumn>,
    /// The column of tasks.
    pub(crate) task: Option<usize>,
    /// The columns to be learned.
    pub(crate) target: Option<Target>,
    /// The column of weights.
    pub(crate) weight: Option<usize>,
    /// The column that says which part a row belongs to.
    pub(crate) split: Option<usize>,
    /// Whether the file is read to fit a model, so that every label must be there.
    pub(crate) fitting: bool,
    recipe: Recipe,
}

/// A column to learn from.
pub(crate) struct FeatureColumn {
    pub(crate) column: usize,
    /// `None`: it holds numbers.
    pub(crate) one_hot: Option<OneHot>,
}

/// What is to be learned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Target {
    /// One column. `task` is the name of the only task, where there is no column of tasks.
    One { column: usize, kind: Kind, task: String },
    /// A column for each task; `None` where the file lacks it.
    Wide { columns: Vec<Option<usize>>, tasks: Vec<String> },
}

/// What a column of labels holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The whole file has to be asked.
    Open,
    /// Numbers.
    Numbers,
    /// Words of rows that have a task.
    Words,
    /// Classes.
    Classes,
}

impl Layout {
    /// As the caller says. One-hot columns have no values yet, and the kind of a single target may be open.
    pub(crate) fn for_fitting(header: &Header, columns: &Columns) -> Result<Self> {
        let roles = Roles::given(header, columns)?;
        let names: Vec<usize> = match &columns.features {
            None => (0..header.len()).filter(|&i| matches!(roles.0[i], None | Some("--one-hot"))).collect(),
            Some(features) => {
                let listed = features.iter().map(|name| header.require(name, "--features"));
                let listed = listed.collect::<Result<Vec<_>>>()?;
                let rest = columns.one_hot.iter().filter(|name| !features.contains(name));
                let rest = rest.map(|name| header.require(name, "--one-hot")).collect::<Result<Vec<_>>>()?;
                listed.into_iter().chain(rest).collect()
            }
        };
        let feature = |column| {
            let one_hot = (roles.0[column] == Some("--one-hot")).then(OneHot::default);
            FeatureColumn { column, one_hot }
        };
        let features: Vec<FeatureColumn> = names.into_iter().map(feature).collect();
        if features.is_empty() {
            return Err(Error::new(header.path(), "there is no column left to learn from"));
        }
        let find = |name: &Option<String>| name.as_ref().and_then(|name| header.find(name));
        let task = find(&columns.task);
        let target = match columns.target.as_slice() {
            [] => None,
            [name] => {
                let kind = match (columns.classes, task) {
                    (true, None) => Kind::Classes,
                    (true, Some(_)) => Kind::Words,
                    (false, _) => Kind::Open,
                };
                Some(Target::One { column: header.require(name, "--target")?, kind, task: name.clone() })
            }
            names => Some(Target::Wide {
                columns: names.iter().map(|name| header.find(name)).collect(),
                tasks: names.to_vec(),
            }),
        };
        if let (Some(name), Some(Target::Wide { .. })) = (&columns.task, &target) {
            let why = "with a column of tasks there is one --target; with several targets each is a task";
            return Err(Error::new(header.path(), why).in_column(name));
        }
        let recipe = Recipe::new(columns.clone(), None, 0);
        let (weight, split) = (find(&columns.weight), find(&columns.split));
        let mut layout = Layout { features, task, target, weight, split, fitting: true, recipe };
        layout.note_features(header);
        Ok(layout)
    }

    /// As the training file was read. What the caller names besides must be there.
    pub(crate) fn for_prediction(header: &Header, columns: &Columns, recipe: &Recipe) -> Result<Self> {
        let old = &recipe.columns;
        let find = |new: &Option<String>, old: &Option<String>, what| match (new, old) {
            (Some(name), _) => header.require(name, what).map(Some),
            (None, Some(name)) => Ok(header.find(name)),
            (None, None) => Ok(None),
        };
        let task = find(&columns.task, &old.task, "--task")?;
        let weight = find(&columns.weight, &old.weight, "--weight")?;
        let split = find(&columns.split, &old.split, "--split")?;
        let target = target_for_prediction(header, columns, recipe, task)?;
        let mut layout =
            Layout { features: vec![], task, target, weight, split, fitting: false, recipe: recipe.clone() };
        layout.features = match &recipe.features {
            Some(features) => {
                features.iter().map(|feature| known_feature(header, feature)).collect::<Result<_>>()?
            }
            None => layout.unnamed_features(header)?,
        };
        Ok(layout)
    }

    /// The recipe that reads another file the same way.
    pub(crate) fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Number of features, one-hot ones counted each.
    pub(crate) fn n_features(&self) -> usize {
        self.features.iter().map(|feature| feature.one_hot.as_ref().map_or(1, |values| values.len())).sum()
    }

    /// Writes the features, with what is known of them, into the recipe.
    pub(crate) fn note_features(&mut self, header: &Header) {
        let feature = |feature: &FeatureColumn| {
            let column = header.name(feature.column).to_string();
            match &feature.one_hot {
                None => Feature::Number(column),
                Some(values) => Feature::OneHot { column, values: values.values().to_vec() },
            }
        };
        self.recipe.features = Some(self.features.iter().map(feature).collect());
        self.recipe.n_features = self.n_features();
    }

    /// The model knows its features by number only: all columns that have no other use, in the order of the file.
    fn unnamed_features(&self, header: &Header) -> Result<Vec<FeatureColumn>> {
        let mut used = vec![false; header.len()];
        let mut set = |column: Option<usize>| column.into_iter().for_each(|i| used[i] = true);
        [self.task, self.weight, self.split].into_iter().for_each(&mut set);
        match &self.target {
            None => {}
            Some(Target::One { column, .. }) => set(Some(*column)),
            Some(Target::Wide { columns, .. }) => columns.iter().copied().for_each(set),
        }
        let features: Vec<_> = (0..header.len()).filter(|&i| !used[i]).collect();
        let (n, expected) = (features.len(), self.recipe.n_features);
        if n != expected {
            let why = format!(
                "the model has {expected} features without names, and {n} columns are left for them here: {}",
                header.listed()
            );
            return Err(Error::new(header.path(), why));
        }
        Ok(features.into_iter().map(|column| FeatureColumn { column, one_hot: None }).collect())
    }
}

/// What the caller says of each column, if anything, as the name of the option.
struct Roles(Vec<Option<&'static str>>);

impl Roles {
    fn given(header: &Header, columns: &Columns) -> Result<Self> {
        let mut roles = Roles(vec![None; header.len()]);
        let one = |name: &Option<String>| name.iter().cloned().collect::<Vec<_>>();
        let lists = [
            ("--task", one(&columns.task)),
            ("--target", columns.target.clone()),
            ("--weight", one(&columns.weight)),
            ("--split", one(&columns.split)),
            ("--drop", columns.drop.clone()),
            ("--one-hot", columns.one_hot.clone()),
        ];
        for (role, names) in lists {
            names.iter().try_for_each(|name| roles.give(header, name, role))?;
        }
        let mut listed = vec![false; header.len()];
        for name in columns.features.iter().flatten() {
            let column = header.require(name, "--features")?;
            let clash = roles.0[column].filter(|role| *role != "--one-hot");
            match (clash, std::mem::replace(&mut listed[column], true)) {
                (Some(role), _) => return Err(twice(header, name, role, "--features")),
                (None, true) => return Err(twice(header, name, "--features", "--features")),
                (None, false) => {}
            }
        }
        Ok(roles)
    }

    fn give(&mut self, header: &Header, name: &str, role: &'static str) -> Result<()> {
        match self.0[header.require(name, role)?].replace(role) {
            Some(old) => Err(twice(header, name, old, role)),
            None => Ok(()),
        }
    }
}

fn twice(header: &Header, name: &str, first: &str, second: &str) -> Error {
    let why = match first == second {
        true => format!("is given twice in {first}"),
        false => format!("is given in {first} and in {second}; a column has one use"),
    };
    Error::new(header.path(), why).in_column(name)
}

fn known_feature(header: &Header, feature: &Feature) -> Result<FeatureColumn> {
    let (name, one_hot) = match feature {
        Feature::Number(name) => (name, None),
        Feature::OneHot { column, values } => (column, Some(OneHot::new(values.clone()))),
    };
    let column = header.find(name).ok_or_else(|| {
        let why = format!("the model needs column {}, and there are only {}", quoted(name), header.listed());
        Error::new(header.path(), why)
    })?;
    Ok(FeatureColumn { column, one_hot })
}

fn target_for_prediction(
    header: &Header,
    columns: &Columns,
    recipe: &Recipe,
    task: Option<usize>,
) -> Result<Option<Target>> {
    let old = &recipe.columns;
    let given = !columns.target.is_empty();
    let names = if given { &columns.target } else { &old.target };
    // Tasks keep the names they had in training, whatever the columns are called here.
    let tasks = if old.target.len() == names.len() { &old.target } else { names };
    match names.as_slice() {
        [] => Ok(None),
        [name] => {
            let column = if given { Some(header.require(name, "--target")?) } else { header.find(name) };
            // Labels whose tasks are not told are of no use.
            let lost = old.task.is_some() && task.is_none();
            let target = |column| Target::One { column, kind: kind(recipe, columns), task: tasks[0].clone() };
            Ok(column.filter(|_| !lost).map(target))
        }
        names => {
            let column = |name: &String| match given {
                true => header.require(name, "--target").map(Some),
                false => Ok(header.find(name)),
            };
            let columns = names.iter().map(column).collect::<Result<Vec<_>>>()?;
            let any = columns.iter().any(Option::is_some);
            Ok(any.then(|| Target::Wide { columns, tasks: tasks.to_vec() }))
        }
    }
}

/// What the labels were in training.
fn kind(recipe: &Recipe, columns: &Columns) -> Kind {
    let is_number = |text: &String| text.trim().parse::<f64>().is_ok();
    match &recipe.coding {
        Coding::Classes => Kind::Classes,
        Coding::Binary { negative, positive } if is_number(negative) && is_number(positive) => Kind::Numbers,
        Coding::Binary { .. } => Kind::Words,
        Coding::Numbers if columns.classes || recipe.columns.classes => Kind::Words,
        Coding::Numbers => Kind::Numbers,
    }
}
