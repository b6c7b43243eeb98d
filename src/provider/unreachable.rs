//! Why a request got no answer: the step that failed, in plain words, and whether a retry makes sense.
//!
//! Steps: the name, the connection, the proxy, TLS, and the wait for an answer. Errors of the libraries are
//! recognised by type where possible; their own text is shown only where nothing plainer is known.

use std::error::Error;
use std::io::{self, ErrorKind};

use reqwest::Url;
use rustls::CertificateError;

use crate::http::{self, Http};
use crate::retry::{Advice, Failure};
use steersman_base::error::request_causes;
use steersman_base::limits;
use steersman_core::provider::ProviderError;

/// Makes the failure of a request that got no answer.
pub(super) fn unreachable(http: &Http, url: &Url, error: reqwest::Error) -> Failure {
    let connecting = error.is_connect();
    let timed_out = error.is_timeout();
    let error = error.without_url();
    let proxy = http.proxy(url);
    let (reason, advice) = if connecting {
        match (tls(&error), tunnel(&error)) {
            (Some(reason), _) => (reason, Advice::GiveUp),
            (None, Some((reason, advice))) => (reason.to_owned(), advice),
            (None, None) if timed_out => {
                (format!("no connection within {} s", limits::CONNECT_TIMEOUT.as_secs()), Advice::Judge)
            }
            (None, None) => (connection(&error), Advice::Judge),
        }
    } else {
        let advice = if was_not_processed(&error) { Advice::AtOnce } else { Advice::Judge };
        (format!("the connection broke before an answer ({})", broken(&error)), advice)
    };
    let reason = match proxy {
        Some(proxy) => format!("through the proxy {proxy}: {reason}"),
        None => reason,
    };
    Failure { error: ProviderError::Unreachable { host: http::host(url), reason }, advice }
}

/// Returns what is wrong with TLS; `None` for other errors.
fn tls(error: &reqwest::Error) -> Option<String> {
    Some(match find::<rustls::Error>(error)? {
        rustls::Error::InvalidCertificate(fault) => certificate(fault),
        rustls::Error::InvalidMessage(_) => {
            "TLS: the server does not speak TLS; is the address http:// instead of https://?".to_owned()
        }
        rustls::Error::AlertReceived(alert) => format!("TLS: the server refuses the connection ({alert:?})"),
        other => format!("TLS: {other}"),
    })
}

fn certificate(fault: &CertificateError) -> String {
    let what = match fault {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet; is the clock of this machine right?".to_owned()
        }
        CertificateError::NotValidForName => "it is for another name".to_owned(),
        CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            "it is for another name".to_owned()
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names: Vec<String> = presented.iter().map(|name| bare(name)).collect();
            format!("it is for another name ({})", names.join(", "))
        }
        CertificateError::UnknownIssuer => {
            "no known authority has signed it; if it is right, name its authority with --ca-file".to_owned()
        }
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "it is marked as an authority (CA:TRUE), which a server's certificate must not be; make a new one with CA:FALSE"
                .to_owned()
        }
        CertificateError::BadSignature => "its signature is wrong".to_owned(),
        CertificateError::Revoked => "it was revoked".to_owned(),
        other => other.to_string(),
    };
    format!("TLS: the certificate of the server cannot be trusted: {what}")
}

/// Unwraps a name as rustls writes it: `DnsName("a.example")`.
fn bare(name: &str) -> String {
    name.split('"').nth(1).unwrap_or(name).to_owned()
}

/// Returns why a proxy opens no tunnel; `None` for other errors. The error has no public type.
fn tunnel(error: &reqwest::Error) -> Option<(&'static str, Advice)> {
    let causes = request_causes(error);
    let (_, what) = causes.split_once("tunnel error: ")?;
    if what.starts_with("proxy authorization required") {
        Some(("it needs a user and a password (407)", Advice::GiveUp))
    } else if what.starts_with("failed to create underlying connection") {
        None
    } else if what.starts_with("unsuccessful") {
        Some(("it refuses to open the connection", Advice::Judge))
    } else {
        Some(("it broke off before the connection was open", Advice::Judge))
    }
}

fn connection(error: &reqwest::Error) -> String {
    let causes = request_causes(error);
    if let Some((_, why)) = causes.split_once("failed to lookup address information: ") {
        return format!("DNS: the name is not known ({why})");
    }
    if causes.contains("dns error") {
        return format!("DNS: {causes}");
    }
    match find::<io::Error>(error).map(io::Error::kind) {
        Some(ErrorKind::ConnectionRefused) => "connection refused; nothing listens at that port".to_owned(),
        Some(ErrorKind::TimedOut) => "no connection: nothing answers at that address".to_owned(),
        Some(ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable) => {
            "no connection: there is no route to that address; is this machine online?".to_owned()
        }
        Some(ErrorKind::UnexpectedEof) => "TLS: the server hung up during the handshake".to_owned(),
        Some(ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe) => {
            "the connection was closed while it was made".to_owned()
        }
        _ => causes,
    }
}

/// Returns how an open connection broke.
fn broken(error: &reqwest::Error) -> String {
    if let Some(error) = find::<h2::Error>(error) {
        let by = if error.is_remote() { "the server ended it" } else { "it was ended here" };
        return match error.reason() {
            Some(reason) => format!("{by}: {}", reason.description()),
            None => by.to_owned(),
        };
    }
    if is_closed(error) { "the server closed it".to_owned() } else { request_causes(error) }
}

/// Returns whether the other side closed an open connection instead of an answer.
pub(super) fn is_closed(error: &reqwest::Error) -> bool {
    let closed = find::<hyper::Error>(error).is_some_and(|error| error.is_incomplete_message() || error.is_closed());
    let kinds =
        [ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted, ErrorKind::BrokenPipe, ErrorKind::UnexpectedEof];
    closed || find::<io::Error>(error).is_some_and(|error| kinds.contains(&error.kind()))
}

/// Returns whether the server has provably not processed the request: it refused the stream, or ended the connection
/// before it.
fn was_not_processed(error: &reqwest::Error) -> bool {
    let Some(error) = find::<h2::Error>(error) else { return false };
    // A connection that ends answers the streams up to the last one that it names; h2 gives this error to later ones.
    let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    error.is_remote() && (refused || error.is_go_away())
}

/// Finds an error of a kind among the causes of another, also within an I/O error.
pub(super) fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        let within = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = within.and_then(|within| find::<E>(within)) {
            return Some(found);
        }
        cause = error.source();
    }
    None
}
