//! What the state knows about being read as lines: where it is told, and what can be asked to be told.
//!
//! `update` decides by it what a text goes through, `lines` prints what is asked for. A drawn screen asks for nothing.

/// Where the state is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Medium {
    /// Frames are drawn.
    #[default]
    Screen,
    /// Lines are written, one after the other; the message being written is the line being typed.
    Lines,
}

/// One thing that the user wants told in lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// The commands.
    Help,
    /// The page of the manual on this topic, else what these words find in all pages.
    Manual(String),
    /// What is going on, in a few lines.
    Status,
    /// What was used and what it cost.
    Cost,
    /// The agents, those that run before the others.
    Agents,
    /// The pending texts.
    Pending,
    /// What became of every text that was sent.
    Ledger,
    /// The entry of the transcript with this number, whole; the list of entries for none.
    Entry(Option<usize>),
    /// The entries of the transcript that hold these words.
    Find(String),
    /// The rest of a question.
    More,
    /// The arguments of the call before which the read agent waits.
    Arguments,
}
