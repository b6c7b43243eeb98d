//! A host of one's own: what an agent does goes over a channel, texts come from anywhere.

use steersman::prelude::*;
use tokio::sync::mpsc::{Sender, channel};

/// Says what an agent does to whoever is at the other end of a channel.
async fn serve(mut running: RunningAgent, says: Sender<String>) -> Result<(), ToolError> {
    while let Some(envelope) = running.next_event().await {
        match envelope.event {
            Event::ToolCall { name, .. } => says.send(format!("calls {name}")).await?,
            Event::Assistant { text, .. } => says.send(text).await?,
            Event::TurnEnded { outcome, .. } => says.send(format!("{outcome:?}")).await?,
            _ => {}
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dig =
        FnTool::new("dig", "Digs for ever.", Parameters::default(), |_, _| std::future::pending::<Result<String, _>>());
    let model = ScriptedProvider::new([Played::text("Hello."), Played::call("dig", "{}")]);
    let running = RunningAgent::start(Agent::with_provider(model, "You dig.").tool(dig)).await?;
    let crew = running.crew().clone();
    let (says, mut heard) = channel(8);
    tokio::spawn(serve(running, says));
    crew.main().send("Hi.")?;
    while let Some(line) = heard.recv().await {
        println!("{line}");
        if line == "Completed" {
            crew.main().send("Dig.")?;
        } else if line == "calls dig" {
            crew.main().send("Deeper!")?;
            println!("not delivered: {:?}", crew.stop().iter().map(|entry| &entry.text).collect::<Vec<_>>());
        } else if line == "Cancelled" {
            break;
        }
    }
    Ok(())
}
