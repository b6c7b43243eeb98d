//! What help lists: the commands, the keys made from the keymap, the signs of the agents, how to connect a model, the pages
//! of the manual, and the lines of these that hold the words of the filter.
//!
//! Pure. Every entry leads into the manual.

use std::borrow::Cow;

use super::Help;
use crate::commands::{ALIASES, Alias, COMMANDS, Command, OTHER_NAMES};
use crate::keymap::{Context, Keymap};
use steersman_base::manual::{MANUAL, ManualMatch, ManualPage, has_meaning, manual_page};
use steersman_base::text::clip;
use steersman_session::model::agents::AgentStatus;

/// Characters of a line of the manual that are shown of it.
const EXCERPT: usize = 90;
/// Characters of it before the first word that was found.
const BEFORE: usize = 30;

const CONNECT: &[(&str, &str)] = &[
    ("llama.cpp", "steersman --base-url http://127.0.0.1:8080"),
    ("Ollama", "steersman --base-url http://127.0.0.1:11434 --model NAME"),
    ("OpenAI", "OPENAI_API_KEY=… steersman --base-url https://api.openai.com --model NAME"),
    ("OpenRouter", "steersman --base-url https://openrouter.ai/api/v1 --model NAME --api-key-env OPENROUTER_API_KEY"),
];

/// What stands in the tree and its details besides the signs of the states.
const FIGURES: &[(&str, &str)] = &[
    ("! reason", "worth a look; from 80 % on a full context or a used step limit is such a reason"),
    ("0:15", "how long the turn has run; behind a tool, how long the call has"),
    ("9.3k tok", "tokens that the agent has used in all its rounds"),
    ("Σ", "sums of an agent and everything beneath it, on folded rows and in the details"),
    ("+2 done", "sub-agents that ended a while ago; Right shows them"),
];

/// Entries of one kind.
pub(super) struct Section {
    pub title: &'static str,
    /// The entries, at least one.
    pub entries: Vec<Entry>,
}

/// A thing with its words.
pub(super) struct Entry {
    pub name: Cow<'static, str>,
    pub words: Cow<'static, str>,
    pub target: Target,
}

/// A place in the manual.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    topic: &'static str,
    spot: Spot,
}

/// A place in a page.
#[derive(Debug, Clone, Copy)]
enum Spot {
    Top,
    Line(usize),
    /// The row of its table behind this heading that begins with a name; of a page with one table the heading is empty.
    Row(&'static str, &'static str),
}

impl Target {
    pub(super) fn resolve(self) -> Option<(&'static ManualPage, Option<usize>)> {
        let page = manual_page(self.topic)?;
        let line = match self.spot {
            Spot::Top => None,
            Spot::Line(line) => Some(line),
            Spot::Row(heading, name) => row(page, heading, name),
        };
        Some((page, line))
    }
}

/// Returns the line of a row, else the one of the heading.
fn row(page: &ManualPage, heading: &str, name: &str) -> Option<usize> {
    let text = page.flowing();
    let head = text.lines().position(|line| line.strip_prefix("## ") == Some(heading));
    let cell = name.replace('|', "\\|");
    let is_row = |line: &str| {
        let rest = line.strip_prefix("| ").map(|rest| rest.trim_start_matches('`'));
        let rest = rest.map(|rest| if cell.starts_with('/') { rest } else { rest.trim_start_matches('/') });
        rest.and_then(|rest| rest.strip_prefix(&cell)).is_some_and(|behind| behind.starts_with(['`', ' ']))
    };
    let row = text.lines().enumerate().skip(head.unwrap_or_default()).find(|(_, line)| is_row(line));
    row.map(|(line, _)| line).or(head)
}

/// Returns the sections with what the filter leaves of each; none is empty.
pub(super) fn sections(help: &Help, keymap: &Keymap) -> Vec<Section> {
    let wanted = help.search_words();
    let is_wanted = |entry: &Entry| {
        let text = format!("{} {}", entry.name, entry.words).to_lowercase();
        wanted.iter().all(|word| has_meaning(&text, word))
    };
    let mut sections = vec![Section { title: "Commands, at the start of the message", entries: commands(keymap) }];
    sections.extend(Context::all().map(|context| Section { title: context.title(), entries: keys(keymap, context) }));
    let models = Target { topic: "models", spot: Spot::Top };
    let connect = CONNECT.iter().map(|pair| fixed(pair, models)).collect();
    sections.extend([
        Section { title: OTHER_NAMES, entries: other_names(keymap) },
        Section { title: "Signs in the tree of agents", entries: signs() },
        Section { title: "Connect a model", entries: connect },
        Section { title: "Pages of the manual", entries: MANUAL.iter().map(topic).collect() },
    ]);
    let filter = help.filter.text().trim().to_lowercase();
    // The first words of a heading name all beneath it: `connect`, `pending`.
    let is_named = |title: &str| {
        let title = title.to_lowercase();
        title.strip_prefix(&filter).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    for section in sections.iter_mut().filter(|section| !is_named(section.title)) {
        section.entries.retain(is_wanted);
    }
    // They hold the words, but an excerpt need not show them all.
    let found = help.found().iter().map(|found| line(found, &wanted)).collect();
    sections.push(Section { title: "Lines of the manual", entries: found });
    sections.retain(|section| !section.entries.is_empty());
    sections
}

fn fixed((name, words): &(&'static str, &'static str), target: Target) -> Entry {
    Entry { name: (*name).into(), words: (*words).into(), target }
}

fn commands(keymap: &Keymap) -> Vec<Entry> {
    let target = |name| Target { topic: "commands", spot: Spot::Row("", name) };
    let entry = |command: &Command| {
        let key = keymap.spell(Context::Composer, command.key);
        let key = keymap.with_stand_in(Context::Composer, &key);
        Entry { name: command.usage.into(), words: command.help_with_key(&key).into(), target: target(command.usage) }
    };
    let others = [
        ("//word", "sends a text that begins with /word"),
        ("@agent text", "sends to that agent; @all text to every agent that runs"),
    ];
    let others = others.iter().map(|pair| fixed(pair, Target { topic: "commands", spot: Spot::Top }));
    COMMANDS.iter().map(entry).chain(others).collect()
}

fn other_names(keymap: &Keymap) -> Vec<Entry> {
    let entry = |alias: &Alias| Entry {
        name: format!("/{}", alias.name).into(),
        words: keymap.spell(Context::Composer, &alias.help()).into_owned().into(),
        target: Target { topic: "commands", spot: Spot::Row(OTHER_NAMES, alias.name) },
    };
    ALIASES.iter().map(entry).collect()
}

fn keys(keymap: &Keymap, context: Context) -> Vec<Entry> {
    // A row with a name speaks for those behind it that have none.
    let rows = context.rows().chunk_by(|_, next| next.name.is_empty());
    let entry = |rows| {
        let name = keymap.row_name(context, rows)?;
        let first = rows.first()?;
        let target = Target { topic: "keys", spot: Spot::Row(context.title(), first.name) };
        Some(Entry { name, words: first.help.into(), target })
    };
    rows.filter_map(entry).collect()
}

fn signs() -> Vec<Entry> {
    let target = Target { topic: "looks", spot: Spot::Top };
    let sign = |state: AgentStatus| {
        let word = if state == AgentStatus::Tools { "" } else { state.word() };
        Entry { name: format!("{} {word}", state.sign()).into(), words: state.meaning().into(), target }
    };
    AgentStatus::ALL.into_iter().map(sign).chain(FIGURES.iter().map(|pair| fixed(pair, target))).collect()
}

fn topic(page: &ManualPage) -> Entry {
    let target = Target { topic: page.topic, spot: Spot::Top };
    Entry { name: page.topic.into(), words: page.title().into(), target }
}

fn line(found: &ManualMatch, wanted: &[String]) -> Entry {
    let cells = found.cells().join(" · ");
    let text = if cells.is_empty() { found.text.trim_start_matches(['#', '-', ' ']) } else { &cells };
    let words = if text == found.heading {
        Cow::Borrowed(found.heading)
    } else {
        format!("{}: {}", found.heading, excerpt(text, wanted)).into()
    };
    Entry { name: found.topic.into(), words, target: Target { topic: found.topic, spot: Spot::Line(found.line) } }
}

/// Returns a part of a text with the first of the words in it.
fn excerpt(text: &str, wanted: &[String]) -> String {
    let lower = text.to_ascii_lowercase();
    let at = wanted.iter().filter_map(|word| lower.find(word)).min().unwrap_or_default();
    let before = text.get(..at).unwrap_or_default();
    // The beginning when that is near, else a whole word not far before the found one.
    let from = match before.char_indices().nth_back(BEFORE) {
        Some((far, _)) => before.get(far..).and_then(|near| near.find(' ')).map_or(at, |blank| far + blank + 1),
        None => 0,
    };
    let part = clip(text.get(from..).unwrap_or_default(), EXCERPT);
    if from > 0 { format!("… {part}") } else { part.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_and_key_leads_to_its_row_in_the_manual() {
        let mut rows = 0;
        for entry in sections(&Help::default(), &Keymap::default()).iter().flat_map(|section| &section.entries) {
            let (page, line) = entry.target.resolve().unwrap();
            let Spot::Row(..) = entry.target.spot else { continue };
            let text = page.flowing();
            let row = line.and_then(|line| text.lines().nth(line)).unwrap().replace("\\|", "|");
            let words = entry.words.split(" (").next().unwrap();
            assert!(row.starts_with('|') && row.contains(&*entry.name) && row.contains(words), "{}: {row}", entry.name);
            rows += 1;
        }
        assert!(rows > 150, "{rows}");
    }

    #[test]
    fn an_excerpt_begins_a_little_before_the_first_word_that_was_found() {
        let wanted = ["needle".to_owned()];
        assert_eq!(excerpt("a needle at the beginning", &wanted), "a needle at the beginning");
        let long = format!("{}needle {}", "straw ".repeat(20), "hay ".repeat(40));
        let part = excerpt(&long, &wanted);
        assert!(part.starts_with("… straw straw") && part.contains("needle hay") && part.ends_with('…'), "{part}");
        assert!(part.chars().count() <= EXCERPT + 2, "{part}");
        assert_eq!(excerpt("ääää", &wanted), "ääää");
    }
}
