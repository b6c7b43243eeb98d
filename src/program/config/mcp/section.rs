//! MCP servers as they are configured: the section `[mcp.NAME]`, and how it becomes a definition.
//!
//! `${NAME}` and `${NAME:-else}` in a command, its arguments, its variables, an address and its headers stand for a
//! variable of the environment, as in the files of other programs. A server that names one which is not set is left out.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;
use secrecy::SecretString;

use crate::program::config::Environment;
use crate::program::config::resolve::is_address;
use crate::program::config::settings::{ADDRESS, FILE, FLAG, TEXT, VARIABLE, settings};
use steersman_base::text::visible_line;
use steersman_core::tool::Traits;
use steersman_extensions::mcp::definition::{
    AddressDefinition, LoginSettings, ProcessDefinition, Reached, ServerDefinition, command_line,
};
use steersman_extensions::mcp::names::server_name_error;
use steersman_tools::workspace::{Network, Placement, is_secret};

/// What a list of texts allows.
const TEXTS: &str = "a list of texts in quotes";
/// What a table of texts allows.
const TABLE: &str = "a table of texts, such as { NAME = \"value\" }";
/// What a list of tools allows.
const TOOLS: &str = "a list of tools in quotes, such as [\"get_*\"]";
/// What a list of directories allows.
const DIRECTORIES: &str = "a list of directories in quotes";
/// What a time allows.
const SECONDS: &str = "a whole number of seconds, 1 or more";

settings! {
    /// What is said about one MCP server.
    pub struct ServerSection {
        /// The program that is the server.
        command: String, TEXT;
        /// Its arguments.
        args: Vec<String>, TEXTS;
        /// Variables that it gets.
        env: BTreeMap<String, String>, TABLE;
        /// Names of variables of the environment that it gets, too.
        pass_env: Vec<String>, "a list of names in quotes";
        /// The directory that it works in.
        cwd: PathBuf, FILE;
        /// False: it runs outside of the sandbox.
        sandbox: bool, FLAG;
        /// True: it has a network in the sandbox, also where commands have none.
        network: bool, FLAG;
        /// Directories that it may read in the sandbox.
        readable: Vec<PathBuf>, DIRECTORIES;
        /// Directories that it may change in the sandbox.
        writable: Vec<PathBuf>, DIRECTORIES;
        /// The address of a server that runs already.
        url: String, ADDRESS;
        /// Headers of every request to it.
        headers: BTreeMap<String, String>, TABLE;
        /// The environment variable that holds the token for it.
        bearer_token_env: String, VARIABLE;
        /// The name by which its authorization server knows this program.
        client_id: String, TEXT;
        /// The environment variable that holds the secret of that name.
        client_secret_env: String, VARIABLE;
        /// What a login asks for.
        scopes: Vec<String>, TEXTS;
        /// The port of this machine that the browser comes back to after a login.
        login_port: u16, "a port from 1 to 65535";
        /// False: it is not used.
        enabled: bool, FLAG;
        /// The only tools that are used.
        enabled_tools: Vec<String>, TOOLS;
        /// Tools that are not used.
        disabled_tools: Vec<String>, TOOLS;
        /// False: only sub-agents whose persona names it have its tools.
        on_main_agent: bool, FLAG;
        /// Seconds for its start.
        start_timeout: u32, SECONDS;
        /// Seconds for the answer to a call.
        call_timeout: u32, SECONDS;
        /// False: its results hold nothing of the user's own.
        private: bool, FLAG;
        /// False: its results hold no text of strangers.
        untrusted: bool, FLAG;
        /// False: its calls send nothing out of this machine.
        egress: bool, FLAG;
    }
}

impl ServerSection {
    /// Tells whether it is used.
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }

    /// Says what its tools are taken for, one sentence for each trait, for the question about trust.
    pub fn trait_labels(&self) -> [&'static str; 3] {
        [
            match self.private {
                Some(false) => "its results are taken to hold nothing of yours: it says so",
                Some(true) | None => "its results may hold something of yours",
            },
            match self.untrusted {
                Some(false) => "its results are taken to hold no text of strangers: it says so",
                Some(true) => "its results may hold text of strangers",
                None => "its results may hold text of strangers, except of tools that say they stay within the server",
            },
            match (self.egress, &self.command) {
                (Some(false), _) => "its calls are taken to send nothing out of this machine: it says so",
                (None, Some(_)) => {
                    "its calls may send something out of this machine where it has a network, except of tools that say they \
                     stay within the server"
                }
                (Some(true), _) | (None, None) => "its calls may send something out of this machine",
            },
        ]
    }

    /// Returns the directories of it that a file names.
    pub fn directories_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.cwd.iter_mut().chain(self.readable.iter_mut().flatten()).chain(self.writable.iter_mut().flatten())
    }

    /// Returns the first key of it that only the user's own configuration may have.
    pub fn own_key(&self) -> Option<&'static str> {
        let keys = [
            ("sandbox", self.sandbox == Some(false)),
            ("readable", self.readable.is_some()),
            ("writable", self.writable.is_some()),
        ];
        keys.into_iter().find(|(_, is_set)| *is_set).map(|(key, _)| key)
    }

    /// Returns the names of the variables of the environment that it gets, or that stand in it.
    pub fn variables(&self) -> Vec<String> {
        let texts = self.command.iter().chain(self.args.iter().flatten()).chain(&self.url);
        let tables = self.env.iter().chain(&self.headers).flat_map(BTreeMap::values);
        let mut names: Vec<String> = self.pass_env.iter().flatten().cloned().collect();
        names.extend([&self.bearer_token_env, &self.client_secret_env].into_iter().flatten().cloned());
        for text in texts.chain(tables) {
            // What names none that is set is among them all the same.
            let _ = expand(text, |name| {
                names.push(name.to_owned());
                Some(String::new())
            });
        }
        names.sort();
        names.dedup();
        names
    }

    /// Makes the definition. Relative directories begin at `beside`.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn definition(
        &self,
        name: &str,
        source: &str,
        environment: &Environment,
        beside: &Path,
    ) -> Result<ServerDefinition, String> {
        if let Some(fault) = server_name_error(name) {
            return Err(fault);
        }
        let secret = RefCell::new(Vec::new());
        let filled = |text: &String| {
            let value = |name: &str| {
                let value = environment.get(name)?.to_owned();
                if is_secret(name) {
                    secret.borrow_mut().push(SecretString::from(value.clone()));
                }
                Some(value)
            };
            expand(text, value).map_err(|name| format!("the variable {} is not set", visible_line(&name)))
        };
        let variable = |name: &String| {
            let value = environment.get(name).map(|value| SecretString::from(value.to_owned()));
            value.ok_or_else(|| format!("the variable {} is not set", visible_line(name)))
        };
        let secrets = |table: &Option<BTreeMap<String, String>>| {
            let pairs = table.iter().flatten().map(|(name, value)| Ok((name.clone(), filled(value)?.into())));
            pairs.collect::<Result<Vec<(String, SecretString)>, String>>()
        };
        let reached = match (&self.command, &self.url) {
            (Some(command), None) => {
                let mut environment = secrets(&self.env)?;
                for name in self.pass_env.iter().flatten() {
                    environment.push((name.clone(), variable(name)?));
                }
                Reached::Process(ProcessDefinition {
                    command: filled(command)?,
                    args: self.args.iter().flatten().map(filled).collect::<Result<_, _>>()?,
                    environment,
                    cwd: self.cwd.as_ref().map(|cwd| beside.join(cwd)),
                    placement: match self.sandbox {
                        Some(false) => Placement::Outside,
                        Some(true) | None => Placement::Sandboxed,
                    },
                    network: if self.network == Some(true) { Network::On } else { Network::Off },
                    readable: self.readable.clone().unwrap_or_default(),
                    writable: self.writable.clone().unwrap_or_default(),
                    ..ProcessDefinition::default()
                })
            }
            (None, Some(url)) => {
                let url = filled(url)?;
                if !is_address(&url) {
                    return Err(format!("{} is not an address such as https://example.org/mcp", visible_line(&url)));
                }
                let mut headers = secrets(&self.headers)?;
                if let Some(name) = &self.bearer_token_env {
                    use secrecy::ExposeSecret as _;
                    let token = variable(name)?;
                    headers.push(("Authorization".to_owned(), format!("Bearer {}", token.expose_secret()).into()));
                }
                Reached::Address(AddressDefinition {
                    url: Url::parse(&url).map_err(|error| error.to_string())?,
                    headers,
                    login: LoginSettings {
                        client_id: self.client_id.clone(),
                        client_secret: self.client_secret_env.as_ref().map(variable).transpose()?,
                        scopes: self.scopes.clone(),
                        port: self.login_port,
                    },
                })
            }
            (Some(_), Some(_)) => return Err("it has a command and an address; keep one of them".to_owned()),
            (None, None) => return Err("it has neither a command nor an address (url)".to_owned()),
        };
        let shown =
            self.command.as_ref().map(|command| command_line(command, self.args.as_deref().unwrap_or_default()));
        let usual = ServerDefinition::new(name, reached);
        let time = |seconds: Option<u32>, usual: Duration| {
            seconds.map_or(usual, |seconds| Duration::from_secs(u64::from(seconds.max(1))))
        };
        Ok(ServerDefinition {
            source: source.to_owned(),
            shown: shown.or_else(|| self.url.clone()).unwrap_or_default(),
            filled: secret.into_inner(),
            only: self.enabled_tools.clone(),
            without: self.disabled_tools.clone().unwrap_or_default(),
            on_main_agent: self.on_main_agent.unwrap_or(true),
            start_time: time(self.start_timeout, usual.start_time),
            call_time: time(self.call_timeout, usual.call_time),
            traits: Traits {
                private: self.private.unwrap_or(usual.traits.private),
                untrusted: self.untrusted.unwrap_or(usual.traits.untrusted),
                egress: self.egress.unwrap_or(usual.traits.egress),
            },
            set_traits: Traits {
                private: self.private.is_some(),
                untrusted: self.untrusted.is_some(),
                egress: self.egress.is_some(),
            },
            ..usual
        })
    }
}

/// Fills in variables; the error is the name of one that is not set.
fn expand(text: &str, mut value: impl FnMut(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((inside, after)) = behind.split_once('}') else {
            filled.push_str("${");
            rest = behind;
            continue;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name {
            let known = value(name).or_else(|| default.map(str::to_owned));
            filled.push_str(&known.ok_or_else(|| name.to_owned())?);
        } else {
            // Something else, for somebody else.
            filled.push_str("${");
            filled.push_str(inside);
            filled.push('}');
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_what_is_none_stays() {
        let value = |name: &str| (name == "HOME").then(|| "/home/ann".to_owned());
        for (text, filled) in [
            ("${HOME}/x", Ok("/home/ann/x")),
            ("${NONE:-/tmp}/${HOME:-y}", Ok("/tmp//home/ann")),
            ("${NONE:-}", Ok("")),
            ("a${b c}d$e${", Ok("a${b c}d$e${")),
            ("x${NONE}", Err("NONE")),
        ] {
            assert_eq!(expand(text, value), filled.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
    }
}
