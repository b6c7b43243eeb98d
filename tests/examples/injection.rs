//! A message from another thread enters a turn that runs, right behind the result of the tool that is at work.

use std::thread;

use steersman::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let controls = Controls::default();
    let look = FnTool::new("look", "Looks.", Parameters::default(), |_, _| async { Ok("a tree, two birds") });
    let model = ScriptedProvider::new([Played::call("look", "{}"), Played::text("Two birds.")]);
    let mut agent = Agent::with_provider(model, "You are helpful.").tool(look).controls(controls.clone()).await?;
    // Somebody types when the tool has been called.
    agent.on(EventKind::ToolCall, move |_| {
        thread::scope(|typing| _ = typing.spawn(|| controls.send("Only the birds, please.")));
    });
    agent.ask("What is there?").await?;
    for message in agent.history().messages() {
        println!("{}: {}", message.role(), message.content());
    }
    Ok(())
}
