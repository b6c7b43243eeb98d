//! The arguments of a call as rows, in a transcript's open call and in the panel of a held agent.
//!
//! They are untrusted and stand in the state as the model wrote them: here they pass the sanitiser.

use crate::theme::Theme;
use crate::widgets::wrap::{Break, Line, Wrap};
use steersman_base::message::Arguments;
use steersman_base::text;

/// Writes arguments into rows of so many columns, each name with its value.
pub(crate) fn rows(arguments: &Arguments, room: usize, theme: &Theme, rows: &mut Vec<Line>) {
    let hang = Line::new("    ", theme.text);
    let step = Line::new("  ", theme.text);
    let wrap = |line: &Line, first: &Line, rows: &mut Vec<Line>| {
        Wrap { width: room, at: Break::Anywhere, first, rest: &hang }.line(line, rows);
    };
    match arguments {
        Arguments::Raw(raw) => {
            for source in text::visible(raw).lines() {
                wrap(&Line::new(source, theme.text), &step, rows);
            }
        }
        Arguments::Object(map) => {
            for (name, value) in map {
                let value = match value {
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let mut line = Line::new(&format!("{}: ", text::visible(name).replace('\n', " ")), theme.dim);
                for (number, source) in text::visible(&value).lines().enumerate() {
                    line.push(source, theme.text);
                    let first = if number == 0 { &step } else { &hang };
                    wrap(&line, first, rows);
                    line = Line::default();
                }
                if !line.is_empty() {
                    wrap(&line, &step, rows);
                }
            }
        }
    }
}
