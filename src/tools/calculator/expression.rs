//! The calculator's expressions: read and evaluated in one pass, by binding powers (Pratt).
//!
//! From loose to tight: `+ -`, `* / %`, sign, `^ **` (from right to left). So `-2^2` is -4 and `2^-1` is 0.5. A fault
//! ends with its place, from 1.

use std::f64::consts;

use super::number::{Number, Outcome, operate};
use steersman_base::limits;

/// Deepest nesting of parentheses, signs and powers.
const DEPTH: usize = 100;
/// The binding power of a sign; `^` binds tighter, and takes a signed right side.
const SIGN: u8 = 3;

/// Evaluates a whole expression.
pub(super) fn evaluate(expression: &str) -> Result<Number, String> {
    // Each spelling of an operator keeps its length, so that places stay right.
    let plain = expression.replace("**", " ^").replace(['×', '·'], "*").replace('÷', "/").replace('−', "-");
    let chars: Vec<char> = plain.chars().take(limits::EXPRESSION_CHARS + 1).collect();
    if chars.len() > limits::EXPRESSION_CHARS {
        return Err(format!("the expression is longer than {} characters", limits::EXPRESSION_CHARS));
    }
    let mut parser = Parser { chars: &chars, at: 0, depth: 0 };
    let value = parser.expression(0)?;
    match parser.peek() {
        None => Ok(value),
        Some(',') => parser.error("a comma outside of a function (no thousands separators)"),
        Some(_) => parser.error("an operator is missing"),
    }
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn error<T>(&self, message: &str) -> Result<T, String> {
        error_at(message, self.at)
    }

    /// Passes over blanks, and returns the symbol that follows.
    fn peek(&mut self) -> Option<char> {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|c| c.is_whitespace()).count();
        self.chars.get(self.at).copied()
    }

    /// Passes over the symbol that follows, when it is this one.
    fn accept(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(symbol);
        self.at += usize::from(found);
        found
    }

    /// Takes characters as long as they belong to it.
    fn word(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let word: String = rest.iter().take_while(|c| belongs(**c)).collect();
        self.at += word.chars().count();
        word
    }

    /// Reads what binds at least as tightly as `floor`.
    fn expression(&mut self, floor: u8) -> Result<Number, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.error(&format!("nested deeper than {DEPTH} levels"));
        }
        let mut left = self.operand()?;
        while let Some(symbol) = self.peek() {
            let (power, next) = match symbol {
                '+' | '-' => (1, 2),
                '*' | '/' | '%' => (2, SIGN),
                '^' => (4, SIGN),
                _ => break,
            };
            if power < floor {
                break;
            }
            let at = self.at;
            self.at += 1;
            let right = self.expression(next)?;
            left = operate(symbol, left, right).or_else(|message| error_at(message, at))?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Number, String> {
        match self.peek() {
            Some('0'..='9' | '.') => self.number(),
            Some('a'..='z' | 'A'..='Z' | 'π') => self.named(),
            Some('+') if self.accept('+') => self.expression(SIGN),
            Some('-') if self.accept('-') => {
                let value = self.expression(SIGN)?;
                operate('-', Number::Whole(0), value).or_else(|message| self.error(message))
            }
            Some('(') if self.accept('(') => {
                let value = self.expression(0)?;
                self.close().map(|()| value)
            }
            _ => self.error("a number is missing"),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        if self.accept(')') { Ok(()) } else { self.error("a ) is missing") }
    }

    /// Reads digits, a fraction and an exponent; `_` may stand between digits.
    fn number(&mut self) -> Result<Number, String> {
        let at = self.at;
        let mut text = self.word(|c| c.is_ascii_digit() || c == '_' || c == '.').replace('_', "");
        // Without digits behind it, it is the constant e, and an operator is missing.
        let exponent = match self.chars.get(self.at..) {
            Some(['e' | 'E', sign @ ('+' | '-'), '0'..='9', ..]) => Some((2, *sign)),
            Some(['e' | 'E', '0'..='9', ..]) => Some((1, '+')),
            _ => None,
        };
        if let Some((length, sign)) = exponent {
            self.at += length;
            text = format!("{text}e{sign}{}", self.word(|c| c.is_ascii_digit()));
        }
        let real = |text: &str| text.parse().ok().and_then(|value| Number::real(value).ok());
        let number = text.parse().map_or_else(|_| real(&text), |value| Some(Number::Whole(value)));
        number.map_or_else(|| error_at("no number, or one that is too large,", at), Ok)
    }

    /// Reads a constant, or a function with its arguments.
    fn named(&mut self) -> Result<Number, String> {
        let at = self.at;
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_' || c == 'π').to_ascii_lowercase();
        if !self.accept('(') {
            return match name.as_str() {
                "pi" | "π" => Ok(Number::Real(consts::PI)),
                "tau" => Ok(Number::Real(consts::TAU)),
                "e" => Ok(Number::Real(consts::E)),
                _ => error_at(&format!("no constant is called {name:?} (functions take parentheses)"), at),
            };
        }
        let mut arguments = Vec::new();
        if !self.accept(')') {
            arguments.push(self.expression(0)?);
            while self.accept(',') {
                arguments.push(self.expression(0)?);
            }
            self.close()?;
        }
        call(&name, &arguments).or_else(|message| error_at(message, at))
    }
}

fn error_at<T>(message: &str, at: usize) -> Result<T, String> {
    Err(format!("{message} at character {}", at + 1))
}

fn call(name: &str, arguments: &[Number]) -> Outcome {
    let function = match (name, arguments) {
        ("abs", [x]) if x.is_less_than(Number::Whole(0)) => return operate('-', Number::Whole(0), *x),
        ("abs", [x]) => return Ok(*x),
        ("sign", [x]) => return Ok(x.sign()),
        ("round", [x]) => return Ok(x.rounded(f64::round)),
        ("round", [x, decimals]) => return x.round_to(*decimals),
        ("floor", [x]) => return Ok(x.rounded(f64::floor)),
        ("ceil", [x]) => return Ok(x.rounded(f64::ceil)),
        ("trunc", [x]) => return Ok(x.rounded(f64::trunc)),
        ("min", [first, rest @ ..]) => {
            return Ok(rest.iter().fold(*first, |a, b| if b.is_less_than(a) { *b } else { a }));
        }
        ("max", [first, rest @ ..]) => {
            return Ok(rest.iter().fold(*first, |a, b| if a.is_less_than(*b) { *b } else { a }));
        }
        ("log", [x, base]) => return Number::real(x.to_f64().ln() / base.to_f64().ln()),
        ("sqrt", [_]) => f64::sqrt,
        ("cbrt", [_]) => f64::cbrt,
        ("exp", [_]) => f64::exp,
        ("ln", [_]) => f64::ln,
        ("log" | "log10", [_]) => f64::log10,
        ("log2", [_]) => f64::log2,
        ("sin", [_]) => f64::sin,
        ("cos", [_]) => f64::cos,
        ("tan", [_]) => f64::tan,
        ("asin", [_]) => f64::asin,
        ("acos", [_]) => f64::acos,
        ("atan", [_]) => f64::atan,
        _ => return Err("no function of this name with so many arguments"),
    };
    Number::real(arguments.first().map_or(f64::NAN, |x| function(x.to_f64())))
}
