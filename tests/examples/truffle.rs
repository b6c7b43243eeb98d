//! Functions per event, a limit on model rounds, a reset: the surface of a small agent.

use steersman::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let look = FnTool::new("look", "Looks.", Parameters::default(), |_, _| async { Ok("a tree") });
    let model = ScriptedProvider::new([Played::call("look", "{}"), Played::call("look", "{}"), Played::text("Tree.")]);
    let mut agent = Agent::with_provider(model, "You are helpful.").tool(look).max_turns(2).await?;
    agent.on(EventKind::ToolResult, |_| println!("  the tool has answered")).on_any(|kind, _| println!("{kind}"));
    println!("error: {}", agent.ask("What is there?").await.unwrap_err());
    println!("answer: {}", agent.reset().ask("What is there?").await?);
    Ok(())
}
