//! A key in the environment and nothing that says which model answers: one question on the screen, whose answer is kept.
//!
//! Always holds: nothing goes to a service before the user has said yes to it. A no is kept for the services whose keys were
//! there then; a yes is kept with the model that answered.

use std::io;

use serde::{Deserialize, Serialize};

use crate::program::cli::keys;
use crate::program::cli::places::UserDirectories;
use crate::program::cli::project::{FrontEnd, StateFile};
use crate::program::cli::setup::transport_of;
use crate::program::config::{Config, KeyPlace, ModelSource, Server};
use steersman_base::text::QuestionText;
use steersman_core::approval::{Approvals, PlainAnswer};
use steersman_provider::list_models;

/// Beginnings of the names of models that are taken where a service lists more than one, the first that is listed counting.
const FAMILIES: [(&str, &[&str]); 3] = [
    ("anthropic", &["claude-sonnet", "claude-opus"]),
    ("gemini", &["gemini-pro-latest", "gemini-3-pro", "gemini-2.5-pro"]),
    ("openai", &["gpt-5", "gpt-4.1"]),
];

/// What the user said about services whose key is in the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct KeyDecisions {
    /// The services that are not offered any more.
    declined: Vec<String>,
    /// The service that answers where nothing else is said.
    taken: Option<String>,
    /// The model that it answers with.
    model: Option<String>,
}

/// Tells whether the screen asks, or has asked, which service answers.
pub fn has_offer(config: &Config) -> bool {
    config.unconfigured && !config.services.is_empty()
}

/// Lets the service answer whose key is in the environment, after a question that is asked once.
pub async fn offer_service(
    config: &mut Config,
    front: FrontEnd,
    places: &UserDirectories,
    approvals: &Approvals,
    notes: &mut Vec<String>,
) {
    if front == FrontEnd::Exec || !has_offer(config) {
        return;
    }
    let file = places.state.as_deref().map(|state| StateFile::new(state, "services"));
    // A record that cannot be read is asked about again, and not written over.
    let known: KeyDecisions = file.as_ref().and_then(|file| file.read().ok()).unwrap_or_default();
    let taken = config.services.iter().find(|(name, _)| known.taken.as_ref() == Some(name));
    if let (Some((name, server)), Some(model)) = (taken, &known.model) {
        notes.push(format!("{name} answers with {model}, as you said at an earlier start; F6 chooses another model"));
        use_server(config, name.clone(), Server { model: Some(model.clone()), ..server.clone() });
        return;
    }
    let mut offered = config.services.iter().filter(|(name, _)| !known.declined.contains(name));
    let Some((name, server)) = offered.next().cloned() else { return };
    let others: Vec<&str> = offered.map(|(name, _)| name.as_str()).collect();
    let question = format!("let {name} answer? {} is set", variable(&server));
    let decisions = match approvals.ask_plain(question, text(&name, &server, &others)).await {
        PlainAnswer::NotNow | PlainAnswer::Nobody => return,
        PlainAnswer::No => {
            let declined = std::iter::once(&*name).chain(others).map(str::to_owned);
            KeyDecisions { declined: known.declined.iter().cloned().chain(declined).collect(), ..known }
        }
        PlainAnswer::Yes => match model_of(config, &name, &server).await {
            Ok(model) => {
                notes.push(format!("{name} answers with {model}; F6 chooses another model"));
                use_server(config, name.clone(), Server { model: Some(model.clone()), ..server });
                KeyDecisions { taken: Some(name), model: Some(model), ..known }
            }
            Err(why) => {
                notes.push(format!("{name} does not answer, so the embedded model does: {why}"));
                return;
            }
        },
    };
    let kept = file.map(|file| file.change(|before: io::Result<KeyDecisions>| before.map(|_| decisions)));
    match kept {
        Some(Ok(())) => {}
        Some(Err(error)) => notes.push(format!("the answer holds for this session only: {error}")),
        None => notes.push("the answer holds for this session only: there is no state directory".to_owned()),
    }
}

fn use_server(config: &mut Config, name: String, server: Server) {
    config.model = ModelSource::Server(server);
    config.source = name;
    config.unconfigured = false;
}

fn variable(server: &Server) -> &str {
    if let KeyPlace::Variable { name, .. } = &server.key { name } else { "its key" }
}

fn text(name: &str, server: &Server, others: &[&str]) -> QuestionText {
    let mut text = QuestionText::default();
    text.part("Nothing says which model answers. With yes your conversation and what tools read go there:");
    text.field("service", name);
    text.field("address", &server.base_url);
    text.field("key", variable(server));
    text.part("Its owner is billed. With no the embedded model answers, which only shows the program.");
    if !others.is_empty() {
        text.sentence(&format!("There are keys for {} too: F6 lists the models of all.", others.join(", ")));
    }
    text.sentence("This is asked once. provider and model in config.toml, --provider and --model override the answer.");
    text
}

/// Returns the model that the service is to answer with: the first listed of its usual family, else the first.
async fn model_of(config: &Config, name: &str, server: &Server) -> Result<String, String> {
    let key = keys::read_key(&server.key).await?;
    let listed = list_models(&config.http(), &transport_of(server, key)).await.map_err(|error| error.to_string())?;
    preferred(name, &listed).ok_or_else(|| "it lists no models".to_owned())
}

fn preferred(name: &str, listed: &[String]) -> Option<String> {
    let families = FAMILIES.iter().find(|(service, _)| *service == name).map_or(&[][..], |(_, families)| families);
    let of_family = |family: &&str| listed.iter().find(|model| model.trim_start_matches("models/").starts_with(family));
    families.iter().find_map(of_family).or(listed.first()).cloned()
}

#[cfg(test)]
mod tests {
    use super::preferred;

    #[test]
    fn a_model_of_the_usual_family_goes_before_the_first_that_is_listed() {
        let listed = ["claude-haiku-9", "claude-opus-9", "claude-sonnet-9"].map(str::to_owned);
        assert_eq!(preferred("anthropic", &listed).as_deref(), Some("claude-sonnet-9"));
        assert_eq!(preferred("groq", &listed).as_deref(), Some("claude-haiku-9"));
        assert_eq!(preferred("openai", &listed[..1]).as_deref(), Some("claude-haiku-9"));
        assert_eq!(preferred("openai", &[]), None);
    }
}
