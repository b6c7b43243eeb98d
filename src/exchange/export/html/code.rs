//! Colours of code and of diffs, as classes of the page's style sheet.

use std::time::{Duration, Instant};

use super::escaped;
use steersman_base::limits;
use steersman_highlight::{Chain, Class, Engine, Job, Language, Span};

/// The grammars, from the first block of code on; plain text once a page has taken too long.
#[derive(Default)]
pub(super) struct CodeColours {
    engine: Option<Engine>,
    spent: Duration,
}

impl CodeColours {
    /// Writes code in the language of a label.
    pub(super) fn code(&mut self, text: &str, label: &str) -> String {
        let room = limits::EXPORT_CODE_TIME.saturating_sub(self.spent);
        let Some(language) = Language::of_label(label).filter(|_| !room.is_zero()) else { return escaped(text) };
        let began = Instant::now();
        let mut chain = Chain::new(language.clone());
        let lines = text.lines().map_while(|line| Some((chain.push(line)?, line.to_owned()))).collect();
        let job = Job { language, resume: None, lines };
        let coloured = self.engine.get_or_insert_with(Engine::load).run(&job, room);
        self.spent += began.elapsed();
        let mut spans = coloured.lines.iter().map(|(_, spans)| spans.as_slice());
        text.split_inclusive('\n').map(|line| marked(line, spans.next().unwrap_or_default())).collect()
    }
}

/// Writes a line with its stretches in elements of their classes.
fn marked(line: &str, spans: &[Span]) -> String {
    let place = |byte: u32| usize::try_from(byte).unwrap_or(usize::MAX);
    let mut html = String::new();
    let mut written = 0;
    for Span { start, end, class } in spans {
        let (start, end) = (place(*start), place(*end));
        let (Some(before), Some(text), Some(class)) =
            (line.get(written..start), line.get(start..end), class_name(*class))
        else {
            continue;
        };
        html.extend([&escaped(before), "<span class=\"", class, "\">", &escaped(text), "</span>"]);
        written = end;
    }
    html + &escaped(line.get(written..).unwrap_or_default())
}

fn class_name(class: Class) -> Option<&'static str> {
    match class {
        Class::Keyword => Some("k"),
        Class::String => Some("s"),
        Class::Number | Class::Constant => Some("n"),
        Class::Comment => Some("c"),
        Class::Added => Some("add"),
        Class::Removed => Some("del"),
        Class::Function | Class::Type | Class::Attribute | Class::Punctuation => None,
    }
}

/// Writes the hunks of a change, the added and the removed lines marked.
pub(super) fn diff(text: &str) -> String {
    let line = |line: &str| {
        let class = match line.as_bytes().first() {
            Some(b'+') => "add",
            Some(b'-') => "del",
            Some(b'@') => "hunk",
            _ => return escaped(line),
        };
        format!("<span class=\"{class}\">{}</span>", escaped(line))
    };
    text.split_inclusive('\n').map(line).collect()
}
