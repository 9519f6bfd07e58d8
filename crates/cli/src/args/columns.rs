//! What the columns of a file mean.

use clap::Args;
use kinfolk_io::ColumnRoles;

/// Columns of csv and parquet files; arrays of npz files where they have other names than usual.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns of the data")]
pub(crate) struct ColumnArgs {
    /// The column that says which task a row belongs to.
    #[arg(long, value_name = "COL")]
    task: Option<String>,
    /// The column to be learned; several = one task each, an empty cell is a missing label.
    #[arg(long, value_name = "COL,...", value_delimiter = ',')]
    target: Vec<String>,
    /// The columns to learn from [default: all others].
    #[arg(long, value_name = "COL,...", value_delimiter = ',')]
    features: Option<Vec<String>>,
    /// Columns to leave out.
    #[arg(long, value_name = "COL,...", value_delimiter = ',')]
    drop: Vec<String>,
    /// Columns of words to turn into one feature per word.
    #[arg(long, value_name = "COL,...", value_delimiter = ',')]
    one_hot: Vec<String>,
    /// The column of weights.
    #[arg(long, value_name = "COL")]
    weight: Option<String>,
    /// The column of offsets: a known part of each prediction, such as the logarithm of an exposure.
    #[arg(long, value_name = "COL")]
    offset: Option<String>,
    /// The column that says which part (train, test, ...) a row belongs to.
    #[arg(long, value_name = "COL")]
    split_column: Option<String>,
    /// The target's values are classes, even if they are numbers.
    #[arg(long)]
    classes: bool,
    /// Keep inputs dense however many zeros there are.
    #[arg(long)]
    dense: bool,
}

impl ColumnArgs {
    /// Puts these options into what a spec says of columns.
    pub(super) fn apply(&self, columns: &mut ColumnRoles) {
        let names = [
            (&mut columns.task, &self.task),
            (&mut columns.weight, &self.weight),
            (&mut columns.offset, &self.offset),
            (&mut columns.split, &self.split_column),
        ];
        names.into_iter().filter(|(_, given)| given.is_some()).for_each(|(own, given)| own.clone_from(given));
        let lists = [
            (&mut columns.target, &self.target),
            (&mut columns.drop, &self.drop),
            (&mut columns.one_hot, &self.one_hot),
        ];
        lists
            .into_iter()
            .filter(|(_, given)| !given.is_empty())
            .for_each(|(own, given)| own.clone_from(given));
        if self.features.is_some() {
            columns.features.clone_from(&self.features);
        }
        columns.classes |= self.classes;
        columns.dense |= self.dense;
    }

    pub(crate) fn columns(&self) -> ColumnRoles {
        let mut columns = ColumnRoles::default();
        self.apply(&mut columns);
        columns
    }
}
