//! What a typed line does where the screen is read as lines: the commands that are keys elsewhere, Esc and Ctrl+C, whole
//! lines from a pipe.
//!
//! Everything is done by the same operations as on the screen; a command only says in words what a selection and a key say
//! there. Always holds: a text that comes back never gets into the line by itself, and a question is answered by its
//! command alone.

use super::{carry_out, command, leave_message, take_back, with_agents, with_message, with_pause, with_pending};
use crate::agents::cancel_all;
use crate::approval::{self, AnswerChoices, NumberedAnswer, QuestionSubject};
use crate::commands::{LineVerb, Verb};
use crate::effect::Outcome;
use crate::keymap::{Answer, PauseKey, PendingKey};
use crate::message::purpose::QuestionText;
use crate::message::{bring_back, entry, line as typed};
use crate::msg::Effect;
use crate::pause;
use crate::state::{App, Medium, QuestionId, Report};
use crate::transcript::cell::Body;
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{self, PauseState, QueueOperation, Request, TriggerChange};
use steersman_base::steering::TextKind;

/// Notes that a line or a message begins with the input that comes now, if it does.
pub fn begins(app: &mut App) {
    let is_behind_sent = || app.message.is_waiting_for_answer() && app.message.next_draft().is_empty();
    if app.message.is_empty() || is_behind_sent() {
        app.questions.line_begins(app.ui.now);
    }
}

/// Takes a whole line.
pub fn take_line(app: &mut App, text: &str) -> Vec<Effect> {
    if !app.message.is_line_begun() {
        app.questions.line_begins(app.ui.now);
    }
    let is_alone = !app.message.is_line_begun() && !app.message.is_in_lines() && app.message.is_draft();
    if let Some(lone) = approval::lone_answer(&app.questions, text, Medium::Lines).filter(|_| is_alone) {
        return match lone {
            NumberedAnswer::Answer(lone) => answer(app, lone, ""),
            NumberedAnswer::Option(_) => {
                let unarmed = app.questions.unarmed_line(None, app.ui.now);
                let outcome = match unarmed {
                    Some(unarmed) => approval::not_answered(&app.questions, unarmed),
                    None => approval::give(&mut app.questions, lone, &app.ui),
                };
                carry_out(app, outcome)
            }
        };
    }
    let seems_answer = is_alone && app.questions.is_shown() && approval::seems_answer(text);
    if seems_answer && app.message.refuses_once(text) {
        app.status.say(approval::no_such_answer(&app.questions, Medium::Lines), app.ui.now);
        return Vec::new();
    }
    with_message(app, |message, known| typed::take_line(message, text, known))
}

/// Ends everything that waits for somebody: questions are declined, agents that are held go on.
pub fn nobody_there(app: &mut App) -> Vec<Effect> {
    let mut effects = Vec::new();
    while let Some(asked) = app.questions.take_question(app.ui.now) {
        let answer = match asked.subject {
            QuestionSubject::StillTrue(_) => Answer::Once,
            // Nothing of an earlier process is sent by itself.
            QuestionSubject::Unfinished(_) => Answer::Leave,
            QuestionSubject::New
            | QuestionSubject::Reset
            | QuestionSubject::Quit
            | QuestionSubject::StopJob(_)
            | QuestionSubject::Undo(_)
            | QuestionSubject::Rule(_)
            | QuestionSubject::Switch(..)
            | QuestionSubject::Approval(..) => Answer::No,
        };
        app.status.say(format!("nobody is there to answer: {} {}", asked.title, word(answer)), app.ui.now);
        let wanted = approval::carry_out(&mut app.questions, asked, answer, &app.ui);
        effects.extend(carry_out(app, wanted));
    }
    if app.ui.run.agents.nodes().iter().any(|node| app.ui.run.is_paused(&node.id)) {
        effects.push(Effect::Request(Request::Pause { agent: None, state: PauseState::Running }));
    }
    effects
}

/// Takes a Ctrl+C: it clears the line, else stops the turn; the second in an empty line quits.
pub fn interrupt(app: &mut App) -> Vec<Effect> {
    if let Outcome::Consumed(wanted) = typed::interrupt(&mut app.message) {
        return carry_out(app, wanted);
    }
    if let Some(job) = app.ui.run.jobs.shell_line() {
        return vec![Effect::Request(Request::StopJob { job: job.id.clone() })];
    }
    if app.status.arm_quit(app.ui.now) {
        return vec![Effect::Quit];
    }
    if app.ui.run.runs() || app.ui.run.is_busy() {
        app.ui.run.agents.cancelling(app.ui.now);
        return vec![Effect::Request(Request::Stop)];
    }
    Vec::new()
}

/// Returns what a command of the screen tells in lines; `None` when it does something.
pub fn report(verb: Verb, argument: &str) -> Option<Report> {
    Some(match verb {
        Verb::Help if argument.is_empty() => Report::Help,
        Verb::Help => Report::Manual(argument.to_owned()),
        Verb::Agents => Report::Agents,
        Verb::Pending => Report::Pending,
        Verb::Details => Report::Status,
        _ => return None,
    })
}

/// Carries out a command that only the line output has.
pub fn run(app: &mut App, verb: LineVerb, argument: &str) -> Vec<Effect> {
    match verb {
        // It carries a text, so it is sent like one.
        LineVerb::Later => {}
        LineVerb::Paste => {
            app.message.begin_lines();
            app.status.say("write the lines; a line with a dot alone sends them, Ctrl+C drops them", app.ui.now);
        }
        LineVerb::Edit => return edit(app, argument),
        LineVerb::Delete => return act(app, PendingKey::Delete, argument),
        LineVerb::Up => return act(app, PendingKey::MoveEarlier, argument),
        LineVerb::Down => return act(app, PendingKey::MoveLater, argument),
        LineVerb::Steer => return act(app, PendingKey::AsSteer, argument),
        LineVerb::FollowUp => return act(app, PendingKey::AsFollowUp, argument),
        LineVerb::Deliver => return act(app, PendingKey::DeliverNow, argument),
        LineVerb::Join => return act(app, PendingKey::Merge, argument),
        LineVerb::Kind => return kind(app, argument),
        LineVerb::Take => return take_back(app),
        LineVerb::Back => return with_message(app, bring_back::newest),
        LineVerb::Drop => return with_message(app, |message, _| typed::drop_kept(message)),
        LineVerb::Yes => return answer(app, Answer::Once, argument),
        LineVerb::Session => return answer(app, Answer::Session, argument),
        LineVerb::Always => return answer(app, Answer::Always, argument),
        LineVerb::Everywhere => return answer(app, Answer::Everywhere, argument),
        LineVerb::No => return answer(app, Answer::No, argument),
        LineVerb::Leave => return answer(app, Answer::Leave, argument),
        LineVerb::Step => return with_pause(app, PauseKey::Step),
        LineVerb::EditCall if argument.is_empty() => return vec![Effect::Tell(Report::Arguments)],
        LineVerb::EditCall => return about_call(app, PauseKey::EditCall, argument),
        LineVerb::Skip => return about_call(app, PauseKey::SkipCall, argument),
        LineVerb::Go => return with_pause(app, PauseKey::GoOn),
        LineVerb::Agent => read_agent(app, argument),
        LineVerb::CancelAgent => return cancel(app, argument),
        LineVerb::More => return vec![Effect::Tell(Report::More)],
        LineVerb::Status => return vec![Effect::Tell(Report::Status)],
        LineVerb::Cost => return vec![Effect::Tell(Report::Cost)],
        LineVerb::Show => return show(app, argument),
        LineVerb::Copy => return copy(app, argument),
    }
    Vec::new()
}

/// Chooses a model: the list comes as a report of its own, and nothing is put into the line.
pub fn choose_model(app: &mut App) -> Vec<Effect> {
    match app.status.offer {
        Some(_) => command::choose_model(app),
        None => vec![Effect::Request(Request::ListModels)],
    }
}

fn word(answer: Answer) -> &'static str {
    if answer.is_yes() { "yes" } else { "no" }
}

/// Selects the pending text with this number; false when there is none.
fn select(app: &mut App, number: &str) -> bool {
    let id = MessageId::new(format!("m{}", number.strip_prefix('m').unwrap_or(number)));
    let place = app.ui.run.pending.entries().iter().position(|entry| entry.message.id == id);
    match place {
        Some(place) => app.pending.select(place, &app.ui.run.pending),
        None => app.status.say(format!("no pending text has the number {number}; /pending reads them"), app.ui.now),
    }
    place.is_some()
}

fn act(app: &mut App, key: PendingKey, number: &str) -> Vec<Effect> {
    if select(app, number) { with_pending(app, key) } else { Vec::new() }
}

/// Changes what a pending text is to its agent.
fn kind(app: &mut App, argument: &str) -> Vec<Effect> {
    let (number, name) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let Some(kind) = TextKind::named(name.trim()) else {
        app.status.say("write /kind N KIND, with add, instead, note or rule", app.ui.now);
        return Vec::new();
    };
    if !select(app, number) {
        return Vec::new();
    }
    let Some(entry) = app.pending.selected(&app.ui.run.pending) else { return Vec::new() };
    let operation = QueueOperation::SetKind { kind, scope: entry.message.scope };
    vec![Effect::Request(Request::Queue { agent: entry.agent.clone(), id: entry.message.id.clone(), operation })]
}

/// Begins an edit in the line, or makes it with the text behind the number at once.
fn edit(app: &mut App, argument: &str) -> Vec<Effect> {
    let (number, text) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    if !select(app, number) {
        return Vec::new();
    }
    let mut effects = with_pending(app, PendingKey::Edit);
    let text = text.trim_start();
    if let ([Effect::Request(Request::Queue { agent, id, operation })], false) = (&mut effects[..], text.is_empty())
        && matches!(operation, QueueOperation::Hold { .. })
    {
        let (words, trigger) = match entry::parse(text) {
            Ok((words, TriggerChange::Clear)) => (words, None),
            Ok((words, set @ TriggerChange::Set(_))) => (words, Some(set)),
            Err(why) => {
                app.status.say(why, app.ui.now);
                return Vec::new();
            }
        };
        *operation = QueueOperation::Hold { text: Some(text.to_owned()) };
        let commit =
            QueueOperation::Commit { text: words.to_owned(), delivery: None, kind: None, trigger, images: None };
        let commit = Effect::Request(Request::Queue { agent: agent.clone(), id: id.clone(), operation: commit });
        effects.push(commit);
    }
    effects
}

/// Answers the question that was written before the line was begun, or the one that the line names.
fn answer(app: &mut App, answer: Answer, argument: &str) -> Vec<Effect> {
    let current = app.questions.current_id().map(QuestionId::number);
    let (first, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    // A no may begin with a number that is none of a question.
    let number = first.parse().ok().filter(|number| answer != Answer::No || Some(*number) == current);
    let words = if number.is_some() { rest.trim() } else { argument };
    if !words.is_empty() && answer != Answer::No {
        app.status
            .say(format!("not answered: /{} takes the number of a question, or nothing", name(answer)), app.ui.now);
        return Vec::new();
    }
    if let Some(unarmed) = app.questions.unarmed_line(number, app.ui.now) {
        let outcome = approval::not_answered(&app.questions, unarmed);
        return carry_out(app, outcome);
    }
    let subject = app.questions.current().map(|question| question.subject.clone());
    match subject {
        Some(QuestionSubject::Approval(
            id,
            AnswerChoices::Always | AnswerChoices::Session | AnswerChoices::Words | AnswerChoices::Plan,
        )) if !words.is_empty() => {
            carry_out(app, [approval::write_answer(id, QuestionText::No)]);
            app.message.load(words);
            carry_out(app, [approval::send_answer(id, QuestionText::No)])
        }
        Some(QuestionSubject::Approval(id, AnswerChoices::Agent { .. })) if !words.is_empty() => {
            app.questions.take_question(app.ui.now);
            let answer = protocol::Answer::No(Some(words.to_owned()));
            vec![Effect::Request(Request::Answer { id, answer })]
        }
        Some(_) if !words.is_empty() => {
            app.status.say("not answered: this question takes no words; write /no alone", app.ui.now);
            Vec::new()
        }
        Some(QuestionSubject::Approval(..)) if answer == Answer::Leave => {
            app.status.say("not answered: /yes, /session or /no answers this question", app.ui.now);
            Vec::new()
        }
        _ => {
            let outcome = approval::give(&mut app.questions, answer.into(), &app.ui);
            carry_out(app, outcome)
        }
    }
}

fn name(answer: Answer) -> &'static str {
    match answer {
        Answer::Once => "yes",
        Answer::Session => "session",
        Answer::Always => "always",
        Answer::Everywhere => "everywhere",
        Answer::No | Answer::Words => "no",
        Answer::Leave => "leave",
    }
}

/// Decides about the call that is waited for, in one step.
fn about_call(app: &mut App, key: PauseKey, text: &str) -> Vec<Effect> {
    with_pause(app, key);
    if app.message.about_call().is_none() {
        // Why not is said.
        return Vec::new();
    }
    app.message.load(text);
    let effects = carry_out(app, [pause::decide_call()]);
    if effects.is_empty() {
        leave_message(app);
    }
    effects
}

/// Finds an agent by its name, or by a beginning of it that fits no other.
fn named(app: &App, name: &str) -> Result<AgentId, String> {
    let known = |id: &AgentId| app.ui.run.agents.get(id).is_some();
    let exact = AgentId::new(name);
    if name.is_empty() || name == steersman_base::target::MAIN {
        return Ok(AgentId::main());
    }
    if known(&exact) {
        return Ok(exact);
    }
    let mut fitting = app.ui.run.agents.nodes().iter().filter(|node| node.id.as_str().starts_with(name));
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Ok(one.id.clone()),
        (None, _) => Err(format!("no agent is called {name}; /agents reads their names")),
        (Some(_), Some(_)) => Err(format!("several agents begin with {name}; /agents reads their names")),
    }
}

fn read_agent(app: &mut App, name: &str) {
    match named(app, name) {
        Ok(agent) => app.tree.select_agent(&agent, &app.ui.run.agents),
        Err(sentence) => app.status.say(sentence, app.ui.now),
    }
}

/// Cancels an agent and everything beneath it.
fn cancel(app: &mut App, name: &str) -> Vec<Effect> {
    match named(app, name) {
        Ok(agent) => with_agents(app, |_, ui| cancel_all(&agent, ui.agents)).unwrap_or_default(),
        Err(sentence) => {
            app.status.say(sentence, app.ui.now);
            Vec::new()
        }
    }
}

/// Copies an entry, or the last answer.
fn copy(app: &mut App, number: &str) -> Vec<Effect> {
    let cells = app.reader().map(|reader| reader.transcript.cells()).unwrap_or_default();
    let cell = if number.is_empty() {
        cells.iter().rev().find(|cell| matches!(cell.body(), Body::Assistant { .. }))
    } else {
        number.parse::<usize>().ok().and_then(|number| cells.get(number.checked_sub(1)?))
    };
    if let Some(cell) = cell {
        let text = if let Body::Compaction { head, summary } = cell.body() {
            format!("{head}\n{summary}")
        } else {
            cell.source().to_owned()
        };
        vec![Effect::Copy(text)]
    } else {
        app.status.say("there is no such entry; /show lists them", app.ui.now);
        Vec::new()
    }
}

fn show(app: &mut App, number: &str) -> Vec<Effect> {
    match number.parse() {
        _ if number.is_empty() => vec![Effect::Tell(Report::Entry(None))],
        Ok(number) => vec![Effect::Tell(Report::Entry(Some(number)))],
        Err(_) => {
            app.status.say("write /show N, with the number of an entry", app.ui.now);
            Vec::new()
        }
    }
}
