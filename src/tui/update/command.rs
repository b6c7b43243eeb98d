//! What the commands do; their keys come here too.

use crate::id::AgentId;
use crate::protocol::{LocalServer, Request};
use crate::target::ALL;
use crate::tui::agents::focus_details;
use crate::tui::approval::{self, Subject};
use crate::tui::commands::{self, Verb};
use crate::tui::help::Help;
use crate::tui::keymap::Action;
use crate::tui::message::Before;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::focus::{Overlay, Pane};
use crate::tui::state::lines::{Medium, Report};
use crate::tui::state::pointer::MouseMode;
use crate::tui::transcript::cell::Level;
use crate::tui::update::{
    approval as approvals, budget, carry_out, export, hold as gates, ledger, line, message, pending, sessions,
    transcript, with_agents,
};

/// Carries a command out at once, whether a turn runs or not.
pub fn run(app: &mut App, verb: Verb, argument: &str) -> Vec<Effect> {
    if let (Medium::Lines, Some(report)) = (app.medium, line::report(verb, argument)) {
        return vec![Effect::Tell(report)];
    }
    if app.medium == Medium::Lines && commands::only_drawn(verb) {
        app.status.say("the line output draws nothing, so this does nothing here", app.now);
        return Vec::new();
    }
    match verb {
        Verb::Line(verb) => return line::run(app, verb, argument),
        Verb::Model if argument.is_empty() && app.medium == Medium::Lines => return line::choose_model(app),
        Verb::Help => {
            app.help = Help::about(argument);
            app.focus.overlay = Some(Overlay::Help);
        }
        Verb::Model if argument.is_empty() => return choose_model(app),
        Verb::Model => {
            // One that is not listed may be asked about first.
            if app.palette.models.iter().any(|model| model == argument) {
                app.status.say(format!("model: {argument}"), app.now);
            }
            return vec![Effect::Request(Request::SwitchModel { name: argument.to_owned() })];
        }
        Verb::New => return ask(app, Subject::New),
        Verb::Reset => return ask(app, Subject::Reset),
        Verb::Cancel => return stop(app),
        Verb::Hold => return hold(app, argument),
        Verb::Export => {
            let wanted = export::export(app, argument);
            return carry_out(app, wanted);
        }
        Verb::Pending => pending::focus(app),
        Verb::Ledger => ledger::toggle(app),
        Verb::Agents => app.focus.go(Pane::Tree),
        Verb::Details => return with_agents(app, focus_details).unwrap_or_default(),
        Verb::Zoom => app.focus.toggle_zoom(),
        Verb::Theme => theme(app, argument),
        Verb::Mode => return approvals::mode(app, argument),
        Verb::Compact => return budget::compact(app, argument),
        Verb::Budget => return budget::budget(app, argument),
        Verb::Find if app.medium == Medium::Lines && argument.is_empty() => {
            app.status.say("/find needs words after it", app.now);
        }
        Verb::Find if app.medium == Medium::Lines => return vec![Effect::Tell(Report::Find(argument.to_owned()))],
        Verb::Find => return transcript::find(app, argument),
        Verb::Fold => transcript::shown(app).transcript.toggle_all(),
        Verb::Times => app.transcripts.toggle_times(),
        Verb::Undo => return approvals::begin_undo(app),
        Verb::Rules => return approvals::rules(app, argument),
        Verb::Resume => return sessions::resume(app, argument),
        Verb::Branch => sessions::branch(app),
        Verb::Retry => return sessions::retry(app),
        Verb::Mouse => return mouse(app, argument),
        Verb::Detach if app.client.is_some() => return vec![Effect::Detach],
        Verb::Detach => app.reply(
            "the session runs in this terminal and ends with it; one that was started with steersman serve can be left",
        ),
        Verb::Quit => return vec![Effect::Quit],
        // It carries a text, so it is sent like one.
        Verb::Now => {}
    }
    Vec::new()
}

/// Offers a model server of this machine in place of the embedded model.
pub fn offer(app: &mut App, offer: LocalServer) {
    let LocalServer { what, address, model, .. } = &offer;
    let told =
        format!("{what} answers on {address} with {model}: F6 uses it; what you send now goes to the embedded model");
    app.reader_mut(&AgentId::main()).transcript.tell(Level::Info, &told);
    app.status.offer = Some(offer);
}

/// Takes the offered server, else begins the choice of a model: the command in the composer, and the names that the server offers.
pub fn choose_model(app: &mut App) -> Vec<Effect> {
    if let Some(LocalServer { name, .. }) = app.status.offer.take() {
        app.status.say(format!("model: {name}"), app.now);
        return vec![Effect::Request(Request::SwitchModel { name })];
    }
    prefill(app, "/model ");
    app.palette.ask_models();
    vec![Effect::Request(Request::ListModels)]
}

/// Begins a command in the message; a draft comes back behind it. A text about an entry or a call is ended first.
pub fn prefill(app: &mut App, command: &'static str) {
    app.focus.go(Pane::Composer);
    if !message::blocked(app) && app.message.begin_command(command) == Before::ComesBack {
        app.status.say("what you were writing comes back after the command; Esc brings it back now", app.now);
    }
}

/// Asks before a conversation is given up, unless the user wants no question.
pub fn ask(app: &mut App, subject: Subject) -> Vec<Effect> {
    if app.questions.is_waived(&subject) {
        return carry_out(app, subject.decided().into_iter().collect());
    }
    approval::ask_about_conversation(&mut app.questions, subject);
    Vec::new()
}

/// Takes the next theme.
pub fn next_theme(app: &mut App) {
    let name = app.themes.next();
    set_theme(app, &name);
}

fn theme(app: &mut App, name: &str) {
    if name.is_empty() {
        next_theme(app);
    } else {
        set_theme(app, name);
    }
}

fn set_theme(app: &mut App, name: &str) {
    match app.themes.wear(name) {
        Ok(theme) => {
            app.theme = theme;
            app.status.say(format!("theme: {name}"), app.now);
        }
        Err(sentence) => app.reply(&sentence),
    }
}

/// Gives the mouse to the terminal, or takes it; without a word whichever it is not.
pub fn mouse(app: &mut App, word: &str) -> Vec<Effect> {
    let mode = match (word, app.mouse) {
        ("on", _) | ("", MouseMode::Off) => MouseMode::On,
        ("off", _) | ("", MouseMode::On) => MouseMode::Off,
        (other, _) => {
            app.reply(&format!("/mouse takes on or off, not {other}"));
            return Vec::new();
        }
    };
    app.mouse = mode;
    let sentence = match mode {
        MouseMode::On => "mouse on: it clicks, scrolls and drags here; Shift+drag selects with the terminal itself",
        MouseMode::Off => "mouse off: the terminal selects with it",
    };
    app.reply(sentence);
    vec![Effect::Mouse(mode)]
}

fn hold(app: &mut App, whom: &str) -> Vec<Effect> {
    match whom {
        "" => gates::act(app, Action::HoldOrGoOn),
        ALL => gates::all(app),
        other => {
            app.reply(&format!("/hold takes nothing or {ALL}, not {other}"));
            Vec::new()
        }
    }
}

/// Takes the conversation back to its system prompt.
pub fn reset(app: &mut App) -> Vec<Effect> {
    app.facts.run.agents.cancelling(app.facts.now);
    vec![Effect::Request(Request::Reset)]
}

fn stop(app: &mut App) -> Vec<Effect> {
    if app.run.agents.main().running() || !app.run.pending.is_empty() {
        app.facts.run.agents.cancelling(app.facts.now);
        return vec![Effect::Request(Request::Stop)];
    }
    app.status.say_while(Cause::NoTurn, "nothing is running", app.now);
    Vec::new()
}
