//! Thinking that a model writes into its visible text, separated from the answer while it streams.
//!
//! Used by assemblers; pure, and independent of how the text is cut into pieces. A block counts at the start of the
//! text only, after nothing but white space and other blocks; the same words in code or within a sentence stay
//! text. Only a possible beginning of a tag is held back. A block that is never closed is thinking to its end.
//!
//! Templates that open the block in the prompt stop a lone closing tag. When it comes, all text before it becomes
//! thinking ([`Split::moved`]); text that was passed on already cannot be recalled, only the whole reply is right.
//! The tag counts at the start of a line or after the end of a sentence, outside of code, and only the first one is
//! considered.

use std::borrow::Cow;

/// The tags around a block of thinking.
#[derive(Debug, PartialEq, Eq)]
struct ReasoningTag {
    open: &'static str,
    close: &'static str,
    /// Whether some templates write the opening tag into the prompt.
    in_prompts: bool,
}

const fn tag(open: &'static str, close: &'static str, in_prompts: bool) -> ReasoningTag {
    ReasoningTag { open, close, in_prompts }
}

/// The tags that models write: the chat templates of llama.cpp, vLLM and `SGLang` know the first four; the others come
/// from models that were trained or prompted to write them.
const TAGS: [ReasoningTag; 8] = [
    tag("<think>", "</think>", true),
    tag("[THINK]", "[/THINK]", false),
    tag("<mm:think>", "</mm:think>", true),
    tag("<seed:think>", "</seed:think>", true),
    tag("<thinking>", "</thinking>", false),
    tag("<thought>", "</thought>", false),
    tag("<reasoning>", "</reasoning>", false),
    tag("◁think▷", "◁/think▷", false),
];

/// The ends of sentences, after which a lone closing tag may follow.
const SENTENCE_ENDS: [char; 7] = ['.', '!', '?', '…', '。', '！', '？'];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum SplitState {
    /// Nothing but white space so far.
    #[default]
    Start,
    /// In a block; `begun` once some of it was returned.
    Inside { tag: &'static ReasoningTag, begun: bool },
    /// After a block, with nothing but white space since.
    Behind,
    /// In the answer; a lone closing tag may still come.
    Answer,
    /// In the answer, to its end.
    Plain,
}

/// A piece of text, split into thinking and answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Whether all text that was returned before is thinking as well.
    pub moved: bool,
    /// The thinking.
    pub thinking: String,
    /// The answer; it follows the thinking.
    pub text: String,
}

/// The state of splitting the text of one reply.
#[derive(Debug, Default)]
pub struct Splitter {
    state: SplitState,
    /// White space before any other text.
    blank: String,
    /// A possible beginning of a tag; never longer than one.
    held: String,
}

impl Splitter {
    /// Takes the next piece. `before` is the text that was returned as the answer so far.
    pub fn push(&mut self, piece: Cow<'_, str>, before: &str) -> Split {
        if self.state == SplitState::Plain || (self.state == SplitState::Answer && self.is_clear(&piece)) {
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

    /// Returns the text that was held back, at the end of the text.
    pub fn finish(&mut self) -> Split {
        let mut text = std::mem::take(&mut self.blank);
        text.push_str(&std::mem::take(&mut self.held));
        match self.state {
            SplitState::Inside { .. } => return Split { thinking: text, ..Split::default() },
            SplitState::Start | SplitState::Behind if !text.is_empty() => self.state = SplitState::Plain,
            SplitState::Start | SplitState::Behind | SplitState::Answer | SplitState::Plain => {}
        }
        Split { text, ..Split::default() }
    }

    /// Returns the text that was held back and stops splitting: the server separates thinking itself.
    pub fn stop(&mut self) -> Split {
        let split = self.finish();
        self.state = SplitState::Plain;
        split
    }

    /// Returns whether nothing is held back and a piece cannot contain the beginning of a closing tag.
    fn is_clear(&self, piece: &str) -> bool {
        self.held.is_empty() && memchr::memchr(b'<', piece.as_bytes()).is_none()
    }

    /// Takes one step. Returns the text that is left to read; `None` when the rest was returned or is held back.
    fn step<'a>(&mut self, rest: &'a str, before: &str, split: &mut Split) -> Option<&'a str> {
        match self.state {
            SplitState::Start | SplitState::Behind => self.begin(rest, split),
            SplitState::Inside { tag, begun } => {
                let rest = if begun { rest } else { rest.trim_start() };
                if let Some((thought, after)) = rest.split_once(tag.close) {
                    split.thinking.push_str(thought);
                    self.state = SplitState::Behind;
                    return Some(after);
                }
                let (thought, held) = rest.split_at(rest.len() - partial(rest, [tag.close]));
                split.thinking.push_str(thought);
                held.clone_into(&mut self.held);
                self.state = SplitState::Inside { tag, begun: begun || !thought.is_empty() };
                None
            }
            SplitState::Answer => self.answer(rest, before, split),
            SplitState::Plain => {
                split.text.push_str(rest);
                None
            }
        }
    }

    /// Looks for a tag where a block can begin.
    fn begin<'a>(&mut self, rest: &'a str, split: &mut Split) -> Option<&'a str> {
        let text = rest.trim_start();
        if self.state == SplitState::Start {
            self.blank.push_str(rest.strip_suffix(text).unwrap_or_default());
        }
        for tag in &TAGS {
            if let Some(after) = text.strip_prefix(tag.open) {
                self.state = SplitState::Inside { tag, begun: false };
                self.blank.clear();
                return Some(after);
            }
            if let Some(after) = text.strip_prefix(tag.close).filter(|_| tag.in_prompts) {
                self.state = SplitState::Behind;
                self.blank.clear();
                return Some(after);
            }
        }
        let could_be = |word: &str| word.starts_with(text);
        if TAGS.iter().any(|tag| could_be(tag.open) || (tag.in_prompts && could_be(tag.close))) {
            text.clone_into(&mut self.held);
            return None;
        }
        // White space before an answer is a part of it; after a block it only separates the two.
        split.text.push_str(&std::mem::take(&mut self.blank));
        self.state = if self.state == SplitState::Start { SplitState::Answer } else { SplitState::Plain };
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
            self.state = SplitState::Plain;
            return None;
        }
        split.moved = true;
        split.thinking = std::mem::take(&mut split.text);
        split.thinking.push_str(thought);
        self.state = SplitState::Behind;
        behind.strip_prefix(tag.close)
    }
}

/// Returns the bytes at the end of a text that could be the beginning of one of the words.
fn partial<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> usize {
    let fits = |word: &str| {
        let ends = word.char_indices().map(|(at, _)| at).rev();
        let mut begins = ends.filter_map(|end| word.get(..end));
        begins.find(|begin| text.ends_with(begin)).map_or(0, str::len)
    };
    words.into_iter().map(fits).max().unwrap_or(0)
}

/// Returns whether a closing tag after a text ends a block that the prompt opened.
fn is_lone(before: &str, tag: &ReasoningTag) -> bool {
    if before.contains(tag.open) {
        return false;
    }
    let fences = before.lines().filter(|line| line.trim_start().starts_with("```")).count();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let in_code = fences % 2 == 1 || line.matches('`').count() % 2 == 1;
    let fits = line.trim().is_empty() || line.trim_end().ends_with(SENTENCE_ENDS);
    fits && !in_code
}
