//! The main agent: does simple requests by the tool for them, looks at the project otherwise, and digs on in later turns.

use crate::demo::facts;
use crate::demo::plan::markdown::{inline_quote, number};
use crate::demo::plan::steering::Steering;
use crate::demo::plan::talk::{Call, Talk};
use crate::demo::plan::{Step, dig, report, tour, wants};
use crate::demo::words::{self, Intent};

/// Says what a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// A few plain wants, each done by its tool.
    Direct,
    /// A look at the whole project.
    Tour,
    /// A question after a tour: new work on top of what was found.
    Dig,
}

/// Plans the next step of a turn.
pub fn step(talk: &Talk, steering: &Steering) -> Step {
    let mode = mode(talk, steering);
    let next = match mode {
        _ if steering.stop => None,
        Mode::Direct => direct(talk, steering),
        Mode::Tour => tour::next(talk, steering),
        Mode::Dig => dig::next(talk, steering),
    };
    if let Some(step) = next {
        return step;
    }
    let (thinking, text) = match mode {
        Mode::Direct => ("I have what was asked for; a short answer is enough.".to_owned(), answer(talk, steering)),
        Mode::Tour => (report::thinking(talk), report::write(talk, steering)),
        Mode::Dig => ("This adds to what I found before; I say what is new.".to_owned(), dig::answer(talk, steering)),
    };
    Step::Answer { thinking, text }
}

fn mode(talk: &Talk, steering: &Steering) -> Mode {
    let wide =
        |intent: &Intent| matches!(intent, Intent::Survey(_) | Intent::Focus(_) | Intent::Skip(_) | Intent::Agents(_));
    if !steering.primary.intents.iter().any(wide) {
        return Mode::Direct;
    }
    if talk.earlier_listing().is_some() && !words::speaks_of_the_whole(&steering.primary.text) {
        Mode::Dig
    } else {
        Mode::Tour
    }
}

/// Returns the calls of the request's own plain wants that were not made yet.
pub fn plain_calls(talk: &Talk, steering: &Steering) -> Vec<Call> {
    let plain =
        steering.primary.intents.iter().filter(|intent| !matches!(intent, Intent::Survey(_) | Intent::Focus(_)));
    talk.turn.missing(plain.flat_map(|intent| wants::calls(intent, &talk.offer)).collect())
}

fn direct(talk: &Talk, steering: &Steering) -> Option<Step> {
    let calls = plain_calls(talk, steering);
    if calls.is_empty() {
        return None;
    }
    let thinking = format!(
        "The request is {}. One tool is made for this; no tour is needed.",
        inline_quote(&steering.primary.text)
    );
    let say: Vec<String> = steering.primary.intents.iter().map(|intent| wants::promise(intent, &talk.offer)).collect();
    Some(Step::Work { thinking, say: say.join(" "), calls })
}

fn answer(talk: &Talk, steering: &Steering) -> String {
    let sections: Vec<String> = steering.primary.intents.iter().map(|intent| plain(intent, talk)).collect();
    let mut text = sections.join("\n");
    if !talk.turn.rounds.is_empty()
        && let Some(memory) = memory(talk)
    {
        text = format!("{}\n\n{memory}", text.trim_end());
    }
    text
}

fn plain(intent: &Intent, talk: &Talk) -> String {
    match intent {
        Intent::Greeting => {
            "Hello! I am the model that is built into this program. Ask me about the files in this directory, or say *what can you do*.\n".to_owned()
        }
        Intent::Thanks => "You are welcome.\n".to_owned(),
        Intent::Stop => "Nothing is running, so there is nothing to stop.\n".to_owned(),
        Intent::Help => help(talk),
        Intent::Calculate(_)
        | Intent::Read(_)
        | Intent::Find(_)
        | Intent::Count(_)
        | Intent::List(_)
        | Intent::CountFiles(_)
        | Intent::Focus(_) | Intent::Skip(_) | Intent::Agents(_) | Intent::Survey(_) => {
            wants::section(intent, &talk.turn, &talk.offer)
        }
    }
}

fn help(talk: &Talk) -> String {
    let tools: Vec<String> = talk.offer.names().map(|name| format!("`{name}`")).collect();
    format!(
        "I am the embedded model: a small planner inside this program, not a language model. I work with the real tools here: {}.\n\n\
         - *look at this project*: I list it, send sub-agents into its parts and write a report\n\
         - *find WORD*, *count WORD*, *count files*, *list \\*.md*, *read FILE*, *2+3\\*4*\n\
         - **while I work**, type: *focus on X*, *skip X*, *count Y*, a path, a word, *stop after this*. It reaches me with the \
         next tool results, and I change course\n\n\
         For real thinking, connect a model with `--base-url URL --model NAME`.\n",
        tools.join(", "),
    )
}

/// Says what was found before in this conversation, when something was.
pub fn memory(talk: &Talk) -> Option<String> {
    let files = talk.earlier_listing()?;
    let survey = talk.offer.glob("**/*")?;
    let turn =
        talk.earlier.iter().rev().find(|turn| turn.result_of(&survey).is_some_and(|text| !facts::failed(text)))?;
    let ask = turn.asks.last().map(String::as_str).unwrap_or_default();
    Some(format!(
        "Earlier in this conversation, for {}, I listed {} here.",
        inline_quote(ask),
        number(files.len(), "file")
    ))
}
