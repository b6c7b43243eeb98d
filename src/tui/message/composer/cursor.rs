//! Where the terminal's cursor stands within a row, counted as terminals count: by graphemes.
//!
//! The text area counts the widths of characters, so behind a family of emoji its cursor would stand six columns too far
//! to the right, and an input method would open its window there.

use tui_textarea::CursorMove;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Composer, narrow};

impl Composer {
    /// Puts the cursor behind a line, or behind the one after that of the cursor; false where there is no such line.
    pub(crate) fn end_of_line(&mut self, row: Option<usize>) -> bool {
        let row = row.unwrap_or(self.area.cursor().0 + 1);
        let Some(line) = self.area.lines().get(row) else { return false };
        let end = line.chars().count();
        self.area.move_cursor(CursorMove::Jump(narrow(row), narrow(end)));
        true
    }
}

/// Returns the column of the cursor within its row: of `line` with the cursor before its character `at`, where the sum of
/// the characters' widths gives `counted`.
pub(super) fn column(line: &str, at: usize, counted: u16) -> u16 {
    if line.is_ascii() || line.contains('\t') {
        return counted;
    }
    let end = line.char_indices().nth(at).map_or(line.len(), |(byte, _)| byte);
    let before = line.get(..end).unwrap_or_default();
    let mut left = usize::from(counted);
    let mut exact = 0;
    // The row begins where the widths of the characters are used up.
    for grapheme in before.graphemes(true).rev() {
        if left == 0 {
            break;
        }
        let counted: usize = grapheme.chars().map(|c| c.width().unwrap_or(0)).sum();
        left = left.saturating_sub(counted);
        exact += grapheme.width();
    }
    u16::try_from(exact).unwrap_or(counted)
}

#[cfg(test)]
mod tests {
    use super::column;

    #[test]
    fn wide_and_joined_characters_count_as_the_terminal_shows_them() {
        assert_eq!(column("abc", 2, 2), 2);
        assert_eq!(column("日本語", 2, 4), 4);
        assert_eq!(column("e\u{301}x", 3, 2), 2);
        // Four people of two columns each are one emoji of two.
        assert_eq!(column("👨‍👩‍👧‍👦x", 8, 9), 3);
        // Only what stands on the cursor's row counts.
        assert_eq!(column("日本語日本語", 5, 4), 4);
    }
}
