//! TLS for tests: an authority of the test's own, its certificates, and a front that stands before a plain server.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Signs certificates; its own lies in a file.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: tempfile::NamedTempFile,
}

/// Says from when to when a certificate holds.
#[derive(Debug, Clone, Copy)]
pub enum Valid {
    Now,
    Past,
    Future,
}

/// A certificate with its key.
pub type Identity = (CertificateDer<'static>, PrivateKeyDer<'static>);

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::default()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        // Two authorities must not have one name.
        let file = tempfile::NamedTempFile::new().unwrap();
        params.distinguished_name.push(DnType::CommonName, file.path().display().to_string());
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(file.path(), certificate.pem()).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }

    /// Returns the file with its certificate.
    pub fn file(&self) -> &Path {
        self.file.path()
    }

    /// Signs a certificate for a name.
    pub fn identity(&self, name: &str, valid: Valid) -> Identity {
        let (params, key) = leaf(name, valid);
        (params.signed_by(&key, &self.issuer).unwrap().into(), own(&key))
    }
}

/// Makes a certificate that signs itself.
pub fn self_signed(name: &str) -> Identity {
    let (params, key) = leaf(name, Valid::Now);
    (params.self_signed(&key).unwrap().into(), own(&key))
}

/// Makes a certificate that signs itself and calls itself an authority, as `openssl req -x509` does, and its file.
pub fn self_signed_authority(name: &str) -> (Identity, tempfile::NamedTempFile) {
    let (mut params, key) = leaf(name, Valid::Now);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), certificate.pem()).unwrap();
    ((certificate.into(), own(&key)), file)
}

fn leaf(name: &str, valid: Valid) -> (CertificateParams, KeyPair) {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let (from, until) = match valid {
        Valid::Now => (2020, 2090),
        Valid::Past => (2001, 2002),
        Valid::Future => (2090, 2091),
    };
    params.not_before = date_time_ymd(from, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    (params, KeyPair::generate().unwrap())
}

fn own(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivatePkcs8KeyDer::from(key.serialize_der()).into()
}

/// Makes the TLS side of a server.
pub fn acceptor((certificate, key): Identity, protocols: &[&str]) -> TlsAcceptor {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let mut config = builder.with_single_cert(vec![certificate], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

/// Says what a front does with a connection.
#[derive(Clone)]
pub enum Answer {
    /// Speaks TLS and hands on what comes.
    Tls(TlsAcceptor),
    /// Hands on what comes as it is.
    Plain,
    /// Closes it.
    Close,
    /// Says something else and closes it.
    Says(&'static [u8]),
}

impl Answer {
    pub fn tls(identity: Identity) -> Self {
        Self::Tls(acceptor(identity, &["http/1.1"]))
    }
}

/// Stands before a plain server. Dropping it stops it.
pub struct Front {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Front {
    /// Starts before the server at an origin; the connections get the answers in order, all later ones the last.
    pub fn start(answers: Vec<Answer>, origin: &str) -> Self {
        let target: SocketAddr = origin.trim_start_matches("http://").parse().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                let accept = async {
                    while let Ok((socket, _)) = listener.accept().await {
                        let place = count.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
                        tokio::spawn(serve(socket, answers[place].clone(), target));
                    }
                };
                tokio::select! { () = accept => {}, _ = stopped => {} }
            });
        });
        Self { address, connections, stop: Some(stop), thread: Some(thread) }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(mut socket: TcpStream, answer: Answer, target: SocketAddr) -> std::io::Result<()> {
    match answer {
        Answer::Close => Ok(()),
        Answer::Says(words) => {
            // What is left unread would reset the connection.
            let _ = socket.read(&mut [0; 16 * 1024]).await?;
            socket.write_all(words).await?;
            socket.shutdown().await
        }
        Answer::Plain => {
            let mut behind = TcpStream::connect(target).await?;
            copy_bidirectional(&mut socket, &mut behind).await.map(drop)
        }
        Answer::Tls(acceptor) => {
            let mut tls = acceptor.accept(socket).await?;
            let mut behind = TcpStream::connect(target).await?;
            copy_bidirectional(&mut tls, &mut behind).await.map(drop)
        }
    }
}
