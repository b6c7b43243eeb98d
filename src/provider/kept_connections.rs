//! Connections that have answered before: one that closes during its next request was only kept too long.
//!
//! A server may close a kept connection at any time, and some do so after each answer. A request that fails for that
//! reason is no fault of the server, so `http` sends it again at once.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Mutex;

use hyper::http::Extensions;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpInfo;
use reqwest::Response;

use crate::unreachable::{find, is_closed};
use steersman_base::limits;
use steersman_base::sync::lock;

/// The addresses of the two ends of a connection.
type Addresses = (SocketAddr, SocketAddr);

/// The latest connections that have answered.
#[derive(Debug, Default)]
pub(super) struct KeptConnections(Mutex<HashSet<Addresses>>);

impl KeptConnections {
    /// Adds the connection of an answer.
    pub(crate) fn add(&self, response: &Response) {
        let Some(addresses) = addresses(response.extensions()) else { return };
        let mut known = lock(&self.0);
        if known.len() >= limits::KEPT_CONNECTIONS {
            known.clear();
        }
        known.insert(addresses);
    }

    /// Returns whether a request failed only because a kept connection was closed before it sent a byte, and
    /// forgets that connection. HTTP/2 connections report themselves which requests were processed.
    pub(crate) fn was_closed(&self, error: &reqwest::Error) -> bool {
        let connection = find::<legacy::Error>(error).and_then(legacy::Error::connect_info);
        let mut extensions = Extensions::new();
        if let Some(connection) = connection {
            connection.get_extras(&mut extensions);
        }
        let Some(addresses) = addresses(&extensions) else { return false };
        let known = lock(&self.0).remove(&addresses);
        known && is_closed(error) && find::<h2::Error>(error).is_none()
    }
}

fn addresses(extensions: &Extensions) -> Option<Addresses> {
    let info = extensions.get::<HttpInfo>()?;
    Some((info.local_addr(), info.remote_addr()))
}
