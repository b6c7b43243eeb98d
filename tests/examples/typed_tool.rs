//! A tool whose arguments are a Rust type: checked before it runs, so that the model corrects itself.

use schemars::JsonSchema;
use serde::Deserialize;
use steersman::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Forecast {
    /// The place, as its inhabitants call it.
    place: String,
    /// How many days.
    #[schemars(range(min = 1, max = 7))]
    days: u8,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let forecast = typed("forecast", "Tells the weather.", |args: Forecast, _| async move {
        Ok(format!("{}: 4 °C for {} days", args.place, args.days))
    });
    // With a real server: `Agent::over_http(ChatTransport { api_base: …, model: …, .. }, …)`.
    let model = ScriptedProvider::new([
        Played::call("forecast", r#"{"place": "Oslo", "days": 9}"#),
        Played::call("forecast", r#"{"place": "Oslo", "days": 3}"#),
        Played::text("Cold for three days."),
    ]);
    let mut agent = Agent::with_provider(model, "You are helpful.").tool(forecast).await?;
    let answer = agent.ask("How is the weather in Oslo?").await?;
    for message in agent.history().messages() {
        if let Message::Tool { content, .. } = message {
            println!("tool: {}", content.lines().take(2).collect::<Vec<_>>().join(" "));
        }
    }
    println!("answer: {answer}");
    Ok(())
}
