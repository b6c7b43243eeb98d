//! The numbers of the calculator: whole ones stay exact while they fit, everything else is a finite `f64`.
//!
//! Each operation returns a number that can be printed, or the words for why there is none.

use std::fmt;

/// Largest whole number below which every `f64` without a fraction is exact: 2 to the 53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A value. A `Real` is always finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    Real(f64),
}

use Number::{Real, Whole};

/// A number, or the words for why there is none.
pub(super) type Outcome = Result<Number, &'static str>;

/// Applies one of `+ - * / % ^`. What is left of a division has the sign of the divisor.
pub(super) fn operate(symbol: char, left: Number, right: Number) -> Outcome {
    let (x, y) = (left.to_f64(), right.to_f64());
    if matches!(symbol, '/' | '%') && y == 0.0 || symbol == '^' && x == 0.0 && y < 0.0 {
        return Err("division by zero");
    }
    if let (Whole(x), Whole(y)) = (left, right) {
        let exact = match symbol {
            '+' => x.checked_add(y),
            '-' => x.checked_sub(y),
            '*' => x.checked_mul(y),
            '/' => x.checked_div(y).filter(|_| x.checked_rem(y) == Some(0)),
            '%' => x.checked_rem(y).and_then(|rest| rest.checked_add(if rest * y.signum() < 0 { y } else { 0 })),
            _ => match u32::try_from(y) {
                Err(_) if matches!(x, 1 | -1) => x.checked_pow(u32::from(y % 2 != 0)),
                exponent => exponent.ok().and_then(|exponent| x.checked_pow(exponent)),
            },
        };
        if let Some(exact) = exact {
            return Ok(Whole(exact));
        }
    }
    Number::real(match symbol {
        '+' => x + y,
        '-' => x - y,
        '*' => x * y,
        '/' => x / y,
        '%' if x % y * y.signum() < 0.0 => x % y + y,
        '%' => x % y,
        _ => x.powf(y),
    })
}

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

    pub(super) fn sign(self) -> Self {
        let zero = Whole(0);
        Whole(i128::from(zero.is_less_than(self)) - i128::from(self.is_less_than(zero)))
    }

    /// Rounds with the given function, to a whole number where that is exact.
    pub(super) fn rounded(self, round: fn(f64) -> f64) -> Self {
        let Real(value) = self else { return self };
        let value = round(value);
        // Through its digits: a cast would have to be trusted.
        let whole = if value.abs() < EXACT { format!("{value:.0}").parse().ok() } else { None };
        whole.map_or(Real(value), Whole)
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

    pub(super) fn is_less_than(self, other: Self) -> bool {
        match (self, other) {
            (Whole(a), Whole(b)) => a < b,
            (a, b) => a.to_f64() < b.to_f64(),
        }
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
