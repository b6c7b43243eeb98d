//! Times as people read them. Used by the words of the state and by the view.

/// Writes seconds as a clock: `0:07`, `12:40`, `1:02:03`.
pub fn clock(seconds: u64) -> String {
    let (minutes, rest) = (seconds / 60, seconds % 60);
    if minutes < 60 {
        format!("{minutes}:{rest:02}")
    } else {
        format!("{}:{:02}:{rest:02}", minutes / 60, minutes % 60)
    }
}
