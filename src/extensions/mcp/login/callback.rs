//! Where the browser comes back to after a login: one path on the loopback of this machine.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use steersman_base::limits;
use steersman_base::text::{clip, visible_line};

const PATH: &str = "/callback";
/// Longest head of a request, bytes.
const HEAD: usize = 16 * 1024;
/// Connections that are read at a time: browsers open some on which they ask for nothing.
const CALLERS: usize = 16;
/// Pause when the system gives no connection, as where too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// A listener for the browser.
pub(super) struct Callback {
    listener: TcpListener,
    port: u16,
}

/// What the browser brought.
pub(super) struct Came {
    pub code: String,
    pub issuer: Option<String>,
}

impl Callback {
    /// Listens at a port of this machine; 0 is any free one.
    pub(super) async fn listen(port: u16) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("nothing can listen on port {port} of this machine: {error}");
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, port })
    }

    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the browser. Whatever does not know the secret of this login is answered and passed over.
    pub(super) async fn wait(self, state: &str) -> Result<Came, String> {
        let mut callers = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if callers.len() < CALLERS => match accepted {
                    Ok((socket, _)) => callers.push(timeout(limits::MCP_LOGIN_STEP, self.answer_request(socket, state))),
                    Err(_) => sleep(PAUSE).await,
                },
                Some(taken) = callers.next() => if let Ok(Some(outcome)) = taken {
                    return outcome;
                },
            }
        }
    }

    async fn answer_request(&self, mut socket: TcpStream, state: &str) -> Option<Result<Came, String>> {
        let target = read_target(&mut socket).await?;
        let place = Url::parse(&format!("http://127.0.0.1:{}{target}", self.port)).ok()?;
        let value = |name: &str| place.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        if place.path() != PATH || value("state").as_deref() != Some(state) {
            answer(&mut socket, "404 Not Found", "This is not the login that is waited for.").await;
            return None;
        }
        if let Some(error) = value("error") {
            let more = value("error_description").map(|more| format!(": {more}")).unwrap_or_default();
            answer(&mut socket, "200 OK", "The login was refused. You can close this page.").await;
            let said = format!("{error}{more}");
            return Some(Err(format!("the authorization server says {}", clip(&visible_line(&said), 200))));
        }
        let Some(code) = value("code") else {
            answer(&mut socket, "400 Bad Request", "There is no code in this address.").await;
            return None;
        };
        answer(&mut socket, "200 OK", "You are logged in. You can close this page.").await;
        Some(Ok(Came { code, issuer: value("iss") }))
    }
}

/// Reads what a request asks for.
async fn read_target(socket: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = socket.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(buffer.get(..read)?);
        if head.len() > HEAD {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_owned))?
}

async fn answer(socket: &mut TcpStream, status: &str, words: &str) {
    let body = format!("<!doctype html><title>steersman</title><p>{words}</p>\n");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = socket.write_all(format!("{head}{body}").as_bytes()).await;
    let _ = socket.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_on_which_nothing_comes_keep_no_browser_waiting() {
        let callback = Callback::listen(0).await.unwrap();
        let port = callback.port;
        let mut silent = Vec::new();
        for _ in 0..CALLERS / 2 {
            silent.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
        }
        let came = tokio::spawn(callback.wait("secret"));
        let mut browser = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        browser.write_all(b"GET /callback?state=secret&code=abc HTTP/1.1\r\n\r\n").await.unwrap();
        let came = timeout(limits::MCP_LOGIN_STEP / 2, came).await.expect("the browser waits for the others");
        assert_eq!(came.unwrap().map(|came| came.code), Ok("abc".to_owned()));
        drop(silent);
    }
}
