//! What the program holds of a journal: takes events, messages and accepted texts, and hands them to the writer.
//!
//! Pieces of text are left out, as the whole text follows them. Nothing here waits but [`Keeper::keep`], which the
//! sender of a text waits for, a bounded time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::{fmt, io, thread};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::oneshot;

use crate::host::{Keeper, ResumeSource, Resumed};
use crate::journal::SessionId;
use crate::journal::record::{Header, Record};
use crate::journal::texts::{HiddenKey, Unknown, reveal_in};
use crate::journal::writer::{Job, Opening, TroubleReporter, Writer};
use steersman_base::event::{Envelope, Pending, TakenBack};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::limits;
use steersman_base::protocol::{DraftText, Unsaved};
use steersman_base::sync::lock;
use steersman_core::listener::{HistoryChange, Listener};
use steersman_core::provider::ApiKey;

/// Said once when a text was not waited for any longer.
const DISK_SLOW: &str = "The disk does not answer. What you send is taken, but it is lost if the program is killed before \
                         it is saved";

/// Said where a conversation held a key that this process does not have.
const KEYS_UNKNOWN: &str = "The conversation held a key that is not set any more: the model reads [key …] in its place";

/// An earlier run whose hidden keys are put back.
#[derive(Debug)]
struct Revealing {
    earlier: Box<dyn ResumeSource>,
    secrets: Arc<Mutex<Vec<HiddenKey>>>,
}

impl ResumeSource for Revealing {
    fn events(&mut self) -> io::Result<Vec<Envelope>> {
        self.earlier.events()
    }

    fn resumed(self: Box<Self>) -> Resumed {
        let mut resumed = self.earlier.resumed();
        let secrets = lock(&self.secrets);
        let mut unknown: Vec<Unknown> =
            resumed.messages.iter_mut().map(|message| reveal_in(message, &secrets)).collect();
        resumed.agents.change_messages(|message| unknown.push(reveal_in(message, &secrets)));
        unknown.push(reveal_in(&mut resumed.unfinished, &secrets));
        unknown.push(reveal_in(&mut resumed.rules, &secrets));
        unknown.push(reveal_in(&mut resumed.plan, &secrets));
        if unknown.contains(&Unknown::Some) {
            resumed.notes.push(KEYS_UNKNOWN.to_owned());
        }
        resumed
    }
}

/// A session's journal while the session runs. Cheap to clone; the last clone that goes ends the thread.
#[derive(Clone)]
pub struct Journal {
    session: SessionId,
    jobs: Sender<Job>,
    secrets: Arc<Mutex<Vec<HiddenKey>>>,
    trouble: Arc<Mutex<TroubleReporter>>,
    saving: Arc<Mutex<Option<Unsaved>>>,
    /// True once a text was accepted or a turn began.
    has_begun: Arc<AtomicBool>,
    /// True while the disk takes longer than anybody waits for it.
    is_slow: Arc<AtomicBool>,
    /// No text that another process took has a higher number.
    earlier_texts: u64,
    file: Option<PathBuf>,
}

impl Journal {
    /// Starts the journal of a new session; the file is made with the first thing that somebody says.
    pub fn begin(header: Header, opening: Opening) -> Self {
        Self::begin_behind(0, header, opening)
    }

    /// Starts the journal of a session that another program wrote: nobody runs in it.
    pub(super) fn begin_import(header: Header, opening: Opening) -> Self {
        let journal = Self::start(header.session.clone(), Writer::new(opening, 0), 0);
        journal.push(Record::Session(header));
        journal
    }

    fn begin_behind(last: u64, header: Header, opening: Opening) -> Self {
        let session = header.session.clone();
        let journal = Self::start(session, Writer::new(opening, last), last);
        journal.push(Record::Session(header));
        journal.push_run();
        journal
    }

    /// Starts the journal of a session that branches from another, whose last record has this number: these records of
    /// that are its beginning. Its own numbers are higher.
    pub fn branch(header: Header, last: u64, records: &[Record], opening: Opening) -> Self {
        let journal = Self::begin_behind(last, header, opening);
        records.iter().cloned().for_each(|record| journal.push(record));
        journal
    }

    /// Goes on with the journal of a session that is resumed, behind its last record.
    pub fn resume(session: SessionId, last: u64, opening: Opening) -> Self {
        let journal = Self::start(session, Writer::resuming(opening, last), last);
        // A session that is resumed has begun before.
        journal.has_begun.store(true, Ordering::Relaxed);
        journal.push_run();
        journal
    }

    /// Tells the user a sentence about what is saved, as soon as somebody listens.
    pub fn tell(&self, sentence: String) {
        lock(&self.trouble).say(sentence);
    }

    /// Says that nobody watches this program, so that the user does not go on with its session by mistake.
    pub fn unattended(&self) {
        self.push(Record::Unattended);
    }

    fn start(session: SessionId, writer: Writer, earlier: u64) -> Self {
        let (jobs, taken) = channel();
        let (secrets, trouble, saving) =
            (Arc::clone(&writer.secrets), Arc::clone(&writer.trouble), Arc::clone(&writer.saving));
        let name = thread::Builder::new().name("journal".to_owned());
        if let Err(error) = name.spawn(move || writer.run(&taken)) {
            let mut trouble = lock(&trouble);
            trouble.say(format!("The session cannot be saved: {error}"));
        }
        Self {
            session,
            jobs,
            secrets,
            trouble,
            saving,
            has_begun: Arc::default(),
            is_slow: Arc::default(),
            earlier_texts: earlier,
            file: None,
        }
    }

    /// Says how high the texts are numbered that were sent before this process wrote any. There are no more of them than
    /// records, whatever a damaged file says.
    #[must_use]
    pub fn behind_texts(self, earlier_texts: u64) -> Self {
        let earlier_texts = self.earlier_texts.min(earlier_texts);
        Self { earlier_texts, ..self }
    }

    /// Returns that number; without it, the number of the last record that another process wrote, which is no lower.
    pub fn earlier_texts(&self) -> u64 {
        self.earlier_texts
    }

    /// Names the file that it is in, or will be once there is something to write.
    #[must_use]
    pub fn in_file(self, file: PathBuf) -> Self {
        Self { file: Some(file), ..self }
    }

    /// Returns that file.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the session's name.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Tells whether somebody said, ran or wrote something.
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Makes the file before anything is said; returns whether the session can be saved, as far as the disk answers. At the end
    /// it is removed again when nothing was said.
    pub fn open(&self) -> bool {
        // After the end there is nobody to make it.
        let _ = self.jobs.send(Job::Open);
        self.keep();
        lock(&self.saving).is_none()
    }

    /// Takes a key out of everything that is written from here on.
    pub fn hide(&self, key: ApiKey) {
        let mut secrets = lock(&self.secrets);
        if secrets.iter().all(|secret| secret.key != key) {
            secrets.push(HiddenKey::new(key));
        }
    }

    /// Lets what a session goes on with have the keys again that its journal hides, as far as this process has them: a model
    /// gets nothing else than it had.
    pub fn revealing(&self, earlier: Box<dyn ResumeSource>) -> Box<dyn ResumeSource> {
        Box::new(Revealing { earlier, secrets: Arc::clone(&self.secrets) })
    }

    /// Passes on what the user is to be told: that nothing can be saved, and that it can again.
    pub fn on_trouble(&self, listener: impl Fn(String) + Send + 'static) {
        lock(&self.trouble).listen(Box::new(listener));
    }

    /// Returns why nothing can be saved, as it stands whenever this is locked; `None` while all is well.
    pub fn saving(&self) -> Arc<Mutex<Option<Unsaved>>> {
        Arc::clone(&self.saving)
    }

    /// Ends the journal; returns a sentence about what is missing in it.
    pub fn close(&self) -> Option<String> {
        let (answer, answered) = sync_channel(1);
        self.jobs.send(Job::Close(answer)).ok()?;
        let late = || Some("the end of the session may be missing: the disk does not answer".to_owned());
        answered.recv_timeout(limits::JOURNAL_PATIENCE).unwrap_or_else(|_| late())
    }

    fn push_run(&self) {
        let program = concat!("steersman ", env!("CARGO_PKG_VERSION")).to_owned();
        self.push(Record::Run { pid: std::process::id(), program, at: Timestamp::now() });
    }

    pub(super) fn record(&self, record: Record) {
        self.push(record);
    }

    fn push(&self, record: Record) {
        if record.begins() || record.has_draft() == Some(true) {
            self.has_begun.store(true, Ordering::Relaxed);
        }
        // After the end there is nobody to write it.
        let _ = self.jobs.send(Job::Record(Box::new(record)));
    }
}

impl Keeper for Journal {
    fn accepted(&self, to: &AgentId, entry: Pending) {
        self.push(Record::Accepted { to: to.clone(), entry });
    }

    fn restored(&self, to: &AgentId, entry: Pending) {
        self.push(Record::Restored { to: to.clone(), entry });
    }

    fn taken_back(&self, texts: Vec<MessageId>, why: TakenBack) {
        self.push(Record::TakenBack { texts, why, at: Timestamp::now() });
    }

    fn keep(&self) {
        let (done, is_done) = sync_channel(1);
        let done = Box::new(move || {
            let _ = done.send(());
        });
        // After the end there is nobody to wait for.
        let is_slow =
            self.jobs.send(Job::Sync(done)).is_ok() && is_done.recv_timeout(limits::JOURNAL_PATIENCE).is_err();
        match (is_slow, self.is_slow.swap(is_slow, Ordering::Relaxed)) {
            (true, false) => lock(&self.trouble).say(DISK_SLOW.to_owned()),
            (false, true) => lock(&self.trouble).say("The disk answers again".to_owned()),
            (true, true) | (false, false) => {}
        }
    }

    fn drafts(&self, drafts: Vec<DraftText>) {
        self.push(Record::Drafts { texts: drafts });
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Journal({})", self.session)
    }
}

impl Listener for Journal {
    fn on_event(&self, envelope: &Envelope) {
        if !envelope.event.is_piece() {
            self.push(Record::Event(envelope.clone()));
        }
    }

    fn on_history(&self, agent: &AgentId, change: HistoryChange<'_>) {
        let (replaced, messages) = match change {
            HistoryChange::Appended(message) => (false, vec![message.clone()]),
            HistoryChange::Replaced(messages) => (true, messages.to_vec()),
        };
        if agent.is_main() {
            self.push(Record::History { replaced, messages });
        } else if !agent.is_synthesizer() {
            self.push(Record::AgentHistory { agent: agent.clone(), replaced, messages });
        }
    }

    fn kept(&self) -> Option<BoxFuture<'static, ()>> {
        let (done, is_done) = oneshot::channel();
        let done = Box::new(move || {
            let _ = done.send(());
        });
        self.jobs.send(Job::Sync(done)).ok()?;
        Some(tokio::time::timeout(limits::JOURNAL_PATIENCE, is_done).map(drop).boxed())
    }

    fn label(&self) -> String {
        "Journal".to_owned()
    }
}
