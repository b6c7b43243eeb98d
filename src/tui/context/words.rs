//! What fills a context window, in words. Pure.

use crate::limits;
use crate::protocol::{ContextPart, ContextReport, ContextWish};
use crate::summary;
use crate::target::name_of;
use crate::text::visible_line;

/// Returns the tokens that are used, and how many fit.
pub fn total(report: &ContextReport) -> String {
    let about = if report.estimated { "~" } else { "" };
    let used = format!("{about}{}", summary::tokens(report.tokens));
    match report.window.filter(|window| *window > 0) {
        Some(window) => {
            let share = report.tokens.saturating_mul(100) / window;
            format!("{used} of {} tokens, {share}%", summary::tokens(window))
        }
        None => format!("{used} tokens, the window is not known"),
    }
}

/// Returns the sum of each kind.
pub fn sums(report: &ContextReport) -> String {
    let sum = |(kind, tokens)| format!("{kind} ~{}", summary::tokens(tokens));
    report.sums().into_iter().map(sum).collect::<Vec<_>>().join(" · ")
}

/// Returns what a part is, made safe to show.
pub fn name(part: &ContextPart) -> String {
    if part.name.is_empty() {
        part.kind.word().to_owned()
    } else {
        format!("{}: {}", part.kind.word(), visible_line(&part.name))
    }
}

/// Returns what the user wants done with a part, in a word or two.
pub fn wish_word(wish: Option<ContextWish>) -> &'static str {
    match wish {
        Some(ContextWish::Drop) => "to be taken out",
        Some(ContextWish::Pin) => "pinned",
        None => "",
    }
}

/// Returns the lines of the line output about an agent.
pub fn in_words(report: &ContextReport) -> Vec<String> {
    let mut lines = vec![format!("context of {}: {}; {}", name_of(&report.agent), total(report), sums(report))];
    for part in report.parts.iter().take(limits::LINE_ROWS) {
        let wish = wish_word(part.wish);
        let wish = if wish.is_empty() { String::new() } else { format!(", {wish}") };
        lines.push(format!("~{} tokens: {}{wish}", summary::tokens(part.tokens), name(part)));
    }
    if let Some(more) = report.parts.len().checked_sub(limits::LINE_ROWS).filter(|more| *more > 0) {
        lines.push(format!("{} smaller than these", summary::count(more, "part")));
    }
    lines
}
