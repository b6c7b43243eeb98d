//! Stories of tables: fair columns, wrapped cells, straight borders in every script, records where nothing fits.

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use steersman_tui::theme::Theme;
use steersman_tui::widgets::markdown::{Begin, render};
use steersman_tui::widgets::wrap::Line;

fn rows(text: &str, columns: usize) -> Vec<Line> {
    let mut rows = Vec::new();
    render(text, columns, &Theme::plain(), Begin::Fresh, &mut rows);
    rows
}

fn texts(text: &str, columns: usize) -> Vec<String> {
    rows(text, columns).iter().map(|row| row.text().trim_end().to_owned()).collect()
}

/// Draws rows and returns the columns of the borders of each.
fn borders(rows: &[Line], columns: u16) -> Vec<Vec<u16>> {
    let height = u16::try_from(rows.len()).unwrap();
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, height));
    rows.iter().zip(0..).for_each(|(row, y)| row.draw(&mut buffer, 0, y, columns));
    let is_border = |x: &u16, y: u16| matches!(buffer[(*x, y)].symbol(), "│" | "┼");
    (0..height).map(|y| (0..columns).filter(|x| is_border(x, y)).collect()).collect()
}

#[test]
fn the_widest_columns_give_way_and_narrow_ones_stay() {
    let table =
        "| id | a long heading here | note |\n|--|--|--|\n| 1 | words and words and words | words and more words |\n";
    assert_eq!(
        texts(table, 40),
        [
            "id │ a long heading   │ note",
            "   │ here             │",
            "───┼──────────────────┼─────────────────",
            "1  │ words and words  │ words and more",
            "   │ and words        │ words",
        ]
    );
}

#[test]
fn at_the_narrowest_each_row_is_a_record() {
    let table = "| name | size | note |\n|--|--|--|\n| a.rs | 12 | first |\n| b.rs | 7 | |\n";
    assert_eq!(texts(table, 12), ["name: a.rs", "size: 12", "note:", "  first", "", "name: b.rs", "size: 7", "note:"]);
}

#[test]
fn a_table_stands_in_its_quote_and_in_its_item() {
    let shown = texts("> | a | b |\n> |---|---|\n> | c | d |\n\n- x\n\n  | a | b |\n  |---|---|\n  | c | d |\n", 30);
    assert_eq!(shown[..3], ["▏ a │ b", "▏ ──┼──", "▏ c │ d"]);
    assert_eq!(shown[shown.len() - 3..], ["  a │ b", "  ──┼──", "  c │ d"]);
}

#[test]
fn right_to_left_text_keeps_its_order_and_its_border() {
    let table = "| שם | value |\n|--|--|\n| עברית | one |\n| العربية | two |\n| abc | ג1 |\n";
    let rows = rows(table, 40);
    let columns = borders(&rows, 40);
    assert!(columns.iter().all(|row| *row == columns[0] && row.len() == 1), "{columns:?}");
    assert!(rows[2].text().starts_with("עברית"), "in the order of the letters: {:?}", rows[2].text());
    assert!(!rows.iter().any(|row| row.text().contains(|c| ('\u{202a}'..='\u{202e}').contains(&c))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn borders_are_straight_whatever_stands_in_the_cells(
        cells in prop::collection::vec(
            "([a-z]{1,9}|日本語|👩\u{200d}👧|🇩🇪|❤\u{fe0f}|e\u{301}|עברית|العربية|ｶﾞ|한국|ไทย|[ ]){0,6}", 2..16),
        columns in 8..70_u16,
    ) {
        let body: String = cells.chunks(2).map(|pair| format!("| {} | {} |\n", pair[0], pair.get(1).map_or("", String::as_str))).collect();
        let rows = rows(&format!("| a | b |\n|---|---|\n{body}"), columns.into());
        for row in &rows {
            prop_assert!(row.width() <= usize::from(columns), "{:?}", row.text());
        }
        let found = borders(&rows, columns);
        if rows.iter().any(|row| row.text().contains("─┼─")) {
            prop_assert!(found.iter().all(|row| *row == found[0] && row.len() == 1), "{:?}", found);
        }
    }
}
