//! A column of names while it is being read.

use crate::{Keys, Result};
use kinfolk::TaskNames;
use std::collections::HashMap;

/// Names met so far, and which of them each row has.
#[derive(Default)]
pub(crate) struct KeyColumn {
    code: HashMap<String, u32>,
    names: Vec<String>,
    index: Vec<u32>,
}

impl KeyColumn {
    pub(crate) fn push(&mut self, name: &str) {
        // Rows of a task often follow one another.
        if let Some(&last) = self.index.last()
            && self.names[last as usize] == name
        {
            return self.index.push(last);
        }
        let next = self.names.len() as u32;
        let code = self.code.get(name).copied().unwrap_or_else(|| {
            self.names.push(name.to_string());
            self.code.insert(name.to_string(), next);
            next
        });
        self.index.push(code);
    }

    /// The column with its names in increasing order.
    pub(crate) fn finish(self) -> Result<Keys> {
        Keys::new(self.index, TaskNames::Strings(self.names))
    }
}
