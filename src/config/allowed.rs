//! What each key of the configuration file allows, for the sentence about a value that it does not take.
//!
//! Called by `file` when serde has refused a value. A test goes through all keys: none is without its words.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::text::visible_line;

/// Characters of a value that a sentence repeats.
const REPEATED: usize = 40;

const TEXT: &str = "a text in quotes";
const FILE: &str = "a path in quotes";
const VARIABLE: &str = "the name of an environment variable, in quotes";
const FLAG: &str = "true or false";
const TOKENS: &str = "a whole number of tokens, 1 or more";
const ADDRESS: &str = "an address in quotes, such as \"http://localhost:8080\"";
const RULES: &str = "a list of rules in quotes, such as [\"bash: cargo test *\"]";
const DIRECTORIES: &str = "a list of directories in quotes, such as [\"~/.cargo\"]";
const NAMES: &str = "a list of names in quotes";
const EFFORT: &str = "\"off\", \"minimal\", \"low\", \"medium\", \"high\" or \"max\"";
const PRICE: &str = "a price per million tokens, such as { input = 0.22, output = 0.95 }, perhaps with cached";

/// Returns what a value may be; its key is given with that of the section before it, `*` standing for a name of the user's.
fn allowed(key: &str) -> Option<&'static str> {
    Some(match key.strip_prefix("profile.*.").unwrap_or(key) {
        "provider" => "\"openai\", \"openai-responses\", \"anthropic\", \"gemini\" or \"demo\"",
        "base_url" | "web.searxng_url" => ADDRESS,
        "model" | "default_profile" | "screen.theme" => TEXT,
        "api_key_env" | "web.brave_key_env" | "web.exa_key_env" => VARIABLE,
        "api_key_file" | "ca_file" | "system_prompt" | "screen.keys" => FILE,
        "api_key_command" => "a command in quotes, or a list of its words",
        "reasoning_effort" => EFFORT,
        "temperature" => "a number from 0 to 2",
        "max_tokens" | "context_window" | "max_tokens_total" => TOKENS,
        "profile" => "sections, each as [profile.NAME] with its keys below it",
        "profile.*" => "a section: [profile.NAME] with its keys below it",
        "local_ports" => "a list of ports from 0 to 65535, such as [8080, 11434]",
        "max_steps" => "a whole number, 1 or more",
        "pace" => "a whole number of words per second, 0 or more",
        "still_true_minutes" => "a whole number of minutes, 0 or more",
        "still_true_steps" => "a whole number of tool calls, 0 or more",
        "prices" => "a table with the price of each model, such as prices.\"qwen3-coder\"",
        "prices.*" => PRICE,
        "prices.*.input" | "prices.*.cached" | "prices.*.output" => "a number of US dollars, 0 or more",
        "max_cost" => "an amount of US dollars above 0, such as 2.50",
        "compact_at" => "a whole number from 0 to 100",
        "mode" => "\"ask\", \"auto-edit\", \"auto\", \"auto-without-sandbox\" or \"read-only\"",
        "rules" => "a section with the keys allow, ask and deny",
        "rules.allow" | "rules.ask" | "rules.deny" => RULES,
        "sandbox" => "a section with the keys kind, network, readable, writable and pass_env",
        "sandbox.kind" => "\"auto\", \"namespaces\", \"bubblewrap\", \"landlock\" or \"off\"",
        "sandbox.readable" | "sandbox.writable" => DIRECTORIES,
        "sandbox.pass_env" => NAMES,
        "web" => "a section with the keys allow_hosts, searxng_url, brave_key_env, exa_key_env and on_main_agent",
        "web.allow_hosts" => "a list of hosts in quotes, such as [\"wiki.intranet.example\"]",
        "screen" => "a section with the keys theme, screen_reader, mouse, notify, notify_when, title and keys",
        "sessions" => "a section with the key keep_days",
        "sessions.keep_days" => "a whole number of days, 0 or more",
        "screen.notify" => "\"auto\", \"bell\", \"osc9\", \"osc777\" or \"off\"",
        "screen.notify_when" => "\"away\" or \"always\"",
        "stream"
        | "context_files"
        | "sandbox.network"
        | "web.on_main_agent"
        | "screen.screen_reader"
        | "screen.mouse"
        | "screen.title" => FLAG,
        _ => return None,
    })
}

/// Says of the value at a byte of the text what its key allows; `None` when no known key stands there.
pub(super) fn sentence(text: &str, top: &DeTable<'_>, at: usize) -> Option<String> {
    let Found { path, span } = innermost(top, &[], at)?;
    let named = |place: usize, name: &str| match (path.first().map(String::as_str), place) {
        (Some("profile" | "prices"), 1) => "*".to_owned(),
        _ => name.to_owned(),
    };
    let key: Vec<String> = path.iter().enumerate().map(|(place, name)| named(place, name)).collect();
    let allowed = allowed(&key.join("."))?;
    let name = visible_line(&path.join(".")).into_owned();
    // Somebody may have put the key itself there.
    if name.contains("key_") {
        return Some(format!("{name} must be {allowed}"));
    }
    let written = text.get(span)?.lines().next().unwrap_or_default();
    let cut: String = written.chars().take(REPEATED).collect();
    let more = if cut.len() < written.len() { "…" } else { "" };
    Some(format!("{name} must be {allowed}; it is {}{more}", visible_line(&cut)))
}

/// A value of the file, by its key and the keys of the tables around it.
struct Found {
    path: Vec<String>,
    span: Range<usize>,
}

/// Finds the value with the fewest bytes that this byte belongs to.
fn innermost(table: &DeTable<'_>, above: &[String], at: usize) -> Option<Found> {
    let each = table.iter().filter_map(|(key, value): (_, &Spanned<DeValue<'_>>)| {
        let path: Vec<String> = above.iter().cloned().chain([key.get_ref().to_string()]).collect();
        let below = value.get_ref().as_table().and_then(|table| innermost(table, &path, at));
        let span = value.span();
        below.or_else(|| span.contains(&at).then_some(Found { path, span }))
    });
    each.min_by_key(|found| found.span.len())
}

#[cfg(test)]
mod tests {
    use super::allowed;
    use crate::config::{Layer, ProfileSection, parse};

    #[test]
    fn every_key_says_what_it_allows() {
        let sections =
            Layer::SECTIONS.iter().flat_map(|(section, keys)| keys.iter().map(move |key| format!("{section}.{key}")));
        let profiles = ProfileSection::KEYS.iter().map(|key| format!("profile.*.{key}"));
        for key in Layer::KEYS.iter().map(|key| (*key).to_owned()).chain(sections).chain(profiles) {
            assert!(allowed(&key).is_some(), "{key}");
        }
    }

    #[test]
    fn a_wrong_value_of_every_key_is_named_with_its_key_its_line_and_what_is_allowed() {
        let sections =
            Layer::SECTIONS.iter().flat_map(|(section, keys)| keys.iter().map(move |key| format!("{section}.{key}")));
        let profiles = ProfileSection::KEYS.iter().map(|key| format!("profile.lab.{key}"));
        for key in Layer::KEYS.iter().map(|key| (*key).to_owned()).chain(sections).chain(profiles) {
            let error = parse(&format!("# a comment\n\n{key} = [[1]]\n")).unwrap_err();
            let expected = format!("{key} must be {}", allowed(&key.replace("lab", "*")).unwrap());
            assert!(error.message.starts_with(&expected), "{error}");
            assert_eq!(error.line, 3, "{error}");
        }
    }

    #[test]
    fn the_words_of_a_choice_are_those_that_are_taken() {
        for key in ["provider", "reasoning_effort", "mode", "sandbox.kind", "screen.notify", "screen.notify_when"] {
            let words: Vec<&str> = allowed(key).unwrap().split('"').skip(1).step_by(2).collect();
            for word in &words {
                assert!(parse(&format!("{key} = \"{word}\"")).is_ok(), "{key}: {word}");
            }
            let section = key.split_once('.').map_or(key, |(_, key)| key);
            let of_serde = toml::from_str::<Layer>(&format!("{key} = \"?\"")).unwrap_err().message().to_owned();
            assert_eq!(of_serde.matches('`').count() / 2 - 1, words.len(), "{section}: {of_serde}");
        }
    }
}
