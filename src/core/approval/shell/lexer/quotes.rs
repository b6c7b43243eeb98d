//! What stands between single quotes of both kinds, for the lexer.

use super::Lexer;

impl Lexer<'_> {
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
}
