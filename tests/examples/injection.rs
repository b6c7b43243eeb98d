//! A message from another thread enters a turn that runs, right behind the result of the tool that is at work.

use std::sync::Arc;
use std::thread;

use steersman::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let controls = Controls::default();
    let typing = controls.interloper.clone();
    let look = FnTool::new("look", "Looks.", Parameters::default(), move |_, _| {
        let typing = typing.clone();
        async move {
            // Somebody types while the tool runs.
            let sent = thread::spawn(move || typing.inject_user_message("Only the birds, please.")).join();
            sent.map_err(|_| ToolError::failed("nobody typed"))??;
            Ok("a tree, two birds".to_owned())
        }
    });
    let model = Arc::new(ScriptedProvider::new([Played::calls(&[("c1", "look", "{}")]), Played::text("Two birds.")]));
    let mut agent = Agent::with_provider(model, "You are helpful.").tool(look).controls(controls).await?;
    println!("answer: {}", agent.ask("What is there?").await?);
    for message in agent.history().messages() {
        if let Message::User { content, .. } = message {
            println!("sent: {content}");
        }
    }
    Ok(())
}
