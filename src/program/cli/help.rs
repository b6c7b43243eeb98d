//! `steersman help`: the pages of the manual, a search in them, and the page for `man`.
//!
//! On a terminal a page is wrapped to its width; a pipe or a file gets the Markdown source.

use std::io::{self, IsTerminal as _};

use ratatui::style::{Modifier, Style};

use crate::program::cli::exit::{Exit, print, say};
use steersman_base::assets::MAN_PAGE;
use steersman_base::manual::{MANUAL, ManualPage, manual_page, nearest_topic, search_manual};
use steersman_tui::theme::Theme;
use steersman_tui::widgets::markdown::{Begin, render};

/// The columns of a terminal of unknown size.
const COLUMNS: u16 = 80;
/// The most columns: longer lines are hard to read.
const WIDEST: u16 = 110;

/// Prints the list of topics, the page of one, or what a search for the words finds.
pub(super) fn run(words: &[String]) -> Exit {
    let text = match words {
        [] => topics(),
        [topic] if manual_page(topic).is_some() => manual_page(topic).map(page).unwrap_or_default(),
        words => {
            let found = search_manual(words);
            if found.is_empty() {
                let asked = words.join(" ");
                let nearest = nearest_topic(&asked);
                say(&format!("the manual has no page and no text for {asked:?}; the nearest topic is {nearest:?}"));
                return Exit::Usage;
            }
            let lines = found.iter().map(|found| format!("{} › {}\n  {}\n", found.topic, found.heading, found.text));
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    print(&text);
    Exit::Done
}

/// Prints the page for `man`, in roff.
pub(super) fn man() -> Exit {
    print(MAN_PAGE);
    Exit::Done
}

fn topics() -> String {
    let width = MANUAL.iter().map(|page| page.topic.len()).max().unwrap_or_default();
    let rows = MANUAL.iter().map(|page| format!("  {:width$}  {}\n", page.topic, page.title()));
    let rows: String = rows.collect();
    format!(
        "The manual has these pages:\n\n{rows}\nsteersman help TOPIC shows one, steersman help WORDS searches all.\n"
    )
}

/// Returns a page in the form for this standard output.
fn page(page: &ManualPage) -> String {
    if !io::stdout().is_terminal() {
        return page.text.to_owned();
    }
    let columns = crossterm::terminal::size().map_or(COLUMNS, |(columns, _)| columns);
    let mut rows = Vec::new();
    render(&page.flowing(), columns.min(WIDEST).into(), &Theme::plain(), Begin::Fresh, &mut rows);
    let mut text = String::new();
    for row in &rows {
        for (words, style) in row.runs() {
            push_styled(&mut text, words, style);
        }
        text.push('\n');
    }
    text
}

/// Appends words in bold, italics or underlined, as their style says; the terminal's colours stay.
fn push_styled(text: &mut String, words: &str, style: Style) {
    let styles = [(Modifier::BOLD, "\x1b[1m"), (Modifier::ITALIC, "\x1b[3m"), (Modifier::UNDERLINED, "\x1b[4m")];
    let before = text.len();
    for (modifier, code) in styles {
        if style.add_modifier.contains(modifier) {
            text.push_str(code);
        }
    }
    let is_styled = text.len() > before;
    text.push_str(words);
    if is_styled {
        text.push_str("\x1b[0m");
    }
}

#[cfg(test)]
mod tests {
    //! `STEERSMAN_UPDATE_MANUAL=1 cargo test --lib man_page` writes the page anew.

    use clap::CommandFactory as _;

    use super::MAN_PAGE;
    use crate::program::cli::args::CommandLine;

    #[test]
    fn the_man_page_is_made_from_the_command_line() {
        let mut page = Vec::new();
        clap_mangen::Man::new(CommandLine::command()).render(&mut page).unwrap();
        let made = String::from_utf8(page).unwrap();
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/steersman.1");
        if std::env::var_os("STEERSMAN_UPDATE_MANUAL").is_some() {
            std::fs::write(path, &made).unwrap();
        } else {
            assert_eq!(made, MAN_PAGE, "see the head of these tests");
        }
    }
}
