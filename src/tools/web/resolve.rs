//! Resolves a name to addresses: once per hop, with every address checked, and only these are used.

use std::io;
use std::net::{IpAddr, SocketAddr};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::web::target::{HostAllowance, TargetHost};
use crate::web::{Target, WebError, address};

/// A resolver of names. The program uses [`SystemResolver`].
pub trait Resolve: Send + Sync {
    /// Returns the addresses of a name.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect()) }.boxed()
    }
}

/// Returns the addresses at which a target may be requested.
///
/// # Errors
/// [`WebError::Failed`] when there are none; [`WebError::Refused`] when one of them is not public.
pub(super) async fn pin(resolver: &dyn Resolve, target: &Target) -> Result<Vec<SocketAddr>, WebError> {
    let name = match target.host() {
        // Checked when the target was made.
        TargetHost::Address(address) => return Ok(vec![SocketAddr::new(*address, target.port())]),
        TargetHost::Name(name) => name,
    };
    let found = resolver.resolve(name).await;
    let found = found.map_err(|error| WebError::Failed(format!("the name {name} cannot be resolved: {error}")))?;
    if found.is_empty() {
        return Err(WebError::Failed(format!("the name {name} has no address")));
    }
    if target.allowed() == HostAllowance::Unlisted {
        for address in &found {
            if let Some(kind) = address::special(*address) {
                return Err(WebError::refused(format!(
                    "{} is not asked: {name} is at {address}, which is not a public address ({kind})",
                    target.url()
                )));
            }
        }
    }
    Ok(found.into_iter().map(|address| SocketAddr::new(address, target.port())).collect())
}
