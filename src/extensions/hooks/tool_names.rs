//! The names of tools and of their arguments in hooks: those of Claude Code, both ways.
//!
//! Pure. A tool that Claude Code does not have keeps its own name, and so do the tools of MCP servers, whose names are the
//! same there. Sources: the hooks reference of Claude Code, "`PreToolUse` input"; codex, `matcher_aliases`.

use std::path::Path;

use serde_json::{Map, Value};

use steersman_base::message::Arguments;

/// A tool under both names.
struct NamedTool {
    own: &'static str,
    /// The name that hooks get, then others that matchers use.
    theirs: &'static [&'static str],
    /// Arguments under our name and under theirs.
    arguments: &'static [(&'static str, &'static str)],
}

const TOOLS: [NamedTool; 10] = [
    NamedTool { own: "bash", theirs: &["Bash"], arguments: &[] },
    NamedTool { own: "write", theirs: &["Write", "apply_patch"], arguments: &[(PATH, FILE_PATH)] },
    NamedTool { own: "edit", theirs: &["Edit", "MultiEdit", "apply_patch"], arguments: &[(PATH, FILE_PATH)] },
    NamedTool { own: "read", theirs: &["Read"], arguments: &[(PATH, FILE_PATH)] },
    NamedTool { own: "grep", theirs: &["Grep"], arguments: &[("ignore_case", "-i")] },
    NamedTool { own: "glob", theirs: &["Glob"], arguments: &[] },
    NamedTool { own: "fetch", theirs: &["WebFetch"], arguments: &[] },
    NamedTool { own: "web_scrape", theirs: &["WebFetch"], arguments: &[] },
    NamedTool { own: "web_search", theirs: &["WebSearch"], arguments: &[] },
    NamedTool { own: "agent", theirs: &["Task", "Agent"], arguments: &[("name", "subagent_type"), ("task", "prompt")] },
];
const PATH: &str = "path";
const FILE_PATH: &str = "file_path";
/// The argument that is in seconds here and in milliseconds there.
const TIMEOUT: &str = "timeout";

fn named(tool: &str) -> Option<&'static NamedTool> {
    TOOLS.iter().find(|known| known.own == tool)
}

/// Returns the name that hooks get.
pub fn their_name(tool: &str) -> &str {
    named(tool).and_then(|known| known.theirs.first()).copied().unwrap_or(tool)
}

/// Returns every name by which a matcher can mean a tool.
pub fn names_of_tool(tool: &str) -> Vec<&str> {
    std::iter::once(tool).chain(named(tool).into_iter().flat_map(|known| known.theirs).copied()).collect()
}

/// Returns whether a matcher is written like a rule, `Bash(git *)`: as a regular expression that means no tool at all.
pub(super) fn is_rule(matcher: &str) -> bool {
    let Some((name, _)) = matcher.trim().strip_suffix(')').and_then(|text| text.split_once('(')) else { return false };
    TOOLS.iter().any(|known| known.own == name || known.theirs.contains(&name))
}

/// Returns the tool that a misspelt name means: one in another case, or with one letter too few, too many or wrong.
pub(super) fn nearest_tool(name: &str) -> Option<&'static str> {
    let known = || TOOLS.iter().flat_map(|tool| std::iter::once(tool.own).chain(tool.theirs.iter().copied()));
    if name.len() < SHORTEST || known().any(|known| known == name) {
        return None;
    }
    let theirs = || TOOLS.iter().filter_map(|tool| tool.theirs.first().copied());
    theirs().find(|known| is_one_letter_apart(&known.to_ascii_lowercase(), &name.to_ascii_lowercase()))
}

/// Shortest name that is taken for a misspelt one.
const SHORTEST: usize = 3;

fn is_one_letter_apart(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (one.get(same..).unwrap_or_default(), other.get(same..).unwrap_or_default());
    let behind = |rest: &[u8], letters: usize| rest.get(letters..).map(<[u8]>::to_vec);
    let is_same = |a: usize, b: usize| behind(one, a).is_some_and(|rest| behind(other, b) == Some(rest));
    // Two neighbours that changed places are one slip, too.
    let is_swapped = one.get(..2).zip(other.get(..2)).is_some_and(|(a, b)| a.iter().eq(b.iter().rev()));
    is_same(0, 0) || is_same(1, 1) || is_same(1, 0) || is_same(0, 1) || (is_swapped && is_same(2, 2))
}

/// Returns arguments as hooks get them: their names, paths of files absolute.
pub fn to_theirs(tool: &str, arguments: &Arguments, cwd: &Path) -> Value {
    let Arguments::Object(own) = arguments else { return Value::from(arguments.to_string()) };
    let change = |(name, value): (&String, &Value)| match (their_argument(tool, name), value) {
        (FILE_PATH, Value::String(path)) => (FILE_PATH.to_owned(), cwd.join(path).to_string_lossy().into()),
        (TIMEOUT, Value::Number(seconds)) if tool == "bash" => {
            (TIMEOUT.to_owned(), seconds.as_u64().map_or_else(|| value.clone(), |s| s.saturating_mul(1_000).into()))
        }
        (theirs, value) => (theirs.to_owned(), value.clone()),
    };
    Value::Object(own.iter().map(change).collect())
}

/// Returns arguments that a hook gives, under our names; `None` when they are no object.
pub(super) fn to_ours(tool: &str, theirs: &Value, cwd: &Path) -> Option<Arguments> {
    let change = |(name, value): (&String, &Value)| match (own_argument(tool, name), value) {
        (PATH, Value::String(path)) => {
            let below = Path::new(path).strip_prefix(cwd).map_or_else(|_| path.clone(), |p| p.to_string_lossy().into());
            (PATH.to_owned(), Value::from(below))
        }
        (TIMEOUT, Value::Number(millis)) if tool == "bash" => {
            (TIMEOUT.to_owned(), millis.as_u64().map_or_else(|| value.clone(), |ms| ms.div_ceil(1_000).into()))
        }
        (own, value) => (own.to_owned(), value.clone()),
    };
    let members: Map<String, Value> = theirs.as_object()?.iter().map(change).collect();
    Some(Arguments::Object(members))
}

fn their_argument<'a>(tool: &str, name: &'a str) -> &'a str {
    let pair = named(tool).and_then(|known| known.arguments.iter().find(|(own, _)| *own == name));
    pair.map_or(name, |(_, theirs)| theirs)
}

fn own_argument<'a>(tool: &str, name: &'a str) -> &'a str {
    let pair = named(tool).and_then(|known| known.arguments.iter().find(|(_, theirs)| *theirs == name));
    pair.map_or(name, |(own, _)| own)
}
