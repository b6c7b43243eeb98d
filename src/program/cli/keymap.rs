//! The keymap file: `--keys`, else `screen.keys` of the configuration, else `keys.toml` beside the configuration file.

use std::io;
use std::path::Path;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, say};
use crate::program::cli::load::Start;
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_base::text::visible_line;
use steersman_tui::keymap::Keymap;

/// Reads the keymap file.
///
/// # Errors
/// A sentence that names the file and the line.
pub fn keymap(flags: &Flags, start: &Start) -> Result<Keymap, String> {
    let beside = match &flags.config {
        Some(file) => file.parent().map(Path::to_path_buf),
        None => start.places.config.clone(),
    };
    let named = flags.keys.clone().or_else(|| start.config.screen.keys.clone());
    let is_named = named.is_some();
    let Some(path) = named.or_else(|| beside.map(|beside| beside.join("keys.toml"))) else {
        return Ok(Keymap::default());
    };
    let shown = visible_line(&path.to_string_lossy()).into_owned();
    match read_own_text(&path, limits::OWN_FILE_BYTES) {
        Ok(text) => Keymap::parse(&text).map_err(|error| format!("{shown}, {error}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => Ok(Keymap::default()),
        Err(error) => Err(format!("cannot read {shown}: {error}")),
    }
}

/// Prints the default keys as a keymap file.
pub fn run() -> Exit {
    use std::io::Write as _;
    // A closed pipe is no error.
    if let Err(error) = io::stdout().write_all(Keymap::write().as_bytes())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        say(&format!("cannot write the keys: {error}"));
        return Exit::Failed;
    }
    Exit::Done
}
