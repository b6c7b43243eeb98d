//! The texts that are built into the program. Each is a file under `assets/`, edited there.
//!
//! Used by the program (system prompt, personas, themes) and by tests. Nothing here is parsed.

/// The default system prompt of the main agent, with the placeholders `{{cwd}}`, `{{date}}` and `{{tools}}`.
pub const MAIN_PROMPT: &str = include_str!("assets/prompts/main.md");

/// The explanation of the frames around texts of the user, appended to the system prompt of every agent that can be steered.
pub const FRAMES: &str = include_str!("assets/prompts/frames.md");

/// What `/init` sends.
pub const INIT_PROMPT: &str = include_str!("assets/prompts/init.md");

/// The bundled personas: file name without its ending, and the file (a TOML header between `+++` lines, then the
/// prompt).
pub const PERSONAS: &[(&str, &str)] = &[
    ("file_miner", include_str!("assets/personas/file_miner.md")),
    ("git_repo_researcher", include_str!("assets/personas/git_repo_researcher.md")),
    ("researcher", include_str!("assets/personas/researcher.md")),
    ("worker", include_str!("assets/personas/worker.md")),
];

/// The built-in themes by name, in the order in which the key cycles through them.
pub const THEMES: &[(&str, &str)] = &[
    ("dark", include_str!("assets/themes/dark.toml")),
    ("light", include_str!("assets/themes/light.toml")),
    ("high-contrast", include_str!("assets/themes/high-contrast.toml")),
    ("plain", include_str!("assets/themes/plain.toml")),
];

/// The bundled table of models.
pub const MODELS: &str = include_str!("assets/models.toml");

/// The style sheet of an exported web page.
pub const EXPORT_STYLE: &str = include_str!("assets/export.css");

/// JSON Schema of both directions of `exec`: `output` describes a line of `--json`, `input` one of `--input json`, `result`
/// the object of `--output result`.
pub const EXEC_SCHEMA: &str = include_str!("assets/schema/exec.json");

/// The page for `man`, in roff; `src/program/cli/help.rs` makes it.
pub const MAN_PAGE: &str = include_str!("assets/steersman.1");
