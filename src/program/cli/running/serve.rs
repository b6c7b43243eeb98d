//! `steersman serve`: a session without a screen, until somebody attaches one.
//!
//! Its prompt is sent by a client of its own; nobody is at that client, so a text that comes back waits in the pending
//! list, held. It ends by a signal, or when the last attached screen quits.

use std::io::{self, Write as _};
use std::sync::Arc;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, say};
use crate::program::cli::load::{Start, load};
use crate::program::cli::project::FrontEnd;
use crate::program::cli::running::args::ServeArgs;
use crate::program::cli::running::listen::{Hosted, Listening};
use crate::program::cli::setup::setup;
use crate::program::cli::{journal, signals, two_runtimes};
use steersman_base::event::Delivery;
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::protocol::{Reply, Request, Update};
use steersman_base::text::is_blank;
use steersman_core::approval::Answerer;
use steersman_session::host;
use steersman_session::socket::SocketServer;
use steersman_session::{Beginning, Client as _, Hub, LocalClient};
use tokio::sync::Notify;

/// Runs the session until it is ended.
pub(crate) fn run(flags: &Flags, args: &ServeArgs) -> Exit {
    let started = load(flags, FrontEnd::Screen, Answerer::User).map_err(|error| error.to_string());
    let started = started.and_then(|mut start| {
        if args.prompt.as_ref().is_some_and(|prompt| is_blank(prompt)) {
            return Err("the prompt is blank".to_owned());
        }
        if flags.session.no_socket {
            return Err("a session that is served needs its socket".to_owned());
        }
        journal::begin(&mut start, flags)?;
        Ok(start)
    });
    match started {
        Ok(start) => Exit::from_result(serve(start, args), Exit::Failed),
        Err(sentence) => Exit::from_result(Err(sentence), Exit::Usage),
    }
}

fn serve(start: Start, args: &ServeArgs) -> Result<Exit, String> {
    let (runtime, own) = two_runtimes()?;
    let still_true = start.config.still_true;
    let spending = start.config.spending.clone();
    let journal = start.journal.clone();
    let listening = Listening::of(&start, true, Hosted::Served).ok_or("the session gets no name")?;
    let session = listening.session().to_owned();
    let host = host::start_with(runtime.handle(), |approvals| setup(start, Vec::new(), approvals));
    host.handle().set_staleness(still_true);
    if let Some(journal) = &journal {
        journal::attach(journal, host.handle());
    }
    host.handle().budget().configure(spending);
    let hub = Hub::new(host.handle().clone());
    let server = listening.begin(&hub)?;
    let sentence = format!("session {session} runs; to see it: steersman attach {session}\n");
    let _ = io::stdout().write_all(sentence.as_bytes()).and_then(|()| io::stdout().flush());
    let client = hub.join(hub.name_for("serve", None), Beginning::Now);
    if let Some(prompt) = &args.prompt {
        client.send(Request::inject(AgentId::main(), prompt.clone(), Delivery::Steer));
    }
    let refused = client.answers().into_iter().find_map(|update| {
        if let Update::Reply(Reply::Injected { outcome: Err(refused), .. }) = update { Some(refused) } else { None }
    });
    // From here on nobody is behind the prompt.
    drop(client);
    let ended = match refused {
        Some(refused) => Err(format!("not sent: {refused}")),
        None => own.block_on(until_ended(&hub, &server)),
    };
    own.block_on(host.shutdown(limits::EXIT_GRACE));
    drop(server);
    runtime.shutdown_background();
    if let Some(missing) = journal.and_then(|journal| journal.close()) {
        say(&missing);
    }
    ended
}

/// Takes what the run says, so that it never waits for a reader, until a signal or a client ends the session.
async fn until_ended(hub: &Arc<Hub>, server: &SocketServer) -> Result<Exit, String> {
    let mut signals = signals()?;
    let reader: LocalClient = hub.drain();
    let wake = Arc::new(Notify::new());
    let waker = Arc::clone(&wake);
    reader.on_wake(Arc::new(move |_| waker.notify_one()));
    loop {
        drop(reader.events());
        tokio::select! {
            code = signals.end() => return Ok(Exit::of_signal(code)),
            () = server.ended() => return Ok(Exit::Done),
            () = wake.notified() => {}
        }
    }
}
