//! Names of servers' tools: `mcp__server__tool`, within the letters and the length that every dialect takes.
//!
//! `OpenAI` and Anthropic take letters, digits, `_` and `-`, 64 at most; Gemini wants a letter or `_` first. A name that does
//! not fit is changed, and gets a hash of the original where it would be that of another tool then. The original name is
//! what goes to the server.

use std::collections::HashMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use steersman_base::limits;
use steersman_core::tool::WITHOUT;

/// The beginning of every name.
pub(super) const PREFIX: &str = "mcp__";
/// Characters of a hash in a name.
const HASH: usize = 8;
/// Longest name of a server, characters.
const SERVER: usize = 32;

/// Says what is wrong with the name of a server; `None` when nothing is. A name without `__` keeps the names of its tools
/// from being those of another server.
pub fn server_name_error(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_fine = !name.is_empty()
        && name.len() <= SERVER
        && name.chars().all(plain)
        && !name.contains("__")
        && !name.ends_with('_');
    (!is_fine)
        .then(|| format!("a server needs a name of at most {SERVER} letters, digits, - and single _, not at its end"))
}

/// Makes a name for a server of a text that is none.
pub fn server_name(text: &str) -> String {
    let mut name: String = text.chars().take(SERVER).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if name.is_empty() {
        name.push_str("server");
    }
    name
}

/// Returns the names of a server's tools for the model, in their order.
pub fn tool_names<'a>(server: &str, tools: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let tools: Vec<&str> = tools.into_iter().collect();
    let mut count: HashMap<String, usize> = HashMap::new();
    for tool in &tools {
        *count.entry(fitted(server, tool)).or_default() += 1;
    }
    let name = |tool: &&str| {
        let fitted = fitted(server, tool);
        let is_own = fitted == format!("{PREFIX}{server}__{tool}");
        let is_shared = count.get(&fitted).is_some_and(|count| *count > 1);
        let is_cut = format!("{PREFIX}{server}__{tool}").chars().count() > limits::TOOL_NAME_CHARS;
        if is_cut || (is_shared && !is_own) { hashed(&fitted, tool) } else { fitted }
    };
    tools.iter().map(name).collect()
}

fn fitted(server: &str, tool: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let whole = format!("{PREFIX}{server}__{}", tool.chars().map(letter).collect::<String>());
    whole.chars().take(limits::TOOL_NAME_CHARS).collect()
}

fn hashed(fitted: &str, tool: &str) -> String {
    let mut name: String = fitted.chars().take(limits::TOOL_NAME_CHARS - HASH - 1).collect();
    name.push('_');
    for byte in Sha256::digest(tool).iter().take(HASH / 2) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

/// Tells whether the names of a persona mean a tool: one of them does, and none takes it out.
pub fn mean(names: &[String], server: &str, tool: &str) -> bool {
    names.iter().any(|name| means(name, server, tool)) && !taken_out(names).any(|name| means(name, server, tool))
}

/// Tells whether the names of a persona mean a server with all that it has.
pub fn mean_whole(names: &[String], server: &str) -> bool {
    names.iter().any(|name| means_whole(name, server)) && !taken_out(names).any(|name| means_whole(name, server))
}

/// Tells whether the names of a persona mean a tool of a server, whichever it has.
pub fn mean_server(names: &[String], server: &str) -> bool {
    names.iter().any(|name| means_server(name, server)) && !taken_out(names).any(|name| means_whole(name, server))
}

fn taken_out(names: &[String]) -> impl Iterator<Item = &str> {
    names.iter().filter_map(|name| name.strip_prefix(WITHOUT))
}

/// Tells whether a name that a persona uses means this tool: by its own name, or by that of its server, with or without
/// a star.
fn means(name: &str, server: &str, tool: &str) -> bool {
    name == tool || means_whole(name, server)
}

/// Tells whether a name means a server with all that it has.
fn means_whole(name: &str, server: &str) -> bool {
    let rest = name.strip_prefix(PREFIX);
    rest.is_some_and(|rest| rest == server || rest.strip_suffix("__*") == Some(server))
}

/// Tells whether a name means a tool of this server, whichever it has.
pub fn means_server(name: &str, server: &str) -> bool {
    let rest = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix(server));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
}

/// Tells whether a pattern of the configuration covers a tool of its server; a star stands for anything.
pub fn matches_tool(pattern: &str, tool: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == tool,
        Some((before, behind)) => tool.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| matches_tool(behind, rest)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_stays_and_an_odd_one_fits_every_dialect() {
        let long = "x".repeat(200);
        let names = tool_names("git-hub", ["get_issue", "admin.tools.list", "größe", &long]);
        assert_eq!(names[..2], ["mcp__git-hub__get_issue", "mcp__git-hub__admin_tools_list"]);
        for name in &names {
            assert!(name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{name}");
        }
    }

    #[test]
    fn tools_that_would_share_a_name_get_a_hash_that_stays() {
        let (one, two) = (format!("{}a", "y".repeat(80)), format!("{}b", "y".repeat(80)));
        let tools = ["a.b", "a_b", "a b", one.as_str(), two.as_str()];
        let names = tool_names("s", tools);
        let unique: std::collections::HashSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), tools.len(), "{names:?}");
        // The one whose name it is keeps it.
        assert_eq!(names[1], "mcp__s__a_b");
        let turned = tool_names("s", tools.into_iter().rev());
        assert!(turned.iter().rev().eq(names.iter()), "{turned:?}");
        assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
    }

    #[test]
    fn no_name_of_a_server_lets_its_tools_be_those_of_another() {
        for name in ["a__b", "a_", "", "a b", "ü", &"x".repeat(33)] {
            assert!(server_name_error(name).is_some(), "{name}");
            assert_eq!(server_name_error(&server_name(name)), None, "{name}");
        }
        assert_eq!(server_name_error("git-hub_2"), None);
    }

    #[test]
    fn a_persona_names_a_tool_a_server_or_all_of_a_server() {
        for name in ["mcp__time", "mcp__time__*", "mcp__time__now"] {
            assert!(means(name, "time", "mcp__time__now") && means_server(name, "time"), "{name}");
        }
        for name in ["mcp__tim", "mcp__time2", "mcp__time__later", "time", "mcp__"] {
            assert!(!means(name, "time", "mcp__time__now"), "{name}");
        }
        assert!(!means_server("mcp__time2__now", "time"));
    }

    #[test]
    fn a_persona_takes_a_tool_or_a_server_out_of_what_it_names() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let one_less = names(&["mcp__time", "!mcp__time__set"]);
        assert!(mean(&one_less, "time", "mcp__time__now") && !mean(&one_less, "time", "mcp__time__set"));
        assert!(mean_whole(&one_less, "time") && mean_server(&one_less, "time"));
        for none in [names(&["mcp__time__now", "!mcp__time"]), names(&["mcp__time", "!mcp__time__*"])] {
            assert!(!mean(&none, "time", "mcp__time__now") && !mean_server(&none, "time"), "{none:?}");
            assert!(!mean_whole(&none, "time"), "{none:?}");
        }
        // What is taken out gives nothing.
        assert!(!mean(&names(&["!mcp__time__set"]), "time", "mcp__time__now"));
    }

    #[test]
    fn a_pattern_covers_tools_by_stars() {
        assert!(matches_tool("get_*", "get_issue") && matches_tool("*", "x") && matches_tool("a*c*", "abcd"));
        assert!(
            !matches_tool("get_*", "set_issue") && !matches_tool("get", "get_issue") && !matches_tool("a*c", "abcd")
        );
    }
}
