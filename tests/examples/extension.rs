//! An extension: it adds to the prompt, brings a tool and a note to each message, and may wait for what it needs.

use std::sync::{Arc, Mutex};

use steersman::prelude::*;

#[derive(Clone, Default)]
struct Notebook(Arc<Mutex<Vec<String>>>);

impl Extension for Notebook {
    fn name(&self) -> &'static str {
        "notebook"
    }

    fn configure(&self, configurator: &mut Configurator) -> Result<(), BuildError> {
        configurator.append_system_prompt("You have a notebook.");
        let notes = self.0.clone();
        let parameters = Parameters::build(|p| {
            p.required_string("text", "What to write down.");
        });
        configurator.add_tool(Arc::new(FnTool::new("note", "Writes down.", parameters, move |args, _| {
            let notes = notes.clone();
            async move {
                notes.lock().map_err(|_| ToolError::failed("the notebook is lost"))?.push(args.str("text").to_owned());
                Ok("noted".to_owned())
            }
        })))
    }

    fn on_user_message<'a>(
        &'a self,
        _: &'a AgentContext<'_>,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ExtensionError>> {
        Box::pin(async move {
            // A database would be asked here.
            tokio::task::yield_now().await;
            let notes = self.0.lock().map_err(|_| "the notebook is lost")?.join("; ");
            Ok((!notes.is_empty()).then(|| format!("Your notes: {notes}")))
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Arc::new(ScriptedProvider::new([
        Played::calls(&[("c1", "note", r#"{"text": "tea, no sugar"}"#)]),
        Played::text("I will remember."),
        Played::text("Tea without sugar."),
    ]));
    let mut agent = Agent::with_provider(model.clone(), "You serve.").extension(Notebook::default()).await?;
    println!("answer: {}", agent.ask("I take tea without sugar.").await?);
    println!("answer: {}", agent.ask("What do I drink?").await?);
    println!("the model read: {:?}", model.requests()[2].messages.last());
    Ok(())
}
