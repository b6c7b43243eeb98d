//! Reads what stands between single quotes of both kinds, and expansions, and knows those that do no more than put a value in their place. Bash evaluates a name in arithmetic again and again, runs
//! what an array's place holds, assigns, prompts and looks behind names: all of that is unknown here, whatever it says.

use super::{LexedText, Lexer, Word};

impl Lexer<'_> {
    /// Reads a character within `${ … }` or `$(( … ))`, of which only the substitutions count.
    pub(super) fn expression(&mut self, c: char) {
        match c {
            '\\' => {
                self.now.push(c);
                self.chars.next();
            }
            '\'' if !self.now.within_quotes && !self.now.is_quoted => self.skip_single(),
            '"' => self.now.is_quoted = !self.now.is_quoted,
            '$' => self.dollar(),
            '`' => self.backquote(),
            '}' if self.now.kind == LexedText::Parameter && !self.now.is_quoted => self.leave_expansion(),
            '(' if self.now.kind == LexedText::Arithmetic => self.now.depth += 1,
            ')' if self.now.kind == LexedText::Arithmetic && self.now.depth > 0 => self.now.depth -= 1,
            ')' if self.now.kind == LexedText::Arithmetic => {
                if self.chars.next_if_eq(&')').is_none() {
                    self.unsure("it has brackets that can be read in two ways");
                }
                self.leave_expansion();
            }
            c => self.now.push(c),
        }
    }

    /// Reads what follows a `$`.
    pub(super) fn dollar(&mut self) {
        let in_word = !self.now.is_quoted && !matches!(self.now.kind, LexedText::Parameter | LexedText::Arithmetic);
        match self.chars.peek().copied() {
            Some('(') => {
                self.chars.next();
                self.expand();
                let is_arithmetic = self.chars.next_if_eq(&'(').is_some();
                self.enter(if is_arithmetic { LexedText::Arithmetic } else { LexedText::Shell });
            }
            Some('{') => {
                self.chars.next();
                self.expand();
                self.enter(LexedText::Parameter);
            }
            Some('[') => {
                self.expand();
                self.unsure("it has an expansion of an old kind");
            }
            Some('\'') if in_word => {
                self.chars.next();
                self.ansi();
            }
            Some('"') if in_word => {}
            Some(c) if c.is_ascii_alphanumeric() || "_@*#?$!-".contains(c) => {
                let splits = self.now.word().splits;
                self.expand();
                // One word for each argument, also within quotes; and numbers are one.
                self.now.word().splits |= c == '@';
                if matches!(c, '?' | '#') {
                    self.now.word().splits = splits;
                }
                if c.is_ascii_alphabetic() || c == '_' {
                    while self.chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_').is_some() {}
                } else {
                    self.chars.next();
                }
            }
            _ => self.now.push('$'),
        }
    }

    /// Notes an expansion, the text of which is not known.
    pub(super) fn expand(&mut self) {
        self.now.unknown();
        // Behind what is read as an expression it must not look as if nothing were there.
        if matches!(self.now.kind, LexedText::Parameter | LexedText::Arithmetic) {
            self.now.push('$');
        }
    }

    pub(super) fn backquote(&mut self) {
        if self.now.kind == LexedText::Backquote && !self.now.is_quoted {
            return self.leave();
        }
        if self.now.kind == LexedText::Backquote
            || self.outer.iter().rev().take(8).any(|frame| frame.kind == LexedText::Backquote)
        {
            self.unsure("its backquotes can be read in two ways");
        }
        self.expand();
        self.enter(LexedText::Backquote);
    }

    /// Reads what stands between single quotes.
    pub(super) fn single(&mut self) {
        self.now.word().is_quoted = true;
        loop {
            match self.chars.next() {
                Some('\'') => return,
                Some(c) => self.now.push(c),
                None => return self.unsure("a quote in it does not end"),
            }
        }
    }

    /// Leaves out what stands between single quotes.
    pub(super) fn skip_single(&mut self) {
        while self.chars.next_if(|c| *c != '\'').is_some() {}
        self.chars.next();
    }

    /// Reads what stands between `$'` and `'`.
    pub(super) fn ansi(&mut self) {
        self.now.word().is_quoted = true;
        while let Some(c) = self.chars.next() {
            match c {
                '\'' => return,
                '\\' => self.escape(),
                c => self.now.push(c),
            }
        }
        self.unsure("a quote in it does not end");
    }

    /// Reads what stands behind a backslash there.
    fn escape(&mut self) {
        let (radix, most, first) = match self.chars.next() {
            Some('x') => (16, 2, 0),
            Some('u') => (16, 4, 0),
            Some('U') => (16, 8, 0),
            Some(digit @ '0'..='7') => (8, 2, digit.to_digit(8).unwrap_or_default()),
            Some('n' | 't' | 'r' | 'v' | 'f') => return self.now.push(' '),
            Some(other @ ('\\' | '\'' | '"' | '?')) => return self.now.push(other),
            _ => {
                self.now.word().is_unknown = true;
                return;
            }
        };
        let mut code = first;
        for _ in 0..most {
            let Some(next) = self.chars.next_if(|c| c.is_digit(radix)) else { break };
            code = code.wrapping_mul(radix).wrapping_add(next.to_digit(radix).unwrap_or_default());
        }
        match char::from_u32(code) {
            Some(c) if c != '\0' => self.now.push(c),
            _ => self.now.word().is_unknown = true,
        }
    }

    /// Leaves an expansion of which bash evaluates more than the substitutions that stand in it, unless it is harmless.
    fn leave_expansion(&mut self) {
        let Word { text, is_unknown, .. } = self.now.word.take().unwrap_or_default();
        let is_harmless = match self.now.kind {
            LexedText::Arithmetic => is_plain_arithmetic(&text),
            _ => is_plain_parameter(&text, is_unknown),
        };
        if !is_harmless {
            self.unsure("it has an expansion that may run commands");
        }
        self.leave();
        self.now.word().splits |= text.contains('@');
    }
}

/// Tells whether the text between `$((` and `))` is of numbers and operators only.
fn is_plain_arithmetic(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_whitespace() || b"+-*/%<>=!&|^~?:,()".contains(&b))
}

/// Tells whether the place of an array, with its bracket at the end, is a number or all of them.
pub(super) fn is_plain_place(place: &str) -> bool {
    place.strip_suffix(']').is_some_and(|place| matches!(place, "@" | "*") || is_number(place))
}

/// Tells whether the text between `${` and `}` only reads a variable; `has_expansion` when something expands within it, for
/// which a `$` stands in the text.
fn is_plain_parameter(text: &str, has_expansion: bool) -> bool {
    // The keys of an array; everything else behind this sign is another name's value.
    if let Some(keys) = text.strip_prefix('!') {
        return keys.strip_suffix("[@]").or_else(|| keys.strip_suffix("[*]")).is_some_and(is_name);
    }
    let length = text.strip_prefix('#').filter(|rest| !rest.is_empty());
    let (name, rest) = split_name(length.unwrap_or(text));
    if name.is_empty() {
        return false;
    }
    let rest = match rest.strip_prefix('[') {
        Some(place) => match place.split_once(']') {
            Some((place, rest)) if matches!(place, "@" | "*") || is_number(place) => rest,
            _ => return false,
        },
        None => rest,
    };
    if length.is_some() || rest.is_empty() {
        return rest.is_empty();
    }
    let mut chars = rest.chars();
    match (chars.next(), chars.next()) {
        (Some('-' | '+' | '?' | '%' | '#' | '/' | '^' | ','), _) | (Some(':'), Some('-' | '+' | '?')) => true,
        // Where a part begins, and how long it is, are arithmetic.
        (Some(':'), Some(_)) => !has_expansion && rest.bytes().all(|b| b.is_ascii_digit() || b": -".contains(&b)),
        (Some('@'), Some('Q' | 'U' | 'u' | 'L')) => rest.len() == 2,
        _ => false,
    }
}

/// Splits the name of a variable, or its one sign, from what follows.
fn split_name(text: &str) -> (&str, &str) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    let end = if end == 0 && text.starts_with(['@', '*', '#', '?', '-', '$', '!']) { 1 } else { end };
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn is_name(text: &str) -> bool {
    let (name, rest) = split_name(text);
    !name.is_empty() && rest.is_empty()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}
