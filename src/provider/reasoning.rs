//! Thoughts that a model writes into its visible text, told apart from the answer while they stream.
//!
//! Fed by assemblers; pure, and the same whatever the pieces. A block counts at the start of the text only, behind
//! nothing but white space and other blocks; the same words in code or in mid-sentence stay text. Only what could
//! still become a tag is held back. A block that is never closed is thought to its end.
//!
//! Templates that open the block in the prompt leave a lone closing tag. When it comes, all text before it becomes
//! thought ([`Split::moved`]); what was passed on of it cannot be called back, only the whole reply is right. It counts
//! at the start of a line or behind the end of a sentence, outside of code, and only the first one is looked at.

use std::borrow::Cow;

/// Is one spelling of a block.
#[derive(Debug, PartialEq, Eq)]
struct Tag {
    open: &'static str,
    close: &'static str,
    /// Whether there are templates that write the opening tag into the prompt.
    in_prompts: bool,
}

const fn tag(open: &'static str, close: &'static str, in_prompts: bool) -> Tag {
    Tag { open, close, in_prompts }
}

/// What models write: the chat templates of llama.cpp, vLLM and `SGLang` know the first four; the others come from models
/// that were trained or told to.
const TAGS: [Tag; 8] = [
    tag("<think>", "</think>", true),
    tag("[THINK]", "[/THINK]", false),
    tag("<mm:think>", "</mm:think>", true),
    tag("<seed:think>", "</seed:think>", true),
    tag("<thinking>", "</thinking>", false),
    tag("<thought>", "</thought>", false),
    tag("<reasoning>", "</reasoning>", false),
    tag("◁think▷", "◁/think▷", false),
];

/// Ends a sentence; a lone closing tag may stand behind it.
const SENTENCE_ENDS: [char; 7] = ['.', '!', '?', '…', '。', '！', '？'];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Nothing but white space so far.
    #[default]
    Start,
    /// In a block, of which something was given out already or nothing yet.
    Inside { tag: &'static Tag, begun: bool },
    /// Behind a block, and nothing but white space since.
    Behind,
    /// In the answer; a lone closing tag may still come.
    Answer,
    /// In the answer for good.
    Plain,
}

/// Is what a piece of text turned out to be.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Whether all text that was given out before is thought as well.
    pub moved: bool,
    /// Thought.
    pub thinking: String,
    /// Answer; it stands behind the thought.
    pub text: String,
}

/// Splits the text of one reply.
#[derive(Debug, Default)]
pub struct Splitter {
    state: State,
    /// White space before anything else.
    blank: String,
    /// What could still become a tag; never longer than one.
    held: String,
}

impl Splitter {
    /// Takes the next piece. `before` is the text that was given out as the answer so far.
    pub fn push(&mut self, piece: Cow<'_, str>, before: &str) -> Split {
        if self.state == State::Plain || (self.state == State::Answer && self.is_clear(&piece)) {
            return Split { text: piece.into_owned(), ..Split::default() };
        }
        let mut data = std::mem::take(&mut self.held);
        data.push_str(&piece);
        let mut split = Split::default();
        let mut rest = data.as_str();
        while let Some(next) = self.step(rest, before, &mut split) {
            rest = next;
        }
        split
    }

    /// Gives out what is held back, at the end of the text.
    pub fn finish(&mut self) -> Split {
        let mut text = std::mem::take(&mut self.blank);
        text.push_str(&std::mem::take(&mut self.held));
        match self.state {
            State::Inside { .. } => return Split { thinking: text, ..Split::default() },
            State::Start | State::Behind if !text.is_empty() => self.state = State::Plain,
            State::Start | State::Behind | State::Answer | State::Plain => {}
        }
        Split { text, ..Split::default() }
    }

    /// Gives out what is held back and leaves all that follows as it is: the server tells thoughts apart itself.
    pub fn leave(&mut self) -> Split {
        let split = self.finish();
        self.state = State::Plain;
        split
    }

    /// Tells whether nothing is held back and a piece holds nothing that could begin a closing tag of a prompt's block.
    fn is_clear(&self, piece: &str) -> bool {
        self.held.is_empty() && memchr::memchr(b'<', piece.as_bytes()).is_none()
    }

    /// Goes on to the next state. Returns what is left to look at, `None` when the rest was given out or is held.
    fn step<'a>(&mut self, rest: &'a str, before: &str, split: &mut Split) -> Option<&'a str> {
        match self.state {
            State::Start | State::Behind => self.begin(rest, split),
            State::Inside { tag, begun } => {
                let rest = if begun { rest } else { rest.trim_start() };
                if let Some((thought, after)) = rest.split_once(tag.close) {
                    split.thinking.push_str(thought);
                    self.state = State::Behind;
                    return Some(after);
                }
                let (thought, held) = rest.split_at(rest.len() - partial(rest, [tag.close]));
                split.thinking.push_str(thought);
                held.clone_into(&mut self.held);
                self.state = State::Inside { tag, begun: begun || !thought.is_empty() };
                None
            }
            State::Answer => self.answer(rest, before, split),
            State::Plain => {
                split.text.push_str(rest);
                None
            }
        }
    }

    /// Looks for a tag where a block can begin.
    fn begin<'a>(&mut self, rest: &'a str, split: &mut Split) -> Option<&'a str> {
        let text = rest.trim_start();
        if self.state == State::Start {
            self.blank.push_str(rest.strip_suffix(text).unwrap_or_default());
        }
        for tag in &TAGS {
            if let Some(after) = text.strip_prefix(tag.open) {
                self.state = State::Inside { tag, begun: false };
                self.blank.clear();
                return Some(after);
            }
            if let Some(after) = text.strip_prefix(tag.close).filter(|_| tag.in_prompts) {
                self.state = State::Behind;
                self.blank.clear();
                return Some(after);
            }
        }
        let could_be = |word: &str| word.starts_with(text);
        if TAGS.iter().any(|tag| could_be(tag.open) || (tag.in_prompts && could_be(tag.close))) {
            text.clone_into(&mut self.held);
            return None;
        }
        // White space before an answer is a part of it; behind a block it only parts the two.
        split.text.push_str(&std::mem::take(&mut self.blank));
        self.state = if self.state == State::Start { State::Answer } else { State::Plain };
        Some(text)
    }

    /// Looks for a lone closing tag in the answer.
    fn answer<'a>(&mut self, rest: &'a str, before: &str, split: &mut Split) -> Option<&'a str> {
        let lone = TAGS.iter().filter(|tag| tag.in_prompts);
        let first = lone.clone().filter_map(|tag| Some((rest.find(tag.close)?, tag))).min_by_key(|(at, _)| *at);
        let Some((at, tag)) = first else {
            let (text, held) = rest.split_at(rest.len() - partial(rest, lone.map(|tag| tag.close)));
            split.text.push_str(text);
            held.clone_into(&mut self.held);
            return None;
        };
        let (thought, behind) = rest.split_at(at);
        let begun = [before, split.text.as_str(), thought].concat();
        if !is_lone(&begun, tag) {
            split.text.push_str(rest);
            self.state = State::Plain;
            return None;
        }
        split.moved = true;
        split.thinking = std::mem::take(&mut split.text);
        split.thinking.push_str(thought);
        self.state = State::Behind;
        behind.strip_prefix(tag.close)
    }
}

/// Returns how many bytes at the end of a text could be the beginning of one of the words.
fn partial<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> usize {
    let fits = |word: &str| {
        let ends = word.char_indices().map(|(at, _)| at).rev();
        let mut begins = ends.filter_map(|end| word.get(..end));
        begins.find(|begin| text.ends_with(begin)).map_or(0, str::len)
    };
    words.into_iter().map(fits).max().unwrap_or(0)
}

/// Tells whether a closing tag behind a text ends a block that the prompt opened.
fn is_lone(before: &str, tag: &Tag) -> bool {
    if before.contains(tag.open) {
        return false;
    }
    let fences = before.lines().filter(|line| line.trim_start().starts_with("```")).count();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let in_code = fences % 2 == 1 || line.matches('`').count() % 2 == 1;
    let fits = line.trim().is_empty() || line.trim_end().ends_with(SENTENCE_ENDS);
    fits && !in_code
}
