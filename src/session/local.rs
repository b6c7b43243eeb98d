//! A client in the same process as the run: a request is carried out under short locks before [`Client::send`] returns.
//! What looks at files has a thread of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::client::{Client, Wake, WakeReason};
use crate::host::Handle;
use crate::hub::Hub;
use crate::members::Member;
use steersman_base::id::ClientId;
use steersman_base::protocol::{Reply, Request, Update};
use steersman_base::sync::lock;

/// A client in the same process. It leaves the run when it is dropped.
pub struct LocalClient {
    hub: Arc<Hub>,
    member: Arc<Member>,
    number: AtomicU64,
}

impl LocalClient {
    pub(super) fn joined(hub: Arc<Hub>, member: Arc<Member>) -> Self {
        Self { hub, member, number: AtomicU64::new(0) }
    }

    /// Makes the only client of a run. Its first answers are snapshots of everything.
    pub fn new(handle: Handle) -> Self {
        Hub::new(handle).first()
    }

    /// Returns its name; `None` for the client that the run was started with.
    pub fn name(&self) -> Option<&ClientId> {
        self.member.name.as_ref()
    }

    /// Tells whether it was let go because it did not take what waited for it.
    pub fn is_lost(&self) -> bool {
        self.member.is_lost()
    }

    pub(super) fn is_over(&self) -> bool {
        self.hub.is_over()
    }

    /// Carries out a request with the number that the client gave it; once, however often it is sent. Passes its reply on
    /// where it has one, which is not among the answers. May take a moment.
    pub(super) fn carry_out(&self, number: u64, request: Request, answer: impl FnOnce(Option<Reply>)) {
        self.hub.carry_out(&self.member, number, request, answer);
    }
}

impl Client for LocalClient {
    fn send(&self, request: Request) {
        let number = self.number.fetch_add(1, Ordering::SeqCst) + 1;
        let takes_a_moment = request.takes_a_moment();
        let (hub, member) = (Arc::clone(&self.hub), Arc::clone(&self.member));
        let carry_out = move || {
            hub.carry_out(&member, number, request, |reply| member.reply(reply.into_iter().map(Update::Reply)));
        };
        if takes_a_moment {
            // Without a thread it takes that moment here.
            let carry_out = Arc::new(Mutex::new(Some(carry_out)));
            let on_thread = Arc::clone(&carry_out);
            let started = thread::Builder::new().name("files".to_owned()).spawn(move || run(&on_thread));
            if started.is_err() {
                run(&carry_out);
            }
        } else {
            carry_out();
        }
    }

    fn answers(&self) -> Vec<Update> {
        self.member.take_answers(self.hub.handle())
    }

    fn events(&self) -> Vec<Update> {
        self.member.take_events(self.hub.handle())
    }

    fn on_wake(&self, wake: Wake) {
        self.member.on_wake(Arc::clone(&wake));
        let events = Arc::downgrade(&self.member);
        self.member.mail.on_wake(Arc::new(move || {
            if let Some(member) = events.upgrade() {
                member.wake(WakeReason::Events);
            }
        }));
        wake(WakeReason::Answers);
    }

    /// Ends the run, when it was started with this client.
    fn end(&self) {
        if self.member.name.is_none() {
            self.hub.handle().cancellable().cancel();
        }
    }
}

fn run(work: &Mutex<Option<impl FnOnce()>>) {
    let work = lock(work).take();
    if let Some(work) = work {
        work();
    }
}
