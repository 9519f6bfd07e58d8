//! Threads that decode columns.

use crate::{Error, Result};
use rayon::ThreadPool;
use std::fmt;
use std::sync::Arc;

/// Threads of its own for reading, shared by the sources that are told to use them. What is read does not depend on how
/// many there are.
#[derive(Clone)]
pub struct ReadThreads(Arc<ThreadPool>);

impl ReadThreads {
    /// So many; 0 = one per core.
    ///
    /// # Errors
    /// If they cannot be started.
    pub fn new(threads: usize) -> Result<Self> {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = builder.thread_name(|i| format!("kinfolk-read-{i}")).build();
        Ok(ReadThreads(Arc::new(pool.map_err(Error::of_table)?)))
    }

    /// Runs `work` in them, or right here if there are none.
    pub(crate) fn run<R: Send>(threads: Option<&Self>, work: impl FnOnce() -> R + Send) -> R {
        match threads {
            Some(ReadThreads(pool)) => pool.install(work),
            None => work(),
        }
    }
}

impl fmt::Debug for ReadThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadThreads({})", self.0.current_num_threads())
    }
}
