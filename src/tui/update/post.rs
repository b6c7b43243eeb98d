//! What the run says, folded into the facts and from there into every pane: events, replies, snapshots, notices.

use super::{
    approval, budget, call_text, carry_out, command, hooks, jobs, message, pending as pending_texts, plan, question,
    rules, servers, sessions, with_alerts,
};
use crate::error::Refused;
use crate::event::{Envelope, Event, Pending, Usage};
use crate::id::{AgentId, MessageId};
use crate::protocol::{Notice, Post, Reply, Request};
use crate::session::fold::agents::Agents;
use crate::session::fold::receipt_words;
use crate::tui::app::App;
use crate::tui::changes::ChangesPane;
use crate::tui::context::{ContextPane, in_words};
use crate::tui::effect::{Effect, PaneEffect};
use crate::tui::message::send;
use crate::tui::state::Medium;
use crate::tui::status::{HostState, Status};
use crate::tui::transcript::scroll::ScrollRequest;
use crate::tui::{alerts, pause, pending};

/// What a post has changed.
pub enum PostOutcome {
    /// A piece of a stream: they come by the thousand, and change nothing about the message.
    Piece,
    /// Anything; with what is to be done.
    Changed(Vec<Effect>),
}

/// Folds what the run says.
pub fn apply(app: &mut App, post: Post) -> PostOutcome {
    app.facts.post(&post);
    let App { questions, message, facts, .. } = app;
    let wanted = match post {
        Post::Envelope(envelope) => {
            let effects = happened(app, &envelope);
            with_alerts(app, |alerts, facts| alerts::apply(alerts, &envelope, facts));
            if let Event::ThinkingDelta { .. } | Event::AssistantDelta { .. } = envelope.event {
                return PostOutcome::Piece;
            }
            return PostOutcome::Changed(effects);
        }
        Post::Reply(reply) => return PostOutcome::Changed(replied(app, reply)),
        Post::Notice(notice) => return PostOutcome::Changed(noticed(app, notice)),
        Post::Queues { .. } => {
            message.know_images(facts.run.pending.entries().iter().map(|text| &text.message));
            question::ask_about_stale(questions, message, facts);
            Vec::new()
        }
        Post::Approvals { .. } => approval::snapshot(questions, message, facts),
        Post::Budget(_) => Vec::new(),
    };
    PostOutcome::Changed(carry_out(app, wanted))
}

fn happened(app: &mut App, envelope: &Envelope) -> Vec<Effect> {
    app.facts.now = app.facts.now.max(envelope.at);
    let run = app.facts.event_run();
    let priced = priced(&run.agents, envelope);
    let envelope = priced.as_ref().unwrap_or(envelope);
    app.transcripts.envelope(envelope);
    for id in run.apply(envelope) {
        if let Some(receipt) = run.receipts.get(&id) {
            app.transcripts.set_receipt(&receipt.agent, &id, receipt_words(receipt));
        }
    }
    let wanted = call_text::apply(&mut app.pause, &mut app.message, &app.facts, envelope);
    let effects = carry_out(app, wanted);
    note_model(&mut app.status, envelope);
    app.facts.tour.apply(envelope, &app.facts.run);
    if let Event::HookRan(_) = &envelope.event {
        hooks::follow(&mut app.focus.overlays, &app.facts);
    }
    if let Event::UserTurn { content, .. } = &envelope.event {
        app.message.count_images(content);
    }
    if let Event::Returned { entries } = &envelope.event {
        let is_own = |entry: &&Pending| entry.sender == app.facts.client;
        let own: Vec<Pending> = entries.iter().filter(is_own).cloned().collect();
        message::returned(app, &envelope.agent, &own);
    }
    if envelope.agent.is_main() && envelope.event == (Event::Reset {}) {
        app.message.end_conversation();
        app.begin_again();
    }
    effects
}

fn note_model(status: &mut Status, envelope: &Envelope) {
    match &envelope.event {
        // The embedded model it is.
        Event::UserTurn { .. } => status.offer = None,
        Event::ModelSwitched { to, provider, .. } if envelope.agent.is_main() => {
            status.switched(to.as_deref(), provider.as_deref());
        }
        _ => {}
    }
}

/// Returns a round's tokens together with what they cost, so that whoever sums costs sums the same.
fn priced(agents: &Agents, envelope: &Envelope) -> Option<Envelope> {
    let Event::Tokens(usage) = &envelope.event else { return None };
    let cost_nanos = Some(agents.cost(&envelope.agent, usage)?);
    Some(Envelope { event: Event::Tokens(Usage { cost_nanos, ..usage.clone() }), ..envelope.clone() })
}

/// Folds what came of a request.
fn replied(app: &mut App, reply: Reply) -> Vec<Effect> {
    let App { questions, message, transcripts, facts, focus, .. } = app;
    let wanted = match reply {
        Reply::Injected { to, text, outcome, .. } => return sent(app, &to, &text, &outcome),
        Reply::Stopped(entries) => {
            message::stopped(app, &entries);
            Vec::new()
        }
        Reply::Queue { agent, id, act, outcome } => {
            let effects = message::with(app, |message, known| {
                pending_texts::answered(message, known, (&agent, &id), &act, &outcome)
            });
            let said = pending::answered(&mut app.pending, &agent, &id, &act, &outcome, &app.facts.run.pending);
            carry_out(app, said.map(PaneEffect::Say).into_iter().collect());
            return effects;
        }
        Reply::Pause { agent, state, accepted } => {
            pause::paused(agent.as_ref(), state, accepted).map(PaneEffect::Say).into_iter().collect()
        }
        Reply::Decided { agent, decision, accepted } => call_text::decided(message, &agent, &decision, accepted, facts),
        Reply::Cancelling(agents) if agents.is_empty() => {
            vec![PaneEffect::Say("not cancelled: it has ended, or only ends with its parent".to_owned())]
        }
        Reply::Cancelling(_) => Vec::new(),
        Reply::ShellLine { line, outcome } => vec![jobs::line_started(&line, outcome)],
        Reply::JobStopped { job, accepted } => vec![jobs::stopped(&job, accepted)],
        Reply::Image { digest, image } => {
            let job = transcripts.pictures.read(digest, image);
            job.map(|job| PaneEffect::Outside(Effect::MakePicture(job))).into_iter().collect()
        }
        Reply::Background { outcome, .. } => vec![jobs::sent_to_background(outcome)],
        Reply::Answered { answer, outcome, .. } => vec![approval::answered(message, answer, outcome)],
        Reply::Mode(outcome) => vec![approval::mode_set(outcome)],
        Reply::UndoPreview { scope, files } => {
            approval::ask_undo(questions, scope, &files, facts).into_iter().collect()
        }
        Reply::Changes(whole) => {
            if let Some(pane) = focus.overlays.find_mut::<ChangesPane>() {
                pane.take(whole);
            }
            Vec::new()
        }
        Reply::Context { reports, refused } => {
            let mut wanted: Vec<PaneEffect> = refused.into_iter().map(PaneEffect::Say).collect();
            if facts.medium == Medium::Lines {
                let lines = reports.iter().flat_map(in_words);
                wanted.extend(lines.map(|line| PaneEffect::Note(AgentId::main(), line)));
            } else if let Some(pane) = focus.overlays.find_mut::<ContextPane>() {
                pane.take(reports);
            }
            wanted
        }
        Reply::RewindPreview { to, files } => {
            sessions::ask_branch(questions, transcripts, &to, &files, facts);
            Vec::new()
        }
        Reply::Undone { files, .. } => {
            let again = focus.overlays.find_mut::<ChangesPane>().map(|_| Request::ListChanges.into());
            std::iter::once(approval::undone(&files)).chain(again).collect()
        }
        Reply::Rules(sentences) => {
            let shown = app.tree.selected();
            sentences.into_iter().map(|sentence| PaneEffect::Note(shown.clone(), sentence)).collect()
        }
        Reply::Servers { failed, .. } => servers::answered(&mut focus.overlays, failed, facts),
        Reply::Prompt { prompt, outcome, .. } => vec![servers::prompt(message, &prompt, outcome)],
        Reply::PlanEdited { agent, edit, outcome } => {
            plan::answered(message, &mut focus.overlays, facts, (&agent, &edit), outcome)
        }
        Reply::Budget(_) => vec![budget::set(facts)],
        Reply::RuleChanged { id, change, accepted } => vec![PaneEffect::Say(rules::changed(&id, &change, accepted))],
    };
    carry_out(app, wanted)
}

/// Takes the answer of one queue to a text.
fn sent(app: &mut App, to: &AgentId, text: &str, outcome: &Result<MessageId, Refused>) -> Vec<Effect> {
    if outcome.is_ok() {
        app.reader_mut(to).scroll.ask(ScrollRequest::Bottom);
    }
    message::with(app, |message, known| send::sent(message, to, text, outcome, known))
}

fn noticed(app: &mut App, notice: Notice) -> Vec<Effect> {
    match notice {
        // What the session said before it was over may come behind that.
        Notice::Ready if matches!(app.status.host, HostState::Failed(_)) => {}
        Notice::Ready => app.status.host = HostState::Ready,
        Notice::BuildFailed(error) => {
            app.end_opening();
            let reason = error.to_string();
            app.reader_mut(&AgentId::main()).transcript.cannot_run(&reason);
            app.status.host = HostState::Failed(reason);
        }
        Notice::Info(sentence) | Notice::ModelSwitch { outcome: Err(sentence), .. } => app.reply(&sentence),
        // The event says the same when the agent takes it over; the fold has the templates.
        Notice::ModelSwitch { outcome: Ok(_), .. } | Notice::Templates(_) | Notice::Continuable(_) => {}
        Notice::Images(_) => return message::images_checked(app),
        Notice::Returned(mut entries) => {
            entries.retain(|entry| entry.sender == app.facts.client);
            message::given_back(app, &entries);
        }
        Notice::Withdrawn { by, entries } => message::withdrawn(app, by.as_ref(), &entries),
        Notice::Over(sentence) => {
            app.message.expect_no_answers();
            app.status.host = HostState::Failed(sentence);
        }
        Notice::Unfinished(left) => {
            app.end_opening();
            let wanted = question::begin_unfinished(&mut app.questions, &mut app.message, &left, &app.facts);
            return carry_out(app, wanted);
        }
        Notice::LocalServer(server) => command::offer(app, server),
        Notice::Hooks(_) => hooks::follow(&mut app.focus.overlays, &app.facts),
        Notice::Servers(_) => servers::follow(&mut app.focus.overlays, &app.facts),
        Notice::Models(Ok(models)) => app.palette.models = models,
        Notice::Models(Err(reason)) => app.reply(&format!("no list of models: {reason}")),
    }
    Vec::new()
}
