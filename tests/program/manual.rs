//! The manual: its tables of keys and commands are the program's own, and `steersman help` shows and searches its pages.
//!
//! `STEERSMAN_UPDATE_MANUAL=1 cargo test --test program manual::` writes the tables anew.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use steersman_base::manual::MANUAL;
use steersman_tui::commands::{ALIASES, COMMANDS, OTHER_NAMES};
use steersman_tui::keymap::{Context, Keymap};

/// The line behind a table that is made.
const END: &str = "<!-- end -->";

fn file(topic: &str) -> PathBuf {
    crate::support::root().join(format!("assets/manual/{topic}.md"))
}

/// Returns a text as a cell of a table: a bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn keys() -> String {
    let keymap = Keymap::default();
    let mut text = String::new();
    for context in Context::all() {
        text.push_str(&format!("\n## {}\n\n| key | does |\n|---|---|\n", context.title()));
        // A row with a name speaks for those behind it that have none.
        for rows in context.rows().chunk_by(|_, next| next.name.is_empty()) {
            let name = keymap.row_name(context, rows).unwrap();
            text.push_str(&format!("| {} | {} |\n", cell(&name), cell(rows[0].help)));
        }
    }
    text + "\n"
}

fn commands() -> String {
    let rows = COMMANDS
        .iter()
        .map(|command| format!("| `{}` | {} | {} |\n", cell(command.usage), cell(command.help), cell(command.key)));
    let others = ALIASES.iter().map(|alias| format!("| `/{}` | {} |\n", alias.name, cell(&alias.help())));
    format!(
        "| command | does | key |\n|---|---|---|\n{}\n## {OTHER_NAMES}\n\n| name | does |\n|---|---|\n{}",
        rows.collect::<String>(),
        others.collect::<String>()
    )
}

fn protected_names() -> String {
    let rows = steersman_base::protected::table().into_iter().map(|(what, names)| {
        let names: Vec<String> = names.iter().map(|name| format!("`{}`", cell(name))).collect();
        format!("| {what} | {} |\n", names.join(" "))
    });
    format!("| what it is | names |\n|---|---|\n{}", rows.collect::<String>())
}

/// Compares the table of a page with the program's, or writes it.
#[track_caller]
fn compare(topic: &str, table: &str) {
    let path = file(topic);
    let text = fs::read_to_string(&path).unwrap();
    let begin = text.find(&format!("<!-- {topic}: ")).expect("the page has no table that is made");
    let begin = begin + text[begin..].find('\n').unwrap() + 1;
    let end = begin + text[begin..].find(END).expect("the table has no end");
    if std::env::var_os("STEERSMAN_UPDATE_MANUAL").is_some() {
        fs::write(&path, format!("{}{table}{}", &text[..begin], &text[end..])).unwrap();
    } else {
        assert_eq!(&text[begin..end], table, "the table of {topic}.md is not the program's: see the head of this file");
    }
}

#[test]
fn the_tables_of_keys_commands_and_protected_names_are_the_programs() {
    compare("sandbox", &protected_names());
    compare("keys", &keys());
    compare("commands", &commands());
}

fn help(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_steersman")).arg("help").args(words).output().unwrap()
}

#[test]
fn help_lists_its_pages_shows_one_and_searches_all() {
    let list = String::from_utf8(help(&[]).stdout).unwrap();
    for page in MANUAL {
        assert!(list.contains(page.topic) && list.contains(page.title()), "{list}");
        // To a pipe the page is the file.
        assert_eq!(
            String::from_utf8(help(&[page.topic]).stdout).unwrap(),
            fs::read_to_string(file(page.topic)).unwrap()
        );
    }
    let found = String::from_utf8(help(&["exit", "code"]).stdout).unwrap();
    assert!(found.contains("exec › "), "{found}");
    let meant = String::from_utf8(help(&["newline"]).stdout).unwrap();
    assert!(meant.contains("keys › ") && meant.contains("new line"), "{meant}");
    let missing = help(&["kees"]);
    assert_eq!(missing.status.code(), Some(2));
    let said = String::from_utf8(missing.stderr).unwrap();
    assert!(said.contains("\"kees\"") && said.contains("\"keys\""), "{said}");
}

#[test]
fn the_page_for_man_names_every_command_of_the_command_line() {
    let page = Command::new(env!("CARGO_BIN_EXE_steersman")).arg("man").output().unwrap();
    let page = String::from_utf8(page.stdout).unwrap().replace("\\-", "-");
    for word in [".TH", "exec", "doctor", "--base-url", "--mode"] {
        assert!(page.contains(word), "{word}");
    }
}
