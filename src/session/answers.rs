//! What becomes of requests about approvals, the mode, kept rules, commands and MCP servers. Called by `requests`.

use crate::host::Handle;
use steersman_base::id::{AgentId, CallId, ClientId, JobId};
use steersman_base::mode::Mode;
use steersman_base::protocol::{
    Accepted, Answer, ApprovalId, ModeChoice, Reply, RuleRequest, ServerRequest, ShellOutput,
};
use steersman_core::approval::KeptRule;

pub(super) fn answer(handle: &Handle, id: ApprovalId, answer: Answer) -> Reply {
    let outcome = handle.approvals().try_answer(id, answer.clone()).map_err(|why| why.to_string());
    Reply::Answered { id, answer, outcome }
}

pub(super) fn set_mode(handle: &Handle, choice: ModeChoice) -> Reply {
    let approvals = handle.approvals();
    let set = |mode: Mode| approvals.set_mode(mode).map(|()| mode).map_err(|why| why.to_string());
    Reply::Mode(match choice {
        ModeChoice::Named(mode) => set(mode),
        ModeChoice::Next => set(approvals.next_mode()),
    })
}

/// Lists the kept rules, or removes one, which writes a file.
pub(super) fn rules(handle: &Handle, request: RuleRequest) -> Reply {
    let approvals = handle.approvals();
    let rules = approvals.kept_rules();
    Reply::Rules(match request {
        RuleRequest::List if rules.is_empty() => {
            let none = "no kept approval: the answer \"yes, always\" to a question keeps one for this project";
            vec![none.to_owned()]
        }
        RuleRequest::List => {
            let row = |(rule, number): (&KeptRule, usize)| format!("rule {number}: {rule} ({})", rule.reach().label());
            let rows = rules.iter().zip(1..).map(row);
            rows.chain(["/rules remove N takes rule N back".to_owned()]).collect()
        }
        RuleRequest::Remove(number) => vec![match number.checked_sub(1).and_then(|index| rules.get(index)) {
            None => format!("there is no rule {number}; /rules lists them"),
            Some(rule) => match approvals.remove_rule(rule) {
                Ok(()) => format!("removed the rule {rule}: it is asked about again"),
                Err(error) => format!("removed the rule {rule} for this session only: {error}"),
            },
        }],
    })
}

/// Adds a line to the instructions of the session's directory.
pub(super) fn add_instruction(handle: &Handle, line: String) -> Reply {
    let added = handle.shell().map(|shell| shell.add_instruction(&line));
    let outcome = added.unwrap_or_else(|| Err("the session has not started yet".to_owned()));
    Reply::InstructionAdded { line, outcome }
}

/// Runs a shell line of the user.
pub(super) fn run_line(
    handle: &Handle,
    to: &AgentId,
    line: String,
    output: ShellOutput,
    sender: Option<ClientId>,
) -> Reply {
    let started = handle.shell().map(|shell| shell.run(to, &line, output, sender));
    let outcome = started.unwrap_or_else(|| Err("the session has not started yet".to_owned()));
    Reply::ShellLine { line, outcome }
}

/// Fills in a command, whose shell lines run.
pub(super) fn fill(handle: &Handle, call: String, sender: Option<ClientId>) -> Reply {
    let outcome = handle.fill(&call, sender);
    Reply::Filled { call, outcome }
}

/// Stops the shell lines of a client; what was asked for has the reply.
pub(super) fn stop_fill(handle: &Handle, sender: Option<&ClientId>) -> Option<Reply> {
    handle.stop_fills(|by| by.as_ref() == sender);
    None
}

pub(super) fn stop_job(handle: &Handle, job: JobId) -> Reply {
    let accepted = Accepted::from(handle.jobs().stop(&job));
    Reply::JobStopped { job, accepted }
}

/// Lets a running command go on in the background.
pub(super) fn to_background(handle: &Handle, agent: &AgentId, call: CallId) -> Reply {
    let outcome = handle.jobs().to_background(agent, &call);
    Reply::Background { call, outcome }
}

/// Says how the servers stand; starts one before that where it is asked for.
pub(super) fn servers(handle: &Handle, request: ServerRequest) -> Reply {
    let failed = match request {
        ServerRequest::List => None,
        ServerRequest::Start(name) => {
            let started = handle.servers().map_or_else(|| Err(NONE.to_owned()), |servers| servers.start(&name));
            started.err().map(|why| (name, why))
        }
    };
    Reply::Servers { failed, servers: handle.servers().map(|servers| servers.status()).unwrap_or_default() }
}

/// Gets the text of a prompt.
pub(super) fn prompt(handle: &Handle, server: String, prompt: String, words: &str) -> Reply {
    let asked = handle.servers().map(|servers| servers.prompt(&server, &prompt, words));
    let outcome = asked.unwrap_or_else(|| Err(NONE.to_owned()));
    Reply::Prompt { server, prompt, outcome }
}

const NONE: &str = "no MCP server is configured";
