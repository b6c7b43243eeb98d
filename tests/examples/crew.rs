//! Two sub-agents at work, one of which is steered by its name.

use std::sync::Arc;

use steersman::prelude::*;
use tokio::sync::Semaphore;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let go_on = Arc::new(Semaphore::new(0));
    let wait = go_on.clone();
    let look = FnTool::new("look", "Looks around.", Parameters::default(), move |_, _| {
        let wait = wait.clone();
        async move {
            wait.acquire().await?.forget();
            Ok("hills and a river".to_owned())
        }
    });
    let task = |task: &str| format!(r#"{{"name": "scout", "task": "{task}"}}"#);
    let model = Arc::new(ScriptedProvider::new([
        Played::calls(&[("c1", "agent", &task("Go north.")), ("c2", "agent", &task("Go south."))]),
        Played::calls(&[("n1", "look", "{}")]),
        Played::calls(&[("s1", "look", "{}")]),
        Played::text("A river."),
        Played::text("A river."),
        Played::text("There is a river on both sides."),
    ]));
    let scout = Persona::new("scout", "Looks around.", "You look around.").tools(["look"]);
    let crew = Arc::new(Crew::new(Controls::default()));
    let agent = Agent::with_provider(model, "You lead.")
        .tool(look)
        .extension(SubAgents::new(vec![scout])?.crew(crew.clone()))
        .controls(crew.main())
        .await?;
    let mut running = host::run(agent, crew)?;
    running.send("Explore.")?;
    while let Some(envelope) = running.next_event().await {
        let agent = envelope.agent;
        match envelope.event {
            Event::ToolCall { .. } if agent == AgentId::new("scout 1") => {
                running.send_to(&agent, "Mind the river.")?;
                go_on.add_permits(2);
            }
            Event::UserTurn { content, mid_loop: true, .. } => println!("{agent} reads: {content}"),
            Event::TurnEnded { .. } if agent.is_main() => break,
            _ => {}
        }
    }
    let agent = running.close().await.ok_or("the agent broke down")?;
    println!("answer: {}", agent.last_assistant_content().unwrap_or_default());
    Ok(())
}
