//! What the screen cannot start by itself: programs of the user's own. The program hands it in; `run` calls it.

use std::fmt::Debug;
use std::io;
use std::path::Path;

use rustix::process::Signal;
use tokio::process::Child;

/// Starts programs of the user's own on this machine.
pub trait Outside: Debug + Send + Sync {
    /// Returns the command line of the user's editor.
    ///
    /// # Errors
    /// A sentence that says why there is none.
    fn editor(&self) -> Result<String, String>;

    /// Starts this editor on a file, on the terminal. Called within a runtime.
    ///
    /// # Errors
    /// When it does not start.
    fn edit(&self, editor: &str, file: &Path) -> io::Result<Child>;

    /// Sends a signal to a running editor, which has this process number unless it has ended, and to all that it has
    /// started on the terminal.
    fn signal_editor(&self, editor: Option<u32>, signal: Signal);

    /// Gives a text to the clipboard of this machine; waits for the program that takes it, not longer than
    /// [`steersman_base::limits::COPY_TIME`]. Returns the program's name; `None` when there is none that could.
    ///
    /// # Errors
    /// A sentence that says why the program did not take it.
    fn copy(&self, text: &str) -> Option<Result<String, String>>;

    /// Returns the picture in the clipboard of this machine, as a PNG of bounded size; waits for the program that knows it,
    /// not longer than [`steersman_base::limits::COPY_TIME`].
    ///
    /// # Errors
    /// A sentence that says why there is none.
    fn clipboard_image(&self) -> Result<Vec<u8>, String>;

    /// Tells whether the user has a command for the status line.
    fn has_status_command(&self) -> bool {
        false
    }

    /// Gives a description of the run to the user's command for the status line, and returns what it printed; waits for it,
    /// not longer than [`steersman_base::limits::STATUS_COMMAND_TIME`]. Called within a runtime, on a thread that may wait.
    ///
    /// # Errors
    /// A sentence that says why there is nothing, without the name of the command.
    fn status_line(&self, _description: &str) -> Result<String, String> {
        Err("there is none".to_owned())
    }
}
