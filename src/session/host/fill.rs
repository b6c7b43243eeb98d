//! Custom commands and skills with shell lines: the host runs these and fills their outputs in, before anything is sent.
//!
//! Called by a request of a client, on a thread that may wait. Each line runs as a call of `bash` does: mode, rules, hooks,
//! sandbox, time and bytes are the same, and a question names the command. Always holds: a line that fails, is refused or
//! stopped ends it, so that nothing is sent; an output cannot end what it stands in.

use std::sync::{Arc, Mutex};

use tokio::runtime::Handle as Runtime;

use crate::host::Handle;

use steersman_agent::{HookAnswer, HookPoint, LoopHooks, question_event};
use steersman_base::details::Details;
use steersman_base::event::Event;
use steersman_base::id::{AgentId, CallId, ClientId};
use steersman_base::limits;
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::protocol::{NO_SUCH_COMMAND, PromptTemplate, ScriptText};
use steersman_base::sync::lock;
use steersman_base::text::shell_output::with_tags;
use steersman_base::text::visible_line;
use steersman_core::approval::{Approvals, Asker, CallPermission, Rules, right_form};
use steersman_core::control::{Cancellable, check_text};
use steersman_core::listener::ListenerList;
use steersman_core::tool::{BackgroundJobs, Tool, ToolContext, ToolError, ToolReport};

/// The tool that shell lines run with.
const TOOL: &str = "bash";

/// Fills in the texts of commands.
pub(super) struct Fill {
    templates: Vec<PromptTemplate>,
    /// The main agent's `bash`; `None` where it has none.
    tool: Option<Arc<dyn Tool>>,
    hooks: Option<Arc<dyn LoopHooks>>,
    approvals: Arc<Approvals>,
    jobs: Arc<dyn BackgroundJobs>,
    listeners: ListenerList,
    runtime: Runtime,
    running: Mutex<RunningFills>,
}

/// What is being filled in, each with who asked for it.
#[derive(Debug, Default)]
struct RunningFills {
    count: u64,
    open: Vec<(u64, Option<ClientId>, Cancellable)>,
}

/// How a shell line ended.
#[derive(Debug, Default)]
struct LineEnd {
    /// The exit code of the command, once it has ended by itself.
    code: Option<i32>,
}

impl Fill {
    /// Makes what fills in these texts, with the tools of the main agent.
    pub(super) fn new(
        templates: Vec<PromptTemplate>,
        tools: &[Arc<dyn Tool>],
        hooks: Option<Arc<dyn LoopHooks>>,
        handle: &Handle,
        listeners: ListenerList,
    ) -> Self {
        let tool = tools.iter().find(|tool| tool.name() == TOOL).cloned();
        let (approvals, jobs) = (Arc::clone(handle.approvals()), Arc::clone(handle.jobs()));
        Self {
            templates,
            tool,
            hooks,
            approvals,
            jobs,
            listeners,
            runtime: Runtime::current(),
            running: Mutex::default(),
        }
    }

    /// Returns the text that a call of a command sends; one with a doubled slash is sent with a single one. Waits for its shell lines, and for the user where they are asked about.
    ///
    /// # Errors
    /// One sentence: why nothing is to be sent.
    pub(super) fn run(&self, call: &str, sender: Option<ClientId>) -> Result<String, String> {
        let (template, words) = match PromptTemplate::script_text(&self.templates, call) {
            ScriptText::Command(template, words) => (template, words),
            ScriptText::Text(text) if text != call => return Ok(text.to_owned()),
            ScriptText::Text(_) => return Err(NO_SUCH_COMMAND.to_owned()),
        };
        let stop = Cancellable::new();
        let number = self.begin(sender, stop.clone());
        let outputs = self.runtime.block_on(self.outputs(template, words, number, &stop));
        lock(&self.running).open.retain(|(open, ..)| *open != number);
        let mut outputs = outputs?.into_iter();
        let text = template.fill_with(words, |_| outputs.next().unwrap_or_default());
        check_text(&text).map_err(|refused| refused.to_string())?;
        Ok(text)
    }

    /// Stops what these clients fill in.
    pub(super) fn stop(&self, is_meant: impl Fn(&Option<ClientId>) -> bool) {
        for (_, _, stop) in lock(&self.running).open.iter().filter(|(_, by, _)| is_meant(by)) {
            stop.cancel();
        }
    }

    fn begin(&self, sender: Option<ClientId>, stop: Cancellable) -> u64 {
        let mut running = lock(&self.running);
        running.count += 1;
        let number = running.count;
        running.open.push((number, sender, stop));
        number
    }

    async fn outputs(
        &self,
        template: &PromptTemplate,
        words: &str,
        number: u64,
        stop: &Cancellable,
    ) -> Result<Vec<String>, String> {
        let commands = template.commands(words);
        if commands.len() > limits::TEMPLATE_COMMANDS {
            return Err(format!("it has more than {} shell lines", limits::TEMPLATE_COMMANDS));
        }
        let mut outputs = Vec::with_capacity(commands.len());
        for (place, command) in commands.iter().enumerate() {
            let id = CallId::new(format!("fill {number}.{}", place + 1));
            let output = stop.unless_cancelled(self.output(template, command, id, stop)).await;
            outputs.push(with_tags(command, &output.map_err(|_| "stopped".to_owned())??));
        }
        Ok(outputs)
    }

    /// Runs one shell line and returns what it printed.
    async fn output(
        &self,
        template: &PromptTemplate,
        command: &str,
        id: CallId,
        stop: &Cancellable,
    ) -> Result<String, String> {
        let shown = visible_line(command).into_owned();
        let tool = self.tool.as_ref().ok_or_else(|| format!("there is no {TOOL} here that could run `{shown}`"))?;
        let arguments = [("command".to_owned(), command.into())].into_iter().collect();
        let call = ToolCall { id: id.clone(), name: TOOL.to_owned(), arguments: Arguments::Object(arguments) };
        let from = format!("{} ({})", template.command(), template.source);
        let (call, permission) = self.checked(call, from, &template.allowed).await?;
        let asker = Asker { agent: AgentId::main(), call: id };
        let _permit = self.approvals.permit(&asker, permission);
        let end = Arc::new(Mutex::new(LineEnd::default()));
        let (reported, listeners) = (Arc::clone(&end), self.listeners.clone());
        let context = ToolContext {
            asker: asker.clone(),
            cancellable: stop.clone(),
            jobs: Arc::clone(&self.jobs),
            report: Arc::new(move |report| match report {
                ToolReport::Details(Details::Command(command)) => lock(&reported).code = command.code,
                // The question is about no call of the conversation.
                ToolReport::Approval(record) => listeners.emit(match question_event(record) {
                    Event::Question { id, question, detail, call: _, offer, rule } => {
                        Event::Question { id, question, detail, call: None, offer, rule }
                    }
                    event => event,
                }),
                ToolReport::Details(_) | ToolReport::Progress(_) | ToolReport::Plan(_) | ToolReport::Refused(_) => {}
            }),
            ..ToolContext::with_approvals(Arc::clone(&self.approvals))
        };
        let args = tool.spec().parameters.validate(&call.arguments)?;
        let outcome = tool.execute(args, &context).await;
        self.approvals.mark(&asker.agent, tool.spec().traits.taint());
        let code = lock(&end).code;
        match (outcome, code) {
            (Err(ToolError::Cancelled(_)), _) => Err("stopped".to_owned()),
            (Err(ToolError::Failed(why)), _) => Err(format!("`{shown}`: {}", beginning(&why))),
            (Ok(output), Some(0)) => Ok(output),
            (Ok(output), _) => Err(format!("`{shown}` failed: {}", beginning(&output))),
        }
    }

    /// Asks the hooks about a call; returns it as they want it, and what decides about it.
    async fn checked(
        &self,
        mut call: ToolCall,
        from: String,
        allowed: &[String],
    ) -> Result<(ToolCall, CallPermission), String> {
        let rules = Arc::new(rules(allowed));
        let Some(hooks) = &self.hooks else { return Ok((call, CallPermission::Template { from, rules })) };
        let emit = |event| self.listeners.emit(event);
        let HookAnswer { block, stop, permission, arguments, context: _ } =
            hooks.at(&AgentId::main(), HookPoint::BeforeCall(&call), &emit).await;
        if let Some(why) = block.or(stop) {
            return Err(format!("a hook forbids it: {}", beginning(&why)));
        }
        if let Some(arguments) = arguments {
            call.arguments = arguments;
        }
        let permission = match permission {
            Some(CallPermission::Ask(why)) => CallPermission::Ask(format!("{from}: {why}")),
            Some(CallPermission::Unseen(why)) => CallPermission::Unseen(format!("{from}: {why}")),
            _ => CallPermission::Template { from, rules },
        };
        Ok((call, permission))
    }
}

/// Returns what the entries of a file allow its shell lines; those that are no rule about commands allow nothing.
fn rules(allowed: &[String]) -> Rules {
    let rule =
        |entry: &String| right_form(entry).filter(|rule| rule.split(':').next().is_some_and(|tool| tool == TOOL));
    let allow: Vec<String> = allowed.iter().filter_map(rule).collect();
    Rules::parse(&allow, &[], &[]).unwrap_or_default()
}

/// Returns the beginning of what a tool said, on one line.
fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = visible_line(&line);
    match line.char_indices().nth(limits::TEMPLATE_FAULT_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.into_owned(),
    }
}
