//! Colours of code: comments, strings, numbers and words that many languages share, told apart by the label of the block.
//!
//! Enough to read by, in one pass over the text; a label that is not known leaves it plain.

use super::escaped;

/// How a language writes comments and strings.
#[derive(Clone, Copy)]
struct Syntax {
    /// What begins a comment up to the end of the line.
    line: &'static str,
    /// What a longer comment stands between.
    block: Option<(&'static str, &'static str)>,
    /// What strings stand between.
    quotes: &'static [char],
}

const C_LIKE: Syntax = Syntax { line: "//", block: Some(("/*", "*/")), quotes: &['"', '\'', '`'] };
const SCRIPT: Syntax = Syntax { line: "#", block: None, quotes: &['"', '\''] };
const SQL_LIKE: Syntax = Syntax { line: "--", block: Some(("/*", "*/")), quotes: &['"', '\''] };

/// Words that are keywords in most languages that have them.
const KEYWORDS: &[&str] = &[
    "abstract",
    "and",
    "as",
    "async",
    "await",
    "begin",
    "bool",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "crate",
    "create",
    "def",
    "default",
    "defer",
    "del",
    "delete",
    "do",
    "done",
    "dyn",
    "elif",
    "else",
    "end",
    "enum",
    "esac",
    "except",
    "export",
    "extends",
    "false",
    "False",
    "fi",
    "final",
    "finally",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "global",
    "go",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "insert",
    "int",
    "interface",
    "into",
    "is",
    "join",
    "lambda",
    "let",
    "local",
    "loop",
    "match",
    "mod",
    "module",
    "move",
    "mut",
    "namespace",
    "new",
    "nil",
    "None",
    "not",
    "null",
    "or",
    "package",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "range",
    "ref",
    "return",
    "select",
    "self",
    "Self",
    "set",
    "static",
    "struct",
    "super",
    "switch",
    "table",
    "then",
    "this",
    "throw",
    "trait",
    "true",
    "True",
    "try",
    "type",
    "typeof",
    "undefined",
    "union",
    "unsafe",
    "update",
    "use",
    "using",
    "values",
    "var",
    "void",
    "where",
    "while",
    "with",
    "yield",
    "CREATE",
    "DELETE",
    "FROM",
    "GROUP",
    "INSERT",
    "INTO",
    "JOIN",
    "ORDER",
    "SELECT",
    "SET",
    "TABLE",
    "UPDATE",
    "VALUES",
    "WHERE",
];

fn syntax(label: &str) -> Option<Syntax> {
    let word = label.split([',', ' ', '{']).next().unwrap_or_default().to_ascii_lowercase();
    Some(match word.as_str() {
        "rust" | "rs" | "c" | "h" | "cpp" | "c++" | "cc" | "hpp" | "java" | "js" | "jsx" | "javascript" | "ts"
        | "tsx" | "typescript" | "go" | "golang" | "kotlin" | "kt" | "swift" | "cs" | "csharp" | "php" | "scala"
        | "dart" | "zig" | "css" | "scss" | "json" | "jsonc" => C_LIKE,
        "python" | "py" | "sh" | "bash" | "zsh" | "shell" | "console" | "ruby" | "rb" | "yaml" | "yml" | "toml"
        | "perl" | "r" | "make" | "makefile" | "dockerfile" | "ini" | "elixir" => SCRIPT,
        "sql" | "lua" | "haskell" | "hs" | "ada" => SQL_LIKE,
        _ => return None,
    })
}

/// Writes the lines of a diff, the added and the removed ones marked.
pub(super) fn diff(text: &str) -> String {
    let line = |line: &str| {
        let class = match line.as_bytes().first() {
            Some(b'+') => "add",
            Some(b'-') => "del",
            Some(b'@') => "hunk",
            _ => return escaped(line),
        };
        format!("<span class=\"{class}\">{}</span>", escaped(line))
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Writes code in the language of a label.
pub(super) fn code(text: &str, label: &str) -> String {
    if label == "diff" || label == "patch" {
        return diff(text);
    }
    let Some(syntax) = syntax(label) else { return escaped(text) };
    let mut html = String::with_capacity(text.len() * 2);
    let mut rest = text;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        let (length, class) = token(rest, first, before, syntax);
        let (token, behind) = rest.split_at(length);
        match class {
            Some(class) => html.extend(["<span class=\"", class, "\">", &escaped(token), "</span>"]),
            None => html.push_str(&escaped(token)),
        }
        before = token.chars().next_back();
        rest = behind;
    }
    html
}

/// Returns how long the next part is, bytes, and its class.
fn token(rest: &str, first: char, before: Option<char>, syntax: Syntax) -> (usize, Option<&'static str>) {
    if let Some((begin, end)) = syntax.block
        && rest.starts_with(begin)
    {
        let length = rest.get(begin.len()..).and_then(|inner| inner.find(end));
        return (length.map_or(rest.len(), |length| begin.len() + length + end.len()), Some("c"));
    }
    // In a shell `$#` is none.
    let begins = syntax.line != "#" || before.is_none_or(char::is_whitespace);
    if begins && rest.starts_with(syntax.line) {
        return (rest.find('\n').unwrap_or(rest.len()), Some("c"));
    }
    if syntax.quotes.contains(&first)
        && let Some(length) = string(rest, first)
    {
        return (length, Some("s"));
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if is_word(first) {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let class = if first.is_ascii_digit() { Some("n") } else { KEYWORDS.contains(&word).then_some("k") };
        return (length, class);
    }
    (first.len_utf8(), None)
}

/// Returns the length of a string that ends on its line, bytes; a quote that nothing closes is an apostrophe or the like.
fn string(rest: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}
