//! Images: opened under limits, made small enough for a model, and shown in a terminal.
//!
//! Used by the tools, the sessions and the screen. Always holds: no image is decoded beyond the limits of
//! `src/base/limits/input_output.rs`.
//!
//! # Where things are
//!
//! - makes images fit what model servers take: `fitting.rs`

mod fitting;
mod preview;
mod sixel;

pub use fitting::{FittedImage, attach_bytes, attach_file};
pub use preview::{CellArea, Preview, PreviewCrop};
