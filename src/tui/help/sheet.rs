//! The most used keys on one screen, made from the keymap; any key closes it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::effect::Outcome;
use crate::keymap::{Action, Context, Keymap};
use crate::overlay::{ListPosition, Overlay, OverlayDrawn};
use crate::state::Regions;
use crate::ui_context::UiContext;
use crate::widgets::fit::{put, row};

/// Columns of a key with its words.
const COLUMN: u16 = 36;
/// Columns of the key.
const KEY: u16 = 11;
/// What begins a message and is no key.
const SIGNS: [(&str, &str); 6] = [
    ("/", "commands"),
    ("@", "files, agents"),
    ("!", "run a line in your shell"),
    ("#", "rule, line of AGENTS.md"),
    ("\\ Enter", "new line, at the end"),
    ("Ctrl+X V", "Alt+V; Ctrl+X 3: F3"),
];

/// The list, from its opening to the next key.
#[derive(Debug, Default)]
pub struct CheatSheet {
    position: ListPosition,
}

impl CheatSheet {
    /// Returns the keys in force with what they do, in the order of the table.
    fn entries(keymap: &Keymap) -> Vec<(String, &'static str)> {
        let signs = SIGNS.map(|(sign, words)| (sign.to_owned(), words));
        let keys = [Context::Composer, Context::Global].into_iter().flat_map(|context| {
            let listed = context.rows().iter().filter(|row| !row.brief.is_empty());
            listed.filter_map(move |row| Some((keymap.chords(context, row.action).next()?.to_string(), row.brief)))
        });
        keys.chain(signs).collect()
    }
}

impl Overlay for CheatSheet {
    fn context(&self) -> Context {
        Context::Global
    }

    fn closing_hint(&self) -> &'static str {
        "any key closes the keys"
    }

    fn escape_hints(&self) -> &'static [&'static str] {
        &["Esc: closes the keys", "Esc: closes"]
    }

    fn titles(&self, _: &UiContext) -> Vec<String> {
        vec![" The most used keys ".to_owned(), " Keys ".to_owned()]
    }

    fn hints(&self, _: &UiContext) -> &'static [&'static str] {
        &[" any key closes this · ? types a question mark · F1 shows all keys ", " any key closes · ? types ? ", " ? "]
    }

    fn count(&self, _: &UiContext) -> usize {
        0
    }

    fn position(&mut self) -> &mut ListPosition {
        &mut self.position
    }

    fn selected(&self, _: &UiContext) -> usize {
        0
    }

    fn act(&mut self, _: Action, _: &UiContext) -> Outcome {
        Outcome::Ignored
    }

    fn draw_inside(&self, ui: &UiContext, inner: Rect, _: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        let entries = Self::entries(&ui.keymap);
        let columns = (inner.width / COLUMN).max(1);
        let height = entries.len().div_ceil(columns.into()).max(1);
        let width = inner.width / columns;
        for (number, (key, words)) in (0..)
            .zip(entries.chunks(height))
            .flat_map(|(column, entries)| (0..).zip(entries).map(move |(line, entry)| ((column, line), entry)))
        {
            let (column, line): (u16, u16) = number;
            let place = row(Rect { x: inner.x + column * width, width, ..inner }, line);
            put(buffer, place, key, ui.theme.accent);
            let indent = KEY.min(place.width);
            let beside = Rect { x: place.x + indent, width: (place.width - indent).saturating_sub(1), ..place };
            put(buffer, beside, words, ui.theme.text);
        }
        OverlayDrawn::default()
    }
}
