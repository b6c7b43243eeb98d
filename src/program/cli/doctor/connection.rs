//! The connection to the server, step by step: its name, the connection, TLS.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use reqwest::{Client, Url};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::Report;
use crate::program::config::Server;
use steersman_base::error::with_causes;
use steersman_base::limits;
use steersman_provider::Http;

/// Checks the connection; returns false when the server is not reached.
pub(super) async fn check(http: &Http, server: &Server, report: &mut Report) -> bool {
    let Ok(url) = Url::parse(server.base_url.trim()) else { return false };
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
    let host = host.trim_matches(['[', ']']);
    let client = match http.client(&url) {
        Ok(client) => client,
        Err(error) => {
            report.problem("HTTP", &error.to_string(), "correct the file of authorities, or the variable of the proxy");
            return false;
        }
    };
    if let Some(proxy) = http.proxy(&url) {
        report.note("server", &format!("{host} is reached through the proxy {proxy}"));
        return answer(client, &url, report).await;
    }
    let Some(address) = name(host, port, report).await else { return false };
    connect(host, address, report).await && answer(client, &url, report).await
}

async fn name(host: &str, port: u16, report: &mut Report) -> Option<SocketAddr> {
    let looked = timeout(limits::DOCTOR_STEP, lookup_host((host, port))).await;
    let addresses: Vec<SocketAddr> = match looked {
        Ok(Ok(addresses)) => addresses.collect(),
        Ok(Err(error)) => {
            let todo = "check the spelling of base_url, the network, and the name server";
            report.problem("name", &format!("{host} cannot be looked up: {error}"), todo);
            return None;
        }
        Err(_) => {
            let message = format!("looking {host} up took longer than {} s", limits::DOCTOR_STEP.as_secs());
            report.problem("name", &message, "check the network and the name server");
            return None;
        }
    };
    // The first address may be one on which no server listens, such as IPv6 loopback.
    let Some(first) = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first()).copied() else {
        report.problem("name", &format!("{host} has no address"), "check the spelling of base_url");
        return None;
    };
    // A numeric address needs no lookup.
    if host.parse::<IpAddr>().is_err() {
        report.ok("name", &format!("{host} is {}", first.ip()));
    }
    Some(first)
}

async fn connect(host: &str, address: SocketAddr, report: &mut Report) -> bool {
    let began = Instant::now();
    let port = address.port();
    match timeout(limits::DOCTOR_STEP, TcpStream::connect(address)).await {
        Ok(Ok(_)) => {
            report
                .ok("connection", &format!("{host} answers on port {port} within {} ms", began.elapsed().as_millis()));
            true
        }
        Ok(Err(error)) => {
            let todo = if address.ip().is_loopback() {
                "start the model server, or correct the port in base_url"
            } else {
                "check that the server runs, and that no firewall is in between"
            };
            report.problem("connection", &format!("{host} on port {port}: {error}"), todo);
            false
        }
        Err(_) => {
            let message = format!("{host} on port {port} does not answer within {} s", limits::DOCTOR_STEP.as_secs());
            report.problem("connection", &message, "check the network and firewalls; behind a proxy set HTTPS_PROXY");
            false
        }
    }
}

/// Sends a HEAD request: any answer shows that TLS and HTTP work.
async fn answer(client: &Client, url: &Url, report: &mut Report) -> bool {
    let what = if url.scheme() == "https" { "TLS" } else { "HTTP" };
    match timeout(limits::DOCTOR_STEP, client.head(url.clone()).send()).await {
        Ok(Ok(response)) => {
            report.ok(what, &format!("the server speaks {:?}", response.version()));
            true
        }
        Ok(Err(error)) => {
            let todo = if what == "TLS" {
                "check the clock of this machine, and the certificate authority of a company's network"
            } else {
                "check that this port speaks HTTP"
            };
            report.problem(what, &with_causes(&error.without_url()), todo);
            false
        }
        Err(_) => {
            let message = format!("no answer within {} s", limits::DOCTOR_STEP.as_secs());
            report.problem(what, &message, "check that a model server listens on this port");
            false
        }
    }
}
