//! Copies between memory and the device. Large ones travel in pieces through page-locked memory, by several threads:
//! one thread fills, or empties, memory much more slowly than the device sends it, most of all memory that is new.

use super::{
    Cuda, CudaContext, DevicePtr, DevicePtrMut, Numbers, Outcome, PushKernelArg, driver, each, launch, words,
};
use cudarc::driver::{CudaEvent, CudaSlice, DeviceRepr, result};
use std::sync::Arc;

/// Bytes of a piece.
const PIECE_BYTES: usize = 1 << 20;
/// Threads at most.
const MAX_LANES: usize = 16;
/// Pieces of each thread that are under way.
const SLOTS: usize = 2;
/// Smaller copies are left to the driver.
const MIN_STAGED_BYTES: usize = 4 << 20;

/// Page-locked memory: so many pieces for each thread.
#[derive(Debug)]
pub(super) struct Staging {
    start: *mut u8,
    lanes: usize,
    context: Arc<CudaContext>,
}

// SAFETY: plain memory, divided between threads by `slot`.
unsafe impl Send for Staging {}
// SAFETY: as above.
unsafe impl Sync for Staging {}

impl Staging {
    pub(super) fn new(context: &Arc<CudaContext>) -> Outcome<Self> {
        let lanes = std::thread::available_parallelism().map_or(1, |n| n.get()).min(MAX_LANES);
        // SAFETY: the memory is freed by `drop`.
        let start = unsafe { result::malloc_host(lanes * SLOTS * PIECE_BYTES, 0) }.map_err(words)?;
        Ok(Staging { start: start.cast(), lanes, context: context.clone() })
    }

    /// Memory of one piece; each slot of each lane is a different one.
    fn slot(&self, lane: usize, slot: usize) -> *mut u8 {
        debug_assert!(lane < self.lanes && slot < SLOTS);
        // SAFETY: inside the memory that was allocated.
        unsafe { self.start.add((lane * SLOTS + slot) * PIECE_BYTES) }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // In a fork the context is not usable, and its memory is not ours to free.
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated by `new`, and no copy is under way: every call waits for its own.
            let _ = unsafe { result::free_host(self.start.cast()) };
        }
    }
}

/// An address in memory that several threads use, each another part of it.
#[derive(Clone, Copy)]
struct Shared(*mut u8);
// SAFETY: threads use different parts.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// A piece of a copy: where it begins, and its length.
type Piece = (usize, usize);

impl Cuda {
    /// The caller's memory has been read when this returns.
    pub(crate) fn upload(&self, values: &[f64]) -> Outcome<Numbers> {
        self.upload_any(values)
    }

    pub(crate) fn upload_single(&self, values: &[f32]) -> Outcome<Numbers> {
        let (single, n) = (self.upload_any(values)?, values.len());
        let mut out = self.room(n)?;
        launch!(self, widen, each(n), &(n as u64), &single, &mut out)?;
        Ok(out)
    }

    fn upload_any<T: DeviceRepr>(&self, values: &[T]) -> Outcome<CudaSlice<T>> {
        let bytes = size_of_val(values);
        if bytes < MIN_STAGED_BYTES {
            return self.stream.clone_htod(values).map_err(words);
        }
        // SAFETY: all of it is written just below.
        let mut out = unsafe { self.stream.alloc::<T>(values.len()) }.map_err(words)?;
        {
            let (there, _there) = out.device_ptr_mut(&self.stream);
            let here = Shared(values.as_ptr().cast_mut().cast());
            self.in_lanes(bytes, |lane, pieces| self.send(lane, pieces, here, there))?;
        }
        Ok(out)
    }

    pub(crate) fn download(&self, m: &Numbers) -> Outcome<Vec<f64>> {
        let bytes = m.len() * size_of::<f64>();
        if bytes < MIN_STAGED_BYTES {
            let out = self.stream.clone_dtoh(m).map_err(words)?;
            self.stream.synchronize().map_err(words)?;
            return Ok(out);
        }
        let mut out: Vec<f64> = Vec::with_capacity(m.len());
        let here = Shared(out.as_mut_ptr().cast());
        let (there, _there) = m.device_ptr(&self.stream);
        self.in_lanes(bytes, |lane, pieces| self.receive(lane, pieces, here, there))?;
        // SAFETY: the lanes wrote all of it.
        unsafe { out.set_len(m.len()) };
        Ok(out)
    }

    /// Cuts so many bytes into pieces and lets every thread work on its own.
    fn in_lanes(&self, bytes: usize, work: impl Fn(usize, &[Piece]) -> Outcome<()> + Sync) -> Outcome<()> {
        let lanes = self.staging.lanes;
        let pieces: Vec<Piece> =
            (0..bytes).step_by(PIECE_BYTES).map(|start| (start, PIECE_BYTES.min(bytes - start))).collect();
        let run = pieces.len().div_ceil(lanes);
        let work = |(lane, own): (usize, &[Piece])| {
            self.bind()?;
            work(lane, own)
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                pieces.chunks(run).enumerate().map(|own| scope.spawn(move || work(own))).collect();
            // All of them are waited for, whatever happens to one.
            let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            ended.into_iter().try_for_each(|done| done.unwrap_or_else(|_| Err("a copy failed".into())))
        })
    }

    fn send(&self, lane: usize, pieces: &[Piece], from: Shared, to: driver::CUdeviceptr) -> Outcome<()> {
        let mut under_way: [Option<CudaEvent>; SLOTS] = [const { None }; SLOTS];
        for (round, &(start, length)) in pieces.iter().enumerate() {
            let slot = round % SLOTS;
            if let Some(event) = under_way[slot].take() {
                event.synchronize().map_err(words)?;
            }
            let room = self.staging.slot(lane, slot);
            // SAFETY: the piece lies inside the caller's array, the slot has room for it and is not in use; the
            // array on the device is as large as the caller's.
            unsafe {
                std::ptr::copy_nonoverlapping(from.0.add(start), room, length);
                let piece = std::slice::from_raw_parts(room, length);
                result::memcpy_htod_async(to + start as u64, piece, self.stream.cu_stream())
                    .map_err(words)?;
            }
            under_way[slot] = Some(self.stream.record_event(None).map_err(words)?);
        }
        under_way.into_iter().flatten().try_for_each(|event| event.synchronize().map_err(words))
    }

    fn receive(&self, lane: usize, pieces: &[Piece], to: Shared, from: driver::CUdeviceptr) -> Outcome<()> {
        let mut under_way: [Option<(CudaEvent, Piece)>; SLOTS] = [const { None }; SLOTS];
        // The rounds after the last piece only empty the slots.
        for round in 0..pieces.len() + SLOTS {
            let slot = round % SLOTS;
            let room = self.staging.slot(lane, slot);
            if let Some((event, (start, length))) = under_way[slot].take() {
                event.synchronize().map_err(words)?;
                // SAFETY: the piece lies inside the caller's array, and has arrived in its slot.
                unsafe { std::ptr::copy_nonoverlapping(room, to.0.add(start), length) };
            }
            if let Some(&(start, length)) = pieces.get(round) {
                // SAFETY: the slot has room for a piece and is not in use; the piece lies inside the array.
                unsafe {
                    let piece = std::slice::from_raw_parts_mut(room, length);
                    result::memcpy_dtoh_async(piece, from + start as u64, self.stream.cu_stream())
                        .map_err(words)?;
                }
                under_way[slot] = Some((self.stream.record_event(None).map_err(words)?, (start, length)));
            }
        }
        Ok(())
    }
}
