//! Draws help over the screen: the keys, made from the keymap, and how to connect a model.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fit::{columns, put, row};
use super::overlay;
use crate::tui::commands::COMMANDS;
use crate::tui::keymap::{Context, Keymap};
use crate::tui::state::App;
use crate::tui::state::regions::Regions;

/// Columns of the key names where they stand beside their words.
const NAMES: u16 = 27;

const CONNECT: &[(&str, &str)] = &[
    ("llama.cpp", "steersman --base-url http://127.0.0.1:8080"),
    ("Ollama", "steersman --base-url http://127.0.0.1:11434 --model NAME"),
    ("OpenAI", "OPENAI_API_KEY=… steersman --base-url https://api.openai.com --model NAME"),
    ("OpenRouter", "steersman --base-url https://openrouter.ai/api/v1 --model NAME --api-key-env OPENROUTER_API_KEY"),
];

#[derive(Debug, Default)]
struct Line {
    title: bool,
    name: Cow<'static, str>,
    words: String,
    /// Columns left of the words.
    indent: u16,
}

/// Draws help from the line `top`; returns the first line that is shown, which is `top` unless that is past the end.
pub fn draw(app: &App, top: u16, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> u16 {
    let theme = &app.theme;
    let inner = overlay::open(theme, &[app.spell(" Help: Up/Down scroll, Esc closes ")], screen, regions, buffer);
    let lines = lines(&app.keymap, inner.width);
    let most = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_sub(inner.height);
    let top = top.min(most);
    for (line, y) in lines.iter().skip(top.into()).zip(0..inner.height) {
        let area = row(inner, y);
        let style = if line.title { theme.heading } else { theme.accent };
        put(buffer, area, &line.name, style);
        let x = area.x.saturating_add(line.indent).min(area.right());
        put(buffer, Rect { x, width: area.right() - x, ..area }, &line.words, theme.text);
    }
    top
}

fn lines(keymap: &Keymap, width: u16) -> Vec<Line> {
    let mut lines = Vec::new();
    for context in Context::ALL {
        lines.push(Line { title: true, name: context.title().into(), ..Line::default() });
        // A row with a name speaks for those behind it that have none.
        for rows in context.rows().chunk_by(|_, next| next.name.is_empty()) {
            if let (Some(name), Some(first)) = (keymap.row_name(context, rows), rows.first()) {
                push(&mut lines, width, name, first.help);
            }
        }
        lines.push(Line::default());
    }
    lines.push(Line { title: true, name: "Commands, at the start of the message".into(), ..Line::default() });
    for command in COMMANDS {
        let key = keymap.spell(Context::Composer, command.key);
        push(&mut lines, width, command.usage.into(), &format!("{} ({key})", command.help));
    }
    push(&mut lines, width, "//word".into(), "sends a text that begins with /word");
    push(&mut lines, width, "@agent text".into(), "sends to that agent; @all text to every agent that runs");
    lines.push(Line::default());
    lines.push(Line { title: true, name: "Connect a model".into(), ..Line::default() });
    for (name, command) in CONNECT {
        push(&mut lines, width, (*name).into(), command);
    }
    lines
}

/// Adds a name with its words: side by side where there is room, the words beneath otherwise.
fn push(lines: &mut Vec<Line>, width: u16, name: Cow<'static, str>, help: &str) {
    let beside = width >= NAMES * 2;
    let indent = if beside { NAMES } else { 2 };
    let mut name = name;
    if !beside {
        lines.push(Line { name: std::mem::take(&mut name), ..Line::default() });
    }
    let mut words = String::new();
    for word in help.split(' ') {
        if !words.is_empty() && columns(&words) + 1 + columns(word) > width.saturating_sub(indent) {
            lines.push(Line {
                name: std::mem::take(&mut name),
                words: std::mem::take(&mut words),
                indent,
                title: false,
            });
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    lines.push(Line { name, words, indent, title: false });
}
