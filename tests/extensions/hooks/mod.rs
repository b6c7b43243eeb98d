//! Hooks: their files, what they answer, how they run, who trusts them, and where the loop asks them.

mod answers;
mod files;
mod points;
