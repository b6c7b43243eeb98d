//! The calculator's expressions: read and evaluated in one pass, by binding powers (Pratt).
//!
//! From loose to tight: `+ -`, `* / %`, sign, `^ **` (from right to left). So `-2^2` is -4 and `2^-1` is 0.5. Whole
//! numbers stay exact while they fit, everything else is a finite `f64`. A fault ends with its place, from 1.

use std::f64::consts;

use super::number::{Number, operate};
use crate::limits;

/// Deepest nesting of parentheses, signs and powers.
const DEPTH: usize = 100;

/// The binding power of a sign; `^` binds tighter, and takes a signed right side.
const SIGN: u8 = 3;

/// A function of one real number, with its name.
type RealFunction = (&'static str, fn(f64) -> f64);

const REAL: [RealFunction; 16] = [
    ("sqrt", f64::sqrt),
    ("cbrt", f64::cbrt),
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("log", f64::log10),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("trunc", f64::trunc),
];

type Outcome = Result<Number, String>;

/// Evaluates a whole expression.
pub(super) fn evaluate(expression: &str) -> Outcome {
    let chars: Vec<char> = expression.chars().take(limits::EXPRESSION_CHARS + 1).collect();
    if chars.len() > limits::EXPRESSION_CHARS {
        return Err(format!("the expression is longer than {} characters", limits::EXPRESSION_CHARS));
    }
    let mut parser = Parser { chars: &chars, at: 0, depth: 0 };
    if parser.peek().is_none() {
        return Err("the expression is empty".to_owned());
    }
    let value = parser.expression(0)?;
    match parser.peek() {
        None => Ok(value),
        Some(')') => parser.fault("there is no ( for the )"),
        Some(_) => parser.stray(),
    }
}

fn fault<T>(message: &str, at: usize) -> Result<T, String> {
    Err(format!("{message} at character {}", at + 1))
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn fault<T>(&self, message: &str) -> Result<T, String> {
        fault(message, self.at)
    }

    /// Says what is wrong with something behind a complete expression.
    fn stray<T>(&mut self) -> Result<T, String> {
        match self.peek() {
            Some(',') => self.fault("a comma outside of a function (no thousands separators)"),
            Some('(' | ')' | '.' | 'π' | '0'..='9' | 'a'..='z' | 'A'..='Z') => self.fault("an operator is missing"),
            other => self.fault(&format!("unexpected {:?}", other.unwrap_or_default())),
        }
    }

    /// Passes over blanks, and returns the symbol that follows; `**` is `^`.
    fn peek(&mut self) -> Option<char> {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|c| c.is_whitespace()).count();
        Some(match self.chars.get(self.at..)? {
            ['*', '*', ..] => '^',
            ['×' | '·', ..] => '*',
            ['÷', ..] => '/',
            ['−', ..] => '-',
            [c, ..] => *c,
            [] => return None,
        })
    }

    /// Passes over the symbol that follows, when it is this one; returns where it was.
    fn take(&mut self, symbol: char) -> Option<usize> {
        let found = self.peek().filter(|found| *found == symbol).map(|_| self.at)?;
        let is_double = self.chars.get(found..found + 2) == Some(&['*', '*']);
        self.at += 1 + usize::from(is_double);
        Some(found)
    }

    /// Reads what binds at least as tightly as `floor`.
    fn expression(&mut self, floor: u8) -> Outcome {
        self.depth += 1;
        let mut left = self.operand()?;
        while let Some(symbol) = self.peek() {
            let (power, next) = match symbol {
                '+' | '-' => (1, 2),
                '*' | '/' | '%' => (2, SIGN),
                '^' => (4, SIGN),
                _ => break,
            };
            let Some(at) = (power >= floor).then(|| self.take(symbol)).flatten() else { break };
            let right = self.expression(next)?;
            left = operate(symbol, left, right).or_else(|message| fault(message, at))?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Outcome {
        let symbol = self.peek();
        if self.depth > DEPTH {
            return self.fault(&format!("nested deeper than {DEPTH} levels"));
        }
        match symbol {
            None => self.fault("the expression ends where a number is due"),
            Some('0'..='9' | '.') => self.number(),
            Some('a'..='z' | 'A'..='Z' | 'π') => self.named(),
            Some(symbol @ ('+' | '-')) => {
                let at = self.take(symbol).unwrap_or_default();
                let value = self.expression(SIGN)?;
                operate(symbol, Number::Whole(0), value).or_else(|message| fault(message, at))
            }
            Some('(') => {
                let open = self.take('(').unwrap_or_default();
                let value = self.expression(0)?;
                self.close(open).map(|()| value)
            }
            Some(symbol @ ('*' | '/' | '%' | '^' | ')' | ',')) => {
                self.fault(&format!("{symbol:?} where a number is due"))
            }
            Some(_) => self.stray(),
        }
    }

    fn close(&mut self, open: usize) -> Result<(), String> {
        match self.peek() {
            None => fault("there is no ) for the (", open),
            Some(_) if self.take(')').is_some() => Ok(()),
            Some(_) => self.stray(),
        }
    }

    /// Reads digits, a fraction and an exponent.
    fn number(&mut self) -> Outcome {
        let at = self.at;
        let mut text = self.digits();
        if self.chars.get(self.at) == Some(&'.') {
            self.at += 1;
            text = format!("{text}.{}", self.digits());
            if text == "." {
                return fault("unexpected '.'", at);
            }
        }
        if let Some('e' | 'E') = self.chars.get(self.at) {
            let behind = self.at;
            self.at += 1;
            let sign = self.chars.get(self.at).filter(|c| matches!(c, '+' | '-')).copied();
            self.at += usize::from(sign.is_some());
            let digits = self.digits();
            if digits.is_empty() {
                // It is the constant e, and an operator is missing.
                self.at = behind;
            } else {
                text = format!("{text}e{}{digits}", sign.unwrap_or('+'));
            }
        }
        let real = |text: &str| text.parse().ok().and_then(|value| Number::real(value).ok());
        let number = text.parse().map_or_else(|_| real(&text), |value| Some(Number::Whole(value)));
        number.map_or_else(|| fault("the number is too large", at), Ok)
    }

    /// Reads digits; `_` may stand between two.
    fn digits(&mut self) -> String {
        let mut digits = String::new();
        while let Some(rest) = self.chars.get(self.at..) {
            match rest {
                [c, ..] if c.is_ascii_digit() => digits.push(*c),
                ['_', next, ..] if !digits.is_empty() && next.is_ascii_digit() => {}
                _ => break,
            }
            self.at += 1;
        }
        digits
    }

    /// Reads a constant, or a function with its arguments.
    fn named(&mut self) -> Outcome {
        let at = self.at;
        let rest = self.chars.get(at..).unwrap_or_default();
        let mut name: String = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').collect();
        self.at += name.len().max(1);
        name.make_ascii_lowercase();
        if name.is_empty() {
            "pi".clone_into(&mut name);
        }
        if let Some(open) = self.take('(') {
            let mut arguments = Vec::new();
            if self.take(')').is_none() {
                arguments.push(self.expression(0)?);
                while self.take(',').is_some() {
                    arguments.push(self.expression(0)?);
                }
                self.close(open)?;
            }
            return call(&name, &arguments).or_else(|message| fault(&message, at));
        }
        match name.as_str() {
            "pi" => Ok(Number::Real(consts::PI)),
            "tau" => Ok(Number::Real(consts::TAU)),
            "e" => Ok(Number::Real(consts::E)),
            _ if call(&name, &[]) == Err(unknown(&name)) => fault(&format!("unknown name {name:?}"), at),
            _ => fault(&format!("{name} needs its arguments in parentheses"), at),
        }
    }
}

fn unknown(name: &str) -> String {
    format!("unknown function {name:?}")
}

/// Calls a function by name.
fn call(name: &str, arguments: &[Number]) -> Outcome {
    let real = REAL.iter().find(|(known, _)| *known == name).map(|(_, function)| function);
    let result = match (name, arguments) {
        ("abs", [x]) => {
            if x.is_less_than(Number::Whole(0)) {
                operate('-', Number::Whole(0), *x)
            } else {
                Ok(*x)
            }
        }
        ("sign", [x]) => Ok(x.sign()),
        ("round", [x]) => Ok(x.rounded(f64::round)),
        ("round", [x, decimals]) => x.round_to(*decimals),
        ("min", [first, rest @ ..]) => Ok(rest.iter().fold(*first, |a, b| if b.is_less_than(a) { *b } else { a })),
        ("max", [first, rest @ ..]) => Ok(rest.iter().fold(*first, |a, b| if a.is_less_than(*b) { *b } else { a })),
        ("sqrt", [x]) if x.to_f64() < 0.0 => Err("the square root of a negative number"),
        ("ln" | "log" | "log2" | "log10", [x]) | ("log", [x, _]) if x.to_f64() <= 0.0 => {
            Err("the logarithm of a number that is not positive")
        }
        ("log", [x, base]) => Number::real(x.to_f64().ln() / base.to_f64().ln()),
        ("asin" | "acos", [x]) if x.to_f64().abs() > 1.0 => Err("the argument is not between -1 and 1"),
        ("round" | "log", _) if arguments.len() != 1 => {
            return Err(format!("{name} takes 1 or 2 arguments, not {}", arguments.len()));
        }
        ("min" | "max", _) => return Err(format!("{name} takes at least 1 argument")),
        _ => match (real, arguments) {
            (Some(function), [x]) if matches!(name, "floor" | "ceil" | "trunc") => Ok(x.rounded(*function)),
            (Some(function), [x]) => Number::real(function(x.to_f64())),
            (None, _) if !matches!(name, "abs" | "sign") => return Err(unknown(name)),
            _ => return Err(format!("{name} takes 1 argument, not {}", arguments.len())),
        },
    };
    result.map_err(str::to_owned)
}
