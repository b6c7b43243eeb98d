//! The sandbox: what confines a job. It is a change of its argv, nothing else; the spawner asks for it.

use std::ffi::OsString;

use crate::workspace::Job;

/// Confines jobs.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {}

impl Sandbox {
    /// Makes one that confines nothing.
    pub fn none() -> Self {
        Self {}
    }

    /// Returns the name for the screen; `None` means: not sandboxed.
    pub fn name(&self) -> Option<&'static str> {
        None
    }

    /// Returns what is to be run in place of a job's argv.
    pub fn wrap(&self, job: &Job) -> Vec<OsString> {
        job.argv.clone()
    }
}
