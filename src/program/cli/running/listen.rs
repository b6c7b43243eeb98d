//! Letting a session that starts listen to other terminals.

use std::io;
use std::sync::Arc;

use jiff::Timestamp;

use crate::program::cli::load::Start;
use crate::program::config::ModelSource;
use steersman_session::Hub;
use steersman_session::journal::SessionId;
use steersman_session::socket::{About, SocketServer, Sockets, listen};

/// What is needed to let a session listen, taken from its start before that is used up.
pub(in crate::program::cli) struct Listening {
    about: About,
    places: Vec<Sockets>,
}

/// Whether a session has a screen of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::program::cli) enum Hosted {
    /// It has a screen, writes lines, or is an `exec`.
    Here,
    /// It has none.
    Served,
}

impl Listening {
    /// Takes what is needed; nothing with `--no-socket`.
    pub(in crate::program::cli) fn of(start: &Start, is_wanted: bool, hosted: Hosted) -> Option<Self> {
        let id = || SessionId::new(Timestamp::now()).ok();
        let session = start.journal.as_ref().map(|journal| journal.session().clone()).or_else(id);
        let session = session.filter(|_| is_wanted)?;
        let label = match &start.config.model {
            ModelSource::Embedded { .. } => "embedded model".to_owned(),
            ModelSource::Server(server) => server.model.clone().unwrap_or_else(|| start.config.source.clone()),
        };
        let about = About {
            session: session.to_string(),
            directory: start.cwd.display().to_string(),
            label,
            is_served: hosted == Hosted::Served,
        };
        Some(Self { about, places: start.places.sockets.iter().cloned().map(Sockets::within).collect() })
    }

    pub(in crate::program::cli) fn session(&self) -> &str {
        &self.about.session
    }

    /// Listens in the first directory where that works. Comes before the first client.
    ///
    /// # Errors
    /// One sentence; the session goes on without.
    pub(in crate::program::cli) fn begin(self, hub: &Arc<Hub>) -> Result<SocketServer, String> {
        let mut why = "there is no directory for its socket".to_owned();
        for (number, sockets) in self.places.iter().enumerate() {
            match listen(Arc::clone(hub), self.about.clone(), sockets) {
                Ok(mut server) => {
                    // Programs that were started elsewhere, as by cron or over ssh, may not know the first directory.
                    for other in self.places.iter().skip(number + 1) {
                        if let Err(error) = server.announce(other) {
                            tracing::warn!(%error, "the session is not found everywhere");
                        }
                    }
                    return Ok(server);
                }
                // The system says `SUN_LEN`, which names no way out.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    "the path of its socket is too long for the system".clone_into(&mut why);
                }
                Err(error) => why = error.to_string(),
            }
        }
        tracing::warn!(why, "the session does not listen");
        Err(format!("other terminals cannot reach this session: {why}"))
    }
}
