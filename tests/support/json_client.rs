//! A client whose requests and updates go through JSON, as over a socket.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use steersman_base::protocol::{Request, Update};
use steersman_session::host::Handle;
use steersman_session::{Client, LocalClient, Wake, WakeReason};

/// Writes everything as JSON and reads it again.
pub struct JsonClient {
    inner: LocalClient,
    /// Replies that were waited for.
    waited: Mutex<Vec<Update>>,
    woken: Mutex<Receiver<()>>,
}

impl JsonClient {
    pub fn new(handle: Handle) -> Self {
        let inner = LocalClient::new(handle);
        let (wake, woken) = channel();
        inner.on_wake(std::sync::Arc::new(move |waiting| {
            if waiting == WakeReason::Answers {
                // The receiver goes with the client.
                let _ = wake.send(());
            }
        }));
        Self { inner, waited: Mutex::default(), woken: Mutex::new(woken) }
    }

    /// Waits for the reply to what was sent last, which has a thread of its own.
    fn wait(&self) {
        let woken = self.woken.lock().unwrap();
        let mut waited = self.waited.lock().unwrap();
        loop {
            waited.extend(self.inner.answers());
            if waited.iter().any(|update| matches!(update, Update::Reply(_))) {
                return;
            }
            woken.recv_timeout(Duration::from_secs(30)).expect("a reply comes");
        }
    }
}

impl Client for JsonClient {
    fn send(&self, request: Request) {
        let takes_a_moment = request.takes_a_moment();
        self.inner.send(through_json(&request));
        if takes_a_moment {
            self.wait();
        }
    }

    fn answers(&self) -> Vec<Update> {
        let mut updates = std::mem::take(&mut *self.waited.lock().unwrap());
        updates.extend(self.inner.answers());
        updates.iter().map(through_json).collect()
    }

    fn events(&self) -> Vec<Update> {
        self.inner.events().iter().map(through_json).collect()
    }

    fn on_wake(&self, wake: Wake) {
        self.inner.on_wake(wake);
    }

    fn end(&self) {
        self.inner.end();
    }
}

/// Writes a value as JSON and reads it again.
pub fn through_json<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("it can be written");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
