//! The calculator's expressions: read and evaluated in one pass, by binding powers (Pratt).
//!
//! From loose to tight: `+ -`, `* / %`, sign, `^ **` (from right to left). So `-2^2` is -4 and `2^-1` is 0.5.

use std::fmt;
use std::iter::Peekable;
use std::vec::IntoIter;

use super::number::Number;
use crate::limits;

/// Deepest nesting of parentheses, signs and powers.
const DEPTH: usize = 100;

const ADDITIVE: u8 = 1;
const MULTIPLICATIVE: u8 = 2;
const SIGN: u8 = 3;
const POWER: u8 = 4;

/// Says what is wrong and where, counting characters from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    message: String,
    at: usize,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at == 0 { f.write_str(&self.message) } else { write!(f, "{} at character {}", self.message, self.at) }
    }
}

type Outcome = Result<Number, Fault>;

/// Evaluates a whole expression.
pub(super) fn evaluate(expression: &str) -> Outcome {
    let length = expression.chars().take(limits::EXPRESSION_CHARS + 1).count();
    if length > limits::EXPRESSION_CHARS {
        let message = format!("the expression is longer than {} characters", limits::EXPRESSION_CHARS);
        return Err(Fault { message, at: 0 });
    }
    let tokens = tokens(expression)?;
    if tokens.is_empty() {
        return Err(Fault { message: "the expression is empty".to_owned(), at: 0 });
    }
    let mut parser = Parser { tokens: tokens.into_iter().peekable(), end: length + 1, depth: 0 };
    let value = parser.expression(0)?;
    match parser.tokens.next() {
        None => Ok(value),
        Some((Token::Symbol(')'), at)) => Err(fault("there is no ( for the )", at)),
        Some((Token::Symbol(','), at)) => Err(fault("a comma outside of a function (no thousands separators)", at)),
        Some((_, at)) => Err(fault("an operator is missing", at)),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(Number),
    Name(String),
    /// One of `+ - * / % ^ ( ) ,`.
    Symbol(char),
}

fn fault(message: impl Into<String>, at: usize) -> Fault {
    Fault { message: message.into(), at }
}

fn tokens(expression: &str) -> Result<Vec<(Token, usize)>, Fault> {
    let chars: Vec<char> = expression.chars().collect();
    let mut tokens = Vec::new();
    let mut index = 0;
    while let Some(&c) = chars.get(index) {
        let at = index + 1;
        let rest = chars.get(index..).unwrap_or_default();
        let (token, used) = match c {
            _ if c.is_whitespace() => {
                index += 1;
                continue;
            }
            '0'..='9' | '.' => number(rest, at)?,
            'a'..='z' | 'A'..='Z' => {
                let name: String = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').collect();
                let used = name.len();
                (Token::Name(name.to_ascii_lowercase()), used)
            }
            '*' if rest.get(1) == Some(&'*') => (Token::Symbol('^'), 2),
            '+' | '-' | '*' | '/' | '%' | '^' | '(' | ')' | ',' => (Token::Symbol(c), 1),
            '×' | '·' => (Token::Symbol('*'), 1),
            '÷' => (Token::Symbol('/'), 1),
            '−' => (Token::Symbol('-'), 1),
            'π' => (Token::Name("pi".to_owned()), 1),
            _ => return Err(fault(format!("unexpected {c:?}"), at)),
        };
        tokens.push((token, at));
        index += used;
    }
    Ok(tokens)
}

/// Reads digits, a fraction and an exponent; `_` may stand between digits.
fn number(chars: &[char], at: usize) -> Result<(Token, usize), Fault> {
    let mut text = String::new();
    let mut used = digits(chars, &mut text);
    let mut whole = true;
    if chars.get(used) == Some(&'.') {
        whole = false;
        text.push('.');
        used += 1;
        used += digits(chars.get(used..).unwrap_or_default(), &mut text);
        if text == "." {
            return Err(fault("unexpected '.'", at));
        }
    }
    if let Some('e' | 'E') = chars.get(used) {
        let sign = usize::from(matches!(chars.get(used + 1), Some('+' | '-')));
        let mut exponent = String::new();
        let count = digits(chars.get(used + 1 + sign..).unwrap_or_default(), &mut exponent);
        // Without digits it is the constant e, and an operator is missing.
        if count > 0 {
            whole = false;
            text.push('e');
            text.extend(chars.get(used + 1..used + 1 + sign).unwrap_or_default());
            text.push_str(&exponent);
            used += 1 + sign + count;
        }
    }
    let exact = if whole { text.parse().ok().map(Number::Whole) } else { None };
    match exact.or_else(|| text.parse().ok().and_then(|value| Number::real(value).ok())) {
        Some(number) => Ok((Token::Number(number), used)),
        None => Err(fault("the number is too large", at)),
    }
}

/// Takes the digits at the start and tells how many characters they were.
fn digits(chars: &[char], text: &mut String) -> usize {
    let mut used = 0;
    while let Some(&c) = chars.get(used) {
        let between = c == '_' && used > 0 && chars.get(used + 1).is_some_and(char::is_ascii_digit);
        if c.is_ascii_digit() {
            text.push(c);
        } else if !between {
            break;
        }
        used += 1;
    }
    used
}

struct Parser {
    tokens: Peekable<IntoIter<(Token, usize)>>,
    /// The place behind the last character.
    end: usize,
    depth: usize,
}

impl Parser {
    /// Reads what binds at least as tightly as `floor`.
    fn expression(&mut self, floor: u8) -> Outcome {
        self.depth += 1;
        if self.depth > DEPTH {
            let at = self.place();
            return Err(fault(format!("nested deeper than {DEPTH} levels"), at));
        }
        let mut left = self.operand()?;
        while let Some((Token::Symbol(symbol), at)) = self.tokens.peek() {
            let (symbol, at) = (*symbol, *at);
            let (power, next) = match symbol {
                '+' | '-' => (ADDITIVE, ADDITIVE + 1),
                '*' | '/' | '%' => (MULTIPLICATIVE, MULTIPLICATIVE + 1),
                // Its right side may be signed and is read from right to left.
                '^' => (POWER, SIGN),
                _ => break,
            };
            if power < floor {
                break;
            }
            self.tokens.next();
            let right = self.expression(next)?;
            let result = match symbol {
                '+' => left.add(right),
                '-' => left.subtract(right),
                '*' => left.multiply(right),
                '/' => left.divide(right),
                '%' => left.modulo(right),
                _ => left.power(right),
            };
            left = result.map_err(|message| fault(message, at))?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Outcome {
        let end = self.end;
        match self.tokens.next() {
            None => Err(fault("the expression ends where a number is due", end)),
            Some((Token::Number(number), _)) => Ok(number),
            Some((Token::Symbol('+'), _)) => self.expression(SIGN),
            Some((Token::Symbol('-'), at)) => self.expression(SIGN)?.negate().map_err(|message| fault(message, at)),
            Some((Token::Symbol('('), at)) => {
                let value = self.expression(0)?;
                self.close(at)?;
                Ok(value)
            }
            Some((Token::Symbol(symbol), at)) => Err(fault(format!("{symbol:?} where a number is due"), at)),
            Some((Token::Name(name), at)) => self.named(&name, at),
        }
    }

    fn named(&mut self, name: &str, at: usize) -> Outcome {
        if let Some((Token::Symbol('('), open)) = self.tokens.peek() {
            let open = *open;
            self.tokens.next();
            let arguments = self.arguments(open)?;
            return call(name, &arguments).map_err(|message| fault(message, at));
        }
        match name {
            "pi" => Ok(Number::Real(std::f64::consts::PI)),
            "tau" => Ok(Number::Real(std::f64::consts::TAU)),
            "e" => Ok(Number::Real(std::f64::consts::E)),
            _ if call(name, &[]) == Err(unknown(name)) => Err(fault(format!("unknown name {name:?}"), at)),
            _ => Err(fault(format!("{name} needs its arguments in parentheses"), at)),
        }
    }

    fn arguments(&mut self, open: usize) -> Result<Vec<Number>, Fault> {
        let mut arguments = Vec::new();
        if let Some((Token::Symbol(')'), _)) = self.tokens.peek() {
            self.tokens.next();
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression(0)?);
            match self.tokens.peek() {
                Some((Token::Symbol(','), _)) => self.tokens.next(),
                _ => break,
            };
        }
        self.close(open)?;
        Ok(arguments)
    }

    fn close(&mut self, open: usize) -> Result<(), Fault> {
        match self.tokens.next() {
            Some((Token::Symbol(')'), _)) => Ok(()),
            Some((Token::Symbol(','), at)) => Err(fault("a comma outside of a function (no thousands separators)", at)),
            Some((_, at)) => Err(fault("an operator is missing", at)),
            None => Err(fault("there is no ) for the (", open)),
        }
    }

    fn place(&mut self) -> usize {
        self.tokens.peek().map_or(self.end, |(_, at)| *at)
    }
}

fn unknown(name: &str) -> String {
    format!("unknown function {name:?}")
}

/// Calls a function by name.
fn call(name: &str, arguments: &[Number]) -> Result<Number, String> {
    let real = |function: fn(f64) -> f64| move |x: Number| Number::real(function(x.to_f64()));
    let result = match (name, arguments) {
        ("abs", [x]) => x.abs(),
        ("sign", [x]) => x.sign(),
        ("floor", [x]) => x.rounded(f64::floor),
        ("ceil", [x]) => x.rounded(f64::ceil),
        ("trunc", [x]) => x.rounded(f64::trunc),
        ("round", [x]) => x.rounded(f64::round),
        ("round", [x, decimals]) => x.round_to(*decimals),
        ("min", [first, rest @ ..]) => Ok(rest.iter().fold(*first, |least, x| least.min(*x))),
        ("max", [first, rest @ ..]) => Ok(rest.iter().fold(*first, |most, x| most.max(*x))),
        ("sqrt", [x]) if x.to_f64() < 0.0 => Err("the square root of a negative number"),
        ("sqrt", [x]) => real(f64::sqrt)(*x),
        ("ln" | "log" | "log2" | "log10", [x]) | ("log", [x, _]) if x.to_f64() <= 0.0 => {
            Err("the logarithm of a number that is not positive")
        }
        ("ln", [x]) => real(f64::ln)(*x),
        ("log" | "log10", [x]) => real(f64::log10)(*x),
        ("log2", [x]) => real(f64::log2)(*x),
        ("log", [x, base]) => Number::real(x.to_f64().ln() / base.to_f64().ln()),
        ("asin" | "acos", [x]) if x.to_f64().abs() > 1.0 => Err("the argument is not between -1 and 1"),
        ("cbrt", [x]) => real(f64::cbrt)(*x),
        ("exp", [x]) => real(f64::exp)(*x),
        ("sin", [x]) => real(f64::sin)(*x),
        ("cos", [x]) => real(f64::cos)(*x),
        ("tan", [x]) => real(f64::tan)(*x),
        ("asin", [x]) => real(f64::asin)(*x),
        ("acos", [x]) => real(f64::acos)(*x),
        ("atan", [x]) => real(f64::atan)(*x),
        (
            "abs" | "sign" | "floor" | "ceil" | "trunc" | "sqrt" | "cbrt" | "exp" | "ln" | "log2" | "log10" | "sin"
            | "cos" | "tan" | "asin" | "acos" | "atan",
            _,
        ) => return Err(format!("{name} takes 1 argument, not {}", arguments.len())),
        ("round" | "log", _) => return Err(format!("{name} takes 1 or 2 arguments, not {}", arguments.len())),
        ("min" | "max", _) => return Err(format!("{name} takes at least 1 argument")),
        _ => return Err(unknown(name)),
    };
    result.map_err(str::to_owned)
}
