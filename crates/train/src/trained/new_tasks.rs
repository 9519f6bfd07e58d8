//! Tasks without training rows, which borrow from the tasks of a model by way of atoms.

use super::Trained;
use crate::spec::AtomExtension;
use crate::{AtomSetting, Error, Result};
use kinfolk::model::BorrowedTask;
use kinfolk::regularizer::AtomKind;

/// What the atoms of a model say about tasks without training rows.
#[derive(Debug)]
pub struct NewTasks<'a> {
    trained: &'a Trained,
    atoms: Vec<PartOfNew<'a>>,
    /// phi'(0).
    strangers: f64,
}

/// What one atom says.
#[derive(Debug)]
struct PartOfNew<'a> {
    coefficient: f64,
    relation: &'a AtomKind,
    extension: Option<AtomExtension<'a>>,
}

impl Trained {
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
            let known =
                if settings.is_empty() { "it has none".into() } else { format!("its atoms are {}", names()) };
            return Err(Error::Spec(format!("the model has no atom {:?} of a file; {known}", atom.name)));
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
            atoms.push(PartOfNew { coefficient: part.coefficient, relation: &spec.relation, extension });
        }
        let strangers = if atoms.is_empty() { 0.0 } else { self.model.theta_of_strangers()? };
        Ok(NewTasks { trained: self, atoms, strangers })
    }
}

impl NewTasks<'_> {
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
