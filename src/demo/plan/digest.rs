//! The telling lines of files that were read, and the searches for definitions: what a survey reports of a file.

use crate::demo::facts::{self, Hit, Kind};
use crate::demo::plan::areas::MARKS;
use crate::demo::plan::talk::Turn;

/// Is a file that was read in a turn.
#[derive(Debug)]
pub struct ReadFile {
    /// Its path.
    pub path: String,
    /// Its lines, as far as they were read.
    pub lines: Vec<Hit>,
    /// Whether it goes on behind them.
    pub cut: bool,
}

/// Returns the files that were read in a turn, in order.
pub fn files_read(turn: &Turn) -> Vec<ReadFile> {
    let read = |done: &crate::demo::plan::talk::Done| {
        let path = done.call.arguments.values().find_map(serde_json::Value::as_str).unwrap_or_default();
        ReadFile { path: path.to_owned(), lines: facts::lines(path, &done.result), cut: facts::is_cut(&done.result) }
    };
    turn.results("read").map(read).filter(|file| !file.lines.is_empty()).collect()
}

/// Returns the few lines that say what a file is.
pub fn telling_lines(file: &ReadFile) -> Vec<Hit> {
    let wanted: fn(&str) -> bool = match facts::kind_of(&file.path) {
        Kind::Source | Kind::Test => |line| is_comment(line) || is_definition(line),
        Kind::Doc => |line| line.starts_with('#') || line.chars().filter(|c| c.is_alphabetic()).count() > 20,
        Kind::Config => |line| {
            let key = line.trim_start_matches([' ', '"', '\t']);
            ["name", "version", "description", "[", "module"].iter().any(|start| key.starts_with(start))
        },
        Kind::Other => |line| !line.trim().is_empty(),
    };
    let mut lines: Vec<Hit> = file.lines.iter().filter(|hit| wanted(&hit.text)).take(2).cloned().collect();
    let definition = file.lines.iter().find(|hit| is_definition(&hit.text));
    if facts::kind_of(&file.path) == Kind::Source && !lines.iter().any(|hit| is_definition(&hit.text)) {
        lines.truncate(1);
        lines.extend(definition.cloned());
    }
    lines
}

/// Tells whether a line is one of the marks of open ends.
pub fn is_open_end(hit: &Hit) -> bool {
    MARKS.iter().any(|mark| hit.text.contains(mark))
}

/// Returns the regular expression that finds definitions in files of a kind.
pub fn definitions(kind: Kind) -> &'static str {
    match kind {
        Kind::Source | Kind::Test => {
            r"^[ \t]*(pub(\([a-z]+\))? |export |default |async |public |private |static |abstract )*(fn|struct|enum|trait|class|def|func|function|interface|type|module|mod) [A-Za-z_]"
        }
        Kind::Doc => r"^#{1,3} [^ ]",
        Kind::Config => {
            r#"^[ \t]*"?(name|version|description|edition|main|scripts|dependencies)"?[ \t]*[:=]|^\[[^\]]+\]"#
        }
        Kind::Other => r"^[^ ]",
    }
}

/// Returns the regular expression that finds open ends.
pub fn open_ends() -> String {
    MARKS.join("|")
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    let mark = ["//!", "///", "\"\"\"", "/**", "# ", "// ", "--"].iter().any(|mark| line.starts_with(mark));
    mark && line.chars().filter(|c| c.is_alphabetic()).count() > 8
}

fn is_definition(line: &str) -> bool {
    const STARTS: &[&str] =
        &["fn", "struct", "enum", "trait", "class", "def", "func", "function", "interface", "type", "module"];
    const BEFORE: &[&str] =
        &["pub", "pub(crate)", "export", "default", "async", "public", "private", "static", "abstract"];
    let mut words = line.split_whitespace().skip_while(|word| BEFORE.contains(word));
    words.next().is_some_and(|word| STARTS.contains(&word)) && words.next().is_some()
}
