//! Plugins of Claude Code: `steersman plugin add|list|remove`, and what those that the user trusts bring to a start.
//!
//! A plugin is a directory with skills, commands, agents, hooks and MCP servers. Always holds: nothing of it takes effect before
//! the user saw the whole of it and said yes; that yes is for the tree as it was then, and a change is asked about with what
//! has changed. Nothing is fetched unless the user says so.
//!
//! # Where things are
//!
//! - what a plugin says of itself, lists of plugins: `manifest.rs`; what it brings: `src/program/cli/project/plugin.rs`; tests:
//!   `plugins.rs`
//! - the plugins that were added: `record.rs`; directories and clones: `source.rs`; tests: `plugins.rs`
//! - plugins that settings of Claude Code enable: `wanted.rs`; tests: `plugins.rs`

mod manifest;
mod record;
mod source;
mod wanted;

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, print, say};
use crate::program::cli::load::{Start, load};
use crate::program::cli::places::UserDirectories;
use crate::program::cli::project::{FrontEnd, ProjectOffer, TrustRecord};
use source::FetchedTree;
use steersman_base::limits;
use steersman_base::text::visible_line;
use steersman_core::approval::{Answerer, Approvals};

pub use manifest::{DIRECTORY, Manifest, Marketplace, Part, text_with_root, with_root};
pub use record::{AddedPlugin, PluginRecord};
pub use wanted::required_plugins;

/// What is done with plugins.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Add plugins of Claude Code: shows the whole of each, and asks whether you trust it.
    ///
    /// Exit code: 0 added, also where you did not trust it yet, 1 not, 2 usage.
    Add(AddArgs),
    /// Print the plugins, where each comes from, and whether it is used.
    List,
    /// Remove a plugin, and its clone.
    Remove {
        /// Its name.
        name: String,
    },
}

/// The arguments of `plugin add`.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// A directory, an address of git, or `OWNER/REPOSITORY` at GitHub; a branch or tag stands behind a `#`.
    pub source: String,
    /// The plugins of a marketplace, which holds several; without one all that it has are listed.
    pub names: Vec<String>,
    /// All plugins of a marketplace.
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// Trust a plugin with this hash, which was shown, without a question; may be repeated.
    #[arg(long, value_name = "HASH")]
    pub trust: Vec<String>,
}

/// Carries out what the command line says.
pub fn run(flags: &Flags, command: &PluginCommand) -> Exit {
    let outcome = load(flags, FrontEnd::Exec, Answerer::Nobody).map_err(|error| error.to_string());
    let outcome = outcome.and_then(|start| match command {
        PluginCommand::Add(args) => add(&start, args),
        PluginCommand::List => list(&start),
        PluginCommand::Remove { name } => remove(&start, name),
    });
    Exit::from_result(outcome, Exit::Failed)
}

fn record_of(start: &Start) -> Result<PluginRecord, String> {
    PluginRecord::at(start.places.state.as_deref()).ok_or_else(|| "there is no state directory".to_owned())
}

fn add(start: &Start, args: &AddArgs) -> Result<Exit, String> {
    let record = record_of(start)?;
    let added = add_from(start, &record, args);
    remove_unused(&start.places, &record)?;
    added
}

fn add_from(
    start: &Start,
    record: &PluginRecord,
    AddArgs { source, names, all, trust }: &AddArgs,
) -> Result<Exit, String> {
    let FetchedTree { root, commit } = source::fetch(source, plugins_of(&start.places).as_deref())?;
    let source = if commit.is_some() { source.clone() } else { root.to_string_lossy().into_owned() };
    let plugin = |name: &str, root: PathBuf, list: Option<PathBuf>| AddedPlugin {
        name: name.to_owned(),
        source: source.clone(),
        root,
        list,
        commit: commit.clone(),
    };
    let Some(Marketplace { name: marketplace, plugins }) = Marketplace::load(&root)? else {
        let manifest = Manifest::load(&root, None)?;
        return add_one(start, record, &plugin(&manifest.name, root, None), trust).map(|()| Exit::Done);
    };
    let listed: Vec<&str> = plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    if let Some(unknown) = names.iter().find(|name| !listed.contains(&name.as_str())) {
        return Err(format!(
            "the marketplace {marketplace} has no plugin {}; it has: {}",
            visible_line(unknown),
            listed.join(", ")
        ));
    }
    let is_meant = |name: &str| *all || listed.len() == 1 || names.iter().any(|named| named == name);
    if !listed.iter().any(|name| is_meant(name)) {
        say(&format!(
            "the marketplace {marketplace} has {} plugins; name those that you want, or --all:",
            listed.len()
        ));
        print(&format!("{}\n", listed.join("\n")));
        return Ok(Exit::Usage);
    }
    let mut exit = Exit::Done;
    for one in plugins.iter().filter(|one| is_meant(&one.name)) {
        let added = one.place.clone().and_then(|below| {
            let real = root.join(below).canonicalize().map_err(|error| format!("its directory: {error}"))?;
            if !real.starts_with(&root) {
                return Err("its directory leads out of the marketplace".to_owned());
            }
            add_one(start, record, &plugin(&one.name, real, Some(root.clone())), trust)
        });
        if let Err(why) = added {
            say(&format!("the plugin {} is not added: {why}", one.name));
            exit = Exit::Failed;
        }
    }
    Ok(exit)
}

/// Adds one plugin, and asks whether it is trusted.
fn add_one(start: &Start, record: &PluginRecord, plugin: &AddedPlugin, trust: &[String]) -> Result<(), String> {
    let offer = ProjectOffer::read_plugin(plugin, &start.places, &start.cwd)?;
    record.add(plugin.clone()).map_err(|error| error.to_string())?;
    offer.faults.iter().for_each(|fault| say(fault));
    let name = &plugin.name;
    if !offer.acts() {
        say(&format!("added the plugin {name}, which brings nothing that is used here"));
        return Ok(());
    }
    let known = TrustRecord::at(start.places.state.as_deref()).ok_or("there is no state directory")?;
    let (brings, hash) = (offer.names(), offer.hash());
    if known.knows(&offer) {
        say(&format!("added the plugin {name}, which you trust: {brings}"));
        return Ok(());
    }
    let before = known.text_of_root(&offer);
    print(&offer.question(before.as_deref()).finish());
    let is_trusted =
        trust.contains(&hash) || (trust.is_empty() && confirm(&format!("trust the plugin {name} ({brings})?")));
    if is_trusted {
        known.add(&offer).map_err(|error| error.to_string())?;
        say(&format!("added the plugin {name}: {brings}"));
    } else {
        say(&format!(
            "added the plugin {name}, which is not used before you trust it: the next start asks, or read it and give \
             --trust {hash}"
        ));
    }
    Ok(())
}

/// Asks on the terminal; without one the answer is no.
fn confirm(question: &str) -> bool {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return false;
    }
    let _ = write!(io::stderr(), "{} [y/N] ", visible_line(question));
    let mut answer = String::new();
    // What cannot be read is no yes.
    let _ = io::stdin().lock().take(limits::ANSWER_WORD_BYTES).read_line(&mut answer);
    ["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes))
}

fn list(start: &Start) -> Result<Exit, String> {
    let plugins = record_of(start)?.load().map_err(|error| error.to_string())?;
    let trust = TrustRecord::at(start.places.state.as_deref());
    let mut text = String::new();
    for plugin in &plugins {
        let AddedPlugin { name, source, commit, .. } = plugin;
        let state = match ProjectOffer::read_plugin(plugin, &start.places, &start.cwd) {
            Err(why) => format!("not used: {why}"),
            Ok(offer) if !offer.acts() => "it brings nothing that is used here".to_owned(),
            Ok(offer) => {
                offer.faults.iter().for_each(|fault| say(fault));
                let is_known = trust.as_ref().is_some_and(|trust| trust.knows(&offer));
                let before = if is_known { "" } else { "not trusted as it is: " };
                format!("{before}{}", offer.names())
            }
        };
        let commit = commit.as_deref().map(|commit| format!(" {}", commit.get(..12).unwrap_or(commit)));
        let _ = writeln!(text, "{name} ({}{}): {state}", visible_line(source), commit.unwrap_or_default());
    }
    if text.is_empty() {
        text.push_str("there are no plugins; steersman help plugins says how to add some\n");
    }
    print(&text);
    Ok(Exit::Done)
}

fn remove(start: &Start, name: &str) -> Result<Exit, String> {
    let record = record_of(start)?;
    let plugins = record.load().map_err(|error| error.to_string())?;
    let plugin = plugins.iter().find(|plugin| plugin.name == name);
    let plugin = plugin.ok_or_else(|| format!("there is no plugin {}; steersman plugin list", visible_line(name)))?;
    record.remove(&plugin.name).map_err(|error| error.to_string())?;
    say(&format!("removed the plugin {name}"));
    remove_unused(&start.places, &record)?;
    Ok(Exit::Done)
}

/// Removes the clones that no plugin is of any more.
fn remove_unused(places: &UserDirectories, record: &PluginRecord) -> Result<(), String> {
    let used = record.load().map_err(|error| error.to_string())?;
    let Some(data) = plugins_of(places).and_then(|data| data.canonicalize().ok()) else { return Ok(()) };
    for entry in data.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        let is_used = used.iter().any(|plugin| plugin.root.starts_with(&path));
        // One that is being made has a name with a dot.
        if !is_used && !entry.file_name().to_string_lossy().starts_with('.') {
            std::fs::remove_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// Returns the directory for clones.
fn plugins_of(places: &UserDirectories) -> Option<PathBuf> {
    places.data.as_ref().map(|data| data.join("plugins"))
}

/// Reads the plugins that were added; a sentence about each that cannot be used goes to `notes`.
fn offers(places: &UserDirectories, cwd: &Path, notes: &mut Vec<String>) -> Vec<ProjectOffer> {
    let Some(record) = PluginRecord::at(places.state.as_deref()) else { return Vec::new() };
    let plugins = match record.load() {
        Ok(plugins) => plugins,
        Err(error) => {
            notes.push(format!("no plugin is used: {error}"));
            return Vec::new();
        }
    };
    let mut offers = Vec::new();
    for plugin in &plugins {
        match ProjectOffer::read_plugin(plugin, places, cwd) {
            Ok(offer) => {
                notes.extend(offer.faults.iter().cloned());
                offers.extend(Some(offer).filter(ProjectOffer::acts));
            }
            Err(why) => notes.push(format!("the plugin {} is not used: {why}", plugin.name)),
        }
    }
    offers
}

/// Returns the plugins that the user trusts as they are; sentences about the others go to `notes`.
pub fn trusted_plugins(places: &UserDirectories, cwd: &Path, notes: &mut Vec<String>) -> Vec<ProjectOffer> {
    let mut left_out = Vec::new();
    let offers = trusted_plugins_with(places, cwd, notes, &mut left_out);
    notes.append(&mut left_out);
    offers
}

fn trusted_plugins_with(
    places: &UserDirectories,
    cwd: &Path,
    notes: &mut Vec<String>,
    left_out: &mut Vec<String>,
) -> Vec<ProjectOffer> {
    let record = TrustRecord::at(places.state.as_deref());
    let mut trusted = offers(places, cwd, left_out);
    trusted.retain(|offer| {
        let is_known = record.as_ref().is_some_and(|record| record.knows(offer));
        if !is_known {
            let name = offer.plugin_name();
            notes.push(format!(
                "the plugin {name} is not trusted as it is, and therefore not used: start steersman once and decide, or \
                 steersman plugin list"
            ));
        }
        is_known
    });
    trusted
}

/// Returns the plugins that the user trusts, asking on the screen about those that nobody has decided about as they are.
pub async fn trusted(
    front: FrontEnd,
    (places, cwd): (&UserDirectories, &Path),
    approvals: &Approvals,
    notes: &mut Vec<String>,
    left_out: &mut Vec<String>,
) -> Vec<ProjectOffer> {
    if front == FrontEnd::Exec {
        return trusted_plugins_with(places, cwd, notes, left_out);
    }
    let record = TrustRecord::at(places.state.as_deref());
    let mut trusted = Vec::new();
    for offer in offers(places, cwd, left_out) {
        if record.as_ref().is_some_and(|record| record.knows(&offer)) {
            trusted.push(offer);
            continue;
        }
        let (name, brings) = (offer.plugin_name(), offer.names());
        let before = record.as_ref().and_then(|record| record.text_of_root(&offer));
        let question = offer.question(before.as_deref());
        if !approvals.ask_user(format!("trust the plugin {name} ({brings})?"), question).await {
            notes.push(format!("the plugin {name} is not trusted as it is, and therefore not used"));
            continue;
        }
        if let Some(Err(error)) = record.as_ref().map(|record| record.add(&offer)) {
            notes.push(format!("the plugin {name} is trusted for this session only: {error}"));
        }
        trusted.push(offer);
    }
    trusted
}
