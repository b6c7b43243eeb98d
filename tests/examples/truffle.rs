//! Functions per event, a limit on model rounds, a reset: the surface of a small agent.

use steersman::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let look = FnTool::new("look", "Looks.", Parameters::default(), |_, _| async { Ok("a tree") });
    let call = || Played::call("look", "{}");
    let model = ScriptedProvider::new([call(), Played::text("A tree."), call(), call()]);
    let mut agent = Agent::with_provider(model, "You are helpful.").tool(look).max_turns(2).await?;
    agent.on(EventKind::ToolResult, |_| println!("  the tool has answered"));
    agent.on_any(|kind, _| println!("{kind}"));
    println!("answer: {}", agent.ask("What is there?").await?);
    agent.reset();
    println!("error: {}", agent.ask("Look again.").await.unwrap_err());
    Ok(())
}
