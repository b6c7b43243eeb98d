//! The registry of models by name: context window, output limit, price, and how their thinking is set.
//!
//! Plain data; the program fills it from the bundled table and the user's own. A model that is not in it works too.
//! Names are looked up in the forms in which servers write them; no other model is mistaken for a known one.

use std::collections::BTreeMap;

use serde::Deserialize;

use steersman_base::price::{Price, Prices};

/// The facts about one model; each may be unknown.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Card {
    /// The tokens that a conversation can have.
    pub context_window: Option<u64>,
    /// The tokens that one reply can have.
    pub output_limit: Option<u64>,
    /// The price of tokens.
    pub price: Option<Price>,
    /// How its thinking is set.
    pub thinking: Thinking,
    /// Whether it takes images.
    pub images: Option<bool>,
}

/// The way in which the thinking of a model is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// Nothing is known: an effort is sent only when the user sets one.
    #[default]
    Unknown,
    /// The model does not think; no effort is sent.
    Never,
    /// By a word (`low`, `medium`, `high`).
    Effort,
    /// By a number of tokens.
    Budget,
    /// The model decides itself; a word says how much.
    Adaptive,
}

impl Card {
    /// Returns this card with its gaps filled from a lower one.
    fn or(self, lower: &Self) -> Self {
        Self {
            context_window: self.context_window.or(lower.context_window),
            output_limit: self.output_limit.or(lower.output_limit),
            price: self.price.or(lower.price),
            thinking: if self.thinking == Thinking::Unknown { lower.thinking } else { self.thinking },
            images: self.images.or(lower.images),
        }
    }
}

/// The cards of models by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Registry(BTreeMap<String, Card>);

impl FromIterator<(String, Card)> for Registry {
    fn from_iter<I: IntoIterator<Item = (String, Card)>>(cards: I) -> Self {
        Self(cards.into_iter().map(|(name, card)| (name.to_lowercase(), card)).collect())
    }
}

impl Registry {
    /// Returns this registry with the cards of another one, whose parts replace those of this one.
    #[must_use]
    pub fn under(mut self, upper: Self) -> Self {
        for (name, card) in upper.0 {
            let lower = self.0.remove(&name).or_else(|| self.card(&name).cloned()).unwrap_or_default();
            self.0.insert(name, card.or(&lower));
        }
        self
    }

    /// Reads a table of models in the form of `assets/models.toml`.
    ///
    /// # Errors
    /// One sentence with the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let cards: BTreeMap<String, Card> = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
            format!("line {line}: {}", error.message().replace('\n', ", "))
        })?;
        Ok(cards.into_iter().collect())
    }

    /// Returns whether nothing is known about any model.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes a registry with prices only.
    pub fn of_prices(prices: &Prices) -> Self {
        prices.iter().map(|(name, price)| (name.to_owned(), Card { price: Some(price), ..Card::default() })).collect()
    }

    /// Returns the card of a model by its name as a server writes it: with a date or a number after it
    /// (`-2025-12-11`, `-20250929`, `@20250929`, `-001`), its maker's or a router's name before it (`anthropic/…`,
    /// `models/…`, `us.anthropic.…`), a route after it (`:free`), or its size as a tag (`gpt-oss:20b`).
    pub fn card(&self, model: &str) -> Option<&Card> {
        let name = model.trim().to_lowercase();
        let bare = name.rsplit('/').next().unwrap_or(&name);
        let own = MAKERS.iter().find_map(|maker| {
            let at = bare.find(maker)?;
            // The maker's name stands alone or after a region.
            let region = at == 0 || (at <= 8 && bare.get(..at).is_some_and(|before| before.ends_with('.')));
            bare.get(at + maker.len()..).filter(|_| region)
        });
        let forms = [Some(name.as_str()), Some(bare), own];
        forms.into_iter().flatten().find_map(|form| self.form(form))
    }

    /// Returns the price of a model's tokens; `None` for a free route.
    pub fn price(&self, model: &str) -> Option<Price> {
        if model.trim().to_lowercase().ends_with(":free") {
            return None;
        }
        self.card(model)?.price
    }

    fn form(&self, name: &str) -> Option<&Card> {
        let routed = name.rsplit_once(':').filter(|(_, tag)| ROUTES.contains(tag)).map_or(name, |(bare, _)| bare);
        let tagged = routed.replace(':', "-");
        let versioned = routed.rsplit_once("-v").filter(|(_, tail)| is_revision(tail)).map_or(routed, |(bare, _)| bare);
        let undated = without_date(versioned);
        let dashed = undated.starts_with("claude-").then(|| undated.replace('.', "-"));
        let forms =
            [Some(name), Some(routed), Some(tagged.as_str()), Some(versioned), Some(undated), dashed.as_deref()];
        forms.into_iter().flatten().find_map(|form| self.0.get(form))
    }
}

/// The names of makers that come before a model's name, with a dot.
const MAKERS: [&str; 7] = ["anthropic.", "openai.", "meta.", "mistral.", "google.", "deepseek.", "qwen."];

/// The tags that name a route to a model, not another model.
const ROUTES: [&str; 8] = ["free", "latest", "nitro", "floor", "exacto", "online", "extended", "beta"];

/// Returns whether a text is a number, a colon and a number, as `1:0` after `-v`.
fn is_revision(text: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(':').is_some_and(|(one, two)| number(one) && number(two))
}

/// Returns a name without the date or the number of a release at its end. Four digits are no date: many makers use a
/// year and a month for different models.
fn without_date(name: &str) -> &str {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = |tail: &str, form: &str| {
        tail.len() == form.len()
            && tail
                .bytes()
                .zip(form.bytes())
                .all(|(byte, of)| if of == b'-' { byte == b'-' } else { byte.is_ascii_digit() })
    };
    let cut = |length: usize| {
        let at = name.len().checked_sub(length + 1)?;
        let (bare, tail) = (name.get(..at)?, name.get(at + 1..)?);
        let mark = name.as_bytes().get(at)?;
        (matches!(mark, b'-' | b'@') && !bare.is_empty()).then_some((bare, tail))
    };
    let of_ten = cut(10).filter(|(_, tail)| fits(tail, "2025-12-11") && tail.starts_with("20"));
    let of_eight = cut(8).filter(|(_, tail)| digits(tail) && tail.starts_with("20"));
    let of_three = cut(3).filter(|(_, tail)| digits(tail) && tail.starts_with("00"));
    of_ten.or(of_eight).or(of_three).map_or(name, |(bare, _)| bare)
}
