//! The configuration: flags over environment over file over default, as one value.
//!
//! Parse first ([`Layer`]), then interpret ([`Config::resolve`]), which is a pure function of its arguments: no file, no
//! environment, no clock. The program's `cli` reads the sources and calls it.

mod file;
mod layer;
mod resolve;

use std::path::PathBuf;

use serde::Deserialize;

use crate::control::Staleness;
use crate::price::Prices;
use crate::provider::{ApiKey, Streaming};

pub use file::{FileError, parse};
pub use layer::Layer;
pub use resolve::Environment;

/// The server that is used when only a model or a provider is named.
pub const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";
/// The environment variable that holds the key, unless another is named.
pub const DEFAULT_API_KEY_ENV: &str = "OPENAI_API_KEY";

/// Is everything that a start of the program depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Which model answers.
    pub model: ModelSource,
    /// Tool calls that a turn may make, at least 1.
    pub max_steps: u32,
    /// Whether replies come in pieces.
    pub streaming: Streaming,
    /// The context window in tokens, when the user said it.
    pub context_window: Option<u64>,
    /// The file that replaces the default system prompt.
    pub system_prompt: Option<PathBuf>,
    /// From when on the screen asks whether a waiting text still holds.
    pub still_true: Staleness,
    /// What tokens cost, where the server does not say it.
    pub prices: Prices,
}

/// Says which model answers.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelSource {
    /// The model server inside the process: no key, no network.
    Embedded {
        /// Words per second; 0 is as fast as it goes; `None` is its own pace.
        pace: Option<u32>,
    },
    /// A server that speaks chat completions.
    Server {
        /// Its address, with or without `/v1`.
        base_url: String,
        /// The model's name; `None` means that the server is asked for its list.
        model: Option<String>,
        /// The key; without one no Authorization header is sent.
        key: Option<ApiKey>,
    },
}

/// Names a kind of model server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Any server that speaks chat completions.
    #[value(name = "openai")]
    #[serde(rename = "openai")]
    OpenAi,
    /// The embedded model.
    Demo,
}

/// Says what is wrong with the configuration, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The address is not one.
    #[error("the base URL {0:?} is not an address such as http://localhost:8080")]
    BaseUrl(String),
    /// Nobody said which model.
    #[error("no model is named: add --model NAME, or --base-url URL to ask that server for its models")]
    NoModel,
    /// The named variable is not set.
    #[error("the environment variable {0}, which is to hold the key, is not set")]
    NoKey(String),
}
