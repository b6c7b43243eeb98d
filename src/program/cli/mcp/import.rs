//! `steersman mcp import`: the servers of other programs as sections of this program's own configuration.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, print, say};
use crate::program::cli::load::{Start, load};
use crate::program::cli::project::FrontEnd;
use crate::program::config::{ForeignServers, parse, read_claude, read_codex, read_project, to_toml};
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_core::approval::Answerer;

/// Prints the sections, or adds them to the configuration file.
pub(super) fn run(flags: &Flags, file: Option<&Path>, write: bool) -> Result<Exit, String> {
    let start = load(flags, FrontEnd::Exec, Answerer::Nobody).map_err(|error| error.to_string())?;
    let files = match file {
        Some(file) => vec![file.to_owned()],
        None => usual(&start).into_iter().filter(|file| file.is_file()).collect(),
    };
    if files.is_empty() {
        return Err("there is neither ~/.claude.json nor ~/.codex/config.toml; name a file".to_owned());
    }
    let mut all = ForeignServers::default();
    for file in &files {
        let shown = file.display();
        let text = read_own_text(file, limits::MCP_KNOWN_BYTES).map_err(|error| format!("{shown}: {error}"))?;
        let ForeignServers { servers, notes } =
            parse_servers(file, &text, &start).map_err(|error| format!("{shown}: {error}"))?;
        all.notes.extend(notes.into_iter().map(|note| format!("{shown}: {note}")));
        for (name, server) in servers {
            if start.config.servers.contains_key(&name) || all.servers.contains_key(&name) {
                all.notes.push(format!("{shown}: the server {name} is left out: there is one of this name already"));
            } else {
                all.servers.insert(name, server);
            }
        }
    }
    for note in &all.notes {
        say(note);
    }
    let sections = to_toml(&all.servers);
    if !write {
        print(&sections);
        return Ok(Exit::Done);
    }
    if all.servers.is_empty() {
        say("there is nothing to add");
        return Ok(Exit::Done);
    }
    let place = flags.config.clone().or_else(|| Some(start.places.config.as_ref()?.join("config.toml")));
    let place = place.ok_or("there is no configuration directory")?;
    add(&place, &sections)?;
    let names: Vec<&str> = all.servers.keys().map(String::as_str).collect();
    say(&format!("added to {}: {}; steersman mcp doctor tries them", place.display(), names.join(", ")));
    Ok(Exit::Done)
}

/// Returns the files of other programs that are read when none is named.
fn usual(start: &Start) -> Vec<PathBuf> {
    let Some(home) = &start.places.home else { return Vec::new() };
    let codex = std::env::var_os("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from);
    vec![home.join(".claude.json"), codex.join("config.toml")]
}

fn parse_servers(file: &Path, text: &str, start: &Start) -> Result<ForeignServers, String> {
    if file.extension().is_some_and(|extension| extension == "toml") {
        return read_codex(text);
    }
    let is_claude = file.file_name().is_some_and(|name| name == ".claude.json");
    if is_claude {
        let directory = start.places.project.as_deref().unwrap_or(&start.cwd);
        return read_claude(text, directory);
    }
    read_project(text)
}

/// Adds sections behind the end of the configuration file.
fn add(place: &Path, sections: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("{} cannot be written: {error}", place.display());
    let before = match read_own_text(place, limits::OWN_FILE_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let gap = if before.is_empty() || before.ends_with("\n\n") {
        ""
    } else if before.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    // What would not be read again is not written.
    parse(&format!("{before}{gap}{sections}")).map_err(|error| format!("nothing was added: {error}"))?;
    if let Some(directory) = place.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(place).map_err(failed)?;
    file.write_all(format!("{gap}{sections}").as_bytes()).map_err(failed)
}
