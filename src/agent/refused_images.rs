//! A request that a server refuses because of an image: it is sent again without the newest images, then without any.
//!
//! Called by `run_loop` for every request. Always holds: the conversation changes only where a request without them works, so
//! that a refusal of anything else leaves it as it was; what was left out is named to the model and to the user.

use crate::Agent;
use crate::reply::RequestOutcome;
use steersman_base::error::RunError;
use steersman_base::text::{clip, visible_line};
use steersman_core::provider::ProviderError;

/// The statuses of a request that is wrong itself.
const WRONG: [u16; 4] = [400, 413, 415, 422];
/// Those of a server that takes the same request later: whatever it says, the images are not why.
const LATER: [u16; 8] = [401, 402, 408, 429, 502, 503, 504, 529];
/// Words about images, and about a request that is too large: most of that are images.
const ABOUT: [&str; 29] = [
    "image",
    "picture",
    "photo",
    " vision",
    " visual",
    "multimodal",
    "multi-modal",
    "media file",
    " media:",
    "bitmap",
    "mmproj",
    "mime",
    "media type",
    "media_type",
    "pixel",
    "jpeg",
    " png",
    "gif:",
    "webp",
    "data uri",
    "data url",
    "图片",
    "图像",
    "base64",
    "inline_data",
    "inlinedata",
    "entity too large",
    "payload too large",
    "request_too_large",
];
/// Words that name another reason beyond doubt. Whatever else a server says may be about an image.
const OTHER: [&str; 25] = [
    "tools.",
    "tool_choice",
    "tool_call",
    "tool_use",
    "without `tool_result`",
    "found in `tool_result`",
    "function '",
    "input_schema",
    "invalid schema",
    "unsupported parameter",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "does not exist",
    "api key",
    "api_key",
    "non-empty",
    "must alternate",
    "signature",
    "encrypted_content",
    "reasoning_effort",
    "response_format",
    "previous_response_id",
    "billing",
];
/// Words of a server to which the texts of a conversation are too long. A body that is too large is mostly images.
const TOO_LONG: [&str; 6] = ["token", "context", "prompt", "input", "messages", "too long"];
/// Columns of the server's words.
const WORDS: usize = 160;

impl Agent {
    /// Sends a request; one that is refused and works with names in the place of images goes on with those.
    pub(super) async fn ask_without_refused_images(&mut self) -> Result<RequestOutcome, RunError> {
        let asked = self.request_reply().await;
        let Err(RunError::Provider(error)) = &asked else { return asked };
        let Some(newest) = self.history.newest_images().filter(|_| may_be_about_images(error)) else { return asked };
        let whole = self.history.clone();
        let mut tried = Vec::new();
        for from in [newest, 0] {
            let Some((without, names)) = whole.without_images(from).filter(|(_, names)| *names != tried) else {
                continue;
            };
            self.history = without;
            match self.request_reply().await {
                Ok(outcome) => {
                    let words = clip(&visible_line(&error.to_string()), WORDS).into_owned();
                    let names = names.join(", ");
                    self.notice(format!("not sent any more, the server refused it: {names} ({words})"));
                    self.notify_replaced();
                    return Ok(outcome);
                }
                Err(RunError::Provider(_)) => tried = names,
                Err(other) => {
                    self.history = whole;
                    return Err(other);
                }
            }
        }
        self.history = whole;
        asked
    }
}

/// Tells whether an error can be a refusal of an image: it speaks of images, or the request is wrong and the words say of
/// nothing else why.
fn may_be_about_images(error: &ProviderError) -> bool {
    let names = |words: &str, of: &[&str]| {
        // Some of the words are meant at the beginning of a word only.
        let words = format!(" {}", words.to_lowercase());
        of.iter().any(|word| words.contains(word))
    };
    let names_images = |words: &str| names(words, &ABOUT);
    match error {
        ProviderError::Status { status, .. } if LATER.contains(status) => false,
        ProviderError::Status { status, message, .. } => {
            names_images(message) || WRONG.contains(status) && !names(message, &OTHER)
        }
        ProviderError::Overflow { message, tokens: None, window: None } => {
            names_images(message) || !names(message, &TOO_LONG)
        }
        ProviderError::Overflow { message, .. } | ProviderError::Server(message) => names_images(message),
        _ => false,
    }
}
