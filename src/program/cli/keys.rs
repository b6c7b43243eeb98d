//! Reads API keys from where the configuration says: a variable, a file, or the output of a command.
//!
//! Called when a server is about to be used, never at the start of the program: a command may ask the user something.
//! A key is never part of a message about it (D22).

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use crate::program::config::KeyPlace;
use steersman_base::limits;
use steersman_base::regular_file::read_own;
use steersman_base::text::visible_line;
use steersman_core::provider::ApiKey;
use steersman_tools::workspace::{OwnCommand, UserCommand};

/// Reads a key; `None` when none is configured.
///
/// # Errors
/// One sentence for the user.
pub async fn read_key(place: &KeyPlace) -> Result<Option<ApiKey>, String> {
    read_within(place, limits::KEY_COMMAND_TIME).await
}

/// Reads a key like [`read_key`], with a time limit for a command.
///
/// # Errors
/// One sentence for the user.
pub async fn read_within(place: &KeyPlace, time: Duration) -> Result<Option<ApiKey>, String> {
    match place {
        KeyPlace::None => Ok(None),
        KeyPlace::Variable { name, key } => Ok(Some(key.clone().with_source(name.as_str()))),
        KeyPlace::File(path) => {
            let source = format!("the file {}", visible_line(&path.to_string_lossy()));
            of_file(path).await.map(|key| Some(key.with_source(source)))
        }
        KeyPlace::Command(command) => {
            of_command(command, time).await.map(|key| Some(key.with_source("api_key_command")))
        }
    }
}

/// Returns a warning about a key file that other users can read.
pub fn warning(place: &KeyPlace) -> Option<String> {
    let KeyPlace::File(path) = place else { return None };
    let open = std::fs::metadata(path).is_ok_and(|file| file.mode() & 0o077 != 0);
    let path = visible_line(&path.to_string_lossy()).into_owned();
    open.then(|| format!("the file {path}, which holds a key, is open to other users: chmod 600 {path}"))
}

async fn of_file(path: &Path) -> Result<ApiKey, String> {
    let named = || format!("the key file {}", visible_line(&path.to_string_lossy()));
    let file = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || read_own(&file, limits::KEY_BYTES));
    let text = match tokio::time::timeout(limits::KEY_FILE_TIME, reading).await {
        Ok(Ok(Ok(text))) => text,
        Ok(Ok(Err(error))) => return Err(format!("{} cannot be read: {error}", named())),
        Ok(Err(_)) | Err(_) => return Err(format!("{} cannot be read: its disk does not answer", named())),
    };
    one_word(&String::from_utf8_lossy(&text))
        .ok_or_else(|| format!("{} does not hold one key and nothing else", named()))
}

async fn of_command(command: &UserCommand, time: Duration) -> Result<ApiKey, String> {
    let named =
        || format!("api_key_command ({})", visible_line(command.arguments().first().map_or("", String::as_str)));
    let command = OwnCommand { command, input: "", most: limits::KEY_BYTES, time };
    let output = command.run().await.map_err(|error| format!("{} {error}", named()))?;
    one_word(&output).ok_or_else(|| format!("{} did not print one key and nothing else", named()))
}

fn one_word(text: &str) -> Option<ApiKey> {
    let mut words = text.split_whitespace();
    let word = words.next()?;
    words.next().is_none().then(|| ApiKey::new(word))
}
