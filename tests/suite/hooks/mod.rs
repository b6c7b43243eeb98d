//! Hooks: their files, what they answer, how they run, who trusts them, and where the loop asks them.

mod answers;
mod background;
mod broken;
mod files;
mod pinned;
mod points;
mod runs;
mod screen;
mod trust;
