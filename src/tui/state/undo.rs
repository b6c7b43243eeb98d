//! What tools changed since a turn began or a message entered, as the question about taking it back tells it.

use crate::protocol::UndoneFile;
use crate::session::fold::DetailPart;
use crate::summary::count;

/// Returns what the question tells, with the words for what it goes back to: every file with what happens to it, and what
/// is not covered.
pub fn parts(changes: &[UndoneFile], since: &str) -> Vec<DetailPart> {
    let (back, stay): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.undo.is_done());
    let mut parts = Vec::new();
    for (files, words) in [(back, format!("to be as before {since}")), (stay, "to stay as now".to_owned())] {
        if !files.is_empty() {
            parts.push(DetailPart::Note(format!("{}, {words}:", count(files.len(), "file"))));
            parts.extend(files.iter().map(|change| DetailPart::Exact(format!("{}: {}", change.path, change.undo))));
        }
    }
    parts.push(DetailPart::Note("What commands changed is not on record and stays. The model is not told.".to_owned()));
    parts
}
