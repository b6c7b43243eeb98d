//! Draws the ledger: a row for each text that the user sent, and the selected one in full words below.
//!
//! Columns go where there is no room for them, the least telling first; on a narrow screen a second row has what is known.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::LedgerPane;
use crate::session::fold::{LedgerRow, Receipt, ReceiptMark, ledger_row, receipt_words};
use crate::steering::TextKind;
use crate::summary::tokens as count;
use crate::tui::facts::Facts;
use crate::tui::keymap::Context;
use crate::tui::overlay::{OverlayPosition, frame};
use crate::tui::state::regions::{Region, Regions};
use crate::tui::view::layout::MEDIUM;
use crate::tui::view::receipt::style;
use crate::tui::widgets::fit::{columns, one_line, put, row};

/// Columns of the selection's sign and the receipt's mark.
const LEFT: u16 = 5;
/// Columns that are left to the text at least.
const TEXT: u16 = 22;

/// A column: its heading, its width, and what stands in it.
struct Column {
    title: &'static str,
    width: u16,
    word: fn(&LedgerRow) -> String,
}

/// Behind the text, in the order in which they stand.
const COLUMNS: [Column; 7] = [
    Column { title: "to", width: 14, word: |row| row.to.clone() },
    Column { title: "kind", width: 7, word: |row| row.kind.clone() },
    Column { title: "waited", width: 7, word: |row| row.waited.clone() },
    Column { title: "boundary", width: 16, word: |row| where_it_is(row).to_owned() },
    Column { title: "seen", width: 8, word: |row| row.seen.clone() },
    Column { title: "tokens", width: 7, word: |row| row.tokens.parse().map(count).unwrap_or_default() },
    Column { title: "cost", width: 9, word: |row| row.cost.clone() },
];

/// The columns in the order in which they are left out.
const LEFT_OUT: [usize; 7] = [6, 5, 2, 1, 0, 4, 3];

/// Draws the ledger; returns the position as they were shown.
pub fn draw(
    pane: &LedgerPane,
    facts: &Facts,
    screen: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> OverlayPosition {
    let theme = &facts.theme;
    let receipts = facts.run.receipts.list();
    let count = texts(receipts.len());
    let titles = [
        format!(" Ledger of {count} · Enter shows the text, a the answer · Esc closes "),
        format!(" {count} · Enter shows · Esc closes "),
    ]
    .map(|title| facts.spell(Context::Ledger, &title).into_owned());
    let mut inner = frame::open(theme, &titles, screen, regions, buffer);
    let Some(last) = receipts.len().checked_sub(1) else {
        put(buffer, inner, "Nothing was sent yet.", theme.dim);
        return OverlayPosition::None;
    };
    let selected = pane.selected.min(last);
    if let Some(receipt) = receipts.get(selected).filter(|_| inner.height >= 8) {
        let below = Rect { y: inner.bottom() - 2, height: 2, ..inner };
        inner.height -= 3;
        draw_detail(facts, receipt, below, buffer);
    }
    let each = if inner.width < MEDIUM && inner.height >= 4 { 2 } else { 1 };
    let shown = columns_for(inner.width);
    if each == 1 && inner.height >= 3 {
        draw_head(facts, &shown, row(inner, 0), buffer);
        inner = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
    }
    let fits = usize::from(inner.height / each).max(1);
    let top = pane.top.min(selected).max((selected + 1).saturating_sub(fits)).min(receipts.len().saturating_sub(fits));
    for (place, (index, receipt)) in (0..).zip(receipts.iter().enumerate().skip(top).take(fits)) {
        let area = Rect { y: inner.y + place * each, height: each.min(inner.height), ..inner };
        regions.add(area, Region::OverlayRow(index));
        draw_row(facts, receipt, if index == selected { Chosen::Yes } else { Chosen::No }, &shown, area, buffer);
    }
    OverlayPosition::List { selected, top }
}

/// Whether a row is the selected one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Yes,
    No,
}

fn draw_head(facts: &Facts, shown: &[&Column], line: Rect, buffer: &mut Buffer) {
    let (text, mut x) = split(shown, line);
    put(buffer, text, "text", facts.theme.dim);
    for column in shown {
        put(buffer, Rect { x, width: column.width, ..line }, column.title, facts.theme.dim);
        x += column.width + 1;
    }
}

fn draw_row(facts: &Facts, receipt: &Receipt, chosen: Chosen, shown: &[&Column], area: Rect, buffer: &mut Buffer) {
    let theme = &facts.theme;
    let line = row(area, 0);
    let mark = receipt_words(receipt).mark;
    let words = ledger_row(receipt);
    if chosen == Chosen::Yes {
        put(buffer, line, "›", theme.accent);
    }
    let at = Rect { x: line.x + line.width.min(2), width: line.width.saturating_sub(2), ..line };
    put(buffer, at, mark.symbol(), style(mark, theme));
    let text_style = if mark == ReceiptMark::Back { theme.dim } else { theme.text };
    let second = row(area, 1);
    if second.is_empty() {
        let (text, mut x) = split(shown, line);
        let has_kind = shown.iter().any(|column| column.title == "kind");
        let kind = if has_kind || receipt.kind == TextKind::Add { String::new() } else { format!("{}: ", words.kind) };
        put(buffer, text, &format!("{kind}{}", one_line(&words.text)), text_style);
        for column in shown {
            put(buffer, Rect { x, width: column.width, ..line }, &(column.word)(&words), theme.dim);
            x += column.width + 1;
        }
    } else {
        let text = Rect { x: line.x + line.width.min(LEFT), width: line.width.saturating_sub(LEFT), ..line };
        put(buffer, text, &one_line(&words.text), text_style);
        let room = Rect { y: second.y, ..text };
        put(buffer, room, &summary(&words, room.width), theme.dim);
    }
    if chosen == Chosen::Yes {
        buffer.set_style(line, theme.selected);
    }
}

/// Returns the boundary at which a text entered, or what became of it else.
fn where_it_is(words: &LedgerRow) -> &str {
    if words.boundary.is_empty() { &words.state } else { &words.boundary }
}

/// Returns as many facts as fit, the most telling first.
fn summary(words: &LedgerRow, room: u16) -> String {
    let mut line =
        if words.kind == TextKind::Add.name() { words.to.clone() } else { format!("{} · {}", words.to, words.kind) };
    let seen = if words.seen.starts_with("not") || words.seen.is_empty() { "" } else { "seen " };
    for fact in [where_it_is(words), &format!("{seen}{}", words.seen), &words.waited] {
        let longer = format!("{line} · {fact}");
        if !fact.is_empty() && columns(&longer) <= room {
            line = longer;
        }
    }
    line
}

/// Writes the selected receipt in full words.
fn draw_detail(facts: &Facts, receipt: &Receipt, area: Rect, buffer: &mut Buffer) {
    let theme = &facts.theme;
    let words = ledger_row(receipt);
    let spent = match (receipt.spent.tokens, words.cost.as_str()) {
        (None, _) => String::new(),
        (Some(tokens), "") => format!("{} tokens", count(tokens)),
        (Some(tokens), cost) => format!("{} tokens, {cost}", count(tokens)),
    };
    let told = receipt_words(receipt);
    let kind = if receipt.kind == TextKind::Add { String::new() } else { format!(", {},", receipt.kind) };
    put(buffer, row(area, 0), &format!("{}{kind} to {}: {}", words.id, words.to, told.line()), theme.text);
    let until = "until the next change of tool or the end of the turn";
    let full = format!("{spent} {until}");
    let second = row(area, 1);
    let fitting = if columns(&full) <= second.width { full } else { spent.clone() };
    if !spent.is_empty() {
        put(buffer, second, &fitting, theme.dim);
    }
}

/// Returns the place of the text, and where the columns begin.
fn split(shown: &[&Column], line: Rect) -> (Rect, u16) {
    let behind: u16 = shown.iter().map(|column| column.width + 1).sum();
    let left = LEFT.min(line.width);
    let width = line.width.saturating_sub(left + behind);
    (Rect { x: line.x + left, width, ..line }, line.x + left + width + 1)
}

/// Chooses the columns that leave room for the text.
fn columns_for(width: u16) -> Vec<&'static Column> {
    let mut out = 0;
    loop {
        let gone = LEFT_OUT.get(..out).unwrap_or_default();
        let shown: Vec<&Column> =
            COLUMNS.iter().enumerate().filter(|(index, _)| !gone.contains(index)).map(|(_, column)| column).collect();
        let behind: u16 = shown.iter().map(|column| column.width + 1).sum();
        if LEFT + behind + TEXT <= width || shown.is_empty() {
            return shown;
        }
        out += 1;
    }
}

fn texts(count: usize) -> String {
    if count == 1 { "1 text".to_owned() } else { format!("{count} texts") }
}
