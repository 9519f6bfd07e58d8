//! Threads: a pool for each data set, handed on when the data set is gone.

use crate::{Error, Result};
use rayon::ThreadPool;
use std::sync::{Arc, Mutex};

/// A pool of threads owned by one data set: never rayon's global one, which would hang in a forked process,
/// and never one that another data set is using, which would make them wait for each other.
#[derive(Debug, Clone)]
pub(crate) struct Pool(Arc<Lease>);

#[derive(Debug)]
struct Lease {
    /// Some until the lease ends.
    pool: Option<ThreadPool>,
    process: u32,
}

/// Idle pools, with the process that started them: starting threads takes longer than a small fit.
static FREE: Mutex<Vec<(u32, ThreadPool)>> = Mutex::new(vec![]);
/// Idle pools that are kept at most.
const MAX_IDLE_POOLS: usize = 4;

impl Pool {
    /// `threads` = 0 means one per core.
    pub(crate) fn new(threads: usize) -> Result<Self> {
        let threads =
            if threads == 0 { std::thread::available_parallelism().map_or(1, |n| n.get()) } else { threads };
        let process = std::process::id();
        let pool = match free(threads, process) {
            Some(pool) => pool,
            None => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|i| format!("kinfolk-{i}"))
                .build()
                .map_err(|e| Error::Incompatible(format!("cannot start {threads} threads: {e}")))?,
        };
        Ok(Pool(Arc::new(Lease { pool: Some(pool), process })))
    }

    fn pool(&self) -> &ThreadPool {
        self.0.pool.as_ref().expect("there until the lease ends")
    }

    pub(crate) fn threads(&self) -> usize {
        self.pool().current_num_threads()
    }

    /// Runs `work` inside the pool.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool().install(work)
    }
}

/// An idle pool. `None` if the list is locked (for example by a thread that a fork left behind): then the caller
/// starts new threads instead of waiting.
fn free(threads: usize, process: u32) -> Option<ThreadPool> {
    let mut free = FREE.try_lock().ok()?;
    // The threads of another process did not come along when it forked: their pool can be neither used nor
    // ended.
    let strangers = free.extract_if(.., |(started, _)| *started != process);
    strangers.for_each(|(_, pool)| std::mem::forget(pool));
    let found = free.iter().position(|(_, pool)| pool.current_num_threads() == threads)?;
    Some(free.swap_remove(found).1)
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(pool) = self.pool.take() else { return };
        if self.process != std::process::id() {
            std::mem::forget(pool);
        } else if let Ok(mut free) = FREE.try_lock()
            && free.len() < MAX_IDLE_POOLS
        {
            free.push((self.process, pool));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_in_use_are_not_shared() {
        let names = |pool: &Pool| pool.install(|| std::thread::current().id());
        let (a, b) = (Pool::new(1).unwrap(), Pool::new(1).unwrap());
        assert_ne!(names(&a), names(&b));
        assert_eq!((a.threads(), Pool::new(3).unwrap().threads()), (1, 3));
        let copy = a.clone();
        drop(a);
        assert_ne!(names(&copy), names(&Pool::new(1).unwrap()));
    }
}
