//! Two sub-agents at work, one of which is steered by its name.

use steersman::prelude::*;
use tokio::sync::Semaphore;

/// How many of them may look on.
static GO_ON: Semaphore = Semaphore::const_new(0);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let look = FnTool::new("look", "Looks around.", Parameters::default(), |_, _| async {
        GO_ON.acquire().await?.forget();
        Ok("hills and a river")
    });
    let (north, south) = (r#"{"name": "scout", "task": "Go north."}"#, r#"{"name": "scout", "task": "Go south."}"#);
    let model = ScriptedProvider::new([
        Played::call("agent", north).and_call("agent", south),
        Played::call("look", "{}"),
        Played::call("look", "{}"),
        Played::text("A river."),
        Played::text("A river."),
        Played::text("There is a river on both sides."),
    ]);
    let scout = Persona::new("scout", "Looks around.", "You look around.").tools(["look"]);
    let builder = Agent::with_provider(model, "You lead.").tool(look).extension(SubAgents::new([scout])?);
    let mut running = RunningAgent::start(builder).await?;
    running.send("Explore.")?;
    while let Some(Envelope { agent, event, .. }) = running.next_event().await {
        match event {
            Event::ToolCall { .. } if agent == AgentId::new("scout 1") => {
                running.send_to(&agent, "Mind the river.")?;
                GO_ON.add_permits(2);
            }
            Event::UserTurn { content, mid_loop: true, .. } => println!("{agent} reads: {content}"),
            Event::Assistant { text, .. } if agent.is_main() => println!("answer: {text}"),
            Event::TurnEnded { .. } if agent.is_main() => break,
            _ => {}
        }
    }
    Ok(())
}
