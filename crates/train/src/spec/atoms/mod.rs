//! Atoms: relations between tasks that users know up to their weight.
//!
//! | Module | Task |
//! |---|---|
//! | `text` | `groups=regions.csv:region,weight=10`, and the table form of toml and json |
//! | `data` | what a relation is given as, by the names of tasks |
//! | `read` | from a file to such data |
//! | `path` | paths of trees as texts, and names with slashes in them |
//! | `similarity` | from data to a similarity of tasks: one formula for each kind |
//! | `resolve` | the atoms of the tasks of a fit, and what they say about tasks without rows |

mod data;
mod path;
mod read;
mod resolve;
mod similarity;
mod text;

pub use data::RelationData;
pub(crate) use resolve::AtomExtension;
pub use resolve::ResolvedAtoms;

use crate::{Error, Result};
use kinfolk::TaskNames;
use kinfolk_io::ColumnRoles;
use std::path::PathBuf;
use std::sync::Arc;

/// Weight of an atom where none is given.
pub const DEFAULT_ATOM_WEIGHT: f64 = 10.0;

/// Weights that selection tries for an atom without one.
pub const ATOM_WEIGHT_GRID: [&str; 4] = ["0", "1", "10", "100"];

/// What parameters of methods that are weights of atoms start with: `fmtl:atom.region=10`.
pub(crate) const ATOM_PARAM: &str = "atom.";

/// Numbers of a relation that a model file keeps with its spec; more are left out.
const MAX_KEPT_NUMBERS: usize = 250_000;

/// A relation between tasks and its weight.
///
/// As text: `KIND=FILE`, or `KIND=FILE:COLUMN`, and then `,name=NAME`, `,weight=NUMBER`, `,kernel=linear`, or the
/// words `common` and `own`.
///
/// ```
/// use kinfolk_train::AtomSetting;
/// let atom: AtomSetting = "groups=regions.csv:region,weight=3".parse()?;
/// assert_eq!((atom.name.as_str(), atom.weight), ("region", Some(3.0)));
/// assert_eq!(atom.to_string(), "groups=regions.csv:region,weight=3");
/// # Ok::<(), kinfolk_train::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AtomSetting {
    /// Name in reports, grids and messages.
    pub name: String,
    /// w; [`DEFAULT_ATOM_WEIGHT`] in a fit and [`ATOM_WEIGHT_GRID`] in a selection if absent.
    pub weight: Option<f64>,
    /// What the relation is given as.
    pub kind: RelationKind,
    /// Where it is, or was before `data` was read.
    pub file: Option<PathBuf>,
    /// The column of groups or paths.
    pub column: Option<String>,
    /// How rows of features become a similarity.
    pub kernel: TaskKernel,
    /// The relation itself, by the names of tasks.
    pub data: Option<Arc<RelationData>>,
}

/// What a relation is given as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelationKind {
    /// The group of each task: tasks of one group are alike.
    Groups,
    /// The place of each task in a tree: the longer the path that two share, the more alike.
    Tree,
    /// Edges between tasks, with weights: neighbours are alike.
    Graph,
    /// Distances between tasks.
    Distance,
    /// A similarity: a symmetric, positive semidefinite matrix.
    Matrix,
    /// A row of numbers for each task.
    Features,
    /// All tasks are alike.
    Common,
    /// Each task is on its own.
    Own,
}

/// How rows of features become a similarity of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskKernel {
    /// Near tasks are alike.
    #[default]
    Rbf,
    /// Tasks are alike in one direction and opposite in another.
    Linear,
}

impl RelationKind {
    /// All kinds.
    pub const ALL: [RelationKind; 8] = [
        RelationKind::Groups,
        RelationKind::Tree,
        RelationKind::Graph,
        RelationKind::Distance,
        RelationKind::Matrix,
        RelationKind::Features,
        RelationKind::Common,
        RelationKind::Own,
    ];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            RelationKind::Groups => "groups",
            RelationKind::Tree => "tree",
            RelationKind::Graph => "graph",
            RelationKind::Distance => "distance",
            RelationKind::Matrix => "matrix",
            RelationKind::Features => "features",
            RelationKind::Common => "common",
            RelationKind::Own => "own",
        }
    }

    /// Whether it is a word, without a file.
    pub fn is_built_in(self) -> bool {
        matches!(self, RelationKind::Common | RelationKind::Own)
    }

    /// Whether a column of the file can be named.
    fn has_column(self) -> bool {
        matches!(self, RelationKind::Groups | RelationKind::Tree)
    }
}

impl AtomSetting {
    /// A relation that is given by its data.
    pub fn new(name: impl Into<String>, kind: RelationKind, data: RelationData) -> Self {
        let data = Some(Arc::new(data));
        AtomSetting { data, ..AtomSetting::named(name.into(), kind) }
    }

    /// One of the words.
    fn named(name: String, kind: RelationKind) -> Self {
        let kernel = TaskKernel::default();
        AtomSetting { name, weight: None, kind, file: None, column: None, kernel, data: None }
    }

    /// `Err` if it makes no sense by itself.
    pub fn check(&self) -> Result<()> {
        let fail = |why: String| Err(self.wrong(why));
        let reserved = |c: char| ",;=:[]".contains(c) || c.is_control();
        if self.name.trim() != self.name || self.name.is_empty() || self.name.contains(reserved) {
            return fail(
                "a name may not be empty or have , ; = : [ ] in it: give one with ,name=NAME".into(),
            );
        }
        if let Some(weight) = self.weight.filter(|w| !(*w >= 0.0 && w.is_finite())) {
            return fail(format!("its weight is {weight}, it must be a number, not below zero"));
        }
        let kind = self.kind.name();
        match (self.kind.is_built_in(), self.file.is_some() || self.data.is_some()) {
            (true, true) => return fail(format!("{kind} needs no file")),
            (false, false) => return fail(format!("{kind} needs a file with the relation, or its data")),
            _ => {}
        }
        if self.column.is_some() && !self.kind.has_column() {
            return fail(format!("{kind} has no column; groups and tree have"));
        }
        if self.kernel != TaskKernel::default() && self.kind != RelationKind::Features {
            return fail(format!("{kind} has no kernel; features has"));
        }
        match &self.data {
            Some(data) => data.check(self.kind).map_err(|why| self.wrong(why)),
            None => Ok(()),
        }
    }

    /// An error about this atom.
    fn wrong(&self, why: impl Into<String>) -> Error {
        let why = why.into();
        match &self.file {
            Some(file) => Error::Spec(format!("atom {:?}: {}: {why}", self.name, file.display())),
            None => Error::Spec(format!("atom {:?}: {why}", self.name)),
        }
    }

    /// The same with its file read, as `columns` say for the data: the name of the column of tasks, texts that stand
    /// for a missing value, and whether letter case counts; if not, names are spelled as those that are `known`. The
    /// data may be about more tasks than a fit has.
    ///
    /// # Errors
    /// If the file cannot be read, with the line.
    pub fn with_file_read(&self, columns: &ColumnRoles, known: &[String]) -> Result<Self> {
        match (&self.data, &self.file) {
            (None, Some(file)) => {
                let data = read::read(self.kind, file, self.column.as_deref(), columns, known)?;
                Ok(AtomSetting { data: Some(Arc::new(data)), ..self.clone() })
            }
            _ => Ok(self.clone()),
        }
    }

    /// The weight, or the default one.
    pub fn weight_or_default(&self) -> f64 {
        self.weight.unwrap_or(DEFAULT_ATOM_WEIGHT)
    }

    /// Leaves out data that are too large for the spec in a model file. What was fitted is in the problem of the model.
    pub(crate) fn without_large_data(mut self) -> Self {
        self.data = self.data.filter(|data| data.n_numbers() <= MAX_KEPT_NUMBERS);
        self
    }

    /// For people: without the data.
    pub fn brief(&self) -> String {
        match &self.file {
            None if !self.kind.is_built_in() => format!("{} ({})", self.name, self.kind.name()),
            _ => self.to_string(),
        }
    }
}

/// `Err` if two atoms have the same name, or one makes no sense.
pub(crate) fn check(atoms: &[AtomSetting]) -> Result<()> {
    for (j, atom) in atoms.iter().enumerate() {
        atom.check()?;
        if atoms[..j].iter().any(|other| other.name == atom.name) {
            return Err(Error::Spec(format!(
                "there are two atoms named {:?}: add ,name=NAME to one of them",
                atom.name
            )));
        }
    }
    Ok(())
}

/// The names of tasks as texts, by which relations are aligned.
pub(super) fn texts(tasks: &TaskNames) -> Vec<String> {
    tasks.iter().collect()
}
