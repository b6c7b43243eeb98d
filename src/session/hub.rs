//! What ties the clients of a run together: each has a name, its own numbers and its own place in what the run says.
//!
//! Always holds: a request is carried out once by its client and number; a text goes back to who sent it; without
//! [`Hub::open`] there is one client, and nothing is kept for others.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::client::WakeReason;
use crate::host::{Handle, Mailbox};
use crate::local::LocalClient;
use crate::members::{Member, Members};
use crate::requests::Requests;
use steersman_base::id::ClientId;
use steersman_base::limits;
use steersman_base::protocol::{Numbered, QueueOutcome, Reply, Request, SessionStatus};
use steersman_base::sync::lock;

/// The clients of one run.
pub struct Hub {
    handle: Handle,
    requests: Requests,
    members: Arc<Members>,
    joined: AtomicU64,
    /// The newest clients, each with the token that it came with.
    names: Mutex<VecDeque<(Option<String>, ClientId)>>,
    is_over: AtomicBool,
    on_request: OnceLock<Box<OnRequest>>,
}

type OnRequest = dyn Fn(&ClientId, &Request) + Send + Sync;

/// The word for a client with a screen.
pub const SCREEN: &str = "attach";

/// What a client that joins wants to be told of what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// Everything that is kept.
    Past,
    /// What happens from now on.
    Now,
}

impl Hub {
    /// Makes the hub of a run.
    pub fn new(handle: Handle) -> Arc<Self> {
        let members = Arc::new(Members::new(handle.clone()));
        let watching = Arc::downgrade(&members);
        handle.watch(move || {
            if let Some(members) = watching.upgrade() {
                members.changed(Member::queues);
            }
        });
        let watching = Arc::downgrade(&members);
        handle.approvals().watch(Arc::new(move || {
            if let Some(members) = watching.upgrade() {
                members.changed(Member::approvals);
            }
        }));
        let distributing = Arc::clone(&members);
        let requests = Requests::distributing(handle.clone(), members.drafts(), move |by, reply| {
            distribute(&distributing, by, reply)
        });
        let (names, is_over, on_request) = (Mutex::default(), AtomicBool::new(false), OnceLock::new());
        Arc::new(Self { handle, requests, members, joined: AtomicU64::new(0), names, is_over, on_request })
    }

    /// Sets what is called with each request before it is carried out, and with who asks; the first one stays.
    pub fn on_request(&self, listener: impl Fn(&ClientId, &Request) + Send + Sync + 'static) {
        let _ = self.on_request.set(Box::new(listener));
    }

    /// Keeps what the run says for clients that join later.
    pub fn open(&self) {
        let members = Arc::clone(&self.members);
        self.handle.mailbox().tap(Arc::new(move |update| members.broadcast(update)));
    }

    /// Makes the client that the run was started with, a screen. It takes from the mailbox of the run itself, so the run does not
    /// get far ahead of it.
    pub fn first(self: &Arc<Self>) -> LocalClient {
        let member = Arc::new(Member::new(None, Arc::clone(self.handle.mailbox())));
        self.members.add_first_screen(&member);
        LocalClient::joined(Arc::clone(self), member)
    }

    /// Makes that client where it shows nothing: what an earlier process left is for a screen that joins.
    pub fn first_without_screen(self: &Arc<Self>) -> LocalClient {
        let member = Arc::new(Member::new(None, Arc::clone(self.handle.mailbox())));
        self.members.add(&member);
        LocalClient::joined(Arc::clone(self), member)
    }

    /// Makes what takes from the mailbox of a run that was started without a client, so that the run does not wait. It is no
    /// client: no text is its own.
    pub fn drain(self: &Arc<Self>) -> LocalClient {
        LocalClient::joined(Arc::clone(self), Arc::new(Member::new(None, Arc::clone(self.handle.mailbox()))))
    }

    /// Names one more client: the word for what it is, and a number. A client that comes again with the token that it had
    /// has the name that it had, so what it sent before is not done again.
    pub fn name_for(&self, what: &str, token: Option<&str>) -> ClientId {
        let mut names = lock(&self.names);
        if let Some((_, name)) = names.iter().find(|(known, _)| token.is_some() && known.as_deref() == token) {
            return name.clone();
        }
        let name = ClientId::new(format!("{what} {}", self.joined.fetch_add(1, Ordering::SeqCst) + 1));
        names.push_back((token.map(str::to_owned), name.clone()));
        if names.len() > limits::REMEMBERED_CLIENTS
            && let Some((_, oldest)) = names.pop_front()
        {
            self.requests.forget(&oldest);
        }
        name
    }

    /// Tells whether anybody else than this client, or one that only calls, looks at the run.
    pub(super) fn has_others(&self, name: Option<&ClientId>) -> bool {
        let members = self.members.all();
        members.iter().any(|other| other.name.as_ref() != name && other.is_screen())
    }

    /// Tells every client that the run is over.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.members.changed(|_| {});
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Makes one more client of this name.
    pub fn join(self: &Arc<Self>, name: ClientId, beginning: Beginning) -> LocalClient {
        let member = Arc::new(Member::new(Some(name), Arc::new(Mailbox::new())));
        match beginning {
            Beginning::Past => self.members.add_with_past(&member),
            Beginning::Now => self.members.add(&member),
        }
        LocalClient::joined(Arc::clone(self), member)
    }

    /// Returns what somebody outside sees of the session.
    pub fn status(&self) -> SessionStatus {
        let clients = self.members.all().iter().filter_map(|member| member.name.clone()).collect();
        let approvals = self.handle.approvals().open();
        let budget = self.handle.budget_status();
        let (queues, paused) = (self.handle.peek(), self.handle.interloper().paused());
        self.members.look(|reducer| reducer.status(queues, paused, &approvals, budget, clients))
    }

    /// Returns what the run is steered with.
    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Carries a request of a client out, unless it was, and passes its reply on where it has one. Behind that the client
    /// looks at what the request was about.
    pub(super) fn carry_out(&self, member: &Member, number: u64, request: Request, answer: impl FnOnce(Option<Reply>)) {
        let client = member.name.clone().unwrap_or_else(ClientId::first);
        let mark = marks(&request);
        if let Some(listener) = self.on_request.get() {
            listener(&client, &request);
        }
        answer(self.requests.carry_out(Numbered { client, number, request }));
        mark(member);
        member.wake(WakeReason::Answers);
    }
}

/// Returns what a client is to look at again after a request. Also when nothing changed: a client that expected a change
/// learns what there is.
fn marks(request: &Request) -> fn(&Member) {
    match request {
        Request::Inject { .. }
        | Request::Stop
        | Request::Reset
        | Request::Queue { .. }
        | Request::NeverAskIfTrue
        | Request::Resume => Member::queues,
        Request::Answer { .. } | Request::UserLeft | Request::SetMode { .. } => Member::approvals,
        Request::Pause { .. }
        | Request::Decide { .. }
        | Request::Cancel { .. }
        | Request::RunLine { .. }
        | Request::AddInstruction { .. }
        | Request::StopJob { .. }
        | Request::ToBackground { .. }
        | Request::PreviewUndo { .. }
        | Request::ListChanges
        | Request::Context { .. }
        | Request::PreviewRewind { .. }
        | Request::Retry
        | Request::CloseTask
        | Request::KeepDrafts { .. }
        | Request::Undo { .. }
        | Request::ChangeRule { .. }
        | Request::EditPlan { .. }
        | Request::Rules { .. }
        | Request::Servers { .. }
        | Request::Prompt { .. }
        | Request::Fill { .. }
        | Request::StopFill
        | Request::SetBudget { .. }
        | Request::Compact { .. }
        | Request::SwitchModel { .. }
        | Request::ListModels
        | Request::ReadImage { .. }
        | Request::CheckImages => |_| {},
    }
}

/// Tells whether a client of this name is a screen.
pub(super) fn is_screen(name: &ClientId) -> bool {
    name.as_str().split(' ').next() == Some(SCREEN)
}

/// Lets the others know what a reply means for them; returns what the client itself is told.
fn distribute(members: &Members, by: &ClientId, reply: Reply) -> Reply {
    let by = Some(by).filter(|by| !by.is_first());
    match reply {
        Reply::Stopped(entries) => Reply::Stopped(members.give_back(by, entries)),
        reply => {
            if let Reply::Queue { outcome, .. } = &reply {
                match outcome {
                    QueueOutcome::Withdrawn(entry) => members.withdrawn(by, entry),
                    QueueOutcome::Merged(_, second) => members.withdrawn(by, second),
                    QueueOutcome::Done | QueueOutcome::Gone | QueueOutcome::Ended | QueueOutcome::Refused(_) => {}
                }
            }
            reply
        }
    }
}
