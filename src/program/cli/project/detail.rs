//! What a project's files would run or change, for the question whether the user trusts them.
//!
//! Always holds: every field of what is trusted is named here, since the compiler asks for it, and each is one line.

use crate::program::cli::project::offer::{DIRECTORY, ProjectOffer, ProjectPersona};
use crate::program::cli::project::shown;
use crate::program::config::{ProjectLayer, RuleLists, ServerSection};
use steersman_agent::subagent::{Persona, TempWorkspace};
use steersman_base::protocol::PromptTemplate;
use steersman_base::text::QuestionText;
use steersman_extensions::skill::{Skill, SkillStarters};
use steersman_tools::workspace::{NamedFiles, Script, diff};

impl ProjectOffer {
    /// Returns the text of the question about the files, with what has changed since they were `before`, where that is known.
    pub fn question(&self, before: Option<&str>) -> QuestionText {
        let now = self.described();
        let Some(before) = before else { return now };
        let mut text = QuestionText::default();
        text.changes(&diff(before.as_bytes(), now.clone().finish().as_bytes()).hunks);
        text.append(&now);
        text
    }

    /// Describes exactly what the files would run or change, with the whole text of each prompt.
    pub fn detail(&self) -> String {
        self.described().finish()
    }

    fn described(&self) -> QuestionText {
        let mut text = QuestionText::default();
        text.part(&shown(&self.root));
        text.part(match self.plugin {
            Some(_) => "With your trust this plugin changes how this program works, in every directory:",
            None => "With your trust it changes how this program works here:",
        });
        if let Some(layer) = &self.layer {
            describe_layer(&mut text, layer, self.system_prompt.as_deref());
        }
        self.describe_permissions(&mut text);
        for (name, server) in &self.servers {
            describe_server(&mut text, name, server);
            if let Some(NamedFiles { files, programs: _, uncompared }) = self.server_files.get(name) {
                self.describe_files(&mut text, files);
                for (directory, why) in uncompared {
                    let words = "directory not compared (you are not asked when it changes)";
                    text.field(words, &format!("{}: {why}", self.relative(directory)));
                }
            }
        }
        let bundled = Persona::bundled().unwrap_or_default();
        for ProjectPersona { file, persona, text: _ } in &self.personas {
            text.part(file);
            describe_persona(&mut text, persona);
            if bundled.iter().any(|bundled| bundled.name == persona.name) {
                text.sentence("it replaces the bundled sub-agent of this name");
            }
            text.quote(&persona.system_prompt);
        }
        if !self.personas.is_empty() && self.plugin.is_none() {
            text.part("A sub-agent of the project replaces one of yours of the same name.");
        }
        for (file, skill) in &self.texts.skills {
            text.part(file);
            describe_skill(&mut text, skill);
            self.describe_files(&mut text, self.texts.skill_files.get(file).map_or(&[], Vec::as_slice));
        }
        for (file, command) in &self.texts.commands {
            text.part(file);
            describe_command(&mut text, command);
        }
        if !self.texts.skills.is_empty() {
            text.part("Other files of a skill are read when the agent asks for them; scripts run as its commands.");
        }
        self.describe_hooks(&mut text);
        text.part("When one of these files changes you are asked again.");
        text
    }
}

impl ProjectOffer {
    /// Describes the files that belong to something: the text of those that can be run, the hash of the others.
    fn describe_files(&self, text: &mut QuestionText, files: &[Script]) {
        for file in files {
            let place = self.relative(&file.path);
            if file.is_link() {
                text.field("its link", &format!("{place} -> {}", String::from_utf8_lossy(&file.content)));
            } else if file.can_be_run() {
                text.field("its script", &place);
                text.quote(&file.shown());
            } else {
                text.field("its file", &format!("{place} (SHA-256 {})", file.hash()));
            }
        }
    }
}

fn describe_layer(text: &mut QuestionText, layer: &ProjectLayer, prompt: Option<&str>) {
    // What says nothing here of servers is described for each of them.
    let ProjectLayer { rules: RuleLists { allow, ask, deny }, max_steps, system_prompt, servers: _ } = layer;
    text.part(&format!("{DIRECTORY}/config.toml"));
    for (label, rules) in [("rule, allow", allow), ("rule, ask", ask), ("rule, deny", deny)] {
        for rule in rules {
            text.field(label, rule);
        }
    }
    text.optional("tool calls per turn", max_steps.map(|steps| steps.to_string()).as_deref());
    if let (Some(path), Some(prompt)) = (system_prompt, prompt) {
        text.field("the system prompt of the main agent becomes", &path.to_string_lossy());
        text.quote(prompt);
    }
}

/// Describes exactly what a server would run or ask, what of the user's environment it would get, and how its tools count.
fn describe_server(text: &mut QuestionText, name: &str, server: &ServerSection) {
    let ServerSection {
        command,
        args,
        env,
        pass_env: _,
        cwd,
        network,
        // A server of a project has none of these.
        sandbox: _,
        readable: _,
        writable: _,
        url,
        headers,
        bearer_token_env,
        client_id,
        client_secret_env,
        scopes,
        login_port,
        enabled,
        enabled_tools,
        disabled_tools,
        on_main_agent,
        start_timeout,
        call_timeout,
        private: _,
        untrusted: _,
        egress: _,
    } = server;
    text.part(&format!("an MCP server '{name}'"));
    if *enabled == Some(false) {
        text.sentence("it is switched off");
    }
    if let Some(command) = command {
        let network = if *network == Some(true) { ", with a network" } else { "" };
        text.sentence(&format!("it is started, in the sandbox{network}, as:"));
        let words = std::iter::once(command).chain(args.iter().flatten()).map(|word| format!("{word:?}"));
        text.quote(&words.collect::<Vec<_>>().join(" "));
    }
    text.optional("in", cwd.as_ref().map(|cwd| cwd.to_string_lossy()).as_deref());
    text.optional("it is asked at", url.as_deref());
    for (label, table) in [("variable", env), ("header", headers)] {
        for (name, value) in table.iter().flatten() {
            text.field(label, &format!("{name} = {value:?}"));
        }
    }
    // Those of `pass_env` are among them.
    let variables = server.variables();
    if !variables.is_empty() {
        text.field("it gets these variables of your environment", &variables.join(", "));
    }
    text.optional("the token for it is in your variable", bearer_token_env.as_deref());
    text.optional("a login is made as", client_id.as_deref());
    text.optional("with the secret in your variable", client_secret_env.as_deref());
    text.optional("a login asks for", scopes.as_ref().map(|scopes| scopes.join(", ")).as_deref());
    text.optional("a login comes back to the port", login_port.map(|port| port.to_string()).as_deref());
    text.optional("only these tools are used", enabled_tools.as_ref().map(|tools| tools.join(", ")).as_deref());
    text.optional("these tools are not used", disabled_tools.as_ref().map(|tools| tools.join(", ")).as_deref());
    if *on_main_agent == Some(false) {
        text.sentence("only sub-agents whose persona names it have its tools");
    }
    for (label, seconds) in
        [("seconds for its start", start_timeout), ("seconds for the answer to a call", call_timeout)]
    {
        text.optional(label, seconds.map(|seconds| seconds.to_string()).as_deref());
    }
    // What `private`, `untrusted` and `egress` say.
    for words in server.trait_labels() {
        text.sentence(words);
    }
}

fn describe_persona(text: &mut QuestionText, persona: &Persona) {
    let Persona { name, description, tool_names, system_prompt: _, max_steps, temp_workspace, model, temperature } =
        persona;
    text.field("a sub-agent", name);
    text.field("for", description);
    let names: Vec<&str> =
        tool_names.iter().map(|name| if name == "*" { "all of the agent that starts it" } else { name }).collect();
    text.field("tools", if names.is_empty() { "none".to_owned() } else { names.join(", ") }.as_str());
    text.field("tool calls for one task", &max_steps.to_string());
    match temp_workspace {
        TempWorkspace::No => {}
        TempWorkspace::Yes => text.sentence("it works in a fresh directory of its own"),
    }
    text.optional("model", model.as_deref());
    text.optional("temperature", temperature.map(|temperature| temperature.to_string()).as_deref());
}

fn describe_skill(text: &mut QuestionText, skill: &Skill) {
    let Skill { name, description, hint, text: instructions, directory: _, source: _, starters, allowed } = skill;
    text.field("a skill", name);
    text.field("for", description);
    text.optional("its words", Some(hint.as_str()).filter(|hint| !hint.is_empty()));
    match starters {
        SkillStarters::Both => {}
        SkillStarters::User => text.sentence("only you start it"),
        SkillStarters::Model => text.sentence("only the model starts it"),
    }
    if skill.template().is_some_and(|template| template.has_commands()) {
        describe_allowed(text, allowed);
    }
    text.quote(instructions);
}

fn describe_command(text: &mut QuestionText, command: &PromptTemplate) {
    let PromptTemplate { name, kind: _, source: _, hint, description, text: prompt, allowed } = command;
    text.field("a command", &format!("/{name}"));
    text.field("for", description);
    text.optional("its words", Some(hint.as_str()).filter(|hint| !hint.is_empty()));
    if command.has_commands() {
        describe_allowed(text, allowed);
    }
    text.quote(prompt);
}

/// Describes what the shell lines of a text run without a question.
fn describe_allowed(text: &mut QuestionText, allowed: &[String]) {
    if !allowed.is_empty() {
        text.field("its shell lines, !`…`, run these unasked", &allowed.join(", "));
    }
}
