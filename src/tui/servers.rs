//! The MCP servers on the screen: the list, a prompt that comes into the message.

use std::fmt::Write as _;

use crate::choices::{Choices, ListChoice, ListKind};
use crate::commands::{CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::message::Message;
use crate::overlay::Overlays;
use crate::state::Medium;
use crate::ui_context::UiContext;
use steersman_base::id::AgentId;
use steersman_base::protocol::{Request, ServerRequest, ServerState, ServerStatus};
use steersman_base::summary::count;
use steersman_base::text::visible_line;

pub const COMMAND: CommandEntry = CommandEntry::new(
    "/mcp",
    Takes::Nothing,
    "",
    "the MCP servers: state, tools, last error; start one",
    |context, _| show(context.overlays, context.ui),
);

static SERVERS: ListKind = ListKind {
    titles: [" MCP servers: start one ", " MCP servers "],
    awaited: "checking the servers…",
    empty: "no MCP server is configured; /help mcp says how",
    choose: Some(start),
};

/// Starts a server. The list stays: it shows what becomes of it.
fn start(row: &ListChoice, _: &UiContext) -> Vec<PaneEffect> {
    let name = visible_line(&row.id).into_owned();
    vec![
        PaneEffect::Say(format!("starting {name}, unless it runs")),
        Request::Servers { request: ServerRequest::Start(row.id.clone()) }.into(),
    ]
}

/// Shows how the servers stand, and asks for it anew; the line output lists them.
pub fn show(overlays: &mut Overlays, ui: &UiContext) -> Vec<PaneEffect> {
    if ui.medium == Medium::Lines {
        return listed(ui);
    }
    let mut list = Choices::awaited(&SERVERS);
    if !ui.run.servers.is_empty() {
        list.set_rows(Ok(rows(ui)));
    }
    overlays.open(list);
    vec![Request::Servers { request: ServerRequest::List }.into()]
}

fn listed(ui: &UiContext) -> Vec<PaneEffect> {
    if ui.run.servers.is_empty() {
        return vec![PaneEffect::Say("no MCP server is configured".to_owned())];
    }
    let line = |server: &ServerStatus| {
        let error = server.error.as_deref().filter(|_| server.state == ServerState::Failed);
        let parts = std::iter::once(about(server)).chain(error.map(str::to_owned));
        let parts = parts.map(|part| visible_line(&part).into_owned()).collect::<Vec<_>>().join("; ");
        PaneEffect::Note(AgentId::main(), format!("{}: {parts}", visible_line(&server.name)))
    };
    ui.run.servers.iter().map(line).collect()
}

/// Follows a change of how they stand.
pub fn follow(overlays: &mut Overlays, ui: &UiContext) {
    Choices::refresh(overlays, &SERVERS, || Ok(rows(ui)));
}

/// Takes what came of a start.
pub fn answered(overlays: &mut Overlays, failed: Option<(String, String)>, ui: &UiContext) -> Vec<PaneEffect> {
    follow(overlays, ui);
    failed.map(|(_, why)| PaneEffect::Reply(why)).into_iter().collect()
}

/// Puts the text of a prompt into the message, where the user looks at it before it is sent.
pub fn prompt(message: &mut Message, name: &str, outcome: Result<String, String>) -> PaneEffect {
    match outcome {
        Ok(text) if message.is_empty() => {
            message.load(&text);
            PaneEffect::Say(format!("the prompt {} is in the message; Enter sends it", visible_line(name)))
        }
        Ok(text) => {
            message.put_before_draft(&[text]);
            PaneEffect::Say(format!("the prompt {} stands before what you have written", visible_line(name)))
        }
        Err(why) => PaneEffect::Reply(why),
    }
}

fn rows(ui: &UiContext) -> Vec<ListChoice> {
    ui.run.servers.iter().map(row).collect()
}

/// Returns how it stands, in a few words (untrusted).
fn about(server: &ServerStatus) -> String {
    let mut about = vec![server.state.name().to_owned(), count(server.tools.len(), "tool")];
    if server.calls > 0 {
        about.push(count(usize::try_from(server.calls).unwrap_or(usize::MAX), "call"));
    }
    about.push(server.source.clone());
    about.join(" · ")
}

fn row(server: &ServerStatus) -> ListChoice {
    ListChoice {
        id: server.name.clone(),
        title: server.name.clone(),
        details: about(server),
        preview: preview(server),
        ..ListChoice::default()
    }
}

fn preview(server: &ServerStatus) -> String {
    let ServerStatus { reached, variables, state, about, tools, resources, prompts, error, errors, notes, .. } = server;
    let mut text = format!("{}\n{}: {}\n", reached, state.name(), state.help());
    let mut put = |what: &str, value: &str| {
        if !value.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{what}: {value}");
        }
    };
    put("last error", error.as_deref().unwrap_or_default());
    if *state == ServerState::Failed {
        put("the end of its error output", errors);
    }
    put("it gets", &variables.join(", "));
    put("it calls itself", about);
    for note in notes {
        put("note", note);
    }
    put("tools", &tools.join(", "));
    put("prompts", &prompts.join(", "));
    put("resources", &resources.join(", "));
    put("it says how its tools are to be used", &server.instructions);
    if *state != ServerState::Failed {
        put("the end of its error output", errors);
    }
    text
}
