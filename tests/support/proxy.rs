//! A proxy for tests: it opens tunnels to one place, whatever name it is asked for, or does not.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// Says what the proxy does with a request for a tunnel.
#[derive(Debug, Clone, Copy)]
pub enum Tunnels {
    /// Opens it to this place.
    To(SocketAddr),
    /// Answers with this status.
    Refused(u16),
    /// Closes the connection.
    HungUp,
}

/// A running proxy. Dropping it stops it.
pub struct Proxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Proxy {
    pub fn start(tunnels: Tunnels) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&asked);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                let accept = async {
                    while let Ok((socket, _)) = listener.accept().await {
                        tokio::spawn(serve(socket, tunnels, Arc::clone(&log)));
                    }
                };
                tokio::select! { () = accept => {}, _ = stopped => {} }
            });
        });
        Self { address, asked, stop: Some(stop), thread: Some(thread) }
    }

    /// Returns its address as it stands in `HTTPS_PROXY`.
    pub fn url(&self) -> String {
        format!("http://user:secret@{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the heads of the requests so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(mut socket: TcpStream, tunnels: Tunnels, log: Arc<Mutex<Vec<String>>>) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await?);
    }
    log.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
    match tunnels {
        Tunnels::HungUp => Ok(()),
        Tunnels::Refused(status) => {
            let answer = format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n");
            socket.write_all(answer.as_bytes()).await?;
            socket.shutdown().await
        }
        Tunnels::To(place) => {
            let mut behind = TcpStream::connect(place).await?;
            socket.write_all(b"HTTP/1.1 200 Open\r\n\r\n").await?;
            copy_bidirectional(&mut socket, &mut behind).await.map(drop)
        }
    }
}
