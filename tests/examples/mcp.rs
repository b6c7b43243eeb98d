//! The tools of an MCP server, which is this same program under another argument.

use std::io::{self, BufRead as _};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use steersman::mcp::definition::{ProcessDefinition, Reached, ServerDefinition};
use steersman::mcp::server::Surroundings;
use steersman::mcp::{ServerTools, Servers};
use steersman::prelude::*;
use steersman::tool::ToolScope;
use steersman::workspace::{ChildEnvironment, Sandbox, Spawner, run_hidden};

/// Answers requests, one a line, as a server with one tool does.
fn serve() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let result = match request["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "clock", "version": "1"}}),
            Some("tools/list") => json!({"tools": [{"name": "time", "inputSchema": {"type": "object"}}]}),
            Some("tools/call") => json!({"content": [{"type": "text", "text": "twelve o'clock"}]}),
            _ => continue,
        };
        println!("{}", json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    // The guard of a process is this program too.
    if let Some(exit) = run_hidden(std::env::args_os()) {
        return Ok(exit);
    }
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return Ok(serve().map(|()| ExitCode::SUCCESS)?);
    }
    let (program, here) = (std::env::current_exe()?, std::env::current_dir()?);
    let (command, args) = (program.display().to_string(), vec!["serve".to_owned()]);
    let process = Reached::Process(ProcessDefinition { command, args, ..ProcessDefinition::default() });
    let approvals = Arc::new(Approvals::new(Policy { answerer: Answerer::Yes, ..Policy::default() }, Mode::Ask));
    let environment = ChildEnvironment::new(std::env::vars_os(), &[] as &[&str], &[]);
    let spawner = Arc::new(Spawner::new(program, Sandbox::none(), environment));
    let around = Surroundings::new(spawner, approvals.clone());
    let servers = Servers::new(vec![ServerDefinition::new("clock", process)], around, here, None, 10);
    servers.main_instance("clock")?.discover().await?;

    let call = Played::call("mcp__clock__time", "{}");
    let model = ScriptedProvider::new([call, Played::text("It is noon.")]);
    let builder = Agent::with_provider(model, "You are helpful.").approvals(approvals);
    let mut agent = builder.extension(ServerTools::new(servers, ToolScope::Main)).await?;
    println!("answer: {}", agent.ask("What time is it?").await?);
    println!("{:?}", agent.history().messages().get(3));
    Ok(ExitCode::SUCCESS)
}
