//! The abilities of the terminal according to the environment; nothing is written to or read from the terminal.

use std::io::{self, IsTerminal as _};

use super::Report;

/// The smallest screen on which everything fits, columns and rows.
const COMFORTABLE: (u16, u16) = (80, 24);

/// Terminals that support synchronized output, by `TERM_PROGRAM` or a part of `TERM`.
const SYNCHRONIZED: [&str; 10] =
    ["alacritty", "contour", "foot", "ghostty", "iterm", "kitty", "mintty", "rio", "tmux", "wezterm"];

pub(super) fn check(report: &mut Report) {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let term = variable("TERM");
    let has_screen = io::stdin().is_terminal() && io::stdout().is_terminal();
    if !has_screen {
        report.note("terminal", "standard input or output is not a terminal: only exec works here, not the screen");
    }
    match term.as_deref() {
        None if has_screen => report.problem("terminal", "TERM is not set", "set it, as to xterm-256color"),
        Some("dumb") if has_screen => {
            report.problem(
                "terminal",
                "TERM=dumb cannot show the screen",
                "use another terminal, --screen-reader, or steersman exec",
            );
        }
        None => {}
        Some(term) => {
            report.ok("terminal", &format!("TERM is {term}, {}", colours(term, variable("COLORTERM").as_deref())));
        }
    }
    if variable("NO_COLOR").is_some() {
        report.note("terminal", "NO_COLOR is set: the screen is without colours");
    }
    if is_utf8() {
        report.ok("terminal", "the locale is UTF-8");
    } else {
        let todo = "set LANG to a UTF-8 locale, as C.UTF-8 or en_US.UTF-8";
        report.problem("terminal", "the locale is not UTF-8: lines and signs come out wrong", todo);
    }
    if let (true, Ok((columns, rows))) = (has_screen, crossterm::terminal::size()) {
        let size = format!("{columns} columns, {rows} rows");
        if columns < COMFORTABLE.0 || rows < COMFORTABLE.1 {
            report.note(
                "terminal",
                &format!("{size}: it works, with more room from {} x {}", COMFORTABLE.0, COMFORTABLE.1),
            );
        } else {
            report.ok("terminal", &size);
        }
    }
    if has_screen {
        let name =
            format!("{} {}", variable("TERM_PROGRAM").unwrap_or_default(), term.unwrap_or_default()).to_lowercase();
        let known = SYNCHRONIZED.iter().find(|known| name.contains(**known));
        report.note(
            "terminal",
            &match known {
                Some(known) => format!("{known} paints frames at once (synchronized output)"),
                None => "whether it paints frames at once (synchronized output) is not known; it works either way"
                    .to_owned(),
            },
        );
    }
}

/// Returns whether the locale is UTF-8; the first variable that is set counts.
pub(super) fn is_utf8() -> bool {
    let set =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    set.is_some_and(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

fn colours(term: &str, colorterm: Option<&str>) -> &'static str {
    match colorterm {
        Some("truecolor" | "24bit") => "all colours",
        _ if term.contains("256color") || term.contains("kitty") || term.contains("direct") => "256 colours",
        _ => "few colours, or more than it says",
    }
}
