//! How the numbers of a column are written, where that is not as in the rest of the file: with a unit, or with another
//! decimal sign.

use super::cells::{self, Reading, TableCell};
use super::units::{is_same, number_and_unit};
use crate::error::quoted;
use crate::{DateOrder, Decimal, Hint, Result};
use std::borrow::Cow;

/// The unit and the decimal sign of a column, and the words that stand for a missing value, if it has its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct NumberForm {
    pub(super) unit: Option<String>,
    pub(super) decimal: Option<Decimal>,
    pub(super) only_missing: Option<Vec<String>>,
}

impl NumberForm {
    /// Calls `visit` with the cell as its column is read.
    pub(super) fn read<T>(
        &self,
        cell: &dyn TableCell,
        visit: impl FnOnce(&dyn TableCell) -> Result<T>,
    ) -> Result<T> {
        let read = match self {
            NumberForm { unit: None, decimal: None, only_missing: None } => visit(cell),
            form => visit(&FormedCell { cell, form }),
        };
        let unit = self.unit.as_deref();
        read.map_err(|mut error| {
            let is_other = |text: Cow<'_, str>| {
                number_and_unit(&text).is_some_and(|(_, own)| !unit.is_some_and(|unit| is_same(own, unit)))
            };
            let has_other = cell.text().is_ok_and(is_other);
            if has_other && unit.is_some() {
                error.hints.retain(|hint| !matches!(hint, Hint::Decimal));
            }
            if error.hints.is_empty() && has_other {
                let known = unit.map_or("the numbers of this column have no unit".into(), |unit| {
                    format!("the unit of this column is {}", quoted(unit))
                });
                error.why = format!("{}; {known}", error.why).into();
            }
            error
        })
    }

    /// Whether a cell is a number that lacks the unit of its column. `decimal` is the sign of the file.
    pub(super) fn lacks_unit(&self, cell: &dyn TableCell, decimal: Decimal) -> bool {
        let Some(unit) = &self.unit else { return false };
        let has_unit = |text: Cow<'_, str>| number_and_unit(&text).is_some_and(|(_, own)| is_same(own, unit));
        let decimal = self.decimal.unwrap_or(decimal);
        matches!(cell.number(decimal), Reading::Number(_)) && !cell.text().is_ok_and(has_unit)
    }
}

/// A cell as its column is read.
struct FormedCell<'a> {
    cell: &'a dyn TableCell,
    form: &'a NumberForm,
}

impl FormedCell<'_> {
    /// The text without the unit of the column.
    fn bare<'b>(&self, text: Cow<'b, str>) -> Cow<'b, str> {
        let is_own = |unit: &str| self.form.unit.as_deref().is_some_and(|own| is_same(unit, own));
        match number_and_unit(&text).filter(|(_, unit)| is_own(unit)) {
            Some((number, _)) => Cow::Owned(number.to_string()),
            None => text,
        }
    }
}

impl TableCell for FormedCell<'_> {
    fn number(&self, decimal: Decimal) -> Reading {
        let decimal = self.form.decimal.unwrap_or(decimal);
        // Either sign was found in a column without numbers that have two readings: such a number is not guessed.
        let is_unclear = |text: Cow<'_, str>| cells::has_two_readings(&text);
        if self.form.decimal == Some(Decimal::Either) && self.is_text() && self.text().is_ok_and(is_unclear) {
            return Reading::Word;
        }
        if self.form.unit.is_none() {
            return self.cell.number(decimal);
        }
        // Signs of money are other units.
        let is_other = |text: Cow<'_, str>| cells::number_and_unit(&text).is_some();
        match self.cell.number(decimal) {
            Reading::Number(_) if self.is_text() && self.cell.text().is_ok_and(is_other) => Reading::Word,
            Reading::Word => self.text().map_or(Reading::Word, |text| cells::number(&text, decimal)),
            other => other,
        }
    }

    fn text(&self) -> Result<Cow<'_, str>> {
        Ok(self.bare(self.cell.text()?))
    }

    fn is_text(&self) -> bool {
        self.cell.is_text()
    }

    fn has_nulls(&self) -> bool {
        self.cell.has_nulls()
    }

    fn only_missing(&self) -> Option<&[String]> {
        self.form.only_missing.as_deref()
    }

    fn date(&self, order: DateOrder) -> Option<f64> {
        self.cell.date(order)
    }

    fn is_date(&self) -> bool {
        self.cell.is_date()
    }

    fn has_zone(&self) -> Option<bool> {
        self.cell.has_zone()
    }

    fn list(&self) -> Result<Option<Cow<'_, [f64]>>> {
        self.cell.list()
    }
}
