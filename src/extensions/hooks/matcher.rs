//! Matchers: which tools, sources or agents a hook is for.
//!
//! Nothing, an empty text and `*` mean everything. Letters, digits, `_`, `-`, blanks, `,` and `|` alone are a list of exact
//! names; anything else is a regular expression that is found anywhere in the name, in time linear to it.

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;

use steersman_base::text::visible_line;

/// Which names a hook is for.
#[derive(Debug, Clone)]
pub struct Matcher {
    text: String,
    kind: MatcherKind,
}

#[derive(Debug, Clone)]
enum MatcherKind {
    Everything,
    Names(Vec<String>),
    Pattern(RegexMatcher),
}

impl Matcher {
    /// Makes the one that is for everything.
    pub fn everything() -> Self {
        Self { text: String::new(), kind: MatcherKind::Everything }
    }

    /// Reads a matcher as it stands in a file.
    ///
    /// # Errors
    /// A sentence about what is not a valid regular expression.
    pub fn parse(text: Option<&str>) -> Result<Self, String> {
        let text = text.unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '|' | ',' | ' ');
        let kind = if text.is_empty() || text == "*" {
            MatcherKind::Everything
        } else if text.chars().all(is_plain) {
            MatcherKind::Names(text.split(['|', ',']).map(|name| name.trim().to_owned()).collect())
        } else {
            let fault =
                |error| format!("the matcher {:?} is not a valid regular expression: {error}", visible_line(text));
            MatcherKind::Pattern(RegexMatcher::new(text).map_err(fault)?)
        };
        Ok(Self { text: text.to_owned(), kind })
    }

    /// Tells whether it is for something that has these names.
    pub fn matches(&self, names: &[&str]) -> bool {
        match &self.kind {
            MatcherKind::Everything => true,
            MatcherKind::Names(wanted) => wanted.iter().any(|wanted| names.contains(&wanted.as_str())),
            MatcherKind::Pattern(pattern) => {
                names.iter().any(|name| pattern.is_match(name.as_bytes()).unwrap_or_default())
            }
        }
    }

    /// Returns the exact names that it lists; none where it is for everything or a pattern.
    pub(super) fn names(&self) -> &[String] {
        match &self.kind {
            MatcherKind::Names(names) => names,
            MatcherKind::Everything | MatcherKind::Pattern(_) => &[],
        }
    }

    /// Returns it as it was written (untrusted).
    pub fn text(&self) -> &str {
        &self.text
    }
}
