//! The themes of the screen: the built-in ones and the user's files, for the terminal that the environment describes.

use std::path::Path;

use crate::program::cli::load::Start;
use crate::program::config::Environment;
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_tui::theme::{AUTO, Background, Depth, Themes};

/// Reads the user's themes and activates the configured one.
///
/// # Errors
/// A sentence when there is no such theme, or its file has a fault.
pub fn themes(start: &Start, environment: &Environment) -> Result<Themes, String> {
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
