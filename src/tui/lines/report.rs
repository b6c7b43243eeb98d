//! What is written on demand: help, the manual, the state of everything, the agents, the ledger, entries and what is found in them.

use super::page::{Page, named};
use super::speech::Speech;
use super::{duration, entries, entry, pending, state_text};
use crate::agents::view::{money, share};
use crate::commands::{COMMANDS, Command, LINE_COMMANDS, Verb, only_drawn};
use crate::state::{App, Report};
use crate::status::{HostState, ModelSource};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::manual::{MANUAL, manual_page, nearest_topic, search_manual};
use steersman_base::steering::TextKind;
use steersman_base::summary::count;
use steersman_base::target::name_of;
use steersman_session::model::agents::{AgentNode, AgentStatus};
use steersman_session::model::{budget_sentence, ledger_row};

pub(super) fn write(app: &App, report: &Report, page: &mut Page) {
    match report {
        Report::Help => help(page),
        Report::Manual(words) => manual(words, page),
        Report::Status => status(app, page),
        Report::Cost => cost(app, page),
        Report::Agents => agents(app, page),
        Report::Pending => pending::list(app, page),
        Report::Ledger => ledger(app, page),
        Report::Entry(number) => show(app, *number, page),
        Report::Find(words) => find(app, words, page),
        // They are about what the printer remembers.
        Report::More | Report::Arguments => {}
    }
}

fn help(page: &mut Page) {
    page.say("help", "a line without a slash at its start is a message; while a turn runs it waits for the next tool");
    page.add("boundary. @NAME before it sends it to an agent, @all to every agent, // sends a slash.");
    page.add("A line that ends with a backslash goes on in the next. A paste is one message, whatever it holds.");
    page.add("While you type nothing is written; it comes when the line is sent or empty, or with Ctrl+L.");
    page.add("Ctrl+C empties the line, in an empty line it stops the turn, twice it quits. Esc leaves an edit.");
    let is_listed = |command: &&Command| !only_drawn(command.verb) && command.name != "keys";
    for command in COMMANDS.iter().filter(is_listed).chain(LINE_COMMANDS) {
        let help = match command.verb {
            Verb::Agents => "the agents and what each does",
            Verb::Pending => "the texts that wait, with their numbers",
            Verb::Help => "this; with a topic its page of the manual, with other words what they find there",
            Verb::Details => "what is going on, and what the read agent does",
            Verb::Pause => "pause the read agent, or all; again: let them go on",
            Verb::New => "new conversation",
            _ => command.help,
        };
        page.add(&format!("{}: {help}", command.usage));
    }
    let topics: Vec<&str> = MANUAL.iter().map(|page| page.topic).collect();
    page.say("topics", &topics.join(", "));
    page.say("end", "help");
}

/// Reads a page of the manual, else what words find in all of them.
fn manual(words: &str, page: &mut Page) {
    if let Some(found) = manual_page(words) {
        page.say("manual", found.topic);
        for line in Speech::default().end(&found.flowing()) {
            page.add(&line);
        }
        return page.say("end", "manual");
    }
    let asked: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let found = search_manual(&asked);
    for found in found.iter().take(limits::LINE_ROWS) {
        page.say("manual", &format!("{}, {}", found.topic, found.heading));
        let sentence = match &found.cells()[..] {
            [] => found.text.clone(),
            [name, rest @ ..] => format!("{name}: {}", rest.join("; ")),
        };
        for line in Speech::default().end(&sentence) {
            page.add(&line);
        }
    }
    if found.is_empty() {
        let nearest = nearest_topic(words);
        page.say("notice", &format!("the manual has nothing with “{}”; the nearest topic is {nearest}", named(words)));
    } else if found.len() > limits::LINE_ROWS {
        let rest = count(found.len() - limits::LINE_ROWS, "place");
        page.say("more", &format!("{rest}; more words find fewer"));
    }
}

fn status(app: &App, page: &mut Page) {
    let host = match &app.status.host {
        HostState::Starting => "the agent is being started".to_owned(),
        HostState::Ready => format!("main: {}", doing(app, app.ui.run.agents.main())),
        HostState::Failed(reason) => format!("the agent cannot run: {}", named(reason)),
        HostState::ReadOnly(reason) => format!("only read here: {}", named(reason)),
    };
    page.say("status", &host);
    let read = app.selected_agent();
    if !read.id.is_main() {
        page.add(&format!("you read agent {}: {}", name_of(&read.id), doing(app, read)));
    }
    let others: Vec<&AgentNode> = app.ui.run.agents.running_nodes().filter(|node| !node.id.is_main()).collect();
    if !others.is_empty() {
        page.add(&format!("{} running; /agents reads them", count(others.len(), "sub-agent")));
    }
    let asking = app.questions.len();
    if asking > 0 {
        page.add(&format!("{} waiting for you", count(asking, "question")));
    }
    let waiting = app.ui.run.pending.entries().len();
    page.add(&if waiting == 0 {
        "nothing is pending".to_owned()
    } else {
        format!("{waiting} pending; /pending reads them")
    });
    if !app.message.is_empty() {
        page.add(&format!("in the line: {}", named(&app.message.text())));
    }
    page.add(&format!("mode {}: {}", app.ui.run.permissions.mode.name(), app.ui.run.permissions.mode.help()));
    let model = match app.status.source {
        ModelSource::Embedded => "embedded model".into(),
        ModelSource::Configured => app.status.model(app.ui.run.agents.main()),
    };
    page.add(&format!("model {model}"));
    cost(app, page);
}

fn cost(app: &App, page: &mut Page) {
    let main = app.ui.run.agents.main();
    let (totals, session) = (app.ui.run.agents.conversation(), app.ui.run.agents.session());
    let room = share(main).map(|share| format!(", the conversation takes {share} of the window")).unwrap_or_default();
    let money = money(&totals).map(|money| format!(", {money}")).unwrap_or_default();
    let all = if session == totals { String::new() } else { format!(", {} in the session", session.tokens()) };
    page.say("cost", &format!("{} tokens{money}{all}{room}", totals.tokens()));
    page.add(&budget_sentence(app.ui.run.budget));
}

fn agents(app: &App, page: &mut Page) {
    let (running, others): (Vec<&AgentNode>, Vec<&AgentNode>) =
        app.ui.run.agents.nodes().iter().partition(|node| node.running());
    for node in running.iter().chain(&others).take(limits::LINE_ROWS) {
        let read = if node.id == *app.tree.selected() { ", you read it" } else { "" };
        let task = if node.task.is_empty() { String::new() } else { format!("; task: {}", named(&node.task)) };
        page.say(&super::agent(&node.id), &format!("{}{read}{task}", doing(app, node)));
    }
    let rest = app.ui.run.agents.nodes().len().saturating_sub(limits::LINE_ROWS);
    if rest > 0 {
        page.say("more", &format!("{}; /agent NAME reads one", count(rest, "agent")));
    }
}

/// Says what an agent does and what it has used.
fn doing(app: &App, node: &AgentNode) -> String {
    let mut words = vec![state_text(node, app.ui.now)];
    if let Some(seconds) = node.elapsed(app.ui.now) {
        words.push(format!("{} in {}", count(node.steps as usize, "tool call"), duration(seconds)));
    }
    if app.ui.run.is_paused(&node.id) && node.status() != AgentStatus::Paused {
        words.push("paused".to_owned());
    }
    words.join(", ")
}

fn ledger(app: &App, page: &mut Page) {
    let list = app.ui.run.receipts.list();
    if list.is_empty() {
        page.say("ledger", "nothing was sent yet");
    }
    let hidden = list.len().saturating_sub(limits::LINE_ROWS);
    if hidden > 0 {
        page.say("ledger", &format!("{} before these; /export ledger writes all", count(hidden, "text")));
    }
    for receipt in list.iter().skip(hidden) {
        let row = ledger_row(receipt);
        let to = if receipt.agent == AgentId::main() { String::new() } else { format!(" to {}", row.to) };
        let kind = (receipt.kind != TextKind::Add).then_some(row.kind);
        let mut parts: Vec<String> = kind.into_iter().chain([row.state]).collect();
        let more = [
            ("", row.boundary),
            ("waited ", row.waited),
            ("seen at ", row.seen),
            ("tokens ", row.tokens),
            ("", row.cost),
            ("answer: ", row.answer),
        ];
        parts.extend(more.into_iter().filter(|(_, text)| !text.is_empty()).map(|(word, text)| format!("{word}{text}")));
        let number = pending::number(&receipt.id);
        page.say(&format!("text {number}{to}"), &format!("{}; {}", named(&row.text), parts.join(", ")));
    }
}

fn show(app: &App, number: Option<usize>, page: &mut Page) {
    let cells = app.reader().map(|reader| reader.transcript.cells()).unwrap_or_default();
    if let Some(number) = number {
        match number.checked_sub(1).and_then(|place| cells.get(place)) {
            Some(cell) => entry::whole(cell, page),
            None => page.say("notice", &format!("no entry has the number {number}; there are {}", cells.len())),
        }
    } else {
        page.say("entries", &entries(cells.len()));
        for cell in cells.iter().skip(cells.len().saturating_sub(limits::LINE_ROWS / 3)) {
            page.add(&entry::head(cell));
        }
    }
}

fn find(app: &App, words: &str, page: &mut Page) {
    let cells = app.reader().map(|reader| reader.transcript.cells()).unwrap_or_default();
    let wanted = words.to_lowercase();
    let mut found = 0;
    for cell in cells {
        let text = entry::text_of(cell);
        let Some(line) = text.lines().find(|line| line.to_lowercase().contains(&wanted)) else { continue };
        found += 1;
        if found <= limits::LINE_ROWS {
            page.add(&format!("{}: {}", entry::number(cell), named(line.trim())));
        }
    }
    page.say("found", &format!("{} with “{}”; /show N reads one", entries(found), named(words)));
}
