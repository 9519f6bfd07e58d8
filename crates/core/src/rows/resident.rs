//! Rows in memory, cut into parts.

use super::{PreparedRows, Question, Rows, RowsSetting, add_answer};
use crate::inputs::Inputs;
use crate::{Error, Observations, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Parts of rows in the memory of this process: for tests, and for callers whose rows come in batches.
#[derive(Debug)]
pub struct ResidentRows<'a> {
    parts: Vec<(&'a Inputs<'a>, &'a Observations)>,
    threads: usize,
    prepared: Mutex<Option<(RowsSetting, Vec<PreparedRows>)>>,
    questions: AtomicUsize,
}

impl<'a> ResidentRows<'a> {
    /// Of these parts, unscaled; `threads` = 0 means one per core.
    pub fn new(parts: Vec<(&'a Inputs<'a>, &'a Observations)>, threads: usize) -> Self {
        ResidentRows { parts, threads, prepared: Mutex::default(), questions: AtomicUsize::new(0) }
    }

    /// Questions so far.
    pub fn questions(&self) -> usize {
        self.questions.load(Ordering::Relaxed)
    }

    fn prepared(&self) -> MutexGuard<'_, Option<(RowsSetting, Vec<PreparedRows>)>> {
        self.prepared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Rows for ResidentRows<'_> {
    fn begin(&self, setting: &RowsSetting) -> Result<()> {
        let prepare =
            |(inputs, observations): &(&Inputs<'_>, &Observations)| setting.prepare(inputs, observations);
        let prepared = self.parts.iter().map(prepare).collect::<Result<_>>()?;
        *self.prepared() = Some((setting.clone(), prepared));
        Ok(())
    }

    fn ask(&self, question: &Question) -> Result<Vec<f64>> {
        let Some((setting, parts)) = &*self.prepared() else {
            return Err(Error::Incompatible("rows were asked before they were told what about".into()));
        };
        self.questions.fetch_add(1, Ordering::Relaxed);
        let mut sum = None;
        for part in parts {
            add_answer(&mut sum, setting.answer(question, part, self.threads)?)?;
        }
        sum.ok_or(Error::Empty { what: "the list of rows" })
    }

    fn reads_again(&self) -> bool {
        false
    }
}
