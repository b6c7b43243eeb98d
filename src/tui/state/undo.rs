//! What the tools of a turn changed, as the question about taking it back tells it.

use crate::protocol::UndoneFile;
use crate::session::fold::DetailPart;
use crate::summary::count;

/// Returns what the question tells: every file with what happens to it, and what is not covered.
pub fn parts(changes: &[UndoneFile]) -> Vec<DetailPart> {
    let (back, stay): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.undo.is_done());
    let mut parts = Vec::new();
    for (files, words) in [(back, "to be as before the turn"), (stay, "to stay as now")] {
        if !files.is_empty() {
            parts.push(DetailPart::Note(format!("{}, {words}:", count(files.len(), "file"))));
            parts.extend(files.iter().map(|change| DetailPart::Exact(format!("{}: {}", change.path, change.undo))));
        }
    }
    parts.push(DetailPart::Note("What commands changed is not on record and stays. The model is not told.".to_owned()));
    parts
}
