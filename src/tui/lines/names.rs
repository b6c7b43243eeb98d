//! The sentences of the program name keys; here they get the names of the commands that do the same.

/// What a sentence says, and what it says in lines.
const NAMES: &[(&str, &str)] = &[
    ("u or Ctrl+_", "/back"),
    ("Ctrl+_", "/back"),
    ("first Enter, or Esc", "first /drop, or Enter"),
    ("PgDn", "/more"),
    ("PageDown", "/more"),
    ("F5 sends what you type at once; F2 chooses a pending text", "/now TEXT sends at once, /deliver N a pending text"),
    ("F6", "/model"),
    ("the shown agent is not paused; Alt+H pauses it", "the agent that you read is not paused; /pause pauses it"),
    ("Esc goes back to the question", "Esc goes back"),
    ("it was not on the screen", "it was not written yet"),
    ("where main waits was not on the screen", "where main waits was not written yet"),
    ("was not on the screen", "was not written yet"),
    ("Alt+Y", "/yes"),
    ("Alt+S", "/session"),
    ("Alt+A", "/always"),
    ("Alt+N", "/no"),
    ("Alt+W", "/no WORDS"),
];

/// Puts a sentence into the words of the line output.
pub(super) fn with_names(sentence: &str) -> String {
    NAMES.iter().fold(sentence.to_owned(), |sentence, (key, command)| sentence.replace(key, command))
}
