//! What could stand behind what was typed: commands behind `/`, names behind `/theme` and `/model`, agents and paths
//! behind `@`. Made from the message and from what is known of agents, themes and models.

use super::{Offer, OfferState, Palette};
use crate::commands::{self, ALIASES, COMMANDS, Command, Draft, Takes, Verb};
use crate::fuzzy::FuzzyMatch;
use crate::keymap::{Context, Keymap};
use crate::message::paths::written;
use crate::message::send::called;
use crate::message::{Message, MessageContext};
use crate::theme::AUTO;
use steersman_base::id::AgentId;
use steersman_base::manual::MANUAL;
use steersman_base::mode::Mode;
use steersman_base::protocol::{PromptTemplate, TemplateKind};
use steersman_base::steering::CONDITION_FORMS;
use steersman_base::target::{ALL, SUBTREE, TREE};
use steersman_session::model::agents::AgentNode;

/// Most resources that are offered at a time.
const RESOURCES: usize = 20;

impl Palette {
    /// Makes the offers for the text of the message.
    pub(super) fn refresh(&mut self, message: &Message, known: &MessageContext<'_>) {
        let is_shown = !known.in_lines() && known.on_composer() && message.is_draft() && !message.takes_commands();
        let text = if is_shown { message.shown() } else { String::new() };
        self.is_call = called(&text, known).is_some_and(|(_, words)| words.is_empty());
        let mut offers = self.offers_for(&text, known);
        if is_shown {
            offers.extend(path_offers(message, known));
            offers.extend(resource_offers(message, known));
        }
        self.offer(&text, offers);
    }

    fn offers_for(&self, text: &str, known: &MessageContext<'_>) -> Vec<Offer> {
        if text.contains('\n') {
            return Vec::new();
        }
        match text.chars().next() {
            Some('@') => agents(text, known),
            Some('/') => match text.split_once(' ') {
                None => {
                    let mut offers = command_names(text, known);
                    offers.extend(custom_commands(text, known));
                    offers.extend(prompts(text, known));
                    offers.extend(foreign_names(text, known));
                    offers
                }
                Some((command, typed)) => self.arguments(command, typed, known),
            },
            _ => Vec::new(),
        }
    }

    fn arguments(&self, command: &str, typed: &str, known: &MessageContext<'_>) -> Vec<Offer> {
        let (Draft::Command(found, _) | Draft::InvalidArguments(found, _)) = commands::parse(command) else {
            return Vec::new();
        };
        let name = command.trim_start_matches('/');
        if is_custom(name, known) || ALIASES.iter().any(|alias| alias.name == name && !alias.takes_argument()) {
            return Vec::new();
        }
        let command = found;
        let names: Vec<String> = match command.verb {
            Verb::Help => return topics(command.name, typed),
            Verb::Mode => return modes(typed, known.run.permissions.mode),
            Verb::Model => return self.models(typed),
            Verb::Skill => return skills(typed, known),
            Verb::When(_) => return conditions(command.name, typed, known),
            Verb::Theme => return themes(typed, known.ui.themes.names(), known.ui.themes.name()),
            Verb::Pause => vec![ALL.to_owned()],
            Verb::Entry(entry) => entry.words.iter().map(|word| (*word).to_owned()).collect(),
            _ => Vec::new(),
        };
        if names.iter().any(|name| name == typed) {
            return Vec::new();
        }
        let fitting = names.into_iter().filter(|name| name.starts_with(typed));
        // Something may follow the first of two words.
        let takes_more = command.usage.matches('[').count() > 1;
        let state = if takes_more { OfferState::Part } else { OfferState::Whole };
        let made = |name: String| Offer { state, ..offer(format!("/{} {name}", command.name), name, String::new()) };
        fitting.map(made).collect()
    }

    fn models(&self, typed: &str) -> Vec<Offer> {
        if self.models.iter().any(|model| model.name == typed) {
            return Vec::new();
        }
        let fitting = self.models.iter().filter(|model| model.name.starts_with(typed));
        fitting
            .map(|model| Offer {
                state: value(model.is_current),
                ..offer(format!("/model {}", model.name), model.name.clone(), model.details())
            })
            .collect()
    }
}

/// Tells whether the name of a model is being typed.
pub(super) fn is_naming_model(message: &Message, known: &MessageContext<'_>) -> bool {
    if known.in_lines() || !known.on_composer() || !message.is_draft() {
        return false;
    }
    let text = message.shown();
    let command = text.split_once(' ').map(|(command, _)| commands::parse(command));
    matches!(command, Some(Draft::Command(command, _)) if command.verb == Verb::Model)
}

/// Offers the paths that match what is typed behind `@`.
fn path_offers(message: &Message, known: &MessageContext<'_>) -> Vec<Offer> {
    let Some(token) = message.paths.token() else { return Vec::new() };
    let hits = &message.paths.found().hits;
    if hits.iter().any(|hit| *hit.text == *token.typed && !token.typed.ends_with('/')) {
        return Vec::new();
    }
    // The directory itself is there already; what is in it is offered. Alone it stays: Tab must not send the text.
    let is_offered = |hit: &&FuzzyMatch| *hit.text != *token.typed || hits.len() == 1;
    let offers = hits.iter().filter(is_offered).map(|hit| {
        let named = known.run.agents.nodes().iter().map(|node| &node.id);
        let path = written(&hit.text, named.filter(|agent| known.run.takes_messages(agent)));
        // Behind a directory the next part is typed at once.
        let blank = if path.ends_with('/') { "" } else { " " };
        Offer {
            text: format!("{path}{blank}"),
            replaces: Some(token.chars),
            marks: hit.marks.clone(),
            label: hit.text.to_string(),
            help: String::new(),
            key: String::new(),
            state: OfferState::Part,
        }
    });
    offers.collect()
}

/// Offers the resources of MCP servers whose `server:address` begins with what is typed behind `@`.
fn resource_offers(message: &Message, known: &MessageContext<'_>) -> Vec<Offer> {
    let Some(token) = message.paths.token().filter(|token| !token.typed.is_empty()) else { return Vec::new() };
    let each = known.run.servers.iter();
    let each = each.flat_map(|server| server.resources.iter().map(move |uri| format!("{}:{uri}", server.name)));
    // A blank would end the name.
    let fitting = each.filter(|name| name.starts_with(&token.typed) && *name != token.typed && !name.contains(' '));
    let offers = fitting.take(RESOURCES).map(|name| Offer {
        text: format!("@{name} "),
        replaces: Some(token.chars),
        marks: Vec::new(),
        label: format!("@{name}"),
        help: "a resource of an MCP server".to_owned(),
        key: String::new(),
        state: OfferState::Part,
    });
    offers.collect()
}

/// Offers the agents that run behind `@`, then those that a text continues although they have ended, the newest first.
fn agents(text: &str, known: &MessageContext<'_>) -> Vec<Offer> {
    let typed = text.get(1..).unwrap_or_default();
    let running: Vec<&AgentId> =
        known.run.agents.running_nodes().filter(|node| node.has_queue()).map(|node| &node.id).collect();
    let children =
        running.iter().filter(|id| !id.is_main()).map(|id| (id.as_str(), "this agent, at its next boundary"));
    let fixed =
        [(ALL, "every agent that runs"), (SUBTREE, "its running sub-agents"), (TREE, "it and its running sub-agents")];
    let fixed = fixed.into_iter().filter(|_| running.iter().any(|id| !id.is_main()));
    let ended = known.run.agents.nodes().iter().rev().filter(|node| known.run.continues(&node.id));
    let ended = ended.map(|node| (node.id.as_str(), "has ended; the text continues it"));
    let fitting = children.chain(fixed).chain(ended).filter(|(name, _)| name.starts_with(typed) && *name != typed);
    fitting.map(|(name, help)| offer(format!("@{name} "), format!("@{name}"), help.to_owned())).collect()
}

/// Offers conditions for a text: the forms, then the tools and agents that there are.
fn conditions(command: &str, typed: &str, known: &MessageContext<'_>) -> Vec<Offer> {
    if typed.contains(':') {
        return Vec::new();
    }
    let tools = || known.run.agents.get_or_main(known.shown).tools.iter();
    let named: Vec<String> = match typed.split_once(' ') {
        Some((moment @ ("before" | "after"), _)) => tools().map(|tool| format!("{moment} {tool}")).collect(),
        Some(("agent", _)) => {
            let children = known.run.agents.running_nodes().filter(|node| !node.id.is_main());
            let ends = |node: &AgentNode| ["ends", "fails"].map(|end| format!("agent {} {end}", node.id));
            children.flat_map(ends).collect()
        }
        _ => Vec::new(),
    };
    let fits = |words: &str| words.starts_with(typed);
    let forms = CONDITION_FORMS.iter().filter(|form| fits(form.form) || fits(form.example));
    let forms = forms.map(|form| (form.example.to_owned(), form.form.to_owned(), form.help.to_owned()));
    let named = named.into_iter().filter(|words| fits(words)).map(|words| (words.clone(), words, String::new()));
    let offers = forms.chain(named);
    offers.map(|(words, label, help)| offer(format!("/{command} {words}: "), label, help)).collect()
}

/// Returns the state of a value of a setting.
fn value(is_current: bool) -> OfferState {
    if is_current { OfferState::Current } else { OfferState::Whole }
}

fn themes(typed: &str, names: Vec<&str>, current: &str) -> Vec<Offer> {
    if names.contains(&typed) || typed == AUTO {
        return Vec::new();
    }
    let fitting = names.into_iter().chain([AUTO]).filter(|name| name.starts_with(typed));
    let made = |name: &str| {
        let is_current = name == current;
        let help = if is_current { "current" } else { "" };
        Offer { state: value(is_current), ..offer(format!("/theme {name}"), name.to_owned(), help.to_owned()) }
    };
    fitting.map(made).collect()
}

fn modes(typed: &str, current: Mode) -> Vec<Offer> {
    if Mode::named(typed).is_some_and(|mode| !Mode::ALL.iter().any(|m| *m != mode && m.name().starts_with(typed))) {
        return Vec::new();
    }
    let fitting = Mode::ALL.into_iter().filter(|mode| mode.name().starts_with(typed));
    fitting
        .map(|mode| {
            let is_current = mode == current;
            let help = if is_current { format!("current · {}", mode.help()) } else { mode.help().to_owned() };
            let state = value(is_current);
            Offer { state, ..offer(format!("/mode {}", mode.name()), mode.name().to_owned(), help) }
        })
        .collect()
}

fn topics(command: &str, typed: &str) -> Vec<Offer> {
    if MANUAL.iter().any(|page| page.topic == typed) {
        return Vec::new();
    }
    let fitting = MANUAL.iter().filter(|page| page.topic.starts_with(typed));
    fitting
        .map(|page| Offer {
            state: OfferState::Whole,
            ..offer(format!("/{command} {}", page.topic), page.topic.to_owned(), page.title().to_owned())
        })
        .collect()
}

/// Tells whether a name is that of a custom command or a skill, and of no command of the program.
fn is_custom(name: &str, known: &MessageContext<'_>) -> bool {
    let has = known.run.templates.iter().any(|template| template.name == name);
    has && COMMANDS.iter().all(|command| command.name != name)
}

/// Offers the commands that begin with what is typed, those that give something up last.
fn command_names(text: &str, known: &MessageContext<'_>) -> Vec<Offer> {
    let keymap = &known.ui.keymap;
    let typed = text.get(1..).unwrap_or_default();
    let mut fitting: Vec<_> = COMMANDS.iter().filter(|command| command.name.starts_with(typed)).collect();
    if typed.is_empty() {
        return fitting.into_iter().map(|command| command_name(command, keymap)).collect();
    }
    fitting.sort_by_key(|command| command.verb.gives_up() && command.name != typed);
    fitting.into_iter().map(|command| command_name(command, keymap)).collect()
}

/// Offers the names of other programs that begin with what is typed, and that no custom command has.
fn foreign_names(text: &str, known: &MessageContext<'_>) -> Vec<Offer> {
    let keymap = &known.ui.keymap;
    let typed = text.get(1..).filter(|typed| !typed.is_empty());
    let Some(typed) = typed else { return Vec::new() };
    let others = ALIASES.iter().filter(|alias| alias.name.starts_with(typed) && !is_custom(alias.name, known));
    let others = others.map(|alias| {
        let help = keymap.spell(Context::Composer, &alias.help()).into_owned();
        offer(alias.written(), format!("/{}", alias.name), help)
    });
    others.collect()
}

fn command_name(command: &Command, keymap: &Keymap) -> Offer {
    let key = keymap.spell(Context::Composer, command.key);
    let key = keymap.with_stand_in(Context::Composer, &key);
    let space = if command.takes == Takes::Nothing { "" } else { " " };
    let offer = offer(format!("/{}{space}", command.name), command.usage.to_owned(), command.help.to_owned());
    Offer { key: key.into_owned(), ..offer }
}

/// Offers the custom commands of the user and of the project, and their skills, which go by their names too.
fn custom_commands(text: &str, known: &MessageContext<'_>) -> Vec<Offer> {
    let typed = text.get(1..).unwrap_or_default();
    let mut offers = templates(TemplateKind::Command, typed, known);
    if !typed.is_empty() {
        offers.extend(templates(TemplateKind::Skill, typed, known));
    }
    offers
}

fn skills(typed: &str, known: &MessageContext<'_>) -> Vec<Offer> {
    templates(TemplateKind::Skill, typed, known)
}

fn templates(kind: TemplateKind, typed: &str, known: &MessageContext<'_>) -> Vec<Offer> {
    let fitting = known.run.templates.iter().filter(|template| template.kind == kind);
    // A folder before its name may be left out, and the one that it lies in may stand there.
    let (folder, own) = typed.rsplit_once(':').unwrap_or(("", typed));
    let fits = |template: &PromptTemplate| {
        let name = &template.name;
        name.starts_with(typed)
            || name.rsplit(':').next().is_some_and(|own| own.starts_with(typed))
            || (!folder.is_empty() && name.starts_with(own) && template.lies_in(folder))
    };
    let fitting = fitting.filter(|template| fits(template) && template.name != typed);
    fitting
        .map(|PromptTemplate { name, source, hint, description, .. }| {
            let command = if kind == TemplateKind::Skill { format!("/skill {name} ") } else { format!("/{name} ") };
            let label = format!("{command}{hint}").trim_end().to_owned();
            offer(command, label, format!("{description} ({source})"))
        })
        .collect()
}

/// Offers the prompts of MCP servers.
fn prompts(text: &str, known: &MessageContext<'_>) -> Vec<Offer> {
    let each = known.run.servers.iter().flat_map(|server| server.prompts.iter().map(move |prompt| (server, prompt)));
    let fitting = each.filter(|(_, prompt)| prompt.starts_with(text) && *prompt != text);
    fitting
        .map(|(server, prompt)| {
            offer(format!("{prompt} "), prompt.clone(), format!("a prompt of the MCP server {}", server.name))
        })
        .collect()
}

fn offer(text: String, label: String, help: String) -> Offer {
    Offer { text, replaces: None, marks: Vec::new(), label, help, key: String::new(), state: OfferState::Part }
}
