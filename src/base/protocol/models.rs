//! The models that the user can switch to, with what their servers and the registry say of them.
//!
//! Made by the host for [`crate::protocol::Notice::Models`]; the completion list and the line output write them.

use serde::{Deserialize, Serialize};

use crate::price::Price;

/// A model that can be switched to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelOption {
    /// The name to switch to it by.
    pub name: String,
    /// Its context window in tokens, where known.
    pub context_window: Option<u64>,
    /// The price of its tokens, where known.
    pub price: Option<Price>,
    /// Whether it is the one in use.
    pub is_current: bool,
}

impl From<&str> for ModelOption {
    /// Makes a model of which only the name is known.
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

impl ModelOption {
    /// Returns what is known of it besides its name: `current · 200k tokens · $3 in, $15 out per million tokens`.
    pub fn details(&self) -> String {
        let current = self.is_current.then(|| "current".to_owned());
        let window = self.context_window.map(|tokens| format!("{} tokens", rounded(tokens)));
        let price = self.price.map(|price| {
            let [input, _, output] = price.dollars();
            format!("${input} in, ${output} out per million tokens")
        });
        [current, window, price].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// Returns a context window as vendors write it: `8192`, `32k`, `200k`, `1M`.
fn rounded(tokens: u64) -> String {
    match tokens {
        1_000_000.. if tokens % 1_000_000 < 100_000 => format!("{}M", tokens / 1_000_000),
        10_000.. => format!("{}k", tokens / 1_000),
        _ => tokens.to_string(),
    }
}
