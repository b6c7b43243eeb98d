//! Web addresses, as rules and grants see them.
//!
//! Always holds: a pattern of an address never reaches past its host.

use percent_encoding::percent_decode_str;
use url::Url;

use crate::approval::pattern::{Glob, Slash};
use crate::approval::{CloneOperation, FetchOperation, Operation};

/// An address that can be read.
pub(super) struct Address(Url);

impl Address {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Url::parse(text).ok().map(Self)
    }

    /// Returns the address that an operation asks, if it can be read.
    pub(super) fn from_operation(operation: &Operation) -> Option<Self> {
        let (Operation::Fetch(FetchOperation { url, .. }) | Operation::Clone(CloneOperation { url, .. })) = operation
        else {
            return None;
        };
        Self::parse(url)
    }

    /// Returns the host in its one spelling: lower case, ASCII, numbers as dotted quads, no dot at the end.
    fn host(&self) -> Option<String> {
        let host = self.0.host_str()?.trim_end_matches('.');
        (!host.is_empty()).then(|| host.to_ascii_lowercase())
    }

    /// Returns scheme, host and port in their one spelling.
    pub(super) fn origin(&self) -> Option<String> {
        let host = self.host()?;
        let port = self.0.port().map(|port| format!(":{port}")).unwrap_or_default();
        Some(format!("{}://{host}{port}", self.0.scheme()))
    }
}

/// A pattern of web addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AddressPattern {
    scheme: String,
    host: Host,
    port: u16,
    names_port: bool,
    /// Of the path with its query.
    rest: Glob,
    covers_all: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// This one.
    Exact(String),
    Below(String),
}

impl AddressPattern {
    /// # Errors
    /// What is wrong with it, as the end of a sentence.
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let scheme = ["https://", "http://"].into_iter().find(|scheme| pattern.starts_with(scheme));
        let Some(scheme) = scheme else {
            return Err("an address pattern begins with https:// or http://, as in https://docs.rs/*".to_owned());
        };
        let behind = pattern.strip_prefix(scheme).unwrap_or_default();
        let (authority, rest) = behind.split_at(behind.find(['/', '?']).unwrap_or(behind.len()));
        let (is_below, name) = match authority.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, authority),
        };
        if name.contains(['*', '?', '@', '\\']) || name.is_empty() {
            return Err(
                "a host is written out; only a first label can be a star, as in https://*.example.org/*".to_owned()
            );
        }
        let url = Url::parse(&format!("{scheme}{name}/")).map_err(|error| format!("its host is none: {error}"))?;
        let address = Address(url);
        let Some(host) = address.host() else { return Err("it has no host".to_owned()) };
        let url = address.0;
        if is_below && !host.contains('.') {
            return Err("a star cannot stand for every host of a top-level domain".to_owned());
        }
        let rest = if rest.is_empty() { "/" } else { rest };
        Ok(Self {
            scheme: url.scheme().to_owned(),
            host: if is_below { Host::Below(host) } else { Host::Exact(host) },
            port: url.port_or_known_default().unwrap_or_default(),
            names_port: url.port().is_some(),
            rest: Glob::new(rest, Slash::Plain),
            covers_all: rest == "/*",
        })
    }

    /// Tells whether it covers every address of one host and no other.
    pub(super) fn is_one_host(&self) -> bool {
        self.covers_all && matches!(self.host, Host::Exact(_))
    }

    /// Tells whether it covers an address exactly: scheme, host, port and the rest.
    pub(super) fn allows(&self, address: &Address) -> bool {
        let url = &address.0;
        let has_login = !url.username().is_empty() || url.password().is_some();
        if has_login || url.scheme() != self.scheme || url.port_or_known_default() != Some(self.port) {
            return false;
        }
        // An encoded separator may lead out of the directory that the pattern names.
        let path = url.path().to_ascii_lowercase();
        let is_sly = ["%2f", "%5c", "%2e", "%00"].iter().any(|code| path.contains(code));
        self.has_host(address) && self.rest.matches(&rest_of(url)) && (self.covers_all || !is_sly)
    }

    /// Tells whether it covers an address in any scheme, and on any port when it names none.
    pub(super) fn touches(&self, address: &Address) -> bool {
        let url = &address.0;
        if self.names_port && url.port_or_known_default() != Some(self.port) {
            return false;
        }
        let rest = rest_of(url);
        self.has_host(address)
            && (self.rest.matches(&rest) || self.rest.matches(&percent_decode_str(&rest).decode_utf8_lossy()))
    }

    fn has_host(&self, address: &Address) -> bool {
        let Some(host) = address.host() else { return false };
        match &self.host {
            Host::Exact(name) => host == *name,
            Host::Below(name) => {
                host.strip_suffix(name).is_some_and(|labels| labels.len() > 1 && labels.ends_with('.'))
            }
        }
    }
}

fn rest_of(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}
