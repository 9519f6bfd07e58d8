//! Threads: pools that are lent for as long as some work runs in them.

use crate::{Error, Result};
use rayon::ThreadPool;
use std::sync::{Mutex, MutexGuard};

/// A number of threads for the work of one data set. They come from a pool of their own while work runs: never from
/// rayon's global one, which would hang in a forked process, and never from one where another data set is at work,
/// which would make them wait for each other. Many data sets, such as folds, need no more threads than work at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pool {
    threads: usize,
}

/// A pool while work runs in it.
#[derive(Debug)]
struct Lease {
    /// Some until the lease ends.
    pool: Option<ThreadPool>,
    process: u32,
}

/// Idle pools, with the process that started them: starting threads takes longer than a small fit.
static FREE: Mutex<Vec<(u32, ThreadPool)>> = Mutex::new(vec![]);
/// Idle pools that are kept at most.
const MAX_IDLE_POOLS: usize = 16;
/// How often a locked list is looked at again, in about a millisecond.
const LOOKS: usize = 1000;

impl Pool {
    /// `threads` = 0 means one per core.
    ///
    /// # Errors
    /// If so many threads cannot be started.
    pub(crate) fn new(threads: usize) -> Result<Self> {
        let threads =
            if threads == 0 { std::thread::available_parallelism().map_or(1, |n| n.get()) } else { threads };
        Lease::new(threads)?;
        Ok(Pool { threads })
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` inside a pool; at once if that is where the caller is.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        if rayon::current_thread_index().is_some() && rayon::current_num_threads() == self.threads {
            return work();
        }
        let lease = Lease::new(self.threads).expect("as many threads as were started before");
        lease.pool.as_ref().expect("there until the lease ends").install(work)
    }
}

impl Lease {
    fn new(threads: usize) -> Result<Self> {
        let process = std::process::id();
        let pool = match free(threads, process) {
            Some(pool) => pool,
            None => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|i| format!("kinfolk-{i}"))
                .build()
                .map_err(|e| Error::Incompatible(format!("cannot start {threads} threads: {e}")))?,
        };
        Ok(Lease { pool: Some(pool), process })
    }
}

/// The idle pools. `None` if the list stays locked (for example by a thread that a fork left behind): then the caller
/// does without instead of waiting.
fn idle() -> Option<MutexGuard<'static, Vec<(u32, ThreadPool)>>> {
    (0..LOOKS).find_map(|_| {
        let list = FREE.try_lock().ok();
        if list.is_none() {
            std::thread::yield_now();
        }
        list
    })
}

/// An idle pool with so many threads, if there is one.
fn free(threads: usize, process: u32) -> Option<ThreadPool> {
    let mut free = idle()?;
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
        } else if let Some(mut free) = idle()
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
        let pool = Pool::new(1).unwrap();
        assert_eq!((pool.threads(), Pool::new(3).unwrap().threads()), (1, 3));
        let both = std::sync::Barrier::new(2);
        let id = || {
            pool.install(|| {
                both.wait();
                std::thread::current().id()
            })
        };
        let (a, b) = std::thread::scope(|scope| {
            let other = scope.spawn(id);
            (id(), other.join().unwrap())
        });
        assert_ne!(a, b);
    }

    #[test]
    fn work_in_work_stays_where_it_is() {
        let pool = Pool::new(2).unwrap();
        let id = || std::thread::current().id();
        let (outer, inner) = pool.install(|| (id(), pool.install(id)));
        assert_eq!(outer, inner);
        let threads = Pool::new(3).unwrap();
        assert_eq!(pool.install(|| threads.install(rayon::current_num_threads)), 3);
    }
}
