//! Reads the images that the user attaches, and makes them fit.
//!
//! Called away from the screen. Always holds: only a regular file of bounded size is read; a path of the working directory
//! leads out of it by no link.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::outside::Outside;
use steersman_base::limits;
use steersman_base::regular_file::{Links, open, read_whole};
use steersman_base::text::visible_line;
use steersman_images::FittedImage;

/// Reads an image; a relative path is taken from `cwd`, `~/` from `home`.
///
/// # Errors
/// Why it cannot be attached, in one sentence.
pub fn read_image(path: &str, cwd: &Path, home: Option<&Path>) -> Result<FittedImage, String> {
    let file = located(path, cwd, home).map_err(|error| error.to_string())?;
    let (open, metadata) = open(&file, Links::Refused).map_err(|error| error.to_string())?;
    let bytes = read_whole(open, metadata.len(), limits::IMAGE_FILE_BYTES).map_err(|error| error.to_string())?;
    FittedImage::new(name(path), &bytes)
}

/// Takes the picture out of the clipboard.
///
/// # Errors
/// Why it cannot be attached, in one sentence.
pub fn of_clipboard(outside: Option<&dyn Outside>) -> Result<FittedImage, String> {
    let outside = outside.ok_or("cannot read the clipboard here")?;
    FittedImage::new("clipboard", &outside.clipboard_image()?)
}

/// Returns the file behind a path. A link that the user names may lead anywhere; one below the working directory is the
/// project's.
fn located(path: &str, cwd: &Path, home: Option<&Path>) -> io::Result<PathBuf> {
    if let Some(rest) = path.strip_prefix("~/") {
        return home.unwrap_or(Path::new("~")).join(rest).canonicalize();
    }
    let file = cwd.join(path).canonicalize()?;
    let is_of_project =
        Path::new(path).is_relative() && !Path::new(path).components().any(|part| part == Component::ParentDir);
    if is_of_project && !file.starts_with(cwd.canonicalize()?) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a link out of the working directory"));
    }
    Ok(file)
}

/// Returns the name of an image as the message shows it: its path in the working directory, else its own name.
fn name(path: &str) -> String {
    let name = match Path::new(path).file_name() {
        Some(name) if path.starts_with(['/', '~']) => name.to_string_lossy().into_owned(),
        _ => path.to_owned(),
    };
    // The bracket would end its label.
    visible_line(&name).replace(['[', ']'], "_")
}
