//! The rules of the user on the screen: the list, a change in words, and what became of it.

use crate::approval::{Question, QuestionSubject, Questions};
use crate::commands::{CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::keymap::Answer;
use crate::ui_context::UiContext;
use crate::{message, update};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{Accepted, Request, RuleRequest};
use steersman_base::steering::{RuleChange, RuleScope};
use steersman_base::text::{visible, visible_line};
use steersman_session::model::{DetailPart, rule_scope_text};

/// Says what became of a line for `AGENTS.md`.
pub fn added(line: &str, outcome: Result<(), String>) -> PaneEffect {
    let line = visible_line(line);
    match outcome {
        // The rule that is sent too takes the status line.
        Ok(()) => PaneEffect::Note(AgentId::main(), format!("AGENTS.md has a new line: {line}")),
        Err(why) => PaneEffect::Reply(format!("AGENTS.md was not changed: {why}. The line was: {line}")),
    }
}

/// What the command takes.
const USAGE: &str =
    "it is /rules withdraw M, change M WORDS, for M agent, tree or new-agents, or remove N; /rules alone lists them";

pub const COMMAND: CommandEntry = CommandEntry::new(
    "/rules [WHAT]",
    Takes::Any,
    "Alt+K",
    "your rules and those of /always; withdraw M, change M WORDS, for M tree; remove N for one of /always",
    |context, argument| command(context.ui, argument),
);

/// Carries out `/rules`.
fn command(ui: &UiContext, argument: &str) -> Vec<PaneEffect> {
    if argument.is_empty() {
        return listed(ui);
    }
    let usage = || vec![PaneEffect::Reply(USAGE.to_owned())];
    let (word, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let (number, words) = rest.trim_start().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    let words = words.trim();
    let change = match (word, RuleScope::named(words)) {
        ("remove", _) => {
            let remove = |number| vec![Request::Rules { request: RuleRequest::Remove(number) }.into()];
            return rest.trim().parse().map_or_else(|_| usage(), remove);
        }
        ("withdraw", _) if words.is_empty() => RuleChange::Withdraw,
        ("change", _) if !words.is_empty() => RuleChange::Edit { text: Some(words.to_owned()), scope: None },
        ("for", Some(scope)) => RuleChange::Edit { text: None, scope: Some(scope) },
        _ => return usage(),
    };
    if number.is_empty() {
        return usage();
    }
    let id = MessageId::new(format!("m{}", number.strip_prefix('m').unwrap_or(number)));
    vec![Request::ChangeRule { id, change }.into()]
}

/// Tells the user's rules, and asks for those of `/always`.
fn listed(ui: &UiContext) -> Vec<PaneEffect> {
    let own = ui.run.rules.all().iter().map(|rule| {
        let (id, text) = (visible_line(rule.id.as_str()), visible(&rule.text));
        PaneEffect::Note(AgentId::main(), format!("rule {id} holds {}: {text}", rule_scope_text(rule)))
    });
    let mut effects: Vec<PaneEffect> = own.collect();
    if effects.is_empty() {
        let none = "no rule: /rule WORDS gives the agents one that holds from now on";
        effects.push(PaneEffect::Note(AgentId::main(), none.to_owned()));
    }
    effects.push(Request::Rules { request: RuleRequest::List }.into());
    effects
}

/// Says what became of a change of a rule.
pub fn changed(id: &MessageId, change: &RuleChange, accepted: Accepted) -> String {
    let id = visible_line(id.as_str());
    match (accepted, change) {
        (Accepted::Yes, RuleChange::Withdraw) => format!("rule {id} no longer holds; the agents tell their models"),
        (Accepted::Yes, RuleChange::Edit { .. }) => format!("rule {id} is changed; the agents tell their models"),
        (Accepted::No, RuleChange::Withdraw | RuleChange::Edit { .. }) => {
            format!("no rule {id} holds; /rules lists them")
        }
    }
}

/// Asks what becomes of a text that was typed behind `#`: it shows what would be written, and where.
pub fn ask(questions: &mut Questions, text: &str) {
    let detail = vec![
        DetailPart::Text("A rule holds from now on in this session.".to_owned()),
        DetailPart::Text(
            "The line is for later sessions too. It goes to the end of AGENTS.md in the root of the project, or else in this \
             directory:"
                .to_owned(),
        ),
        DetailPart::Exact(instruction(text)),
    ];
    let subject = QuestionSubject::Rule(text.to_owned());
    questions.ask_once(Question::new(subject, "A rule, or a line for AGENTS.md?", detail));
}

/// Returns the line of `AGENTS.md` that a text becomes.
fn instruction(text: &str) -> String {
    format!("- {text}")
}

/// Returns what is done with a text that was typed behind `#`. What becomes no rule is in the message again.
pub fn answered(text: &str, answer: Answer) -> Vec<PaneEffect> {
    let as_rule = [message::complete(None, format!("/rule {text}")), update::enter()];
    let as_it_stands = message::complete(None, format!("# {text}"));
    match answer {
        Answer::Once | Answer::Session => as_rule.into(),
        Answer::Always | Answer::Everywhere => {
            let line = instruction(text);
            [Request::AddInstruction { line }.into()].into_iter().chain(as_rule).collect()
        }
        Answer::No => vec![as_it_stands, update::enter()],
        Answer::Words | Answer::Leave => vec![as_it_stands],
    }
}
