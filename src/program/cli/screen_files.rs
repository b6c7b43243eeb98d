//! The user's files for the screen: the keymap file, and the themes for the terminal that the environment describes.

use std::io::{self, Write as _};
use std::path::Path;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, say};
use crate::program::cli::load::Start;
use crate::program::config::Environment;
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_base::text::visible_line;
use steersman_tui::keymap::Keymap;
use steersman_tui::theme::{AUTO, Background, Depth, Themes};

/// Reads the keymap file: `--keys`, else `screen.keys` of the configuration, else `keys.toml` beside the configuration file.
///
/// # Errors
/// A sentence that names the file and the line.
pub(super) fn keymap(flags: &Flags, start: &Start) -> Result<Keymap, String> {
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
pub(super) fn print_keys() -> Exit {
    // A closed pipe is no error.
    if let Err(error) = io::stdout().write_all(Keymap::write().as_bytes())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        say(&format!("cannot write the keys: {error}"));
        return Exit::Failed;
    }
    Exit::Done
}

/// Reads the user's themes and activates the configured one.
///
/// # Errors
/// A sentence when there is no such theme, or its file has a fault.
pub(super) fn themes(start: &Start, environment: &Environment) -> Result<Themes, String> {
    let background = Background::detect(environment.get("COLORFGBG"));
    let mut themes = Themes::new(Depth::detect(|name| environment.get(name)), background);
    if let Some(config) = &start.places.config {
        load_directory(&config.join("themes"), &mut themes);
    }
    themes.activate(start.config.screen.theme.as_deref().unwrap_or(AUTO))?;
    Ok(themes)
}

/// Reads every theme of a directory, in the order of their names; an unreadable one reports its error when it is
/// chosen.
fn load_directory(directory: &Path, themes: &mut Themes) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    for file in files.iter().take(limits::THEME_FILES) {
        let name = file.file_stem().and_then(|name| name.to_str()).filter(|name| !name.contains(char::is_whitespace));
        if let Some(name) = name {
            let text = read_own_text(file, limits::THEME_BYTES).map_err(|error| error.to_string());
            themes.add(name, &file.display().to_string(), text);
        }
    }
}
