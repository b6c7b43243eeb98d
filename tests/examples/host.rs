//! A host of one's own: texts come over one channel, what happens goes over another; whoever is at their ends may be
//! anywhere.

use std::error::Error;
use std::sync::Arc;

use steersman::prelude::*;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Runs an agent until nobody sends texts any more.
async fn serve(mut running: RunningAgent, mut texts: Receiver<String>, says: Sender<String>) -> Result<(), ToolError> {
    loop {
        tokio::select! {
            biased;
            Some(envelope) = running.next_event() => match envelope.event {
                Event::ToolCall { name, .. } => says.send(format!("calls {name}")).await?,
                Event::Assistant { text, .. } => says.send(text).await?,
                Event::TurnEnded { outcome, .. } => says.send(format!("{outcome:?}")).await?,
                _ => {}
            },
            text = texts.recv() => match text.as_deref() {
                None => break,
                Some("stop") => for entry in running.stop() {
                    says.send(format!("not delivered: {}", entry.text)).await?;
                },
                Some(text) => {
                    running.send(text)?;
                    says.send(format!("pending: {}", running.pending().len())).await?;
                }
            },
        }
    }
    running.close().await;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let dig = FnTool::new("dig", "Digs for ever.", Parameters::default(), |_, _| std::future::pending());
    let model = Arc::new(ScriptedProvider::new([Played::text("Hello."), Played::calls(&[("c1", "dig", "{}")])]));
    let controls = Controls::default();
    let agent = Agent::with_provider(model, "You dig.").tool(dig).controls(controls.clone()).await?;
    let ((send, texts), (says, mut heard)) = (channel(8), channel(8));
    tokio::spawn(serve(host::run(agent, controls)?, texts, says));
    send.send("Hi.".to_owned()).await?;
    while let Some(line) = heard.recv().await {
        println!("{line}");
        let next: &[&str] = match line.as_str() {
            "Completed" => &["Dig."],
            "calls dig" => &["Deeper!", "stop"],
            "Cancelled" => break,
            _ => &[],
        };
        for text in next {
            send.send((*text).to_owned()).await?;
        }
    }
    Ok(())
}
