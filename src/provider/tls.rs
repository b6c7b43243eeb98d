//! The TLS settings of the program's HTTP clients. They do not depend on a default of the process, which the user
//! of the library may set.

use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ConfigBuilder, Error, RootCertStore, WantsVerifier};
use rustls_platform_verifier::Verifier;

/// Returns settings that trust these authorities and those of the system.
///
/// # Errors
/// When one of the authorities is no certificate.
pub fn trusting(authorities: &[CertificateDer<'static>]) -> Result<ClientConfig, Error> {
    let (provider, builder) = begin()?;
    Ok(end(match Verifier::new_with_extra_roots(authorities.iter().cloned(), provider) {
        Ok(verifier) => builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)),
        // Without this a machine without certificates could build no client, not even for plain http.
        Err(error) => {
            tracing::warn!(%error, "no certificates of the system, using the built-in ones");
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
            authorities.iter().try_for_each(|authority| roots.add(authority.clone()))?;
            builder.with_root_certificates(roots)
        }
    }))
}

/// Returns settings without authorities, for plain http, where the certificates of the system need not be read.
///
/// # Errors
/// None that a caller can cause.
pub fn trusting_nobody() -> Result<ClientConfig, Error> {
    Ok(end(begin()?.1.with_root_certificates(RootCertStore::empty())))
}

fn begin() -> Result<(Arc<CryptoProvider>, ConfigBuilder<ClientConfig, WantsVerifier>), Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    Ok((provider, builder))
}

fn end(builder: ConfigBuilder<ClientConfig, WantsClientCert>) -> ClientConfig {
    let mut settings = builder.with_no_client_auth();
    settings.alpn_protocols = vec!["h2".into(), "http/1.1".into()];
    settings
}
