//! The proxies that the environment names: which one an address uses, and faults of its variable.
//!
//! The library under the HTTP client ignores a malformed variable and connects directly; here that is an error, so
//! that no request bypasses an intended proxy. A value is never shown: it may hold a password.

use std::ffi::OsString;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;

/// Returns the proxy that the environment names for an address, without its user.
pub(super) fn before(url: &Url, matcher: &Matcher) -> Option<String> {
    let proxy = matcher.intercept(&url.as_str().parse().ok()?)?;
    let host = proxy.uri().host()?;
    Some(proxy.uri().port_u16().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// Returns what is wrong with the variable for an address; `None` when nothing is.
pub(super) fn proxy_error(url: &Url, variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    let of = |name: String| [name.to_uppercase(), name].into_iter().find_map(|name| Some((variable(&name)?, name)));
    let set = |name: String| of(name).filter(|(value, _)| !value.is_empty());
    let (value, name) = set(format!("{}_proxy", url.scheme())).or_else(|| set("all_proxy".to_owned()))?;
    let excused = of("no_proxy".to_owned()).and_then(|(names, _)| names.into_string().ok()).unwrap_or_default();
    let any = Matcher::builder().all("http://proxy.invalid").no(excused).build();
    any.intercept(&url.as_str().parse().ok()?)?;
    match value.to_str().and_then(scheme_of) {
        Some(scheme) if scheme.starts_with("http") => None,
        Some(_) => Some(format!("{name} names a SOCKS proxy; only HTTP proxies are supported; nothing was sent")),
        None => {
            let sentence = "is not the address of a proxy, such as http://proxy.example:3128; correct or remove it";
            Some(format!("the variable {name} {sentence}; nothing was sent"))
        }
    }
}

/// Returns the scheme of a proxy's address as the HTTP client reads it; `None` when it is no address.
fn scheme_of(value: &str) -> Option<String> {
    let matcher = Matcher::builder().all(value).build();
    let proxy = matcher.intercept(&"http://host.invalid/".parse().ok()?)?;
    let authority = proxy.uri().authority()?;
    let is_whole =
        !authority.host().is_empty() && (authority.host() == authority.as_str() || authority.port_u16().is_some());
    is_whole.then(|| proxy.uri().scheme_str().map(str::to_owned)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(variables: &[(&str, &str)]) -> Option<String> {
        let url = Url::parse("https://model.example/v1").unwrap();
        proxy_error(&url, |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into()))
    }

    #[test]
    fn only_the_variable_that_holds_is_looked_at() {
        for fine in [
            &[("HTTPS_PROXY", "http://user:secret@proxy:3128")][..],
            &[("https_proxy", "proxy:3128"), ("HTTP_PROXY", "http://")],
            &[("HTTPS_PROXY", "proxy"), ("ALL_PROXY", "%%")],
            &[("HTTPS_PROXY", ""), ("ALL_PROXY", "http://[::1]:8")],
            &[("HTTPS_PROXY", "%%"), ("NO_PROXY", "a,model.example")],
            &[],
        ] {
            assert_eq!(said(fine), None, "{fine:?}");
        }
        for (wrong, name) in [
            (&[("HTTPS_PROXY", "http://")][..], "HTTPS_PROXY"),
            (&[("https_proxy", "http:/proxy:3128")], "https_proxy"),
            (&[("HTTPS_PROXY", "http://user:secret@:3128")], "HTTPS_PROXY"),
            (&[("HTTPS_PROXY", "proxy:port")], "HTTPS_PROXY"),
            (&[("HTTPS_PROXY", "ftp://proxy:21")], "HTTPS_PROXY"),
            (&[("HTTPS_PROXY", "http://pro xy:3128")], "HTTPS_PROXY"),
            (&[("ALL_PROXY", "socks5://proxy:1080")], "ALL_PROXY"),
        ] {
            let said = said(wrong).unwrap_or_else(|| panic!("{wrong:?} is fine"));
            assert!(said.contains(name) && said.contains("nothing was sent") && !said.contains("secret"), "{said}");
        }
    }
}
