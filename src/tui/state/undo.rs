//! What the tools of a turn changed, as the question about taking it back tells it.

use super::approval::Part;
use crate::summary::count;

/// Is one file that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file (untrusted).
    pub path: String,
    /// What becomes of it, or became.
    pub fate: Fate,
    /// The same in words (untrusted); they read behind the path.
    pub words: String,
}

/// Says what becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is as it was before the turn.
    TakenBack,
    /// It stays as it is.
    Stays,
}

/// Returns what the question tells: every file with what happens to it, and what is not covered.
pub fn parts(changes: &[Change]) -> Vec<Part> {
    let of = |fate: Fate| changes.iter().filter(move |change| change.fate == fate);
    let mut parts = Vec::new();
    for (fate, words) in [(Fate::TakenBack, "to be as before the turn"), (Fate::Stays, "to stay as now")] {
        let files = of(fate).count();
        if files > 0 {
            parts.push(Part::Note(format!("{}, {words}:", count(files, "file"))));
            parts.extend(of(fate).map(|change| Part::Exact(format!("{}: {}", change.path, change.words))));
        }
    }
    parts.push(Part::Note("What commands changed is not on record and stays. The model is not told.".to_owned()));
    parts
}
