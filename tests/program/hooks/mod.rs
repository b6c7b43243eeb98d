//! Hooks of the whole program: those that run on, those of a project, those that changed since they were trusted.

mod background;
mod broken;
mod pinned;
mod runs;
mod trust;
