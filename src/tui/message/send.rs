//! The one door of Enter, Tab and F5: what is written about a call decides about it, a pending text goes back into its
//! queue, a command is carried out, and a text goes to whom it is for.
//!
//! Always holds: the text leaves the message only when a queue has taken it, or when a command was carried out.

use super::address::Unaddressed;
use super::on_its_way::Filling;
use super::purpose::Purpose;
use super::{Message, MessageContext, line};
use crate::commands::{self, Command, Draft, LineVerb, Verb};
use crate::effect::{Effect, Outcome, PaneEffect};
use crate::keymap::Edit;
use crate::message::purpose::QuestionText;
use crate::state::Cause;
use crate::status::HostState;
use crate::{approval, pause, plan, update};
use steersman_base::assets;
use steersman_base::error::Refused;
use steersman_base::event::{Delivery, UserText};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{PromptTemplate, Request, ShellOutput};
use steersman_base::steering::{self, TextKind, Trigger};
use steersman_base::target;
use steersman_base::text::is_blank;

/// Carries out Enter.
pub fn enter(message: &mut Message, known: &MessageContext<'_>) -> Vec<PaneEffect> {
    if message.is_in_lines() {
        return line::enter_several(message, known);
    }
    if known.in_lines() && message.text().ends_with(line::GOES_ON) {
        // A line that ends with a backslash goes on.
        message.edit(Edit::LineEnd);
        message.edit(Edit::Backspace);
        message.newline();
        return Vec::new();
    }
    if is_form(message) && message.to_next_line() {
        return Vec::new();
    }
    if let Some(effects) = end_first(message, None) {
        return effects;
    }
    if !message.is_empty() {
        return submit(message, Delivery::Steer, known);
    }
    if known.run.pending.is_held_back() { vec![Request::Resume.into()] } else { Vec::new() }
}

/// Carries out Tab: what is sent waits for the end of the turn.
pub fn follow_up(message: &mut Message, known: &MessageContext<'_>) -> Vec<PaneEffect> {
    if is_form(message) {
        // Behind the last field only Enter sends.
        message.to_next_line();
        return Vec::new();
    }
    if let Some(effects) = end_first(message, Some(Delivery::FollowUp)) {
        return effects;
    }
    if message.is_empty() {
        return Vec::new();
    }
    if !known.busy() {
        let sentence = "no turn runs, so there is nothing to follow: Enter sends";
        return vec![PaneEffect::SayWhile(Some(Cause::NoTurn), sentence.to_owned())];
    }
    submit(message, Delivery::FollowUp, known)
}

/// Carries out F5: what is sent interrupts; in an empty message the key is about what is pending.
pub fn deliver_now(message: &mut Message, known: &MessageContext<'_>) -> Outcome {
    if let Some(effects) = end_first(message, Some(Delivery::Now)) {
        return Outcome::Consumed(effects);
    }
    if message.is_empty() { Outcome::Ignored } else { Outcome::Consumed(submit(message, Delivery::Now, known)) }
}

/// Tells whether the fields of a server's form are being filled in.
fn is_form(message: &Message) -> bool {
    matches!(message.first_purpose(), Some(Purpose::AboutQuestion(about)) if about.what == QuestionText::Form)
}

/// Ends what is written first; `None` when that is the draft. The delivery is that of a pending text, where it changes.
fn end_first(message: &Message, delivery: Option<Delivery>) -> Option<Vec<PaneEffect>> {
    Some(match message.first_purpose()? {
        Purpose::AboutCall(_) => vec![pause::decide_call()],
        Purpose::AboutQuestion(about) => vec![approval::send_answer(about.id, about.what)],
        Purpose::AboutStep(_) => plan::commit(message),
        Purpose::Edit(_) => message.commit_edit(delivery),
        Purpose::Recall(_) | Purpose::Line => return None,
    })
}

/// Carries the draft out as a command, or sends it, or says why not: then it stays.
pub fn submit(message: &mut Message, delivery: Delivery, known: &MessageContext<'_>) -> Vec<PaneEffect> {
    if let Some(effects) = message.before_sending(delivery, known) {
        return effects;
    }
    // A chip is text, whatever stands in it: a paste is no command and names nobody.
    let draft = if known.in_lines() { message.shown() } else { message.next_draft() };
    if message.is_waiting_for_answer() && !known.in_lines() {
        if is_blank(&draft) {
            return vec![message.say("not sent again: the session has not answered yet")];
        }
        if draft.starts_with(['/', '!']) {
            return vec![message.say("not run: the session has not taken the text before it yet")];
        }
    }
    if let Some((line, output)) = shell_line(&draft) {
        if message.whole(line) != line {
            let sentence = "not run: a part of it is folded; open that first, so that you see what runs";
            return vec![message.say(sentence)];
        }
        let (to, line) = (known.shown.clone(), line.to_owned());
        return taken(message, Request::RunLine { to, line, output }.into());
    }
    if let Some(request) = prompt_request(&draft, known) {
        return taken(message, request.into());
    }
    if let Some(filled) = filled(message, &draft, known) {
        let options = SendOptions { delivery, filled: Some(filled), ..SendOptions::new(message) };
        return send(message, (&draft, &draft), options, known);
    }
    let (name, behind) = message.named_command(&draft, known).unwrap_or(("", &draft));
    // Whom it is for stands before the text again.
    let for_whom = |text: &str| format!("{name}{text}");
    let read = if known.in_lines() { commands::read_line(behind) } else { commands::parse(behind) };
    match read {
        Draft::Command(command, text) if command.verb == Verb::Line(LineVerb::Later) => {
            let delivery = if known.busy() { Delivery::FollowUp } else { Delivery::Steer };
            send(message, (&draft, &for_whom(text)), SendOptions { delivery, ..SendOptions::new(message) }, known)
        }
        Draft::Command(Command { verb: Verb::Now, .. }, text) => {
            let filled = filled(message, text, known);
            let options = SendOptions { delivery: Delivery::Now, filled, ..SendOptions::new(message) };
            send(message, (&draft, &for_whom(text)), options, known)
        }
        Draft::Command(Command { verb: Verb::Send(kind), .. }, text) => {
            let filled = filled(message, text, known);
            let options = SendOptions { delivery, kind, trigger: None, filled };
            send(message, (&draft, &for_whom(text)), options, known)
        }
        Draft::Command(Command { verb: Verb::Init, .. }, words) => {
            let filled = format!("{}\n{}", assets::INIT_PROMPT, message.whole(words)).trim_end().to_owned();
            let filled = Some(Filled::Here(filled));
            send(message, (&draft, words), SendOptions { delivery, filled, ..SendOptions::new(message) }, known)
        }
        Draft::Command(Command { verb: Verb::When(recurrence), .. }, words) => {
            match steering::conditional(words, recurrence) {
                Ok((trigger, text)) => {
                    // What it is may stand behind the condition.
                    let (kind, text) =
                        if let Draft::Command(Command { verb: Verb::Send(kind), .. }, text) = commands::parse(text) {
                            (kind, text)
                        } else {
                            (message.kind(), text)
                        };
                    let filled = filled(message, text, known);
                    let options = SendOptions { delivery, kind, trigger: Some(trigger), filled };
                    send(message, (&draft, &for_whom(text)), options, known)
                }
                Err(why) => vec![message.say(why.to_string())],
            }
        }
        Draft::Command(command, argument) => {
            let argument = message.whole(argument);
            taken(message, update::run(command.verb, argument))
        }
        Draft::InvalidArguments(command, argument) => vec![message.say(command.invalid_arguments(&draft, argument))],
        Draft::Text(text) if means_quit(text) && !known.in_lines() && message.refuses_once(&draft) => {
            vec![message.say("/quit quits. Enter again sends it as text")]
        }
        Draft::Escaped(text) | Draft::Text(text) => {
            send(message, (&draft, text), SendOptions { delivery, ..SendOptions::new(message) }, known)
        }
        Draft::NoCommand { .. } if message.refused.as_ref() == Some(&draft) => {
            send(message, (&draft, &draft), SendOptions { delivery, ..SendOptions::new(message) }, known)
        }
        Draft::NoCommand { word } => {
            let again = if known.in_lines() {
                format!("/{word} sends it as text")
            } else {
                "Enter again sends it as text".to_owned()
            };
            let sentence = format!("{}. {again}", commands::unknown(word));
            let effect = message.say(sentence);
            if !known.in_lines() {
                message.refused = Some(draft);
            }
            vec![effect]
        }
    }
}

impl Message {
    /// Tells whether this draft is not sent yet: the next time it is.
    pub fn refuses_once(&mut self, draft: &str) -> bool {
        let is_new = self.refused.as_deref() != Some(draft);
        self.refused = is_new.then(|| draft.to_owned());
        is_new
    }
}

/// Tells whether a text is a word that quits in shells, editors and other programs.
fn means_quit(text: &str) -> bool {
    matches!(text.trim(), "exit" | "quit" | ":q" | ":q!" | ":wq" | "exit()" | "quit()")
}

/// Returns the shell line that a draft is: what stands behind one `!` at the very start, or behind two, whose output the
/// agent does not get.
pub(super) fn shell_line(draft: &str) -> Option<(&str, ShellOutput)> {
    let line = draft.strip_prefix('!')?;
    let (line, output) = match line.strip_prefix('!') {
        Some(line) => (line, ShellOutput::Show),
        None => (line, ShellOutput::Deliver),
    };
    let line = line.trim();
    (!is_blank(line)).then_some((line, output))
}

/// How a text is sent.
struct SendOptions {
    delivery: Delivery,
    kind: TextKind,
    trigger: Option<Trigger>,
    /// What is sent in place of the text: that of a custom command or a skill.
    filled: Option<Filled>,
}

/// The text of a custom command or a skill.
enum Filled {
    Here(String),
    /// It has shell lines: the session fills it in, for this call.
    BySession(String),
}

impl SendOptions {
    /// Makes that of a steer of the kind that the message has.
    fn new(message: &Message) -> Self {
        // What is behind a text that is on its way was not given a kind.
        let kind = if message.is_waiting_for_answer() { TextKind::default() } else { message.kind() };
        Self { delivery: Delivery::Steer, kind, trigger: None, filled: None }
    }
}

/// Returns the request for a prompt of an MCP server, when its command stands at the very start.
fn prompt_request(draft: &str, known: &MessageContext<'_>) -> Option<Request> {
    let (command, words) = draft.split_once(char::is_whitespace).unwrap_or((draft, ""));
    let server = known.run.servers.iter().find(|server| server.prompts.iter().any(|prompt| prompt == command))?;
    let prompt = command.strip_prefix(&format!("/mcp__{}__", server.name))?.to_owned();
    Some(Request::Prompt { server: server.name.clone(), prompt, words: words.trim().to_owned() })
}

/// Returns the custom command or the skill that a text calls, with the words behind it. A command of the program is none,
/// but for what only other programs call so.
pub(crate) fn called<'a, 'b>(text: &'b str, known: &MessageContext<'a>) -> Option<(&'a PromptTemplate, &'b str)> {
    let own = match commands::read_line(text) {
        Draft::Command(command, _) | Draft::InvalidArguments(command, _) => Some(command),
        Draft::Text(_) | Draft::Escaped(_) | Draft::NoCommand { .. } => None,
    };
    let is_named = |name: &str| text.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()) == Some(name);
    let is_free = own.is_none_or(|command| command.verb == Verb::Skill || !is_named(command.name));
    is_free.then(|| PromptTemplate::called(&known.run.templates, text)).flatten()
}

/// Returns the filled-in text of the custom command or the skill that a text calls.
fn filled(message: &Message, text: &str, known: &MessageContext<'_>) -> Option<Filled> {
    let (template, words) = called(text, known)?;
    let words = message.whole(words);
    Some(if template.has_commands() {
        Filled::BySession(format!("{} {words}", template.command()).trim_end().to_owned())
    } else {
        Filled::Here(template.fill(&words))
    })
}

/// Takes the text of a command whose shell lines have run, which is sent now, or why there is none.
pub fn filled_in(
    message: &mut Message,
    call: &str,
    outcome: &Result<String, String>,
    known: &MessageContext<'_>,
) -> Vec<PaneEffect> {
    let requests = message.filled_in(call, outcome);
    match outcome {
        Ok(_) => requests.into_iter().map(PaneEffect::from).collect(),
        Err(why) => {
            if known.in_lines() {
                let line = message.outgoing.take().unwrap_or_else(|| call.to_owned());
                message.keep(line);
            }
            vec![PaneEffect::Reply(format!("not sent: {why}"))]
        }
    }
}

fn send(
    message: &mut Message,
    (draft, text): (&str, &str),
    SendOptions { delivery, kind, trigger, filled }: SendOptions,
    known: &MessageContext<'_>,
) -> Vec<PaneEffect> {
    // What stands in the file of a command names nobody.
    let before = || message.named_command(draft, known).map_or("", |(name, _)| name);
    let named = if filled.is_some() { before() } else { text };
    match message.address(named, known) {
        Ok(mut address) => {
            if kind == TextKind::Rule && address.to.len() > 1 {
                // For all it is one rule of the whole tree.
                address.to = vec![AgentId::main()];
            }
            let (text, call) = match filled {
                Some(Filled::Here(text)) => (text, None),
                Some(Filled::BySession(call)) => (call.clone(), Some(call)),
                None => (message.whole(address.text), None),
            };
            message.goes_out(draft, &text, address.to.len());
            let images = message.images_in(draft);
            let sent = UserText { delivery, kind, trigger, images, ..UserText::new(text) };
            let requests = address.to.into_iter().map(|to| Request::Inject { to, message: sent.clone() });
            let Some(call) = call else { return requests.map(PaneEffect::from).collect() };
            message.is_filled_in(Filling { call: call.clone(), requests: requests.collect() });
            vec![Request::Fill { call }.into()]
        }
        Err(Unaddressed::Ended(agent)) => vec![not_for_the_ended(message, &agent)],
        Err(Unaddressed::Unknown(agent)) => {
            vec![PaneEffect::Say(format!("not sent: no agent {agent} runs; @main before it sends it as text"))]
        }
        Err(Unaddressed::NoSubAgents(agent)) => {
            let name = target::name_of(&agent);
            vec![PaneEffect::Say(format!("not sent: no sub-agent of {name} runs; @main before it sends it as text"))]
        }
    }
}

/// Takes the answer of one queue.
pub fn sent(
    message: &mut Message,
    to: &AgentId,
    text: &str,
    outcome: &Result<MessageId, Refused>,
    known: &MessageContext<'_>,
) -> Vec<PaneEffect> {
    let answered = message.answered(text);
    let draft = answered.as_ref().map(|answered| answered.draft.as_str());
    let is_here = message.shown() == draft.or(message.outgoing()).unwrap_or(text);
    match outcome {
        Ok(_) if is_here => std::iter::once(PaneEffect::Quiet).chain(remember(message.sent())).collect(),
        // A line leaves the message before it is sent; to several agents it went once.
        Ok(_) if known.in_lines() => {
            let line = message.outgoing.take().and_then(|line| message.remember(&line));
            remember(line)
        }
        // Something was typed behind it meanwhile.
        Ok(_) => remember(answered.and_then(|answered| message.take_sent(&answered))),
        Err(Refused::Ended) if is_here => vec![not_for_the_ended(message, to)],
        Err(refused) => {
            // Another queue may have taken it before: then the draft is gone and the words say who did not get it.
            if known.in_lines() && !is_here {
                message.keep(text.to_owned());
            } else if message.outgoing().is_none() && !is_here {
                message.put_before(&[text.to_owned()]);
            }
            let whom = if to.is_main() { String::new() } else { format!(" to {to}") };
            let why = match (refused, known.host) {
                (Refused::NotBuilt, HostState::Failed(reason) | HostState::ReadOnly(reason)) => reason.clone(),
                _ => refused.to_string(),
            };
            vec![PaneEffect::Reply(format!("not sent{whom}: {why}"))]
        }
    }
}

/// Says that a draft was begun for an agent that has ended since; from now on it is for the main agent, unless it names
/// the other one itself.
fn not_for_the_ended(message: &mut Message, agent: &AgentId) -> PaneEffect {
    let is_named = target::seems_for(&message.shown()) == Some(agent.as_str());
    let how = if is_named { "@main before it sends it as text" } else { "Enter sends it to main" };
    message.bind(Some(AgentId::main()));
    PaneEffect::Say(format!("not sent: {agent} has ended and cannot be continued; {how}"))
}

/// Says once that nothing is remembered beyond the session.
pub fn not_remembered(message: &mut Message, reason: &str) -> Vec<PaneEffect> {
    if std::mem::replace(&mut message.history.complained, true) {
        return Vec::new();
    }
    vec![PaneEffect::Say(format!("cannot save the message history: {reason}"))]
}

/// Ends the message, which is carried out and not sent.
fn taken(message: &mut Message, effect: PaneEffect) -> Vec<PaneEffect> {
    remember(message.sent()).into_iter().chain([effect]).collect()
}

fn remember(text: Option<String>) -> Vec<PaneEffect> {
    text.map(|text| PaneEffect::Outside(Effect::Remember(text))).into_iter().collect()
}
