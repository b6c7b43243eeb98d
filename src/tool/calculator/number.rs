//! The numbers of the calculator: whole ones stay exact while they fit, everything else is a finite `f64`.
//!
//! Each operation returns a number that can be printed, or the words for why there is none.

use std::fmt;

/// Largest whole number below which every `f64` without a fraction is exact: 2 to the 53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Is one value. A `Real` is always finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    Real(f64),
}

use Number::{Real, Whole};

type Outcome = Result<Number, &'static str>;

const BY_ZERO: &str = "division by zero";

impl Number {
    pub(super) fn real(value: f64) -> Outcome {
        if value.is_finite() { Ok(Real(value)) } else { Err("the result is not a finite number") }
    }

    /// Returns the nearest `f64`.
    #[expect(clippy::cast_precision_loss, reason = "the documented meaning of leaving the whole numbers")]
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Whole(value) => value as f64,
            Real(value) => value,
        }
    }

    pub(super) fn add(self, other: Self) -> Outcome {
        self.with(other, i128::checked_add, |a, b| a + b)
    }

    pub(super) fn subtract(self, other: Self) -> Outcome {
        self.with(other, i128::checked_sub, |a, b| a - b)
    }

    pub(super) fn multiply(self, other: Self) -> Outcome {
        self.with(other, i128::checked_mul, |a, b| a * b)
    }

    pub(super) fn divide(self, other: Self) -> Outcome {
        if other.is_zero() {
            return Err(BY_ZERO);
        }
        let whole = |a: i128, b: i128| if a.checked_rem(b) == Some(0) { a.checked_div(b) } else { None };
        self.with(other, whole, |a, b| a / b)
    }

    /// Returns what is left of a division rounded down; it has the sign of the divisor.
    pub(super) fn modulo(self, other: Self) -> Outcome {
        if other.is_zero() {
            return Err(BY_ZERO);
        }
        let whole = |a: i128, b: i128| match a.checked_rem(b)? {
            rest if rest != 0 && (rest < 0) != (b < 0) => rest.checked_add(b),
            rest => Some(rest),
        };
        self.with(other, whole, |a, b| {
            let rest = a % b;
            if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
        })
    }

    pub(super) fn power(self, exponent: Self) -> Outcome {
        if self.is_zero() && exponent.to_f64() < 0.0 {
            return Err(BY_ZERO);
        }
        let whole = |base: i128, exponent: i128| match (base, u32::try_from(exponent)) {
            (_, Ok(exponent)) => base.checked_pow(exponent),
            (1, Err(_)) => Some(1),
            (-1, Err(_)) => Some(if exponent % 2 == 0 { 1 } else { -1 }),
            (_, Err(_)) => None,
        };
        self.with(exponent, whole, f64::powf)
    }

    pub(super) fn negate(self) -> Outcome {
        self.map(i128::checked_neg, |value| -value)
    }

    pub(super) fn abs(self) -> Outcome {
        self.map(i128::checked_abs, f64::abs)
    }

    pub(super) fn sign(self) -> Outcome {
        let sign = |value: f64| if value == 0.0 { 0.0 } else { value.signum() };
        Ok(self.map(|value| Some(value.signum()), sign)?.whole_if_exact())
    }

    /// Rounds with the given function; a whole number is what it is.
    pub(super) fn rounded(self, round: fn(f64) -> f64) -> Outcome {
        Ok(self.map(Some, round)?.whole_if_exact())
    }

    /// Rounds to a number of decimals, halves away from zero.
    pub(super) fn round_to(self, decimals: Self) -> Outcome {
        let Whole(places @ 0..=15) = decimals else { return Err("round takes 0 to 15 decimals") };
        let Real(value) = self else { return Ok(self) };
        let scale = 10_f64.powi(i32::try_from(places).unwrap_or_default());
        let scaled = value * scale;
        // Beyond this there are no decimals left to round.
        if scaled.abs() < EXACT { Self::real(scaled.round() / scale) } else { Ok(self) }
    }

    pub(super) fn min(self, other: Self) -> Self {
        if other.is_less_than(self) { other } else { self }
    }

    pub(super) fn max(self, other: Self) -> Self {
        if self.is_less_than(other) { other } else { self }
    }

    pub(super) fn is_zero(self) -> bool {
        match self {
            Whole(value) => value == 0,
            Real(value) => value == 0.0,
        }
    }

    fn is_less_than(self, other: Self) -> bool {
        match (self, other) {
            (Whole(a), Whole(b)) => a < b,
            (a, b) => a.to_f64() < b.to_f64(),
        }
    }

    /// Makes a real number without a fraction a whole one, where that is exact.
    fn whole_if_exact(self) -> Self {
        match self {
            // Through its digits: a cast would have to be trusted.
            Real(value) if value.abs() < EXACT && value.fract() == 0.0 => {
                format!("{value:.0}").parse().map_or(self, Whole)
            }
            Whole(_) | Real(_) => self,
        }
    }

    fn map(self, whole: impl Fn(i128) -> Option<i128>, real: impl Fn(f64) -> f64) -> Outcome {
        if let Whole(value) = self
            && let Some(result) = whole(value)
        {
            return Ok(Whole(result));
        }
        Self::real(real(self.to_f64()))
    }

    fn with(self, other: Self, whole: impl Fn(i128, i128) -> Option<i128>, real: impl Fn(f64, f64) -> f64) -> Outcome {
        if let (Whole(a), Whole(b)) = (self, other)
            && let Some(result) = whole(a, b)
        {
            return Ok(Whole(result));
        }
        Self::real(real(self.to_f64(), other.to_f64()))
    }
}

impl fmt::Display for Number {
    /// Writes whole numbers exactly, others with up to 15 digits and an exponent where they are very large or small.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match self {
            Whole(value) => return write!(f, "{value}"),
            Real(value) => *value,
        };
        // -0 is 0.
        if value == 0.0 {
            return f.write_str("0");
        }
        if value.fract() == 0.0 && value.abs() < EXACT {
            return write!(f, "{value:.0}");
        }
        // Fifteen digits hide the error of the last bit: 0.1 + 0.2 is 0.3.
        let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
        if (1e-5..1e15).contains(&rounded.abs()) { write!(f, "{rounded}") } else { write!(f, "{rounded:e}") }
    }
}
