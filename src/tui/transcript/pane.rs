//! All that the transcripts keep: the cells and the reader of each agent, earlier searches, the colours of code. And the end
//! of a session that is still being read: shown at once, until the whole of it takes its place.
//!
//! `App` owns one [`TranscriptPane`]; only this folder changes it. A new agent has a reader as soon as something is
//! written there.

use std::collections::HashMap;
use std::mem;

use super::cell::{CellId, Level};
use super::reduce::Transcript;
use super::scroll::{Point, Position, Scroll, ScrollRequest};
use super::search::{Search, SearchProgress};
use super::selection::{Selection, SelectionRequest};
use crate::highlight::{Colours, Job};
use crate::pictures::{PictureRoom, Pictures};
use steersman_base::event::{Envelope, Event};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::image::ImageDigest;
use steersman_base::limits;
use steersman_session::model::ReceiptText;

/// The transcripts of all agents.
#[derive(Debug)]
pub struct TranscriptPane {
    pub(super) readers: HashMap<AgentId, Reader>,
    /// The same of the whole session, while that is still being read and only its end is shown.
    pub(super) arriving: Option<HashMap<AgentId, Reader>>,
    /// What was searched for in this session, the newest last.
    pub(super) searches: Vec<String>,
    /// Whether the times of the blocks are shown.
    pub times: Times,
    /// What was copied, in words, until it is known how.
    pub(super) copied: Option<String>,
    pub colours: Colours,
    /// The images that the terminal shows as pictures.
    pub pictures: Pictures,
}

/// The transcript of one agent with the place of its reader.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    pub transcript: Transcript,
    pub scroll: Scroll,
    /// The cell that Enter collapses.
    pub selected: Option<CellId>,
    pub search: Option<Search>,
    pub selection: Option<Selection>,
    /// What the layout is asked about the selection.
    pub requests: Vec<SelectionRequest>,
    /// What the layout copies.
    pub copying: Copying,
}

/// What the layout copies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Copying {
    #[default]
    Nothing,
    Selection,
}

/// Whether the times of the blocks are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Times {
    /// They are not.
    #[default]
    Hidden,
    /// They are.
    Shown,
}

/// What the layout answers before a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// The agent whose transcript was asked about.
    pub agent: AgentId,
    pub found: Option<SearchProgress>,
    /// The selection with its ends where they were asked to be.
    pub selection: Option<Selection>,
    /// The place that is to come into view with it.
    pub reach: Option<Point>,
    /// The text that is selected, or why it is not copied.
    pub copy: Option<Result<String, String>>,
    /// Whether there is more to look through.
    pub rest: Rest,
}

/// Whether a look was the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Everything is answered.
    Done,
    /// Another frame goes on with it.
    More,
}

/// What a frame found out, to be remembered until the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptDrawn {
    /// The agent whose transcript was shown.
    pub agent: AgentId,
    /// The place that was shown.
    pub position: Position,
    /// Its first visible row.
    pub top: Option<Point>,
    /// The number of cells that the transcript had.
    pub cells: usize,
    /// Code in view whose colours are not known.
    pub wanted: Vec<Job>,
    /// The images in view, where pictures are shown.
    pub images: Vec<ImageDigest>,
    /// The room for a picture.
    pub room: PictureRoom,
}

impl Default for TranscriptPane {
    fn default() -> Self {
        Self {
            readers: main_alone(),
            arriving: None,
            searches: Vec::new(),
            times: Times::default(),
            copied: None,
            colours: Colours::default(),
            pictures: Pictures::default(),
        }
    }
}

impl Reader {
    pub(super) fn new(agent: AgentId) -> Self {
        Self { transcript: Transcript::new(agent), ..Self::default() }
    }

    /// Selects what the pointer runs over: until the layout answers, the last request counts.
    pub fn drag(&mut self, request: SelectionRequest) {
        self.requests.retain(|asked| !matches!(asked, SelectionRequest::Drag(..)));
        self.requests.push(request);
    }

    /// Ends the selection; what was selected stays where it is.
    pub fn end_selection(&mut self) {
        self.selection = None;
        self.requests.clear();
    }
}

impl Looked {
    pub fn nothing(agent: AgentId) -> Self {
        Self { agent, found: None, selection: None, reach: None, copy: None, rest: Rest::Done }
    }
}

impl TranscriptPane {
    /// Returns the transcript of an agent; `None` when it has not done anything yet.
    pub fn reader(&self, agent: &AgentId) -> Option<&Reader> {
        self.readers.get(agent)
    }

    /// Returns the transcript of an agent to change it; makes an empty one for a new agent.
    pub fn reader_mut(&mut self, agent: &AgentId) -> &mut Reader {
        entry(&mut self.readers, agent)
    }

    pub fn envelope(&mut self, envelope: &Envelope) {
        self.arriving(&envelope.agent).apply(envelope);
        if let Some(copy) = answer_for_spawner(envelope) {
            self.arriving(&copy.agent).apply(&copy);
        }
        if let Event::AgentFinished { child, .. } = &envelope.event {
            // Of many sub-agents few are read again.
            self.arriving(child).settle();
        }
    }

    /// Writes at a text of the user where it is.
    pub fn set_receipt(&mut self, agent: &AgentId, id: &MessageId, words: ReceiptText) {
        self.arriving(agent).set_receipt(id, words);
    }

    /// Adds a sentence of the program to the transcript of an agent.
    pub fn add_notice(&mut self, agent: &AgentId, level: Level, sentence: &str) {
        for readers in [Some(&mut self.readers), self.arriving.as_mut()].into_iter().flatten() {
            entry(readers, agent).transcript.add_notice(level, sentence);
        }
    }

    /// Returns the transcript of an agent that events go to.
    fn arriving(&mut self, agent: &AgentId) -> &mut Transcript {
        &mut entry(self.arriving.as_mut().unwrap_or(&mut self.readers), agent).transcript
    }

    /// Returns how many agents have a transcript.
    pub fn agents(&self) -> usize {
        self.readers.len()
    }

    /// Puts everything away that nothing more is expected for, so that copies share it.
    pub fn settle(&mut self) {
        self.readers.values_mut().for_each(|reader| reader.transcript.settle());
    }

    /// Returns a copy that nobody has read yet.
    #[must_use]
    pub fn unread(&self) -> Self {
        let unread = |reader: &Reader| Reader { transcript: reader.transcript.clone(), ..Reader::default() };
        let readers = self.readers.iter().map(|(agent, reader)| (agent.clone(), unread(reader))).collect();
        Self { readers, ..Self::default() }
    }

    /// Forgets all transcripts: a new conversation begins.
    pub fn begin_again(&mut self) {
        self.arriving = self.arriving.as_ref().map(|_| main_alone());
        self.readers = main_alone();
    }

    /// Takes over what a frame resolved; returns the code whose colours are to be found out now.
    pub fn drawn(&mut self, drawn: TranscriptDrawn) -> Option<Vec<Job>> {
        let reader = self.reader_mut(&drawn.agent);
        reader.scroll.settle(drawn.position, drawn.top, drawn.cells);
        reader.transcript.put_away();
        self.colours.want(drawn.wanted)
    }

    /// Shows when each block came, or hides it.
    pub fn toggle_times(&mut self) {
        self.times = match self.times {
            Times::Hidden => Times::Shown,
            Times::Shown => Times::Hidden,
        };
    }

    /// Takes the words for what was copied, once it is known how.
    pub fn take_copied(&mut self) -> Option<String> {
        self.copied.take()
    }

    /// Remembers what was searched for as the newest search.
    pub(super) fn remember_search(&mut self, text: String) {
        self.searches.retain(|known| *known != text);
        self.searches.push(text);
        if self.searches.len() > limits::SEARCHES {
            self.searches.remove(0);
        }
    }
}

pub(super) fn main_alone() -> HashMap<AgentId, Reader> {
    let main = AgentId::main();
    HashMap::from([(main.clone(), Reader::new(main))])
}

/// Returns the reader of an agent; makes one for a new agent.
pub(super) fn entry<'a>(readers: &'a mut HashMap<AgentId, Reader>, agent: &AgentId) -> &'a mut Reader {
    readers.entry(agent.clone()).or_insert_with(|| Reader::new(agent.clone()))
}

/// Returns the answer of a rescue as its spawner's: it is the answer to what the user asked there.
fn answer_for_spawner(envelope: &Envelope) -> Option<Envelope> {
    let spawner = envelope.parent.as_ref()?;
    let is_answer = matches!(envelope.event, Event::AssistantDelta { .. } | Event::Assistant { .. });
    (is_answer && spawner.synthesizer() == envelope.agent)
        .then(|| Envelope { agent: spawner.clone(), ..envelope.clone() })
}

impl TranscriptPane {
    /// Shows the last events of a session while the whole of it is being read; none show nothing of it yet.
    pub fn show_end(&mut self, events: &[Envelope]) {
        for envelope in events {
            self.envelope(envelope);
        }
        if !events.is_empty() {
            self.readers.values_mut().for_each(|reader| reader.transcript.mark_as_end());
        }
        self.arriving = Some(main_alone());
    }

    /// Tells whether the session is still being read.
    pub fn is_arriving(&self) -> bool {
        self.arriving.is_some()
    }

    /// Shows the whole session: all of it is read.
    pub fn end_arriving(&mut self) {
        if let Some(whole) = self.arriving.take() {
            for (agent, reader) in mem::replace(&mut self.readers, whole) {
                self.reader_mut(&agent).replace_end(reader);
            }
        }
    }
}

impl Reader {
    fn replace_end(&mut self, end: Self) {
        let earlier = self.transcript.cells().len().saturating_sub(end.transcript.cells().len());
        let cell = |cell: CellId| CellId::new(cell.index() + earlier);
        self.selected = end.selected.map(cell);
        if let Some(mut search) = end.search {
            search.begin_behind(earlier);
            self.search = Some(search);
        }
        if let (false, Some(top)) = (end.scroll.is_following(), end.scroll.top()) {
            // Above the first cell of the end there was no blank row.
            let gap = usize::from(top.cell.index() == 0 && earlier > 0);
            let place = Point { cell: cell(top.cell), line: top.line + gap, byte: top.byte };
            self.scroll.ask(ScrollRequest::Return(Position::Anchor(place)));
        }
    }
}
