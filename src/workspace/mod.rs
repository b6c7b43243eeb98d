//! The workspace: which files tools may touch (spec 2.15).

/// Confines paths to a root.
#[derive(Debug)]
pub struct Workspace {}
