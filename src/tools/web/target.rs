//! An address that may be requested: parsed as browsers do, checked, and normalised.
//!
//! Only `Target::parse` makes one. A host that is a numeric address in any notation is checked here; a name is checked
//! again when it is resolved.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

use crate::web::{WebError, address};
use steersman_base::limits;
use steersman_base::text::visible_line;

/// The endings of names that are never public.
const LOCAL_ENDS: [&str; 12] = [
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "home.arpa",
    "onion",
    "test",
];

/// Ports from 1024 of services that are not for the public: databases, control planes, desktops.
const SERVICE_PORTS: [u16; 38] = [
    1080, 1433, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3128, 3268, 3269, 3306, 3389, 4045, 4190,
    5060, 5061, 5432, 5601, 5672, 5900, 5984, 5985, 5986, 6000, 6379, 6443, 8500, 9042, 9200, 9300, 10250, 11211,
    27017,
];

/// A checked address. Its URL has no user, no fragment and no dot at the end of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: TargetHost,
    port: u16,
    allowed: HostAllowance,
}

/// The host of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TargetHost {
    /// A name, in lower case and ASCII.
    Name(String),
    Address(IpAddr),
}

/// Whether the configuration allows a host, so that its address is not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostAllowance {
    Listed,
    Unlisted,
}

/// The hosts that the configuration allows, whatever their addresses are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedHosts(Vec<(TargetHost, Option<u16>)>);

impl AllowedHosts {
    /// Reads entries of the form `host` (every port of it) or `host:port`.
    ///
    /// # Errors
    /// One sentence that names the first entry that is neither.
    pub fn parse<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let mut hosts = Self::default();
        for entry in entries {
            let entry = entry.as_ref().trim();
            let fault = || format!("{:?} is not a host, nor a host with a port", visible_line(entry));
            // A URL omits the default port of its scheme, so two schemes are tried.
            let read = |scheme: &str| Url::parse(&format!("{scheme}://{entry}/")).map_err(|_| fault());
            let (plain, safe) = (read("http")?, read("https")?);
            let bare = plain.path() == "/" && plain.query().is_none() && plain.fragment().is_none();
            if !bare || entry.contains(['/', '@', '\\']) {
                return Err(fault());
            }
            let host = plain.host_str().and_then(TargetHost::parse).ok_or_else(fault)?;
            hosts.0.push((host, plain.port().or(safe.port())));
        }
        Ok(hosts)
    }

    /// Adds the host and port of an address that the user set.
    pub(super) fn add(&mut self, url: &Url) {
        if let Some(host) = url.host_str().and_then(TargetHost::parse) {
            self.0.push((host, url.port_or_known_default()));
        }
    }

    fn find(&self, host: &TargetHost, port: u16) -> HostAllowance {
        let listed = self.0.iter().any(|(name, only)| name == host && only.is_none_or(|only| only == port));
        if listed { HostAllowance::Listed } else { HostAllowance::Unlisted }
    }
}

impl TargetHost {
    /// Reads the host of a parsed URL; `None` when it is empty or has an empty part.
    fn parse(host: &str) -> Option<Self> {
        if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return inner.parse::<Ipv6Addr>().ok().map(|address| Self::Address(address.into()));
        }
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            return Some(Self::Address(address.into()));
        }
        let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        (!name.is_empty() && name.split('.').all(|part| !part.is_empty())).then_some(Self::Name(name))
    }
}

impl Target {
    /// Parses and checks an address, without resolving it.
    ///
    /// # Errors
    /// [`WebError::Refused`] with the reason.
    pub fn parse(text: &str, allowed: &AllowedHosts) -> Result<Self, WebError> {
        if text.len() > limits::WEB_URL_BYTES {
            return Err(WebError::refused(format!("the address is longer than {} bytes", limits::WEB_URL_BYTES)));
        }
        let url = Url::parse(text).map_err(|error| {
            WebError::refused(format!("{} is not an address: {error}; write it as https://…", visible_line(text)))
        })?;
        Self::check(url, allowed)
    }

    /// Checks a parsed address.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub(super) fn check(mut url: Url, allowed: &AllowedHosts) -> Result<Self, WebError> {
        let refuse = |url: &Url, why: &str| {
            let shown = visible_line(url.as_str()).into_owned();
            Err(WebError::refused(format!("{shown} is not asked: {why}")))
        };
        if !matches!(url.scheme(), "http" | "https") {
            return refuse(&url, "only http and https are");
        }
        if !url.username().is_empty() || url.password().is_some() {
            let _ = url.set_password(None);
            let _ = url.set_username("");
            return refuse(&url, "an address must not carry a user name or a password");
        }
        url.set_fragment(None);
        let Some(host) = url.host_str().and_then(TargetHost::parse) else { return refuse(&url, "it names no host") };
        if let TargetHost::Name(name) = &host
            && url.set_host(Some(name)).is_err()
        {
            return refuse(&url, "it names no host");
        }
        let Some(port) = url.port_or_known_default() else { return refuse(&url, "it has no port") };
        let listed = allowed.find(&host, port);
        if listed == HostAllowance::Unlisted
            && let Err(why) = check_host(&host).and_then(|()| check_port(port))
        {
            return refuse(&url, &why);
        }
        Ok(Self { url, host, port, allowed: listed })
    }

    /// Returns the address, exactly as it is requested.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns `host` or, with an explicit port, `host:port`.
    pub(super) fn host_and_port(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    pub(super) fn host(&self) -> &TargetHost {
        &self.host
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn allowed(&self) -> HostAllowance {
        self.allowed
    }

    /// Returns the `https` form that is requested in place of an `http` address.
    ///
    /// There is none for a host that the configuration allows and for an address with an explicit port, which are
    /// requested as they are.
    pub fn upgraded(&self) -> Option<Self> {
        if self.url.scheme() != "http" || self.url.port().is_some() || self.allowed == HostAllowance::Listed {
            return None;
        }
        let mut url = self.url.clone();
        url.set_scheme("https").ok()?;
        let port = url.port_or_known_default()?;
        Some(Self { url, host: self.host.clone(), port, allowed: HostAllowance::Unlisted })
    }

    /// Returns whether another address belongs to the same site: the same host, `www.` before it or not, and the usual
    /// port of its scheme or the same one.
    pub(super) fn same_site(&self, other: &Self) -> bool {
        let same_host = match (&self.host, &other.host) {
            (TargetHost::Name(one), TargetHost::Name(two)) => bare(one) == bare(two),
            (one, two) => one == two,
        };
        same_host && (self.url.port() == other.url.port() || self.port == other.port)
    }
}

fn bare(name: &str) -> &str {
    name.strip_prefix("www.").unwrap_or(name)
}

fn check_host(host: &TargetHost) -> Result<(), String> {
    match host {
        TargetHost::Address(address) => match address::special(*address) {
            None => Ok(()),
            Some(kind) => Err(format!("{address} is not a public address ({kind})")),
        },
        TargetHost::Name(name) => {
            let local =
                |end: &&&str| name.strip_suffix(**end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
            if let Some(end) = LOCAL_ENDS.iter().find(local) {
                return Err(format!("names that end in {end} are not public"));
            }
            if name.contains('.') { Ok(()) } else { Err("a name without a dot is not public".to_owned()) }
        }
    }
}

fn check_port(port: u16) -> Result<(), String> {
    let usual = matches!(port, 80 | 443) || (port >= 1024 && !SERVICE_PORTS.contains(&port));
    if usual { Ok(()) } else { Err(format!("port {port} is not one of a web server")) }
}
