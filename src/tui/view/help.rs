//! Draws help over the screen: the commands, the keys made from the keymap, the signs of the agents, and how to connect a
//! model. What is typed filters it.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::fit::{columns, put, row};
use super::{overlay, tree};
use crate::tui::commands::COMMANDS;
use crate::tui::keymap::{Context, Keymap};
use crate::tui::state::App;
use crate::tui::state::regions::Regions;
use crate::tui::state::tree::State;

/// Columns of the key names where they stand beside their words.
const NAMES: u16 = 27;

const CONNECT: &[(&str, &str)] = &[
    ("llama.cpp", "steersman --base-url http://127.0.0.1:8080"),
    ("Ollama", "steersman --base-url http://127.0.0.1:11434 --model NAME"),
    ("OpenAI", "OPENAI_API_KEY=… steersman --base-url https://api.openai.com --model NAME"),
    ("OpenRouter", "steersman --base-url https://openrouter.ai/api/v1 --model NAME --api-key-env OPENROUTER_API_KEY"),
];

/// What stands in the tree and its details besides the signs of the states.
const FIGURES: &[(&str, &str)] = &[
    ("! reason", "worth a look; from 80 % on a full context or a used step limit is such a reason"),
    ("0:15", "how long the turn has run; behind a tool, how long the call has"),
    ("9.3k tok", "tokens that the agent has used in all its rounds"),
    ("Σ", "sums of an agent and everything beneath it, on folded rows and in the details"),
    ("+2 done", "sub-agents that ended a while ago; Right shows them"),
];

#[derive(Debug, Default)]
struct Line {
    title: bool,
    name: Cow<'static, str>,
    words: String,
    /// Columns left of the words.
    indent: u16,
}

/// Draws help from the line `top`; returns the first line that is shown, which is `top` unless that is past the end, and
/// where the cursor of the filter stands.
pub fn draw(app: &App, top: u16, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> (u16, Position) {
    let theme = &app.theme;
    let titles = [" Help: type to filter, Up/Down scroll, Esc closes ", " Help: type to filter, Esc closes ", " Help "];
    let inner = overlay::open(theme, &titles.map(|title| app.spell(title)), screen, regions, buffer);
    let prompt = put(buffer, row(inner, 0), "/", theme.accent);
    let rest = put(buffer, prompt, &app.help, theme.text);
    let cursor = Position { x: rest.x.min(inner.right().saturating_sub(1)), y: inner.y };
    let inner = Rect { y: inner.y.saturating_add(1), height: inner.height.saturating_sub(1), ..inner };
    let lines = lines(&app.keymap, &app.help, inner.width);
    if lines.is_empty() {
        put(buffer, row(inner, 0), "Nothing here has these words.", theme.dim);
    }
    let most = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_sub(inner.height);
    let top = top.min(most);
    for (line, y) in lines.iter().skip(top.into()).zip(0..inner.height) {
        let area = row(inner, y);
        let style = if line.title { theme.heading } else { theme.accent };
        put(buffer, area, &line.name, style);
        let x = area.x.saturating_add(line.indent).min(area.right());
        put(buffer, Rect { x, width: area.right() - x, ..area }, &line.words, theme.text);
    }
    (top, cursor)
}

/// Returns the lines of every section that has something with all words of the filter.
fn lines(keymap: &Keymap, filter: &str, width: u16) -> Vec<Line> {
    let wanted: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let mut lines = Vec::new();
    for (title, entries) in sections(keymap) {
        let is_wanted = |(name, help): &(Cow<'static, str>, Cow<'static, str>)| {
            let text = format!("{name} {help}").to_lowercase();
            wanted.iter().all(|word| text.contains(word))
        };
        let mut entries = entries.into_iter().filter(is_wanted).peekable();
        if entries.peek().is_none() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line { title: true, name: title.into(), ..Line::default() });
        for (name, help) in entries {
            push(&mut lines, width, name, &help);
        }
    }
    lines
}

type Section = (&'static str, Vec<(Cow<'static, str>, Cow<'static, str>)>);

/// Returns everything that help tells, by sections.
fn sections(keymap: &Keymap) -> Vec<Section> {
    let command = |command: &crate::tui::commands::Command| {
        let key = keymap.spell(Context::Composer, command.key);
        (command.usage.into(), format!("{} ({key})", command.help).into())
    };
    let pair = |(name, help): &(&'static str, &'static str)| ((*name).into(), (*help).into());
    let mut commands: Vec<_> = COMMANDS.iter().map(command).collect();
    commands.push(("//word".into(), "sends a text that begins with /word".into()));
    commands.push(("@agent text".into(), "sends to that agent; @all text to every agent that runs".into()));
    let mut sections = vec![("Commands, at the start of the message", commands)];
    sections.extend(Context::ALL.into_iter().map(|context| (context.title(), keys(keymap, context))));
    let sign = |state: State| {
        let word = if state == State::Tools { "" } else { state.word() };
        (format!("{} {word}", tree::sign(state)).into(), state.meaning().into())
    };
    let signs = State::ALL.into_iter().map(sign).chain(FIGURES.iter().map(pair)).collect();
    sections.push(("Signs in the tree of agents", signs));
    sections.push(("Connect a model", CONNECT.iter().map(pair).collect()));
    sections
}

fn keys(keymap: &Keymap, context: Context) -> Vec<(Cow<'static, str>, Cow<'static, str>)> {
    // A row with a name speaks for those behind it that have none.
    let rows = context.rows().chunk_by(|_, next| next.name.is_empty());
    let named = |rows| Some((keymap.row_name(context, rows)?, Cow::Borrowed(rows.first()?.help)));
    rows.filter_map(named).collect()
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
