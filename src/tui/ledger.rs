//! The ledger: every text that was sent and what became of it, over everything else on the screen: a row for each, and the
//! selected one in full words below.
//!
//! Columns go where there is no room for them, the least telling first; on a narrow screen a second row has what is known.
//! The rows in words: `src/session/model/ledger.rs`; tests: `ledger.rs`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::overlay::list::{ListRows, after_mark, draw_empty};
use super::overlay::registry::{PaneEntry, PaneKey, list_keys};
use super::overlay::{ListPosition, Overlay, OverlayDrawn};
use crate::commands::{CommandContext, CommandEntry, Takes};
use crate::effect::{Effect, Outcome, PaneEffect};
use crate::keymap::table::key;
use crate::keymap::{Action, Context};
use crate::state::{Medium, Regions, Report};
use crate::ui_context::UiContext;
use crate::update::transcript;
use crate::view::layout::MEDIUM;
use crate::view::receipt::style;
use crate::widgets::fit::{below, columns, one_line, put, row};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::steering::TextKind;
use steersman_base::summary::{count, tokens};
use steersman_session::model::{LedgerRow, Receipt, ReceiptMark, Receipts, ledger_row, receipt_text};

/// How it registers itself.
pub const PANE: PaneEntry = PaneEntry {
    id: "ledger",
    title: "Ledger",
    travel: &[&list_keys("select a text", "first or last")],
    keys: &[
        key("Enter", Action::InPane(JUMP), "show the text in the transcript"),
        key("a", Action::InPane(JUMP_TO_ANSWER), "show the reply in which the model says what it did with the text"),
    ],
    opened_by: "F4",
    brief: "what became of your texts",
    command: CommandEntry::new(
        "/ledger",
        Takes::Nothing,
        "F4",
        "the ledger: every text that was sent, and what became of it",
        command,
    ),
};

/// Shows the selected text in its transcript.
pub(crate) const JUMP: PaneKey = PaneKey("jump");
/// Shows the reply that says what was done with it.
const JUMP_TO_ANSWER: PaneKey = PaneKey("jump-to-answer");

/// Columns of the mark of the selected row, and of the receipt's mark.
const MARKS: [u16; 2] = [2, 3];
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
    Column { title: "tokens", width: 7, word: |row| row.tokens.parse().map(tokens).unwrap_or_default() },
    Column { title: "cost", width: 9, word: |row| row.cost.clone() },
];

/// The columns in the order in which they are left out.
const LEFT_OUT: [usize; 7] = [6, 5, 2, 1, 0, 4, 3];

/// The ledger, from its opening to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerPane(ListPosition);

/// Shows the ledger, or hides it; writes it in lines.
fn command(context: &mut CommandContext<'_>, _: &str) -> Vec<PaneEffect> {
    if context.ui.medium == Medium::Lines {
        return vec![PaneEffect::Outside(Effect::Tell(Report::Ledger))];
    }
    let receipts = &context.ui.run.receipts;
    context.overlays.toggle(|| LedgerPane::at_newest(receipts));
    Vec::new()
}

impl LedgerPane {
    /// Opens the ledger at its newest row.
    pub fn at_newest(receipts: &Receipts) -> Self {
        Self(ListPosition { selected: receipts.list().len().saturating_sub(1), top: 0 })
    }

    fn show(&self, ui: &UiContext, what: fn(AgentId, MessageId) -> PaneEffect) -> Outcome {
        let receipt = ui.run.receipts.list().get(self.0.selected);
        Outcome::Consumed(receipt.map(|receipt| what(receipt.agent.clone(), receipt.id.clone())).into_iter().collect())
    }
}

fn show_text(agent: AgentId, id: MessageId) -> PaneEffect {
    PaneEffect::call(move |app| vec![transcript::show_text(app, &agent, &id)])
}

fn show_answer(agent: AgentId, id: MessageId) -> PaneEffect {
    PaneEffect::call(move |app| vec![transcript::show_answer(app, &agent, &id)])
}

impl Overlay for LedgerPane {
    fn context(&self) -> Context {
        PANE.context()
    }

    fn closing_hint(&self) -> &'static str {
        "F4 closes the ledger"
    }

    fn escape_hints(&self) -> &'static [&'static str] {
        &["Esc: closes the ledger", "Esc: closes"]
    }

    fn titles(&self, ui: &UiContext) -> Vec<String> {
        let texts = count(self.count(ui), "text");
        let titles = [
            format!(" Ledger of {texts} · Enter: text · a: answer · Esc closes "),
            format!(" {texts} · Enter: text · Esc closes "),
        ];
        titles.iter().map(|title| ui.spell(self.context(), title).into_owned()).collect()
    }

    fn hints(&self, _: &UiContext) -> &'static [&'static str] {
        &[]
    }

    fn count(&self, ui: &UiContext) -> usize {
        ui.run.receipts.list().len()
    }

    fn position(&mut self) -> &mut ListPosition {
        &mut self.0
    }

    fn selected(&self, ui: &UiContext) -> usize {
        self.0.selected.min(self.count(ui).saturating_sub(1))
    }

    fn act(&mut self, action: Action, ui: &UiContext) -> Outcome {
        match action {
            Action::InPane(JUMP) => self.show(ui, show_text),
            Action::InPane(JUMP_TO_ANSWER) => self.show(ui, show_answer),
            _ => Outcome::Ignored,
        }
    }

    fn draw_inside(&self, ui: &UiContext, mut inner: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        let (receipts, selected) = (ui.run.receipts.list(), self.selected(ui));
        let Some(receipt) = receipts.get(selected) else {
            return draw_empty(&["You have not sent anything yet."], inner, &ui.theme, buffer);
        };
        if inner.height >= 8 {
            inner.height -= 3;
            draw_detail(ui, receipt, Rect { y: inner.bottom() + 1, height: 2, ..inner }, buffer);
        }
        let height = if inner.width < MEDIUM && inner.height >= 4 { 2 } else { 1 };
        let shown = columns_for(inner.width);
        if height == 1 && inner.height >= 3 {
            draw_head(ui, &shown, after_mark(row(inner, 0)), buffer);
            inner = below(inner, 1);
        }
        let rows = ListRows { area: inner, rows: receipts, selected, top: self.0.top, height };
        let top = rows.draw(&ui.theme, regions, buffer, |receipt, area, buffer| {
            draw_row(ui, receipt, &shown, area, buffer);
        });
        OverlayDrawn::list(selected, top)
    }
}

fn draw_head(ui: &UiContext, shown: &[&Column], line: Rect, buffer: &mut Buffer) {
    let (text, mut x) = split(shown, line);
    put(buffer, text, "text", ui.theme.dim);
    for column in shown {
        put(buffer, Rect { x, width: column.width, ..line }, column.title, ui.theme.dim);
        x += column.width + 1;
    }
}

/// Draws a text into what is left of its row beside the mark.
fn draw_row(ui: &UiContext, receipt: &Receipt, shown: &[&Column], area: Rect, buffer: &mut Buffer) {
    let theme = &ui.theme;
    let line = row(area, 0);
    let mark = receipt_text(receipt).mark;
    let words = ledger_row(receipt);
    put(buffer, line, mark.symbol(), style(mark, theme));
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
        let text = split(&[], line).0;
        put(buffer, text, &one_line(&words.text), text_style);
        let room = Rect { y: second.y, ..text };
        put(buffer, room, &summary(&words, room.width), theme.dim);
    }
}

/// Returns the boundary at which a text entered, or what became of it else.
fn where_it_is(words: &LedgerRow) -> &str {
    if words.boundary.is_empty() { &words.state } else { &words.boundary }
}

/// Returns as many details as fit, the most telling first.
fn summary(words: &LedgerRow, room: u16) -> String {
    let mut line =
        if words.kind == TextKind::Add.name() { words.to.clone() } else { format!("{} · {}", words.to, words.kind) };
    let seen = if words.seen.starts_with("not") || words.seen.is_empty() { "" } else { "seen " };
    for detail in [where_it_is(words), &format!("{seen}{}", words.seen), &words.waited] {
        let longer = format!("{line} · {detail}");
        if !detail.is_empty() && columns(&longer) <= room {
            line = longer;
        }
    }
    line
}

/// Writes the selected receipt in full words.
fn draw_detail(ui: &UiContext, receipt: &Receipt, area: Rect, buffer: &mut Buffer) {
    let theme = &ui.theme;
    let words = ledger_row(receipt);
    let spent = match (receipt.spent.tokens, words.cost.as_str()) {
        (None, _) => String::new(),
        (Some(spent), "") => format!("{} tokens", tokens(spent)),
        (Some(spent), cost) => format!("{} tokens, {cost}", tokens(spent)),
    };
    let text = receipt_text(receipt);
    let kind = if receipt.kind == TextKind::Add { String::new() } else { format!(", {},", receipt.kind) };
    put(buffer, row(area, 0), &format!("{}{kind} to {}: {}", words.id, words.to, text.line()), theme.text);
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
    let left = MARKS[1].min(line.width);
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
        if MARKS.iter().sum::<u16>() + behind + TEXT <= width || shown.is_empty() {
            return shown;
        }
        out += 1;
    }
}
