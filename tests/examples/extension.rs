//! An extension: it adds to the prompt, brings a tool and a note to each message, and may wait for what it needs.

use steersman::prelude::*;
use tokio::sync::Mutex;

/// What was written down. A database could be asked instead: the tool and the note may wait.
static NOTES: Mutex<Vec<String>> = Mutex::const_new(Vec::new());

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = Parameters::strings([("text", "What to write down.")]);
    let note = FnTool::new("note", "Writes down.", text, |args, _| async move {
        NOTES.lock().await.push(args.str("text").to_owned());
        Ok("noted")
    });
    let remind = |_| async {
        let notes = NOTES.lock().await.join("; ");
        Ok((!notes.is_empty()).then(|| format!("Your notes: {notes}")))
    };
    let notebook = FnExtension::new("notebook").system_prompt("You keep notes.").tool(note).on_user_message(remind);
    let call = Played::call("note", r#"{"text": "tea, no sugar"}"#);
    let model = ScriptedProvider::new([call, Played::text("Noted."), Played::text("Tea, without sugar.")]);
    let mut agent = Agent::with_provider(model, "You serve.").extension(notebook).await?;
    agent.ask("I take tea without sugar.").await?;
    agent.ask("What do I drink?").await?;
    for message in agent.history().messages() {
        println!("{}: {}", message.role(), message.content());
    }
    Ok(())
}
