//! Prices of tokens by model, and the cost of one round.
//!
//! Pure; the agent charges its budget with the cost, the screen sums and shows it. A cost that the server reports has
//! precedence over a price, and a model without a price has no cost: nothing is guessed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::event::Usage;

/// Trillionths of a US dollar per token, in one dollar per million tokens.
const PICOS: f64 = 1e6;

/// Billionths of a US dollar in one dollar.
const NANOS: u64 = 1_000_000_000;

/// An amount of US dollars that may be spent; always more than nothing. Its serde form is a number of dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Money {
    nanos: u64,
}

impl Money {
    /// Returns the amount in billionths of a US dollar.
    pub fn nanos(self) -> u64 {
        self.nanos
    }
}

impl From<Money> for f64 {
    #[allow(clippy::cast_precision_loss)] // Exact up to nine million dollars.
    fn from(money: Money) -> Self {
        money.nanos as Self / NANOS as Self
    }
}

impl TryFrom<f64> for Money {
    type Error = &'static str;

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // A cast saturates.
    fn try_from(dollars: f64) -> Result<Self, Self::Error> {
        let nanos = (dollars * NANOS as f64).round() as u64;
        if nanos == 0 {
            Err("it is not an amount of US dollars above 0, such as 2 or 0.50")
        } else {
            Ok(Self { nanos })
        }
    }
}

impl FromStr for Money {
    type Err = &'static str;

    /// Reads `2`, `0.50` and `$0.50`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix('$').unwrap_or(text);
        // The parser also accepts `inf` and `nan`.
        let digits = number.chars().all(|c| c.is_ascii_digit() || c == '.');
        Self::try_from(number.parse::<f64>().ok().filter(|_| digits).unwrap_or_default())
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&dollars(self.nanos))
    }
}

/// Writes billionths of a US dollar for people: `$0.50`, `$12.34`; below a cent `$0.0042`, `<$0.0001`.
pub fn dollars(nanos: u64) -> String {
    const CENT: u64 = NANOS / 100;
    const PART: u64 = NANOS / 10_000;
    match nanos {
        0 => "$0.00".to_owned(),
        1..PART => "<$0.0001".to_owned(),
        PART..CENT => format!("$0.{:04}", (nanos + PART / 2) / PART),
        _ => {
            let cents = nanos.saturating_add(CENT / 2) / CENT;
            format!("${}.{:02}", cents / 100, cents % 100)
        }
    }
}

/// The price of one model's tokens, in integers, so that sums are the same in every order.
///
/// Its serde form is `{ input = 2.0, cached = 0.5, output = 8.0 }`, the arguments of [`Price::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PriceTable", into = "PriceTable")]
pub struct Price {
    /// Trillionths of a US dollar per token, like the others.
    input: u64,
    cached: u64,
    output: u64,
}

impl Price {
    /// Makes a price from US dollars per million tokens; cached prompt tokens cost the same unless given. `None`
    /// when one of them is negative or not a number.
    pub fn new(input: f64, cached: Option<f64>, output: f64) -> Option<Self> {
        let (input, output) = (picos(input)?, picos(output)?);
        Some(Self { input, cached: cached.map_or(Some(input), picos)?, output })
    }

    /// Returns the prices of a million tokens in US dollars: input, cached input, output.
    #[allow(clippy::cast_precision_loss)] // Prices are small numbers.
    pub fn dollars(self) -> [f64; 3] {
        [self.input, self.cached, self.output].map(|picos| picos as f64 / PICOS)
    }

    /// Returns the cost of a round in billionths of a US dollar; `None` when the server has counted nothing.
    pub fn nanos(self, usage: &Usage) -> Option<u64> {
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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceTable {
    input: f64,
    cached: Option<f64>,
    output: f64,
}

impl From<Price> for PriceTable {
    fn from(price: Price) -> Self {
        let [input, cached, output] = price.dollars();
        Self { input, cached: Some(cached), output }
    }
}

impl TryFrom<PriceTable> for Price {
    type Error = &'static str;

    fn try_from(PriceTable { input, cached, output }: PriceTable) -> Result<Self, Self::Error> {
        Self::new(input, cached, output).ok_or("a price is a number of US dollars from 0")
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Checked: finite and not negative; a cast saturates.
fn picos(dollars: f64) -> Option<u64> {
    (dollars.is_finite() && dollars >= 0.0).then(|| (dollars * PICOS).round() as u64)
}

/// The prices of models by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

impl FromIterator<(String, Price)> for Prices {
    fn from_iter<I: IntoIterator<Item = (String, Price)>>(prices: I) -> Self {
        Self(prices.into_iter().collect())
    }
}

impl Prices {
    /// Returns the prices with their models.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Price)> {
        self.0.iter().map(|(name, price)| (name.as_str(), *price))
    }

    /// Returns the cost of a round in billionths of a US dollar: as the server reported it, else by the price of
    /// the model that answered. `None` when neither is known.
    pub fn cost_nanos(&self, usage: &Usage) -> Option<u64> {
        usage.cost_nanos.or_else(|| self.price_of(usage.model.as_deref()?)?.nanos(usage))
    }

    /// Returns the price of a model. Servers append the date of a model to its name (`gpt-5.2-2025-12-11`): the
    /// price of the bare name is used.
    fn price_of(&self, model: &str) -> Option<Price> {
        let dated = |name: &str| model.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_date);
        let bare = || self.0.iter().find(|(name, _)| dated(name)).map(|(_, price)| price);
        self.0.get(model).or_else(bare).copied()
    }
}

fn is_date(text: &str) -> bool {
    text.chars().filter(char::is_ascii_digit).count() >= 4 && text.chars().all(|c| c.is_ascii_digit() || c == '-')
}
