//! `steersman skills`: the skills and custom commands of a start, and what is left out and why.

use std::fmt::Write as _;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, print, say};
use crate::program::cli::load::load;
use crate::program::cli::plugins;
use crate::program::cli::project::{FrontEnd, adopted, trusted_offer, user_library};
use steersman_agent::subagent::Roster;
use steersman_core::approval::Answerer;
use steersman_tui::commands::is_command;

pub(super) fn run(flags: &Flags) -> Exit {
    Exit::from_result(list(flags), Exit::Usage)
}

fn list(flags: &Flags) -> Result<Exit, String> {
    let start = load(flags, FrontEnd::Exec, Answerer::Nobody).map_err(|error| error.to_string())?;
    let mut notes = start.places.notes.clone();
    let mut library = user_library(&start.places);
    if let Some(offer) = trusted_offer(&start.places, None, &mut notes) {
        adopted(&offer, &mut Roster::default(), &mut library);
    }
    for plugin in plugins::trusted_plugins(&start.places, &start.cwd, &mut notes) {
        adopted(&plugin, &mut Roster::default(), &mut library);
    }
    library.without_commands(is_command);
    let mut text = String::new();
    for template in library.templates() {
        let called = format!("{} {}", template.command(), template.hint);
        let _ = writeln!(text, "{} ({}): {}", called.trim_end(), template.source, template.description);
    }
    for skill in library.skills().filter(|skill| skill.template().is_none()) {
        let _ = writeln!(text, "{} ({}, for the model alone): {}", skill.name, skill.source, skill.description);
    }
    if text.is_empty() {
        text.push_str("there are no skills and no custom commands; steersman help skills says where they are kept\n");
    }
    print(&text);
    notes.iter().chain(&library.warnings()).for_each(|sentence| say(sentence));
    Ok(Exit::Done)
}
