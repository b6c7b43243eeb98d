//! The abilities of the terminal according to the environment; nothing is written to or read from the terminal.

use std::io::{self, IsTerminal as _};

use super::Report;

/// The smallest screen on which everything fits, columns and rows.
const COMFORTABLE: (u16, u16) = (80, 24);

/// Terminals that support synchronized output, by `TERM_PROGRAM` or a part of `TERM`.
const SYNCHRONIZED: [&str; 10] =
    ["alacritty", "contour", "foot", "ghostty", "iterm", "kitty", "mintty", "rio", "tmux", "wezterm"];

/// How each terminal of macOS is told to send Alt for the Option key: a part of what it is known by, its name, how.
const OPTION_AS_META: [(&str, &str, &str); 6] = [
    ("apple_terminal", "Terminal", "Settings, Profiles, Keyboard: Use Option as Meta key"),
    ("iterm", "iTerm2", "Settings, Profiles, Keys, General: Left Option key: Esc+"),
    ("ghostty", "Ghostty", "macos-option-as-alt = true in its configuration file"),
    ("kitty", "kitty", "macos_option_as_alt yes in kitty.conf"),
    ("warp", "Warp", "Settings, Features: Left Option key is Meta"),
    ("vscode", "the terminal of VS Code", "\"terminal.integrated.macOptionIsMeta\": true in settings.json"),
];

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
    let known_by = ["TERM_PROGRAM", "LC_TERMINAL", "TERM"].map(|name| variable(name).unwrap_or_default()).join(" ");
    if let Some(how) = option_as_meta(&known_by, cfg!(target_os = "macos")) {
        report.note("terminal", &how);
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

/// Says how the Option key of a Mac becomes Alt in a terminal, known by `TERM_PROGRAM`, `LC_TERMINAL` and `TERM` together;
/// `None` elsewhere. The first two terminals are of macOS alone, so they are known over ssh too.
fn option_as_meta(known_by: &str, is_mac: bool) -> Option<String> {
    let known_by = known_by.to_lowercase();
    let known = OPTION_AS_META.iter().enumerate().find(|(_, (part, ..))| known_by.contains(part));
    let also = "; Ctrl+X and the letter do the same as Alt and the letter";
    match known {
        Some((place, (_, name, how))) if is_mac || place < 2 => {
            Some(format!("keys with Alt in {name} need Option as Meta: {how}{also}"))
        }
        _ if is_mac => Some(format!("keys with Alt need Option as Meta, a setting of the terminal{also}")),
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::option_as_meta;

    #[test]
    fn each_terminal_of_a_mac_has_its_way_to_option_as_meta() {
        for (known_by, is_mac, how) in [
            ("Apple_Terminal  xterm-256color", false, "Use Option as Meta key"),
            (" iTerm2 xterm-256color", false, "Esc+"),
            ("ghostty  xterm-ghostty", true, "macos-option-as-alt = true"),
            ("  xterm-kitty", true, "macos_option_as_alt yes"),
            ("WarpTerminal  xterm-256color", true, "Left Option key is Meta"),
            ("vscode  xterm-256color", true, "terminal.integrated.macOptionIsMeta"),
            ("  xterm", true, "a setting of the terminal"),
        ] {
            let said = option_as_meta(known_by, is_mac).unwrap();
            assert!(said.contains(how) && said.contains("Ctrl+X and the letter"), "{said}");
        }
        assert_eq!(option_as_meta("ghostty  xterm-ghostty", false), None);
    }
}
