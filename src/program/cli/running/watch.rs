//! `steersman watch`: what a session does from now on, as lines or as events.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::sync::Arc;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, line};
use crate::program::cli::questions::question;
use crate::program::cli::running::args::WatchArgs;
use crate::program::cli::running::choose::connect;
use steersman_base::event::Envelope;
use steersman_base::id::AgentId;
use steersman_base::protocol::{Notice, Update};
use steersman_base::text::escaped_json;
use steersman_core::listener::{Listener, Terminal};
use steersman_session::socket::Updates;

/// Writes until the session ends.
pub(crate) fn run(flags: &Flags, args: &WatchArgs) -> Exit {
    Exit::from_result(watch(flags, args).map(|()| Exit::Done), Exit::Failed)
}

fn watch(flags: &Flags, args: &WatchArgs) -> Result<(), String> {
    let (mut caller, welcome) = connect(flags, &args.which, "watch", Updates::Now)?;
    let mut printers = Printers::new(Terminal::new(io::stdout()));
    let mut shown = Vec::new();
    if !args.json && write(&format!("session {}\n", welcome.session)).is_err() {
        return Ok(());
    }
    while let Some(update) = caller.next_update().map_err(|error| format!("the session does not answer: {error}"))? {
        let written = match (&update, args.json) {
            (Update::Notice(Notice::Over(_)), _) => return Ok(()),
            (Update::Envelope(envelope), true) => {
                let json = serde_json::to_string(envelope).map_err(|error| error.to_string())?;
                write(&format!("{}\n", escaped_json(json)))
            }
            (Update::Envelope(envelope), false) => {
                printers.of(envelope).on_event(envelope);
                Ok(())
            }
            (Update::Approvals { open, .. }, false) => {
                let new = open.iter().filter(|request| !shown.contains(&request.id));
                let lines: Vec<String> =
                    new.map(|request| format!("question {}: {}\n", request.id.0, question(request))).collect();
                shown = open.iter().map(|request| request.id).collect();
                write(&lines.concat())
            }
            (Update::Notice(Notice::Info(sentence) | Notice::ModelSwitch { outcome: Err(sentence), .. }), false) => {
                write(&line(sentence))
            }
            (
                Update::Notice(_)
                | Update::Approvals { .. }
                | Update::Reply(_)
                | Update::Queues { .. }
                | Update::Budget(_),
                _,
            ) => Ok(()),
        };
        if written.is_err() {
            // Nobody reads any more.
            return Ok(());
        }
    }
    Ok(())
}

/// What writes the events of each agent: those of a sub-agent with its name.
struct Printers {
    main: Arc<dyn Listener>,
    sub_agents: HashMap<AgentId, Arc<dyn Listener>>,
}

impl Printers {
    fn new(main: Terminal) -> Self {
        Self { main: Arc::new(main), sub_agents: HashMap::new() }
    }

    /// Returns the one of the agent of an event; that of its spawner makes it.
    fn of(&mut self, envelope: &Envelope) -> Arc<dyn Listener> {
        let id = &envelope.agent;
        if id.is_main() {
            return Arc::clone(&self.main);
        }
        if let Some(known) = self.sub_agents.get(id) {
            return Arc::clone(known);
        }
        let spawner = envelope.parent.as_ref().and_then(|parent| self.sub_agents.get(parent)).unwrap_or(&self.main);
        let made = spawner.for_sub_agent(id).unwrap_or_else(|| Arc::clone(&self.main));
        self.sub_agents.insert(id.clone(), Arc::clone(&made));
        made
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
