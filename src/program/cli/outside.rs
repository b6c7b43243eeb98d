//! The user's own programs: the editor, and the program that sets the clipboard.
//!
//! Found from the environment once, at the start. The screen gets them; `workspace::foreground` starts them.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use tokio::process::Child;
use tokio::runtime::Handle as Runtime;

use steersman_base::limits;
use steersman_base::text::is_blank;
use steersman_tools::workspace::{OutsideCommand, OwnCommand, UserCommand, foreground};
use steersman_tui::Outside;

/// The editors that are tried when none is configured, the easiest first.
const EDITORS: [&str; 5] = ["nano", "micro", "vim", "vi", "emacs -nw"];

/// The user's programs.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    visual: Option<String>,
    editor: Option<String>,
    path: Option<OsString>,
    writable: Vec<PathBuf>,
    clipboards: Vec<(&'static str, &'static [&'static str])>,
    /// What writes the picture of the clipboard to its output.
    pictures: Vec<(&'static str, &'static [&'static str])>,
    /// The command for the status line.
    status: Option<UserCommand>,
}

/// The variables of which one is set where the user's terminal is on another machine.
pub(super) const SSH_VARIABLES: [&str; 3] = ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"];

impl Programs {
    /// Finds them from the variables of an environment. Programs in `writable`, where commands write, are not used.
    pub fn new(variable: impl Fn(&str) -> Option<OsString>, writable: Vec<PathBuf>) -> Self {
        let named = |name| variable(name).and_then(|value| value.into_string().ok()).filter(|value| !is_blank(value));
        let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
        // Over ssh the clipboard of this machine is not the user's.
        let is_remote = SSH_VARIABLES.into_iter().any(is_set);
        let mut clipboards: Vec<(&str, &[&str])> = Vec::new();
        let mut pictures: Vec<(&str, &[&str])> = Vec::new();
        if !is_remote {
            if is_set("WAYLAND_DISPLAY") {
                clipboards.push(("wl-copy", &[]));
                pictures.push(("wl-paste", &["--no-newline", "--type", "image/png"]));
            }
            if is_set("DISPLAY") {
                clipboards.push(("xclip", &["-selection", "clipboard"]));
                pictures.push(("xclip", &["-selection", "clipboard", "-t", "image/png", "-o"]));
                clipboards.push(("xsel", &["--clipboard", "--input"]));
            }
            if cfg!(target_os = "macos") {
                clipboards.push(("pbcopy", &[]));
                pictures.push(("pngpaste", &["-"]));
            }
        }
        if is_set("TMUX") {
            // tmux keeps the text and passes it to its terminal.
            clipboards.push(("tmux", &["load-buffer", "-w", "-"]));
        }
        Self {
            visual: named("VISUAL"),
            editor: named("EDITOR"),
            path: variable("PATH"),
            writable,
            clipboards,
            pictures,
            status: None,
        }
    }

    /// Sets the command for the status line.
    #[must_use]
    pub fn with_status(mut self, command: Option<UserCommand>) -> Self {
        self.status = command;
        self
    }

    /// Finds a program on the search path.
    fn find(&self, name: &str, args: &[&str]) -> Option<OutsideCommand> {
        let line: Vec<OsString> = std::iter::once(&name).chain(args).map(OsString::from).collect();
        let path = self.path.clone()?;
        let variables = std::env::vars_os().filter(|(name, _)| name != "PATH").chain([("PATH".into(), path)]);
        OutsideCommand::new(&line, Path::new("/"), variables, &self.writable).ok()
    }
}

impl Outside for Programs {
    fn editor(&self) -> Result<String, String> {
        let there = |editor: &&str| editor.split(' ').next().is_some_and(|program| self.find(program, &[]).is_some());
        self.visual
            .clone()
            .or_else(|| self.editor.clone())
            .or_else(|| EDITORS.iter().find(|editor| there(editor)).map(|&editor| editor.to_owned()))
            .ok_or_else(|| format!("no editor: set EDITOR; neither {} is there", EDITORS.join(" nor ")))
    }

    fn edit(&self, editor: &str, file: &Path) -> io::Result<Child> {
        foreground::edit(editor, file, &self.writable)
    }

    fn signal_editor(&self, editor: Option<u32>, signal: Signal) {
        foreground::signal_editor(editor, signal);
    }

    fn copy(&self, text: &str) -> Option<Result<String, String>> {
        let mut answer = None;
        for &(name, args) in &self.clipboards {
            let Some(program) = self.find(name, args) else { continue };
            match foreground::feed(&program, text, limits::COPY_TIME) {
                Ok(()) => return Some(Ok(name.to_owned())),
                Err(error) => answer = Some(Err(format!("{name}: {error}"))),
            }
        }
        answer
    }

    fn clipboard_image(&self) -> Result<Vec<u8>, String> {
        let mut why = "there is no wl-paste, xclip or pngpaste that reaches a clipboard of this machine".to_owned();
        for &(name, args) in &self.pictures {
            let Some(program) = self.find(name, args) else { continue };
            match foreground::collect(&program, limits::IMAGE_FILE_BYTES, limits::COPY_TIME) {
                Ok(bytes) => return Ok(bytes),
                Err(error) => why = format!("the clipboard holds no picture ({name}: {error})"),
            }
        }
        Err(why)
    }

    fn has_status_command(&self) -> bool {
        self.status.is_some()
    }

    fn status_line(&self, description: &str) -> Result<String, String> {
        let command = self.status.as_ref().ok_or("there is none")?;
        let (most, time) = (limits::STATUS_COMMAND_OUTPUT, limits::STATUS_COMMAND_TIME);
        let run = OwnCommand { command, input: description, most, time }.run();
        Runtime::current().block_on(run).map_err(|error| format!("it {error}"))
    }
}
