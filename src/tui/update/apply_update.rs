//! What the run says, applied to the context and from there into every pane: events, replies, snapshots, notices.

use super::{carry_out, command, with_message};
use crate::app::App;
use crate::changes::ChangesPane;
use crate::context::{ContextPane, describe};
use crate::effect::{Effect, PaneEffect};
use crate::jobs;
use crate::message::{Message, bring_back, send};
use crate::plan;
use crate::state::Medium;
use crate::status::HostState;
use crate::transcript::scroll::ScrollRequest;
use crate::{alerts, approval, branch, hooks, pause, pending, rules, servers, undo, unfinished};
use steersman_base::error::Refused;
use steersman_base::event::{Envelope, Event, Pending, Usage};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{Notice, Reply, Request, Update};
use steersman_session::model::agents::Agents;
use steersman_session::model::{budget_sentence, receipt_text};

/// What an update has changed.
pub(super) enum UpdateOutcome {
    /// A piece of a stream: they come by the thousand, and change nothing about the message.
    Piece,
    /// Anything; with what is to be done.
    Changed(Vec<Effect>),
}

/// Applies what the run says.
pub(super) fn apply(app: &mut App, update: Update) -> UpdateOutcome {
    app.ui.apply(&update);
    let App { questions, message, ui, status, .. } = app;
    let wanted = match update {
        Update::Envelope(envelope) => {
            let effects = happened(app, &envelope);
            alerts::apply(&mut app.alerts, &envelope, &app.ui.run);
            if let Event::ThinkingDelta { .. } | Event::AssistantDelta { .. } = envelope.event {
                return UpdateOutcome::Piece;
            }
            return UpdateOutcome::Changed(effects);
        }
        Update::Reply(reply) => return UpdateOutcome::Changed(replied(app, reply)),
        Update::Notice(notice) => return UpdateOutcome::Changed(noticed(app, notice)),
        Update::Queues { .. } => {
            message.know_images(ui.run.pending.entries().iter().map(|text| &text.message));
            if !matches!(status.host, HostState::ReadOnly(_)) {
                approval::ask_about_stale(questions, message.edited(), ui);
            }
            Vec::new()
        }
        Update::Approvals { .. } => approval::snapshot(questions, message, ui),
        Update::Budget(_) => Vec::new(),
    };
    UpdateOutcome::Changed(carry_out(app, wanted))
}

fn happened(app: &mut App, envelope: &Envelope) -> Vec<Effect> {
    app.ui.now = app.ui.now.max(envelope.at);
    let run = app.ui.event_run();
    let priced = priced(&run.agents, envelope);
    let envelope = priced.as_ref().unwrap_or(envelope);
    app.transcripts.envelope(envelope);
    for id in run.apply(envelope) {
        if let Some(receipt) = run.receipts.get(&id) {
            app.transcripts.set_receipt(&receipt.agent, &id, receipt_text(receipt));
        }
    }
    let wanted = pause::follow(&mut app.pause, &mut app.message, &app.ui, envelope);
    let effects = carry_out(app, wanted);
    note_model(app, envelope);
    app.ui.tour.apply(envelope, &app.ui.run);
    if let Event::HookRan(_) = &envelope.event {
        hooks::follow(&mut app.focus.overlays, &app.ui);
    }
    if let Event::UserTurn { content, .. } = &envelope.event {
        app.message.count_images(content);
    }
    if let Event::Returned { entries } = &envelope.event {
        // What the user has in newer words is no news.
        let App { ui, pending, .. } = app;
        let is_news = |entry: &&Pending| entry.sender == ui.client && !pending.was_kept(&entry.id);
        let fresh: Vec<Pending> = entries.iter().filter(is_news).cloned().collect();
        with_message(app, |message, known| bring_back::returned(message, &envelope.agent, &fresh, known));
    }
    if envelope.agent.is_main() && envelope.event == (Event::Reset {}) {
        app.message.end_conversation();
        app.begin_again();
    }
    effects
}

fn note_model(app: &mut App, envelope: &Envelope) {
    match &envelope.event {
        // The embedded model it is.
        Event::UserTurn { .. } => app.status.offer = None,
        Event::ModelSwitched { to, provider, .. } if envelope.agent.is_main() => {
            app.status.switched(to.as_deref(), provider.as_deref());
            app.palette.forget_models();
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

/// Applies what came of a request.
fn replied(app: &mut App, reply: Reply) -> Vec<Effect> {
    let App { questions, message, transcripts, ui, focus, .. } = app;
    let mut wanted = Vec::new();
    match reply {
        Reply::Injected { to, message, outcome } => return sent(app, &to, &message.text, &outcome),
        Reply::Stopped(entries) => {
            return with_message(app, |message, known| bring_back::stopped(message, &entries, known));
        }
        Reply::Queue { agent, id, operation, outcome } => {
            let effects =
                with_message(app, |message, known| message.queue_answered((&agent, &id), &operation, &outcome, known));
            let said = pending::answered(&mut app.pending, &agent, &id, &operation, &outcome, &app.ui.run.pending);
            carry_out(app, said.map(PaneEffect::Say));
            return effects;
        }
        Reply::Pause { agent, state, accepted } => {
            wanted.extend(pause::paused(agent.as_ref(), state, accepted).map(PaneEffect::Say));
        }
        Reply::Decided { agent, decision, accepted } => {
            wanted = pause::decided(message, &agent, &decision, accepted, ui);
        }
        Reply::Cancelling(agents) if agents.is_empty() => {
            wanted.push(PaneEffect::Say("not cancelled: it has ended, or only ends with its parent".to_owned()));
        }
        Reply::Cancelling(_) => {}
        Reply::ShellLine { line, outcome } => wanted.push(jobs::line_started(&line, outcome)),
        Reply::InstructionAdded { line, outcome } => wanted.push(rules::added(&line, outcome)),
        Reply::JobStopped { job, accepted } => wanted.push(jobs::stopped(&job, accepted)),
        Reply::Image { digest, image } => {
            let job = transcripts.pictures.image_read(digest, image);
            wanted.extend(job.map(|job| PaneEffect::Outside(Effect::MakePicture(job))));
        }
        Reply::Background { outcome, .. } => wanted.push(jobs::sent_to_background(outcome)),
        Reply::Answered { answer, outcome, .. } => wanted.push(approval::answered(message, answer, outcome)),
        Reply::Mode(outcome) => wanted.push(approval::mode_set(outcome)),
        Reply::UndoPreview { scope, files } => wanted.extend(undo::ask(questions, scope, &files, ui)),
        Reply::Changes(whole) => {
            if let Some(pane) = focus.overlays.find_mut::<ChangesPane>() {
                pane.set_diffs(whole);
            }
        }
        Reply::Context { reports, refused } => {
            wanted.extend(refused.map(PaneEffect::Say));
            if ui.medium == Medium::Lines {
                let lines = reports.iter().flat_map(describe);
                wanted.extend(lines.map(|line| PaneEffect::Note(AgentId::main(), line)));
            } else if let Some(pane) = focus.overlays.find_mut::<ContextPane>() {
                pane.set_reports(reports);
            }
        }
        Reply::RewindPreview { to, files } => branch::ask(questions, transcripts, &to, &files, ui),
        Reply::Undone { files, .. } => {
            wanted.push(PaneEffect::Say(undo::done(&files)));
            wanted.extend(focus.overlays.find_mut::<ChangesPane>().map(|_| Request::ListChanges.into()));
        }
        Reply::Rules(sentences) => {
            let shown = app.tree.selected();
            wanted.extend(sentences.into_iter().map(|sentence| PaneEffect::Note(shown.clone(), sentence)));
        }
        Reply::Servers { failed, .. } => wanted.extend(servers::answered(&mut focus.overlays, failed, ui)),
        Reply::Prompt { prompt, outcome, .. } => wanted.push(servers::prompt(message, &prompt, outcome)),
        Reply::Filled { call, outcome } => {
            return with_message(app, |message, known| send::filled_in(message, &call, &outcome, known));
        }
        Reply::PlanEdited { agent, edit, outcome } => {
            wanted.extend(plan::answered(message, &mut focus.overlays, ui, (&agent, &edit), outcome));
        }
        Reply::Budget(_) => wanted.push(PaneEffect::Reply(budget_sentence(ui.run.budget))),
        Reply::RuleChanged { id, change, accepted } => {
            wanted.push(PaneEffect::Say(rules::changed(&id, &change, accepted)));
        }
    }
    carry_out(app, wanted)
}

/// Takes the answer of one queue to a text.
fn sent(app: &mut App, to: &AgentId, text: &str, outcome: &Result<MessageId, Refused>) -> Vec<Effect> {
    if outcome.is_ok() {
        app.reader_mut(to).scroll.ask(ScrollRequest::Bottom);
    }
    with_message(app, |message, known| send::sent(message, to, text, outcome, known))
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
        Notice::ReadOnly(reason) => {
            app.end_opening();
            app.reader_mut(&AgentId::main()).transcript.only_read(&reason);
            app.status.host = HostState::ReadOnly(reason);
        }
        Notice::Info(sentence) | Notice::ModelSwitch { outcome: Err(sentence), .. } => app.reply(&sentence),
        // The event says the same when the agent takes it over; the model has the templates.
        Notice::ModelSwitch { outcome: Ok(_), .. }
        | Notice::Templates(_)
        | Notice::Continuable(_)
        | Notice::Pause { .. } => {}
        Notice::Images(_) => return with_message(app, Message::images_checked),
        Notice::Returned(mut entries) => {
            entries.retain(|entry| entry.sender == app.ui.client);
            return with_message(app, |message, known| bring_back::given_back(message, &entries, known));
        }
        Notice::Withdrawn { by, entries } => {
            return with_message(app, |message, _| bring_back::withdrawn(message, by.as_ref(), &entries));
        }
        Notice::Unsaved(unsaved) => app.ui.unsaved = unsaved,
        Notice::Over(sentence) => {
            app.message.expect_no_answers();
            app.status.host = HostState::Failed(sentence);
        }
        Notice::Unfinished(left) => {
            app.end_opening();
            let wanted = unfinished::begin(&mut app.questions, &mut app.message, &left, &app.ui);
            return carry_out(app, wanted);
        }
        Notice::LocalServer(server) => command::offer(app, server),
        Notice::Hooks(_) => hooks::follow(&mut app.focus.overlays, &app.ui),
        Notice::Servers(_) => servers::follow(&mut app.focus.overlays, &app.ui),
        Notice::Models(Ok(models)) => app.palette.models = models,
        Notice::Models(Err(reason)) => app.reply(&format!("no list of models: {reason}")),
    }
    Vec::new()
}
