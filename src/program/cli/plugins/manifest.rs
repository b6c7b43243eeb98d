//! What a plugin or a marketplace of Claude Code says of itself: `.claude-plugin/plugin.json` and `marketplace.json`
//! (<https://code.claude.com/docs/en/plugins-reference>, <https://code.claude.com/docs/en/plugin-marketplaces>).
//!
//! Reads two files and runs nothing. Always holds: every path that is returned lies below the plugin's root; what is not used
//! here is named.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_base::text::visible_line;

/// The directory with the files of a plugin about itself.
pub const DIRECTORY: &str = ".claude-plugin";

/// The variable that stands for the root of a plugin.
const ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// Members of a manifest or of an entry in a list that are read, or only describe the plugin.
const READ: [&str; 19] = [
    "$schema",
    "name",
    "version",
    "description",
    "displayName",
    "author",
    "homepage",
    "repository",
    "license",
    "keywords",
    "category",
    "tags",
    "source",
    "strict",
    "commands",
    "agents",
    "skills",
    "hooks",
    "mcpServers",
];
/// Directories and files of a plugin that count for nothing here.
const UNUSED_FILES: [&str; 7] =
    ["output-styles", ".lsp.json", "monitors", "themes", "workflows", "bin", "settings.json"];

/// What a plugin brings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Manifest {
    /// Its name, as it is typed.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Directories of commands, and single ones.
    pub commands: Vec<PathBuf>,
    /// Directories of agents, and single ones.
    pub agents: Vec<PathBuf>,
    /// Directories of skills, and single ones.
    pub skills: Vec<PathBuf>,
    /// Files of hooks, and hooks in the manifest itself.
    pub hooks: Vec<Part>,
    /// Files of MCP servers, and servers in the manifest itself.
    pub servers: Vec<Part>,
    /// Whether all that is below the root belongs to it.
    pub is_whole: bool,
    /// What of it counts for nothing here, in a few words each.
    pub left_out: Vec<String>,
}

/// A part of a plugin that stands in a file, or in the manifest.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    File(PathBuf),
    Inline(Value),
}

/// A list of plugins.
#[derive(Debug, Clone, PartialEq)]
pub struct Marketplace {
    /// Its name.
    pub name: String,
    pub plugins: Vec<Listed>,
}

/// A plugin of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    pub name: String,
    /// Its root below that of the list, or where else it is.
    pub place: Result<PathBuf, String>,
    /// What the list says of it.
    pub entry: Value,
}

impl Marketplace {
    /// Reads the list of plugins of a directory; `None` when it has none.
    ///
    /// # Errors
    /// One sentence: it cannot be used.
    pub fn load(root: &Path) -> Result<Option<Self>, String> {
        let Some(list) = read_json(&root.join(DIRECTORY).join("marketplace.json"))? else { return Ok(None) };
        let below = list.get("metadata").and_then(|metadata| metadata.get("pluginRoot")).and_then(Value::as_str);
        let below = below.unwrap_or_default();
        let name = list.get("name").and_then(Value::as_str).unwrap_or("marketplace");
        let plugins = list.get("plugins").and_then(Value::as_array).ok_or("its marketplace.json lists no plugins")?;
        let plugins = plugins.iter().take(limits::PLUGINS_LISTED).filter_map(|entry| {
            let name = name_of(entry.get("name")?.as_str()?)?;
            let place = match entry.get("source") {
                None => Ok(PathBuf::from(below)),
                Some(Value::String(path)) => {
                    within(path).map(|path| Path::new(below.trim_start_matches("./")).join(path))
                }
                Some(elsewhere) => Err(elsewhere_of(elsewhere)),
            };
            Some(Listed { name, place, entry: entry.clone() })
        });
        Ok(Some(Self { name: visible_line(name).into_owned(), plugins: plugins.collect() }))
    }
}

impl Manifest {
    /// Reads what the plugin in a directory brings; `entry` is what a list says of it.
    ///
    /// # Errors
    /// One sentence: it is no plugin that can be used.
    pub fn load(root: &Path, entry: Option<&Value>) -> Result<Self, String> {
        let own = read_json(&root.join(DIRECTORY).join("plugin.json"))?;
        let strict = entry.and_then(|entry| entry.get("strict")).and_then(Value::as_bool).unwrap_or(true);
        if own.is_none() && entry.is_none() {
            return Err(format!("there is neither {DIRECTORY}/plugin.json nor {DIRECTORY}/marketplace.json"));
        }
        let said: Vec<&Value> = own.iter().chain(entry).collect();
        let text = |name: &str| said.iter().find_map(|said| said.get(name)?.as_str());
        let name = text("name").and_then(name_of).ok_or("its name cannot be typed")?;
        let description = text("description").map(|text| visible_line(text).into_owned()).unwrap_or_default();
        let mut manifest = Self { name, description, is_whole: strict || own.is_some(), ..Self::default() };
        // A list that holds a plugin's parts itself says which they are; else what lies in the usual places counts too.
        let is_listed = |kind: &str| !strict && entry.is_some_and(|entry| entry.get(kind).is_some());
        let mut faults = Vec::new();
        for (kind, usual) in [("commands", "commands"), ("agents", "agents"), ("skills", "skills")] {
            let mut paths = Vec::new();
            if !is_listed(kind) && root.join(usual).is_dir() {
                paths.push(PathBuf::from(usual));
            }
            for named in said.iter().filter_map(|said| said.get(kind)) {
                add_paths(named, kind, &mut paths, &mut faults);
            }
            match kind {
                "commands" => manifest.commands = paths,
                "agents" => manifest.agents = paths,
                _ => manifest.skills = paths,
            }
        }
        for (kind, usual) in [("hooks", "hooks/hooks.json"), ("mcpServers", ".mcp.json")] {
            let mut parts = Vec::new();
            if !is_listed(kind) && root.join(usual).symlink_metadata().is_ok() {
                parts.push(Part::File(usual.into()));
            }
            for named in said.iter().filter_map(|said| said.get(kind)) {
                add_parts(named, kind, &mut parts, &mut faults);
            }
            if kind == "hooks" { manifest.hooks = parts } else { manifest.servers = parts }
        }
        let members = said.iter().filter_map(|said| said.as_object()).flatten().map(|(name, _)| name.as_str());
        for name in members.filter(|name| !READ.contains(name)).collect::<BTreeSet<_>>() {
            faults.push(format!("{} (not used here)", visible_line(name)));
        }
        for name in UNUSED_FILES.iter().filter(|name| manifest.is_whole && root.join(name).exists()) {
            faults.push(format!("{name} (not used here)"));
        }
        manifest.left_out = faults;
        Ok(manifest)
    }
}

/// Adds the paths that a member of a manifest names: one, a list, or a table of them by names.
fn add_paths(named: &Value, kind: &str, paths: &mut Vec<PathBuf>, faults: &mut Vec<String>) {
    let mut add = |value: &Value| match value.as_str().map(within) {
        Some(Ok(path)) if paths.contains(&path) => {}
        Some(Ok(path)) => paths.push(path),
        Some(Err(why)) => faults.push(format!("{kind} {} ({why})", shown(value))),
        None => faults.push(format!("{kind} {} (it must be a path)", shown(value))),
    };
    match named {
        Value::Array(all) => all.iter().take(limits::PLUGINS_LISTED).for_each(add),
        Value::Object(all) => {
            all.values().take(limits::PLUGINS_LISTED).for_each(|one| add(one.get("source").unwrap_or(one)));
        }
        one => add(one),
    }
}

/// Adds the files that a member of a manifest names, and what stands in it.
fn add_parts(named: &Value, kind: &str, parts: &mut Vec<Part>, faults: &mut Vec<String>) {
    match named {
        Value::String(path) => match within(path) {
            Ok(path) if parts.contains(&Part::File(path.clone())) => {}
            Ok(path) => parts.push(Part::File(path)),
            Err(why) => faults.push(format!("{kind} {} ({why})", visible_line(path))),
        },
        Value::Array(all) => {
            all.iter().take(limits::PLUGINS_LISTED).for_each(|one| add_parts(one, kind, parts, faults));
        }
        Value::Object(_) => parts.push(Part::Inline(named.clone())),
        other => faults.push(format!("{kind} {} (it must be a path or an object)", shown(other))),
    }
}

/// Returns a path below a root without what stands for the root itself.
fn within(path: &str) -> Result<PathBuf, String> {
    let path = path.strip_prefix("${CLAUDE_PLUGIN_ROOT}").map_or(path, |rest| rest.trim_start_matches('/'));
    let mut clean = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part) => clean.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err("it leads out of the plugin".to_owned());
            }
        }
    }
    Ok(clean)
}

/// Says where a plugin of a list is that lies in another repository.
fn elsewhere_of(source: &Value) -> String {
    let text = |name: &str| source.get(name).and_then(Value::as_str);
    let place = text("url").or_else(|| text("repo")).or_else(|| text("package")).unwrap_or("an unknown place");
    let how = if text("package").is_some() { "a package, which is not fetched" } else { "add it from there" };
    format!("it is in {} ({how})", visible_line(place))
}

/// Makes the name of a plugin fit to be typed; `None` when nothing is left.
fn name_of(name: &str) -> Option<String> {
    let fit = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' };
    let name: String = name.trim().chars().map(fit).take(limits::SKILL_NAME_CHARS).collect();
    let name = name.trim_matches(['-', '.']);
    name.contains(char::is_alphanumeric).then(|| name.to_owned())
}

fn shown(value: &Value) -> String {
    visible_line(&value.to_string()).chars().take(limits::PLUGIN_NAMED_CHARS).collect()
}

/// Reads an object; `None` when the file is not there.
fn read_json(path: &Path) -> Result<Option<Value>, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = match read_own_text(path, limits::PROJECT_FILE_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read its {name}: {error}")),
    };
    let object: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| format!("its {name} must be a JSON object: {error}"))?;
    Ok(Some(Value::Object(object)))
}

/// Puts the root of a plugin in place of `${CLAUDE_PLUGIN_ROOT}` in every text of a value.
pub fn with_root(value: Value, root: &Path) -> Value {
    match value {
        Value::String(text) => Value::String(text_with_root(&text, root)),
        Value::Array(all) => all.into_iter().map(|one| with_root(one, root)).collect(),
        Value::Object(all) => all.into_iter().map(|(name, one)| (name, with_root(one, root))).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// Puts the root of a plugin in place of `${CLAUDE_PLUGIN_ROOT}` and `$CLAUDE_PLUGIN_ROOT`.
pub fn text_with_root(text: &str, root: &Path) -> String {
    let root = root.to_string_lossy();
    let text = text.replace(&format!("${{{ROOT}}}"), &root);
    let bare = format!("${ROOT}");
    let mut parts = text.split(&bare);
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        filled.push_str(if goes_on { &bare } else { &root });
        filled.push_str(part);
    }
    filled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_path_of_a_plugin_leads_out_of_it() {
        for path in ["../x", "/etc", "a/../../x", "${CLAUDE_PLUGIN_ROOT}/../x"] {
            assert!(within(path).is_err(), "{path}");
        }
        assert_eq!(within("./a/./b"), Ok("a/b".into()));
        assert_eq!(within("./"), Ok(PathBuf::new()));
        assert_eq!(within("${CLAUDE_PLUGIN_ROOT}/a"), Ok("a".into()));
    }

    #[test]
    fn the_root_is_filled_in_at_any_depth() {
        let value = json!({"a": ["${CLAUDE_PLUGIN_ROOT}/x", 1], "b": {"c": "no"}});
        assert_eq!(with_root(value, Path::new("/p")), json!({"a": ["/p/x", 1], "b": {"c": "no"}}));
        let bare =
            text_with_root("sh $CLAUDE_PLUGIN_ROOT/a $CLAUDE_PLUGIN_ROOTS \"$CLAUDE_PLUGIN_ROOT\"", Path::new("/p"));
        assert_eq!(bare, "sh /p/a $CLAUDE_PLUGIN_ROOTS \"/p\"");
    }
}
