//! The configuration: file, environment and flags merged into one value.
