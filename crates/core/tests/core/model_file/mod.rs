//! Model files: what is saved comes back to the last bit, and what was damaged is refused.

mod attachments;
mod damage;
mod envelope;
mod fixtures;
mod forgery;
mod recheck;
mod round_trip;
mod scaling;
