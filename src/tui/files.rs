//! Does on threads of their own what would hold the screen up: exports, undo, the colours of code.
//!
//! Made and used by `run`; every answer is a message.

use std::path::PathBuf;

use jiff::Zoned;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::export::{ExportRequest, save};
use crate::highlight::Job;
use crate::highlight::worker::Worker;
use crate::msg::Msg;

/// Takes documents and sends an answer for each.
pub struct Files {
    cwd: PathBuf,
    home: Option<PathBuf>,
    answers: UnboundedSender<Msg>,
    colours: Worker,
}

impl Files {
    /// Makes a writer: relative paths are taken from `cwd`, `~/` from `home`. The answers come out of the receiver.
    pub fn new(cwd: PathBuf, home: Option<PathBuf>) -> (Self, UnboundedReceiver<Msg>) {
        let (answers, receiver) = unbounded_channel();
        let painter = answers.clone();
        // A screen that is gone needs no answer.
        let colours = Worker::new(move |found| drop(painter.send(Msg::Coloured(found))));
        (Self { cwd, home, answers, colours }, receiver)
    }

    /// Finds out the colours of code.
    pub fn colour(&self, jobs: Vec<Job>) {
        self.colours.ask(jobs);
    }

    /// Does something that takes a moment, and sends its answers. Must be called within a runtime.
    pub fn aside(&self, work: impl FnOnce() -> Vec<Msg> + Send + 'static) {
        let answers = self.answers.clone();
        tokio::task::spawn_blocking(move || {
            for answer in work() {
                // A screen that is gone needs no answer.
                let _ = answers.send(answer);
            }
        });
    }

    /// Writes a document. Must be called within a runtime.
    pub fn write(&self, request: ExportRequest, text: String) {
        let (cwd, home, answers) = (self.cwd.clone(), self.home.clone(), self.answers.clone());
        tokio::task::spawn_blocking(move || {
            let saved = save(&request, &text, &cwd, home.as_deref(), Zoned::now().datetime());
            let outcome = saved.map(|path| path.display().to_string()).map_err(|error| error.to_string());
            // A screen that is gone needs no answer.
            let _ = answers.send(Msg::Written { subject: request.subject, outcome });
        });
    }
}
