//! The external editor, and the way to the shell and back: somebody else has the terminal meanwhile.
//!
//! The agent goes on, its mail is applied, nothing is drawn. Nothing typed is read by the wrong one: the reader lets go of
//! the terminal before the other gets it. Whatever goes wrong, the text is as it was.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;
use tokio::process::Child;
use tokio::time::timeout;

use super::screen::Screen;
use super::surface::Surface as _;
use crate::msg::{EditorSubject, Msg};
use steersman_base::limits;
use steersman_base::regular_file::read_own;
use steersman_base::text::visible_line;

/// What an editor that still has the terminal gets in this order, each with the time that it has then; at last it is killed.
const EDITOR_END: [(Signal, Duration); 2] =
    [(Signal::TERM, Duration::from_millis(800)), (Signal::HUP, Duration::from_millis(200))];

/// An editor that has the self.terminal.
#[derive(Debug)]
pub(super) struct Loan {
    child: Child,
    subject: EditorSubject,
    /// Removed with everything in it when the loan ends.
    _directory: TempDir,
    file: PathBuf,
    ends_in_newline: bool,
}

/// Waits for the end of the editor; for ever when there is none.
pub(super) async fn editor_ended(loan: &mut Option<Loan>) -> io::Result<ExitStatus> {
    match loan {
        Some(loan) => loan.child.wait().await,
        None => std::future::pending().await,
    }
}

impl Screen<'_> {
    /// Opens a text in the user's editor; answered with [`Msg::Edited`].
    pub(super) fn open_editor(&mut self, subject: EditorSubject, text: &str) {
        if let Err(reason) = self.lend_to_editor(subject, text) {
            self.dispatch(Msg::Edited { subject, outcome: Err(reason) });
        }
    }

    fn lend_to_editor(&mut self, subject: EditorSubject, text: &str) -> Result<(), String> {
        let outside = self.core.outside.clone().ok_or("there is no editor here")?;
        let editor = outside.editor()?;
        let (directory, file) =
            write(subject, text).map_err(|error| format!("cannot write the text for the editor: {error}"))?;
        self.reader.pause();
        self.terminal.lend();
        match outside.edit(&editor, &file) {
            Ok(child) => {
                let ends_in_newline = text.ends_with('\n');
                self.loan = Some(Loan { child, subject, _directory: directory, file, ends_in_newline });
                Ok(())
            }
            Err(error) => {
                self.reclaim().map_err(|error| error.to_string())?;
                Err(format!("{} does not start: {error}", visible_line(&editor)))
            }
        }
    }

    /// Takes the terminal and the text back from an editor that has ended.
    pub(super) fn editor_ended(&mut self, status: io::Result<ExitStatus>) -> io::Result<()> {
        let Some(loan) = self.loan.take() else { return Ok(()) };
        self.reclaim()?;
        let outcome = match status {
            Ok(status) if status.success() => read_edited(&loan),
            Ok(status) => Err(format!("the editor ended with {status}")),
            Err(error) => Err(format!("the editor is lost: {error}")),
        };
        self.dispatch(Msg::Edited { subject: loan.subject, outcome });
        self.release_held();
        Ok(())
    }

    /// Ends an editor that still has the terminal, because the program ends, with all that it has started there.
    pub(super) async fn end_editor(&mut self) {
        let (Some(mut loan), Some(outside)) = (self.loan.take(), self.core.outside.clone()) else { return };
        let editor = loan.child.id();
        for (signal, patience) in EDITOR_END {
            outside.signal_editor(editor, signal);
            if timeout(patience, loan.child.wait()).await.is_ok() {
                break;
            }
        }
        outside.signal_editor(editor, Signal::KILL);
    }

    /// Takes the terminal back.
    pub(super) fn reclaim(&mut self) -> io::Result<()> {
        self.terminal.take_back()?;
        self.reader.go_on();
        self.dispatch(Msg::Resize(self.terminal.size()));
        self.show_pictures();
        Ok(())
    }
}

/// Writes a text into a file of its own that nobody else can read.
fn write(subject: EditorSubject, text: &str) -> io::Result<(TempDir, PathBuf)> {
    let directory =
        tempfile::Builder::new().prefix("steersman-").permissions(Permissions::from_mode(0o700)).tempdir()?;
    let (name, mode) = match subject {
        EditorSubject::Draft => ("message.md", 0o600),
        EditorSubject::Entry => ("entry.md", 0o400),
    };
    let file = directory.path().join(name);
    OpenOptions::new().write(true).create_new(true).mode(mode).open(&file)?.write_all(text.as_bytes())?;
    Ok((directory, file))
}

/// Reads what the editor left; the sentence says why it cannot be used.
fn read_edited(loan: &Loan) -> Result<String, String> {
    if loan.subject == EditorSubject::Entry {
        return Ok(String::new());
    }
    let mut text = read_text(&loan.file)?;
    // Editors end the last line of a file; a message does not.
    if !loan.ends_in_newline && text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

fn read_text(path: &Path) -> Result<String, String> {
    let bytes = read_own(path, limits::EDITED_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => format!("the text is longer than {} KiB", limits::EDITED_BYTES / 1024),
        _ => format!("the editor left no file that can be read: {error}"),
    })?;
    String::from_utf8(bytes).map_err(|_| "the text is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_for_the_user_alone_and_goes_with_its_directory() {
        let (directory, file) = write(EditorSubject::Draft, "text").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(directory.path()), mode(&file)), (0o700, 0o600));
        assert_eq!((read_text(&file).unwrap().as_str(), file.extension().unwrap().to_str()), ("text", Some("md")));
        drop(directory);
        assert!(!file.exists());
    }

    #[test]
    fn what_is_no_text_of_a_message_is_refused_with_the_reason() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("message.md");
        assert!(read_text(&file).unwrap_err().contains("no file"));
        std::fs::write(&file, b"caf\xe9").unwrap();
        assert!(read_text(&file).unwrap_err().contains("UTF-8"));
        std::fs::write(&file, vec![b'x'; limits::MESSAGE_BYTES + 1]).unwrap();
        assert!(read_text(&file).unwrap_err().contains("2048 KiB"));
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(read_text(&file).is_err());
    }
}
