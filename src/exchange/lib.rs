//! Saved sessions from and for other programs.
//!
//! # Where things are
//!
//! - a saved session as a document: `export/mod.rs`; tests: `export.rs`, and in a browser `browser.rs`
//! - sessions of other programs: `import/mod.rs`; tests: `import.rs`, `compressed.rs`
//! - two sessions side by side: `compare/mod.rs`; tests: `compare.rs`

pub mod compare;
pub mod export;
pub mod import;
