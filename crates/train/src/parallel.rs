//! Independent pieces of work on some threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of threads that 0 stands for: one per core.
pub fn threads_or_cores(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n,
    }
}

/// Applies a function to all items on some threads. Results are in the order of the items. After an error or a `None`
/// no new item is started, and the first of those is the result.
///
/// # Errors
/// Those of the function.
pub fn in_parallel<T: Sync, R: Send, E: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<Option<R>, E> + Sync,
) -> Result<Option<Vec<R>>, E> {
    if threads.min(items.len()) <= 1 {
        // Starting a thread takes longer than a small fit.
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { break };
                    let result = work(item);
                    let ended = !matches!(result, Ok(Some(_)));
                    results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((i, result));
                    if ended {
                        next.store(items.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result): (usize, Result<Option<R>, E>)| result).collect()
}
