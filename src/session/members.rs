//! The clients of a run, as the hub knows them: what each is still to be told, and whose a text is.
//!
//! Always holds: a client that is gone is told nothing; nothing here waits for a client, and one that does not take what
//! waits for it is let go.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::client::{Wake, WakeReason, Wakeable};
use crate::drafts::Drafts;
use crate::host::{Handle, Mailbox};
use crate::hub::is_screen;
use crate::past::Past;
use crate::status::StatusReducer;
use steersman_base::event::{Event, Pending};
use steersman_base::id::ClientId;
use steersman_base::limits;
use steersman_base::protocol::{BudgetStatus, Notice, Unfinished, Update};
use steersman_base::sync::lock;

/// What is to be told to one client.
pub(super) struct Member {
    /// Its name; `None` for the one that the run was started with.
    pub name: Option<ClientId>,
    /// The events and notices.
    pub mail: Arc<Mailbox>,
    replies: Mutex<Vec<Update>>,
    queues_changed: AtomicBool,
    approvals_changed: AtomicBool,
    /// What was told of the budget last.
    last_budget: Mutex<Option<BudgetStatus>>,
    wake: Wakeable,
    /// Bytes of what waits in the mail.
    backlog: AtomicUsize,
    /// True once it was let go.
    is_lost: AtomicBool,
}

impl Member {
    pub(super) fn new(name: Option<ClientId>, mail: Arc<Mailbox>) -> Self {
        Self {
            name,
            mail,
            replies: Mutex::default(),
            queues_changed: AtomicBool::new(true),
            approvals_changed: AtomicBool::new(true),
            last_budget: Mutex::default(),
            wake: Wakeable::default(),
            backlog: AtomicUsize::new(0),
            is_lost: AtomicBool::new(false),
        }
    }

    pub(super) fn wake(&self, waiting: WakeReason) {
        self.wake.wake(waiting);
    }

    pub(super) fn on_wake(&self, wake: Wake) {
        self.wake.set(Some(wake));
    }

    pub(super) fn reply(&self, updates: impl IntoIterator<Item = Update>) {
        lock(&self.replies).extend(updates);
        self.wake(WakeReason::Answers);
    }

    /// Lets it look at the queues again.
    pub(super) fn queues(&self) {
        self.queues_changed.store(true, Ordering::SeqCst);
    }

    /// Lets it look at the approvals again.
    pub(super) fn approvals(&self) {
        self.approvals_changed.store(true, Ordering::SeqCst);
    }

    /// Takes the replies, and behind them snapshots of what changed.
    pub(super) fn take_answers(&self, handle: &Handle) -> Vec<Update> {
        let mut snapshots = Vec::new();
        if self.queues_changed.swap(false, Ordering::SeqCst) {
            snapshots.push(Update::Queues { queues: handle.peek(), paused: handle.interloper().paused() });
        }
        if self.approvals_changed.swap(false, Ordering::SeqCst) {
            let approvals = handle.approvals();
            snapshots.push(Update::Approvals { mode: approvals.mode(), open: approvals.open() });
        }
        snapshots.extend(self.budget(handle));
        // Taken after the snapshots: a snapshot is marked after its reply, so none is passed on before its reply.
        let mut updates = std::mem::take(&mut *lock(&self.replies));
        updates.append(&mut snapshots);
        updates
    }

    pub(super) fn take_events(&self, handle: &Handle) -> Vec<Update> {
        let mut updates = self.mail.take_updates();
        self.backlog.store(0, Ordering::SeqCst);
        updates.extend(self.budget(handle));
        updates
    }

    /// Tells whether a person looks at it and can answer.
    pub(super) fn is_screen(&self) -> bool {
        self.name.as_ref().is_some_and(is_screen)
    }

    /// Tells whether it was let go.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::SeqCst)
    }

    fn budget(&self, handle: &Handle) -> Option<Update> {
        let status = handle.budget_status();
        let mut last_budget = lock(&self.last_budget);
        (last_budget.replace(status) != Some(status)).then_some(Update::Budget(status))
    }

    fn mail(&self, update: &Update, size: usize) {
        if self.is_lost() {
            return;
        }
        if self.backlog.fetch_add(size, Ordering::SeqCst) > limits::CLIENT_BACKLOG {
            self.is_lost.store(true, Ordering::SeqCst);
            self.mail.take_updates();
            self.wake(WakeReason::Events);
        } else {
            self.mail.push(update.clone());
        }
    }
}

/// All clients of a run.
pub(super) struct Members {
    handle: Handle,
    list: Mutex<Vec<Weak<Member>>>,
    /// The updates of the run, and what that means as a whole; taken before the list.
    log: Mutex<UpdateLog>,
    drafts: Arc<Drafts>,
}

#[derive(Default)]
struct UpdateLog {
    past: Past,
    reducer: StatusReducer,
    /// Whether the client that the run was started with is a screen.
    has_screen: bool,
    /// What an earlier process left, until somebody is asked about it.
    unfinished: Option<Unfinished>,
}

impl Members {
    pub(super) fn new(handle: Handle) -> Self {
        Self { handle, list: Mutex::default(), log: Mutex::default(), drafts: Arc::default() }
    }

    /// Returns what their users are writing.
    pub(super) fn drafts(&self) -> Arc<Drafts> {
        Arc::clone(&self.drafts)
    }

    pub(super) fn all(&self) -> Vec<Arc<Member>> {
        let mut list = lock(&self.list);
        list.retain(|member| member.strong_count() > 0);
        list.iter().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn add(&self, member: &Arc<Member>) {
        lock(&self.list).push(Arc::downgrade(member));
    }

    /// Adds the screen that the run was started with. What an earlier process left is its own, out of the mailbox.
    pub(super) fn add_first_screen(&self, member: &Arc<Member>) {
        let mut log = lock(&self.log);
        log.has_screen = true;
        if let Some(left) = log.unfinished.take() {
            self.drafts.give(None, &left.drafts);
        }
        self.add(member);
    }

    /// Adds a client that is told the past first: nothing comes between that and what happens from now on. A screen gets
    /// what an earlier process left, and the drafts of screens that are gone.
    pub(super) fn add_with_past(&self, member: &Arc<Member>) {
        let mut log = lock(&self.log);
        log.past.all().into_iter().for_each(|update| member.mail.push(update));
        if let Some(name) = member.name.as_ref().filter(|name| is_screen(name)) {
            let mut left = log.unfinished.take().unwrap_or_default();
            let of_others = self.drafts.take_over(name, |client| self.find(client).is_none());
            self.drafts.give(Some(name.clone()), &left.drafts);
            left.drafts.extend(of_others);
            if left != Unfinished::default() {
                member.mail.push(Update::Notice(Notice::Unfinished(left)));
            }
        }
        self.add(member);
    }

    /// Looks at what the run means as a whole.
    pub(super) fn look<T>(&self, look: impl FnOnce(&StatusReducer) -> T) -> T {
        look(&lock(&self.log).reducer)
    }

    /// Passes an update of the run on to everyone but the first client, who gets it from the mailbox itself.
    pub(super) fn broadcast(&self, update: &Update) {
        if let Update::Notice(Notice::Unfinished(left)) = update {
            return self.leave(left);
        }
        {
            let mut log = lock(&self.log);
            let size = log.past.push(update);
            log.reducer.apply(update);
            for member in self.all().iter().filter(|member| member.name.is_some()) {
                member.mail(update, size);
            }
        }
        if let Update::Envelope(envelope) = update
            && let Event::Returned { entries } = &envelope.event
        {
            self.keep_orphans(entries.clone());
        } else if let Update::Notice(Notice::Returned(entries)) = update {
            // No queue takes them any more: they are the first client's.
            let mut orphans: Vec<Pending> = entries.iter().filter(|entry| self.is_orphan(entry)).cloned().collect();
            for entry in &mut orphans {
                entry.sender = None;
            }
            if let (false, Some(first)) = (orphans.is_empty(), self.find(None)) {
                first.reply([Update::Notice(Notice::Returned(orphans))]);
            }
        }
    }

    /// Passes on what an earlier process left: to one screen alone, so that no draft is in two messages and nobody is asked
    /// twice.
    fn leave(&self, left: &Unfinished) {
        let mut log = lock(&self.log);
        if log.has_screen {
            return self.drafts.give(None, &left.drafts);
        }
        match self.all().iter().find(|member| member.is_screen()) {
            Some(screen) => {
                self.drafts.give(screen.name.clone(), &left.drafts);
                screen.mail(&Update::Notice(Notice::Unfinished(left.clone())), 0);
            }
            None => log.unfinished = Some(left.clone()),
        }
    }

    /// Lets everyone look at something again.
    pub(super) fn changed(&self, mark: impl Fn(&Member)) {
        for member in self.all() {
            mark(&member);
            member.wake(WakeReason::Answers);
        }
    }

    /// Distributes texts that a client took out of all queues: each goes back to who sent it, and where that client is
    /// gone it waits again, held. Returns what is the client's own.
    pub(super) fn give_back(&self, by: Option<&ClientId>, entries: Vec<Pending>) -> Vec<Pending> {
        let (own, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.sender.as_ref() == by);
        let (orphans, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|entry| self.is_orphan(entry));
        for member in self.all() {
            let is_its = |entry: &Pending| entry.sender == member.name;
            let its: Vec<Pending> = others.iter().filter(|entry| is_its(entry)).cloned().collect();
            if !its.is_empty() {
                member.reply([Update::Notice(Notice::Returned(its))]);
            }
            let gone = own.iter().filter(|_| member.name.as_ref() != by);
            let gone = gone.chain(others.iter().filter(|entry| !is_its(entry))).cloned();
            notify_withdrawn(&member, by, gone.collect());
        }
        self.handle.take_over(orphans, 0);
        own
    }

    /// Tells the others that a client took a text out of its queue.
    pub(super) fn withdrawn(&self, by: Option<&ClientId>, entry: &Pending) {
        for member in self.all().iter().filter(|member| member.name.as_ref() != by) {
            notify_withdrawn(member, by, vec![entry.clone()]);
        }
    }

    /// Lets texts wait again whose agent has ended and whose sender is gone: for the main agent, held.
    fn keep_orphans(&self, entries: Vec<Pending>) {
        let orphans: Vec<Pending> = entries.into_iter().filter(|entry| self.is_orphan(entry)).collect();
        if !orphans.is_empty() {
            let handle = self.handle.clone();
            // The mailbox is locked here, and whoever watches the queue may use it.
            std::thread::spawn(move || handle.take_over(orphans, 0));
        }
    }

    fn is_orphan(&self, entry: &Pending) -> bool {
        self.find(entry.sender.as_ref()).is_none()
    }

    /// Returns the client of this name, as long as it is there; `None` names the one that the run was started with.
    pub(super) fn find(&self, name: Option<&ClientId>) -> Option<Arc<Member>> {
        self.all().into_iter().find(|member| member.name.as_ref() == name)
    }
}

/// Tells a client that another one took texts out of their queues.
fn notify_withdrawn(member: &Member, by: Option<&ClientId>, entries: Vec<Pending>) {
    if !entries.is_empty() {
        member.queues();
        member.reply([Update::Notice(Notice::Withdrawn { by: by.cloned(), entries })]);
    }
}
