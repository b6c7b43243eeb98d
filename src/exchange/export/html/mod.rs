//! The session as one web page that needs nothing else: no script, no picture, nothing from elsewhere.
//!
//! Every text passes the sanitiser and is escaped, so that hostile text stands there to be read. The page's own policy
//! allows its one style sheet by its hash and nothing more, should a text find a way out all the same.
//!
//! # Where things are
//!
//! - colours of code and of diffs, as classes of the page's style sheet: `code.rs`

mod code;
mod markdown;

use std::collections::HashMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};

use super::{AgentPart, CallPart, Item, Reply, SessionParts, TextState};
use code::CodeColours;
use markdown::markdown;
use steersman_base::assets::EXPORT_STYLE as STYLE;
use steersman_base::details::Details;
use steersman_base::event::{Outcome, Usage, add_known};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::price::dollars;
use steersman_base::summary::{count, seconds, tokens};
use steersman_base::text::{visible, visible_line};

/// Characters of the page's title.
const TITLE: usize = 80;

/// Writes the page, its times in a zone.
pub fn html(parts: &SessionParts, zone: &TimeZone) -> String {
    let title = visible_line(parts.title().lines().next().unwrap_or_default()).into_owned();
    let title: String = title.chars().take(TITLE).collect();
    let title = if title.is_empty() { "Session".to_owned() } else { title };
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let policy = format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'");
    let mut page = Page { html: String::new(), zone, colours: CodeColours::default() };
    page.push(&format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n",
        title = escaped(&title),
    ));
    page.facts(parts);
    page.push("</header>\n<nav>\n<h2>Agents</h2>\n");
    page.tree(parts);
    page.push("</nav>\n<main>\n");
    for (number, agent) in parts.agents.iter().enumerate() {
        page.agent(number, agent);
    }
    page.push("</main>\n</body>\n</html>\n");
    page.html
}

/// Makes a text safe within an element and within an attribute in quotation marks.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// What a turn has used.
#[derive(Default)]
struct TurnTotals {
    number: usize,
    began: Option<Timestamp>,
    requests: usize,
    calls: usize,
    input: u64,
    output: u64,
    cost_nanos: Option<u64>,
}

impl TurnTotals {
    fn next(&self, at: Timestamp) -> Self {
        Self { number: self.number + 1, began: Some(at), ..Self::default() }
    }

    fn add(&mut self, reply: &Reply) {
        self.requests += 1;
        self.calls += reply.calls.len();
        if let Some(usage) = &reply.usage {
            self.input = self.input.saturating_add(usage.prompt());
            self.output = self.output.saturating_add(usage.output.unwrap_or(0));
            add_known(&mut self.cost_nanos, usage.cost_nanos);
        }
    }

    fn describe(&self, ended: Timestamp) -> String {
        let time = self.began.map(|began| ended.duration_since(began).as_millis());
        let time = time.and_then(|time| u64::try_from(time).ok()).map(|time| format!(" · {}", seconds(time)));
        let cost = self.cost_nanos.map(|nanos| format!(" · {}", dollars(nanos))).unwrap_or_default();
        format!(
            "Turn {} · {} · {} · {} tokens in, {} out{cost}{}",
            self.number,
            count(self.requests, "request"),
            count(self.calls, "call"),
            tokens(self.input),
            tokens(self.output),
            time.unwrap_or_default()
        )
    }
}

struct Page<'a> {
    html: String,
    zone: &'a TimeZone,
    colours: CodeColours,
}

impl Page<'_> {
    fn push(&mut self, html: &str) {
        self.html.push_str(html);
    }

    /// Writes an element around a text, which is escaped.
    fn element(&mut self, name: &str, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.push(&format!("<{name}{class}>{}</{name}>\n", escaped(text)));
    }

    fn clock(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%H:%M:%S").to_string()
    }

    fn facts(&mut self, parts: &SessionParts) {
        if let Some(header) = &parts.header {
            let started = header.started.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S %:z").to_string();
            let branch = header.branch.as_ref().map(|branch| format!(" ({branch})")).unwrap_or_default();
            self.element("p", "", &format!("{}{branch}", header.directory));
            self.element("p", "faint", &format!("Session {} · {started} · {}", header.session, header.program));
        }
        let usages = parts.agents.iter().flat_map(AgentPart::replies).filter_map(|reply| reply.usage.as_ref());
        let total: u64 = usages.clone().map(Usage::context).sum();
        let cost = usages.filter_map(|usage| usage.cost_nanos).reduce(u64::saturating_add);
        let cost = cost.map(|nanos| format!(" · {}", dollars(nanos))).unwrap_or_default();
        self.element("p", "faint", &format!("{} · {} tokens{cost}", count(parts.agents.len(), "agent"), tokens(total)));
        if let Some(damage) = &parts.damage {
            self.element("p", "error", damage);
        }
    }

    /// Writes the agents, each with those that it spawned; what is nested very deeply stands beside its parent.
    fn tree(&mut self, parts: &SessionParts) {
        enum Step {
            Agent(usize, usize),
            Text(&'static str),
        }
        let mut below: HashMap<&AgentId, Vec<usize>> = HashMap::new();
        for (number, agent) in parts.agents.iter().enumerate() {
            if let Some(parent) = agent.parent.as_ref().filter(|parent| **parent != agent.id && !agent.id.is_main()) {
                below.entry(parent).or_default().push(number);
            }
        }
        let mut steps = vec![Step::Text("</ul>\n"), Step::Agent(0, 0), Step::Text("<ul>\n")];
        while let Some(step) = steps.pop() {
            let (number, depth) = match step {
                Step::Text(text) => {
                    self.push(text);
                    continue;
                }
                Step::Agent(number, depth) => (number, depth),
            };
            let Some(agent) = parts.agents.get(number) else { continue };
            self.push(&format!("<li><a href=\"#agent-{number}\">{}</a>", escaped(agent.name())));
            let replies = agent.replies().filter(|reply| !reply.is_empty()).count();
            self.element("span", "faint", &format!(" · {replies} {}", if replies == 1 { "reply" } else { "replies" }));
            let children = below.remove(&agent.id).unwrap_or_default().into_iter().rev();
            if children.len() == 0 || depth >= limits::AGENT_DEPTH {
                self.push("</li>\n");
                steps.extend(children.map(|child| Step::Agent(child, depth)));
            } else {
                self.push("<ul>\n");
                steps.push(Step::Text("</ul>\n</li>\n"));
                steps.extend(children.map(|child| Step::Agent(child, depth + 1)));
            }
        }
    }

    fn agent(&mut self, number: usize, agent: &AgentPart) {
        self.push(&format!("<section id=\"agent-{number}\">\n"));
        self.element("h2", "", agent.name());
        let facts = [agent.persona.clone(), agent.model.clone()];
        let tools = (!agent.tools.is_empty()).then(|| format!("tools: {}", agent.tools.join(", ")));
        let facts: Vec<String> = facts.into_iter().flatten().chain(tools).collect();
        if !facts.is_empty() {
            self.element("p", "faint", &facts.join(" · "));
        }
        if let Some(system) = &agent.system {
            self.collapsed_block("System prompt", system);
        }
        let mut turn = TurnTotals::default();
        for item in &agent.items {
            match item {
                Item::TurnStarted { at } => turn = turn.next(*at),
                Item::Text { at, text, state } => self.text(*at, text, state),
                Item::Reply(reply) => {
                    turn.add(reply);
                    self.reply(reply);
                }
                Item::Note { at, text } => self.element("p", "note", &format!("{} · {text}", self.clock(*at))),
                Item::TurnEnded { at, outcome, message } => {
                    self.end(*outcome, message.as_deref());
                    self.element("p", "total", &turn.describe(*at));
                }
            }
        }
        self.push("</section>\n");
    }

    fn text(&mut self, at: Timestamp, text: &str, state: &TextState) {
        self.push("<article class=\"user\">\n");
        self.element("pre", "typed", text);
        let sent = state.sent.map(|sent| format!("sent {}", self.clock(sent)));
        let place = match (&state.after, state.is_mid_loop) {
            (Some(tool), _) => format!(" after {tool}, step {}", state.step),
            (None, true) => format!(", step {}", state.step),
            (None, false) => String::new(),
        };
        let seen = state.seen.map(|seen| format!("seen {}", self.clock(seen)));
        let answer = state.answer.as_ref().map(|answer| format!("answered: {answer}"));
        let parts = [sent, Some(format!("delivered {}{place}", self.clock(at))), seen, answer];
        self.element("p", "receipt", &parts.into_iter().flatten().collect::<Vec<_>>().join(" · "));
        self.push("</article>\n");
    }

    fn reply(&mut self, reply: &Reply) {
        if reply.is_empty() {
            return;
        }
        self.push("<article>\n");
        if !reply.thinking.is_empty() {
            self.collapsed_block("Thinking", &reply.thinking);
        }
        if !reply.text.is_empty() {
            self.push("<div class=\"answer\">\n");
            let html = markdown(&reply.text, &mut self.colours);
            self.push(&html);
            self.push("</div>\n");
        }
        if reply.is_interrupted {
            self.element("p", "error", "interrupted");
        }
        for call in &reply.calls {
            self.call(call);
        }
        if let Some(usage) = &reply.usage {
            let cost = usage.cost_nanos.map(|nanos| format!(" · {}", dollars(nanos))).unwrap_or_default();
            let model = usage.model.as_ref().map(|model| format!(" · {model}")).unwrap_or_default();
            let (prompt, output) = (tokens(usage.prompt()), tokens(usage.output.unwrap_or(0)));
            let words = format!("{} · {prompt} tokens in, {output} out{cost}{model}", self.clock(reply.at));
            self.element("p", "faint", &words);
        }
        self.push("</article>\n");
    }

    fn call(&mut self, call: &CallPart) {
        let (mark, class, time) = match &call.result {
            Some(result) if result.is_error => ("✗", "call error", format!(" ({})", seconds(result.elapsed_ms))),
            Some(result) => ("✓", "call", format!(" ({})", seconds(result.elapsed_ms))),
            None => ("·", "call error", " (interrupted)".to_owned()),
        };
        let arguments = visible_line(&call.arguments.to_string()).into_owned();
        let short: String = arguments.chars().take(TITLE).collect();
        let tail = if short.len() < arguments.len() { "…" } else { "" };
        let summary = escaped(&format!("{mark} {}{time} ", call.tool));
        let short = escaped(&format!("{short}{tail}"));
        // Writing to a string cannot fail.
        let open = if matches!(&call.details, Some(Details::Diff(_))) { " open" } else { "" };
        let _ =
            writeln!(self.html, "<details class=\"{class}\"{open}><summary>{summary}<code>{short}</code></summary>");
        if !tail.is_empty() {
            self.element("pre", "", &call.arguments.to_string());
        }
        if let Some(Details::Diff(diff)) = &call.details {
            let path = escaped(&diff.path);
            self.push(&format!("<pre class=\"diff\"><b>{path}</b>\n{}</pre>\n", code::diff(&diff.hunks)));
        }
        if let Some(result) = &call.result {
            self.element("pre", "", &result.content);
        }
        self.push("</details>\n");
    }

    fn end(&mut self, outcome: Outcome, message: Option<&str>) {
        let word = match outcome {
            Outcome::Completed => return,
            Outcome::Synthesized => "The step budget was used up; a rescue wrote the answer",
            Outcome::Cancelled => "The turn was stopped",
            Outcome::Failed => "The turn failed",
        };
        let reason = message.map(|message| format!(": {message}")).unwrap_or_default();
        self.element("p", "error", &format!("{word}{reason}"));
    }

    fn collapsed_block(&mut self, title: &str, text: &str) {
        self.push("<details>");
        self.element("summary", "", title);
        self.element("pre", "", text);
        self.push("</details>\n");
    }
}
