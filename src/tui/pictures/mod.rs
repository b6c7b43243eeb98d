//! Images of the transcript as pictures, in terminals that can show them: which protocol a terminal has, the marks that stand
//! for a picture in cells, and which pictures it is given.
//!
//! A picture is rows of cells like any other, so it scrolls, is covered and goes away as text does. What is written besides is
//! made here alone, of pixels that were drawn anew; nothing of an image's own bytes reaches the terminal. Always holds: a
//! terminal that shows no pictures, by the environment or by its answer, gets no picture.
//!
//! # Where things are
//!
//! - which terminal can, and its sequences: `protocol.rs`; the marks: `placeholder.rs`; which images have a picture: `state.rs`
//! - what the terminal holds of them, and when it is sent: `src/tui/terminal/pictures.rs`
//! - small pictures out of images: `src/images/preview.rs`, `src/images/sixel.rs`; tests: `picture_cells.rs`, `tests/pty/pictures.rs`

pub mod placeholder;
pub mod protocol;
mod state;

pub use protocol::PictureProtocol;
pub use state::{NewPicture, PictureJob, PictureRoom, PictureSlot, Pictures, Placement, Placements};
