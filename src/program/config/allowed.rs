//! What each key of the configuration file allows, for the sentence about a value that it does not take.
//!
//! Called by `file` when serde has refused a value. A test goes through all keys: none is without its words.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::program::config::settings::TEXT;
use crate::program::config::{Key, Layer, ServerSection};
use steersman_base::text::visible_line;

/// Characters of a value that a sentence repeats.
const REPEATED: usize = 40;

const PRICE: &str = "a price per million tokens, such as { input = 0.22, output = 0.95 }, perhaps with cached";

/// Returns what a value may be; its key is given with that of the section before it, `*` standing for a name of the user's.
fn allowed(key: &str) -> Option<Cow<'static, str>> {
    let of = |keys: &[Key], name: &str| keys.iter().find(|key| key.name == name).map(|key| key.allowed.into());
    match key {
        "profile.*" => Some("a section: [profile.NAME] with its keys below it".into()),
        "mcp.*" => Some("a section: [mcp.NAME] with its keys below it".into()),
        "mcp.*.env.*" | "mcp.*.headers.*" => Some(TEXT.into()),
        "prices.*" => Some(PRICE.into()),
        "prices.*.input" | "prices.*.cached" | "prices.*.output" => Some("a number of US dollars, 0 or more".into()),
        _ => {
            if let Some(key) = key.strip_prefix("mcp.*.") {
                return of(ServerSection::KEYS, key);
            }
            let key = key.strip_prefix("profile.*.").unwrap_or(key);
            match (key.split_once('.'), Layer::section(key)) {
                (Some((section, key)), _) => of(Layer::section(section)?, key),
                (None, Some(keys)) => Some(section_of(keys).into()),
                (None, None) => of(Layer::KEYS, key),
            }
        }
    }
}

fn section_of(keys: &[Key]) -> String {
    let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
    match names.as_slice() {
        [before @ .., last] if !before.is_empty() => {
            format!("a section with the keys {} and {last}", before.join(", "))
        }
        names => format!("a section with the key {}", names.concat()),
    }
}

/// Says of the value at a byte of the text what its key allows; `None` when no known key stands there.
pub(super) fn sentence(text: &str, top: &DeTable<'_>, at: usize) -> Option<String> {
    let FileValue { path, span } = innermost(top, &[], at)?;
    let named = |place: usize, name: &str| match (path.first().map(String::as_str), place) {
        (Some("profile" | "prices" | "mcp"), 1) | (Some("mcp"), 3) => "*".to_owned(),
        _ => name.to_owned(),
    };
    let key: Vec<String> = path.iter().enumerate().map(|(place, name)| named(place, name)).collect();
    let allowed = allowed(&key.join("."))?;
    let name = visible_line(&path.join(".")).into_owned();
    // Somebody may have put the key itself there, and what a server gets may be one.
    if name.contains("key_") || name.contains("_token_") || path.first().is_some_and(|first| first == "mcp") {
        return Some(format!("{name} must be {allowed}"));
    }
    let written = text.get(span)?.lines().next().unwrap_or_default();
    let cut: String = written.chars().take(REPEATED).collect();
    let more = if cut.len() < written.len() { "…" } else { "" };
    Some(format!("{name} must be {allowed}; it is {}{more}", visible_line(&cut)))
}

/// A value of the file, by its key and the keys of the tables around it.
struct FileValue {
    path: Vec<String>,
    span: Range<usize>,
}

/// Finds the value with the fewest bytes that this byte belongs to.
fn innermost(table: &DeTable<'_>, above: &[String], at: usize) -> Option<FileValue> {
    let each = table.iter().filter_map(|(key, value): (_, &Spanned<DeValue<'_>>)| {
        let path: Vec<String> = above.iter().cloned().chain([key.get_ref().to_string()]).collect();
        let below = value.get_ref().as_table().and_then(|table| innermost(table, &path, at));
        let span = value.span();
        below.or_else(|| span.contains(&at).then_some(FileValue { path, span }))
    });
    each.min_by_key(|found| found.span.len())
}

#[cfg(test)]
mod tests {
    use super::allowed;
    use crate::program::config::{Layer, ServerSection, parse};

    fn every_key(profile: &str) -> Vec<String> {
        let sections = Layer::SECTIONS.iter();
        let sections =
            sections.flat_map(|(section, keys)| keys.iter().map(move |key| format!("{section}.{}", key.name)));
        let profiles = Layer::PROFILE_KEYS.iter().map(|key| format!("profile.{profile}.{key}"));
        let servers = ServerSection::KEYS.iter().map(|key| format!("mcp.{profile}.{}", key.name));
        Layer::names().map(str::to_owned).chain(sections).chain(profiles).chain(servers).collect()
    }

    #[test]
    fn every_key_says_what_it_allows() {
        for key in every_key("*") {
            assert!(allowed(&key).is_some(), "{key}");
        }
    }

    #[test]
    fn a_wrong_value_of_every_key_is_named_with_its_key_its_line_and_what_is_allowed() {
        for key in every_key("lab") {
            let error = parse(&format!("# a comment\n\n{key} = [[1]]\n")).unwrap_err();
            let expected = format!("{key} must be {}", allowed(&key.replace("lab", "*")).unwrap());
            assert!(error.message.starts_with(&expected), "{error}");
            assert_eq!(error.line, 3, "{error}");
        }
    }

    #[test]
    fn the_words_of_a_choice_are_those_that_are_taken() {
        for key in [
            "provider",
            "reasoning_effort",
            "mode",
            "sandbox.kind",
            "screen.notify",
            "screen.notify_when",
            "editor.keys",
            "steering.framing",
            "steering.agents_give_way",
        ] {
            let allowed = allowed(key).unwrap();
            let words: Vec<&str> = allowed.split('"').skip(1).step_by(2).collect();
            for word in &words {
                assert!(parse(&format!("{key} = \"{word}\"")).is_ok(), "{key}: {word}");
            }
            let section = key.split_once('.').map_or(key, |(_, key)| key);
            let of_serde = toml::from_str::<Layer>(&format!("{key} = \"?\"")).unwrap_err().message().to_owned();
            assert_eq!(of_serde.matches('`').count() / 2 - 1, words.len(), "{section}: {of_serde}");
        }
    }
}
