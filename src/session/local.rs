//! A client in the same process as the run: a request is carried out under short locks before [`Client::send`] returns.
//! What looks at files has a thread of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::host::Handle;
use crate::protocol::{BudgetStatus, ClientId, Numbered, Post, Request};
use crate::session::client::{Client, Waiting, Wake};
use crate::session::requests::Requests;

/// A client in the same process.
pub struct LocalClient {
    handle: Handle,
    requests: Arc<Requests>,
    shared: Arc<Shared>,
}

/// What other threads change.
#[derive(Default)]
struct Shared {
    replies: Mutex<Vec<Post>>,
    number: Mutex<u64>,
    queues_changed: AtomicBool,
    approvals_changed: AtomicBool,
    /// What was told of the budget last.
    told: Mutex<Option<BudgetStatus>>,
    wake: Mutex<Option<Wake>>,
}

impl Shared {
    fn wake(&self, waiting: Waiting) {
        let wake = lock(&self.wake).clone();
        if let Some(wake) = wake {
            wake(waiting);
        }
    }

    fn reply(&self, posts: Vec<Post>) {
        lock(&self.replies).extend(posts);
        self.wake(Waiting::Answers);
    }

    fn mark(&self, changed: &AtomicBool) {
        changed.store(true, Ordering::SeqCst);
        self.wake(Waiting::Answers);
    }
}

impl LocalClient {
    /// Makes the client of a run. Its first answers are snapshots of everything.
    pub fn new(handle: Handle) -> Self {
        let shared = Arc::new(Shared::default());
        shared.queues_changed.store(true, Ordering::SeqCst);
        shared.approvals_changed.store(true, Ordering::SeqCst);
        let watching = Arc::clone(&shared);
        handle.watch(move || watching.mark(&watching.queues_changed));
        let watching = Arc::clone(&shared);
        handle.approvals().watch(Arc::new(move || watching.mark(&watching.approvals_changed)));
        let requests = Arc::new(Requests::new(handle.clone()));
        Self { handle, requests, shared }
    }

    fn budget(&self) -> Option<Post> {
        let status = self.handle.budget_status();
        let mut told = lock(&self.shared.told);
        (told.replace(status) != Some(status)).then_some(Post::Budget(status))
    }
}

impl Client for LocalClient {
    fn send(&self, request: Request) {
        let number = {
            let mut number = lock(&self.shared.number);
            *number += 1;
            *number
        };
        let takes_a_moment = request.takes_a_moment();
        // Also when nothing changed: a client that expected a change learns what there is.
        match &request {
            Request::Inject { .. }
            | Request::Stop
            | Request::Reset
            | Request::Queue { .. }
            | Request::NeverAskIfTrue
            | Request::Resume => self.shared.queues_changed.store(true, Ordering::SeqCst),
            Request::Answer { .. } | Request::UserLeft | Request::SetMode { .. } => {
                self.shared.approvals_changed.store(true, Ordering::SeqCst);
            }
            Request::Pause { .. }
            | Request::Decide { .. }
            | Request::Cancel { .. }
            | Request::PreviewUndo
            | Request::PreviewRewind { .. }
            | Request::Retry
            | Request::Undo
            | Request::Rules { .. }
            | Request::SetBudget { .. }
            | Request::Compact { .. }
            | Request::SwitchModel { .. }
            | Request::ListModels
            | Request::KeepDrafts { .. } => {}
        }
        let numbered = Numbered { client: ClientId("local".to_owned()), number, request };
        let (requests, shared) = (Arc::clone(&self.requests), Arc::clone(&self.shared));
        let carry_out = move || shared.reply(requests.carry_out(numbered).into_iter().map(Post::Reply).collect());
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

    fn answers(&self) -> Vec<Post> {
        let mut posts = std::mem::take(&mut *lock(&self.shared.replies));
        if self.shared.queues_changed.swap(false, Ordering::SeqCst) {
            posts.push(Post::Queues { queues: self.handle.peek(), paused: self.handle.interloper().paused() });
        }
        if self.shared.approvals_changed.swap(false, Ordering::SeqCst) {
            let approvals = self.handle.approvals();
            posts.push(Post::Approvals { mode: approvals.mode(), open: approvals.open() });
        }
        posts.extend(self.budget());
        posts
    }

    fn events(&self) -> Vec<Post> {
        let mut posts = self.handle.mailbox().take();
        posts.extend(self.budget());
        posts
    }

    fn on_wake(&self, wake: Wake) {
        *lock(&self.shared.wake) = Some(Arc::clone(&wake));
        let events = Arc::clone(&self.shared);
        self.handle.mailbox().on_wake(Arc::new(move || events.wake(Waiting::Events)));
        wake(Waiting::Answers);
    }

    fn end(&self) {
        self.handle.cancellable().cancel();
    }
}

fn run(work: &Mutex<Option<impl FnOnce()>>) {
    let work = lock(work).take();
    if let Some(work) = work {
        work();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
