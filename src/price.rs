//! What tokens cost: prices per model as the user wrote them, and the cost of one round.
//!
//! Pure; the screen sums and shows what comes out. A cost that the server itself reports goes before every price, and a
//! model without a price has no cost: nothing is guessed.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::event::Usage;

/// Trillionths of a US dollar per token, in one dollar per million tokens.
const PICOS: f64 = 1e6;

/// Is what one model costs. Kept in whole parts of a dollar, so that sums come out the same in every order.
///
/// Its serde form is `{ input = 2.0, cached = 0.5, output = 8.0 }`, the arguments of [`Price::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Dollars")]
pub struct Price {
    /// Trillionths of a US dollar per token, as the others.
    input: u64,
    cached: u64,
    output: u64,
}

impl Price {
    /// Takes prices in US dollars per million tokens; cached prompt tokens cost what the others do unless told.
    /// `None` when one of them is negative or no number.
    pub fn new(input: f64, cached: Option<f64>, output: f64) -> Option<Self> {
        let (input, output) = (picos(input)?, picos(output)?);
        Some(Self { input, cached: cached.map_or(Some(input), picos)?, output })
    }

    fn nanos(self, usage: &Usage) -> Option<u64> {
        let fresh = [usage.input, usage.cache_creation].into_iter().flatten().fold(0, u64::saturating_add);
        if usage.prompt() == 0 && usage.output.is_none() {
            return None;
        }
        let parts = [(fresh, self.input), (usage.cached.unwrap_or(0), self.cached)];
        let parts = parts.into_iter().chain([(usage.output.unwrap_or(0), self.output)]);
        let each = parts.map(|(tokens, price)| u128::from(tokens) * u128::from(price));
        let nanos = each.fold(0, u128::saturating_add).saturating_add(500) / 1_000;
        Some(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dollars {
    input: f64,
    cached: Option<f64>,
    output: f64,
}

impl TryFrom<Dollars> for Price {
    type Error = &'static str;

    fn try_from(Dollars { input, cached, output }: Dollars) -> Result<Self, Self::Error> {
        Self::new(input, cached, output).ok_or("a price is a number of US dollars from 0")
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Checked: finite and not negative; a cast saturates.
fn picos(dollars: f64) -> Option<u64> {
    (dollars.is_finite() && dollars >= 0.0).then(|| (dollars * PICOS).round() as u64)
}

/// Holds the prices of models by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

impl FromIterator<(String, Price)> for Prices {
    fn from_iter<I: IntoIterator<Item = (String, Price)>>(prices: I) -> Self {
        Self(prices.into_iter().collect())
    }
}

impl Prices {
    /// Returns what a round cost, billionths of a US dollar: what the server said, else what the price of the model that
    /// answered makes of it. `None` when neither is known.
    pub fn cost_nanos(&self, usage: &Usage) -> Option<u64> {
        usage.cost_nanos.or_else(|| self.of(usage.model.as_deref()?)?.nanos(usage))
    }

    /// Returns the price of a model. Servers answer with the date of a model behind its name (`gpt-5.2-2025-12-11`): the
    /// price of the bare name counts for it.
    fn of(&self, model: &str) -> Option<Price> {
        let dated = |name: &str| model.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_date);
        let bare = || self.0.iter().find(|(name, _)| dated(name)).map(|(_, price)| price);
        self.0.get(model).or_else(bare).copied()
    }
}

fn is_date(text: &str) -> bool {
    text.chars().filter(char::is_ascii_digit).count() >= 4 && text.chars().all(|c| c.is_ascii_digit() || c == '-')
}
