//! Every event of an agent and its sub-agents as one line of JSON.

use steersman::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let look = FnTool::new("look", "Looks.", Parameters::default(), |_, _| async { Ok("a tree") });
    let model = ScriptedProvider::new([Played::call("look", "{}"), Played::text("There is a tree.")]);
    let lines = JsonLines::new(std::io::stdout());
    Agent::with_provider(model, "You are helpful.").tool(look).listener(lines).await?.ask("What is there?").await?;
    Ok(())
}
