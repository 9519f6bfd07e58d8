//! Tasks without training rows, which borrow from the tasks of a model by way of atoms.

use super::Trained;
use crate::spec::AtomExtension;
use crate::{AtomSetting, Error, RelationData, Result};
use kinfolk::model::BorrowedTask;
use kinfolk::regularizer::AtomKind;
use kinfolk_io::ColumnRoles;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What the atoms of a model say about tasks without training rows.
#[derive(Debug)]
pub struct NewTasks<'a> {
    trained: &'a Trained,
    atoms: Vec<PartOfNew<'a>>,
    /// phi'(0).
    strangers: f64,
    /// If letter case does not count: the spelling of tasks of atoms that are not of the model.
    spellings: HashMap<String, String>,
}

/// What one atom says.
#[derive(Debug)]
struct PartOfNew<'a> {
    name: &'a str,
    coefficient: f64,
    relation: &'a AtomKind,
    extension: Option<AtomExtension<'a>>,
}

impl Trained {
    /// Atoms of new tasks, with their files read as the data are: as at the fit, and as `columns` say of new rows.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read_atoms(&self, atoms: &[AtomSetting], columns: &ColumnRoles) -> Result<Vec<AtomSetting>> {
        let mut roles = self.schema.columns.clone();
        roles.task = columns.task.clone().or(roles.task);
        roles.missing_words.extend_from_slice(&columns.missing_words);
        roles.only_missing = columns.only_missing.clone().or(roles.only_missing);
        let read = |atom: &AtomSetting| {
            let own = self.spec.atoms.iter().find(|own| own.name == atom.name);
            let mut known: Vec<String> =
                own.and_then(|own| own.data.as_deref()).map_or(vec![], RelationData::texts);
            // Tasks come last: their spelling counts.
            known.extend(self.model.tasks().iter());
            atom.with_file_read(&roles, &known)
        };
        atoms.iter().map(read).collect()
    }

    /// What atoms say about tasks without training rows. `more` are the same atoms, by their names, for tasks that were
    /// not known at the time of the fit.
    ///
    /// # Errors
    /// If the model has no atom of such a name, or a file cannot be read.
    pub fn new_tasks<'a>(&'a self, more: &'a [AtomSetting]) -> Result<NewTasks<'a>> {
        let names =
            || self.model.atoms().iter().map(|atom| atom.name.to_string()).collect::<Vec<_>>().join(", ");
        let settings = &self.spec.atoms;
        if let Some(atom) = more.iter().find(|atom| settings.iter().all(|own| own.name != atom.name)) {
            let name = &atom.name;
            return Err(Error::Spec(match settings.is_empty() {
                true => {
                    format!("the model was fitted without --atom, so it cannot use the relation {name:?}")
                }
                false => format!(
                    "the model was fitted without an atom {name:?}; its atoms are {}; ,name=NAME names one",
                    names()
                ),
            }));
        }
        let problem = &self.model.about().problem;
        let mut atoms = vec![];
        for (spec, part) in problem.atoms.iter().zip(self.model.atoms()) {
            let setting = settings.iter().find(|setting| setting.name == spec.name);
            let more = more.iter().find(|atom| atom.name == spec.name).and_then(|atom| atom.data.as_deref());
            let extension = match setting {
                Some(setting) => AtomExtension::new(setting, self.model.tasks(), more)?,
                None => None,
            };
            let (name, coefficient) = (spec.name.as_str(), part.coefficient);
            atoms.push(PartOfNew { name, coefficient, relation: &spec.relation, extension });
        }
        let strangers = if atoms.is_empty() { 0.0 } else { self.model.theta_of_strangers()? };
        let mut spellings = HashMap::new();
        if self.schema.columns.ignore_case {
            let all = more.iter().chain(settings).filter_map(|atom| atom.data.as_deref());
            let tasks = all.flat_map(RelationData::tasks);
            spellings.extend(tasks.map(|task| (kinfolk_io::folded(task), task.to_string())));
        }
        Ok(NewTasks { trained: self, atoms, strangers, spellings })
    }
}

/// Spreads of labels that differ by this factor are those of different units.
const OTHER_UNIT: f64 = 10.0;

impl NewTasks<'_> {
    /// Relations of the model that do not name a task, though they have a part in it.
    ///
    /// # Errors
    /// If the relation of the task does not suit those of the others.
    pub fn silent_about(&self, task: &str) -> Result<Vec<&str>> {
        let task = self.spelled(task);
        let mut silent = vec![];
        for atom in self.atoms.iter().filter(|atom| atom.coefficient > 0.0) {
            if let Some(extension) = &atom.extension
                && extension.row(task)?.is_none()
            {
                silent.push(atom.name);
            }
        }
        Ok(silent)
    }

    /// By which factor the spreads of the labels of tasks differ, if it is so large that tasks have units of their own.
    /// Predictions for another task are then in a mean unit of the tasks that it is related to.
    pub fn factor_of_units(&self) -> Option<f64> {
        let model = &self.trained.model;
        let spread = model.target_scaling()?.spread();
        let learned = (0..spread.len()).filter(|&t| !model.is_empty_task(t)).map(|t| spread[t]);
        let (least, most) = learned.fold((f64::INFINITY, 0.0), |(a, b), x| (x.min(a), x.max(b)));
        Some(most / least).filter(|factor| factor.is_finite() && *factor >= OTHER_UNIT)
    }

    /// A task as the atoms spell it.
    fn spelled<'a>(&'a self, name: &'a str) -> &'a str {
        self.spellings.get(&kinfolk_io::folded(name)).map_or(name, String::as_str)
    }

    /// Tasks of atoms that were given for new tasks, where the model does not know them.
    pub fn beyond_model(&self) -> Vec<String> {
        let known: HashSet<String> = self.trained.model.tasks().iter().collect();
        let extensions = self.atoms.iter().filter_map(|atom| atom.extension.as_ref());
        let all: BTreeSet<String> = extensions.flat_map(AtomExtension::new_tasks).collect();
        all.into_iter().filter(|task| !known.contains(task)).collect()
    }

    /// How an atom that can take new tasks was given at the fit, such as `groups=FILE:region`; `None` if there is none.
    pub fn extendable(&self) -> Option<String> {
        let setting = self.trained.spec.atoms.iter().find(|atom| atom.file.is_some())?;
        let text = setting.to_string();
        let file = setting.file.as_ref()?.display().to_string();
        Some(text.replacen(&file, "FILE", 1))
    }

    /// A task that an atom with data relates to tasks with training rows; `None` if there is none. The task may be one
    /// of the model.
    ///
    /// # Errors
    /// If the relation of the task does not suit those of the others.
    pub fn find(&self, name: &str) -> Result<Option<BorrowedTask>> {
        let name = self.spelled(name);
        let model = &self.trained.model;
        let n = model.tasks().len();
        let learned: Vec<bool> = (0..n).map(|t| !model.is_empty_task(t)).collect();
        let (mut theta, mut known) = (vec![self.strangers; n], false);
        for atom in &self.atoms {
            let row = match (&atom.extension, atom.relation) {
                (Some(extension), _) => extension.row(name)?,
                (None, AtomKind::Common) => Some(vec![1.0 / n as f64; n]),
                _ => None,
            };
            let Some(row) = row else { continue };
            known |=
                atom.extension.is_some() && (0..n).any(|t| learned[t] && row[t] * atom.coefficient != 0.0);
            theta.iter_mut().zip(&row).for_each(|(sum, s)| *sum += atom.coefficient * s);
        }
        match known {
            true => Ok(Some(model.borrowed_task(&theta)?)),
            false => Ok(None),
        }
    }
}
