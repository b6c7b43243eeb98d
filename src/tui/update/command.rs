//! What the commands do; their keys come here too.

use crate::agents::focus_details;
use crate::approval::{self, QuestionSubject};
use crate::commands::{self, CommandContext, Verb};
use crate::effect::PaneEffect;
use crate::help::Help;
use crate::keymap::PauseKey;
use crate::message::Before;
use crate::msg::Effect;
use crate::state::{App, Cause, Medium, Pane, Report};
use crate::transcript::cell::Level;
use crate::ui_context::UiContext;
use crate::update::{carry_out, line, transcript, with_agents, with_pause};
use crate::{pause, pending};
use steersman_base::id::AgentId;
use steersman_base::protocol::{LocalServer, PromptTemplate, Request, TemplateKind};
use steersman_base::target::ALL;
use steersman_base::text::visible_line;

/// Carries a command out at once, whether a turn runs or not.
pub(super) fn run(app: &mut App, verb: Verb, argument: &str) -> Vec<Effect> {
    if let (Medium::Lines, Some(report)) = (app.ui.medium, line::report(verb, argument)) {
        return vec![Effect::Tell(report)];
    }
    if app.ui.medium == Medium::Lines && commands::only_drawn(verb) {
        app.status.say("the line output draws nothing, so this does nothing here", app.ui.now);
        return Vec::new();
    }
    let App { ui, focus, tree, pending, .. } = app;
    let overlays = &mut focus.overlays;
    let mut wanted = Vec::new();
    match verb {
        Verb::Line(verb) => return line::run(app, verb, argument),
        Verb::Model if argument.is_empty() && ui.medium == Medium::Lines => return line::choose_model(app),
        Verb::Help => overlays.open(Help::about(argument)),
        Verb::Model if argument.is_empty() => return choose_model(app),
        Verb::Model => {
            // One that is not listed may be asked about first.
            if app.palette.models.iter().any(|model| model.name == argument) {
                wanted.push(PaneEffect::Say(format!("model: {argument}")));
            }
            wanted.push(Request::SwitchModel { name: argument.to_owned() }.into());
        }
        Verb::New => return ask(app, QuestionSubject::New),
        Verb::Reset => return ask(app, QuestionSubject::Reset),
        Verb::Cancel => return stop(app),
        Verb::Pause => return pause_agents(app, argument),
        Verb::Pending => wanted.extend(pending::focus(pending, &ui.run.pending)),
        Verb::Entry(entry) => {
            let mut context = CommandContext { agent: tree.selected(), overlays, ui };
            wanted = (entry.run)(&mut context, argument);
        }
        Verb::Agents => focus.go(Pane::Tree),
        Verb::Details => return with_agents(app, focus_details).unwrap_or_default(),
        Verb::Theme => theme(app, argument),
        Verb::Mode => wanted.push(approval::mode(ui, argument)),
        Verb::Find if ui.medium == Medium::Lines && argument.is_empty() => {
            wanted.push(PaneEffect::Say("/find needs words after it".to_owned()));
        }
        Verb::Find if ui.medium == Medium::Lines => {
            return vec![Effect::Tell(Report::Find(argument.to_owned()))];
        }
        Verb::Find => return transcript::find(app, argument),
        Verb::Skill => wanted = skills(ui, argument),
        Verb::Detach if ui.client.is_some() => return vec![Effect::Detach],
        Verb::Detach => {
            app.reply("this session ends with its terminal; to leave one running, start it with steersman serve");
        }
        Verb::Quit => return vec![Effect::Quit],
        // It carries a text, so it is sent like one.
        Verb::Now | Verb::Send(_) | Verb::When(_) | Verb::Init => {}
    }
    carry_out(app, wanted)
}

/// Lists the skills, or says that there is none of this name.
fn skills(ui: &UiContext, name: &str) -> Vec<PaneEffect> {
    let skills: Vec<_> = ui.run.templates.iter().filter(|template| template.kind == TemplateKind::Skill).collect();
    if !name.is_empty() {
        let name = visible_line(name.split_whitespace().next().unwrap_or_default()).into_owned();
        return vec![PaneEffect::Reply(format!("there is no skill {name}; /skill lists all"))];
    }
    if skills.is_empty() {
        return vec![PaneEffect::Reply(
            "there are no skills; steersman help skills says where they are kept".to_owned(),
        )];
    }
    let line = |skill: &&PromptTemplate| {
        let PromptTemplate { name, source, description, .. } = skill;
        PaneEffect::Note(AgentId::main(), visible_line(&format!("{name} ({source}): {description}")).into_owned())
    };
    skills.iter().map(line).collect()
}

/// Offers a model server of this machine in place of the embedded model.
pub(super) fn offer(app: &mut App, offer: LocalServer) {
    let LocalServer { what, address, model, .. } = &offer;
    let line =
        format!("{what} answers on {address} with {model}: F6 uses it; what you send now goes to the embedded model");
    app.reader_mut(&AgentId::main()).transcript.add_notice(Level::Info, &line);
    app.status.offer = Some(offer);
}

/// Takes the offered server, else begins the choice of a model: the command in the composer, and the names that the server offers.
pub(super) fn choose_model(app: &mut App) -> Vec<Effect> {
    if let Some(LocalServer { name, .. }) = app.status.offer.take() {
        app.status.say(format!("model: {name}"), app.ui.now);
        return vec![Effect::Request(Request::SwitchModel { name })];
    }
    prefill(app, "/model ");
    app.palette.ask_models();
    vec![Effect::Request(Request::ListModels)]
}

/// Begins a command in the message; a draft comes back behind it. A text about an entry or a call is ended first.
pub(super) fn prefill(app: &mut App, command: &'static str) {
    app.focus.go(Pane::Composer);
    if let Some(first) = app.message.blocked() {
        carry_out(app, [first]);
    } else if app.message.begin_command(command) == Before::ComesBack {
        app.status.say("what you were writing comes back after the command; Esc brings it back now", app.ui.now);
    }
}

/// Asks before a conversation is given up, unless the user wants no question.
pub(super) fn ask(app: &mut App, subject: QuestionSubject) -> Vec<Effect> {
    if app.questions.is_waived(&subject) {
        return carry_out(app, subject.decided());
    }
    approval::ask_about_conversation(&mut app.questions, subject, &app.ui);
    Vec::new()
}

/// Uses this theme; without a name the next one.
fn theme(app: &mut App, name: &str) {
    let name = if name.is_empty() { app.ui.themes.next() } else { name.to_owned() };
    match app.ui.themes.activate(&name) {
        Ok(theme) => {
            app.ui.theme = theme;
            app.status.say(format!("theme: {name}"), app.ui.now);
        }
        Err(sentence) => app.reply(&sentence),
    }
}

fn pause_agents(app: &mut App, whom: &str) -> Vec<Effect> {
    match whom {
        "" => with_pause(app, PauseKey::PauseOrGoOn),
        ALL => vec![Effect::Request(pause::all(&app.ui.run.pauses))],
        other => {
            app.reply(&format!("/pause takes nothing or {ALL}, not {other}"));
            Vec::new()
        }
    }
}

fn stop(app: &mut App) -> Vec<Effect> {
    if app.ui.run.runs() || !app.ui.run.pending.is_empty() {
        app.ui.run.agents.cancelling(app.ui.now);
        return vec![Effect::Request(Request::Stop)];
    }
    app.status.say_while(Cause::NoTurn, "nothing is running", app.ui.now);
    Vec::new()
}
