//! The plugins that settings of Claude Code enable, in one line that says how to add them: nothing is fetched unasked.

use std::path::Path;

use serde_json::Value;

use super::PluginRecord;
use crate::program::cli::places::UserDirectories;
use crate::program::cli::project::CLAUDE_FILES;
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_base::text::{clip, visible_line};

/// Returns a line about the plugins that the settings of a project enable, and one about those of the user's settings.
pub fn required_plugins(places: &UserDirectories) -> (Option<String>, Option<String>) {
    let record = PluginRecord::at(places.state.as_deref());
    let line = |shown: &str, path: &Path| {
        let text = read_own_text(path, limits::HOOK_FILE_BYTES).ok()?;
        let line = required_line(shown, &text, record.as_ref())?;
        Some(clip(&line, limits::LEFT_OUT_LINE_BYTES).into_owned())
    };
    let project = places.below.iter().chain(&places.project);
    let of_project = project.flat_map(|at| CLAUDE_FILES.map(|name| line(name, &at.join(name)))).flatten().next();
    let of_user = places.home.as_ref().and_then(|home| line("~/.claude/settings.json", &home.join(CLAUDE_FILES[0])));
    (of_project, of_user)
}

/// Returns one line about the plugins that a settings file enables and that were not added; `None` without any.
fn required_line(file: &str, text: &str, record: Option<&PluginRecord>) -> Option<String> {
    let settings: Value = serde_json::from_str(text).ok()?;
    let added = record.and_then(|record| record.load().ok()).unwrap_or_default();
    let is_added = |name: &str| added.iter().any(|plugin| plugin.name == name);
    let enabled = settings.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
    let enabled = enabled.filter(|(_, is_on)| is_on.as_bool() == Some(true));
    let wanted = enabled.map(|(name, _)| name.split_once('@').unwrap_or((name.as_str(), "")));
    let wanted: Vec<(&str, &str)> = wanted.filter(|(name, _)| !is_added(name)).collect();
    let markets = settings.get("extraKnownMarketplaces").and_then(Value::as_object);
    if wanted.is_empty() {
        // A marketplace alone is an offer, too.
        let markets = markets.filter(|markets| !markets.is_empty() && added.is_empty())?;
        let named: Vec<_> = markets.iter().map(|(name, _)| visible_line(name)).collect();
        let source = markets.values().find_map(source_of).unwrap_or_else(|| "SOURCE".to_owned());
        return Some(format!(
            "{file} names marketplaces ({}); steersman plugin add {source} lists one",
            named.join(", ")
        ));
    }
    let names: Vec<_> = wanted.iter().map(|(name, _)| visible_line(name)).collect();
    let source = wanted.iter().find_map(|(_, market)| source_of(markets?.get(*market)?));
    let source = source.unwrap_or_else(|| "SOURCE".to_owned());
    Some(format!(
        "{file} enables plugins that are not added ({}); steersman plugin add {source} {} adds them",
        names.join(", "),
        wanted.iter().filter_map(|(name, _)| plain(name)).collect::<Vec<_>>().join(" ")
    ))
}

/// Returns where a marketplace is, as `steersman plugin add` takes it.
fn source_of(market: &Value) -> Option<String> {
    let source = market.get("source")?;
    let text = |name: &str| source.get(name).and_then(Value::as_str);
    plain(source.as_str().or_else(|| text("repo")).or_else(|| text("url")).or_else(|| text("path"))?)
}

/// Returns a word that a shell takes as it is, since people copy the line; `None` for any other.
fn plain(word: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
    (!word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain)).then(|| word.to_owned())
}
