//! What the users of all clients of a run are writing, so that the journal has every draft.
//!
//! Always holds: what one client writes does not replace what another one writes, and what a client was given stays on record
//! until it says itself what it has.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::host::Handle;
use steersman_base::id::ClientId;
use steersman_base::protocol::DraftText;
use steersman_base::sync::lock;

/// The drafts of each client; `None` is the client that the run was started with.
#[derive(Default)]
pub(super) struct Drafts(Mutex<BTreeMap<Option<ClientId>, Vec<DraftText>>>);

impl Drafts {
    /// Records what one client has instead of what it had, with those of the others.
    pub(super) fn record(&self, handle: &Handle, client: Option<ClientId>, drafts: Vec<DraftText>) {
        let mut all = lock(&self.0);
        all.insert(client, drafts);
        // Under the lock: the newest come last.
        let of = |(client, drafts): (&Option<ClientId>, &Vec<DraftText>)| {
            let sender = client.clone();
            drafts.iter().map(|draft| DraftText { sender: sender.clone(), ..draft.clone() }).collect::<Vec<_>>()
        };
        handle.keep_drafts(all.iter().flat_map(of).collect());
    }

    /// Adds what a client is given. The journal has it already: an earlier process or another client recorded it.
    pub(super) fn give(&self, client: Option<ClientId>, given: &[DraftText]) {
        lock(&self.0).entry(client).or_default().extend_from_slice(given);
    }

    /// Makes the drafts of clients that are gone those of this client, and returns them.
    pub(super) fn take_over(&self, client: &ClientId, is_gone: impl Fn(Option<&ClientId>) -> bool) -> Vec<DraftText> {
        let mut all = lock(&self.0);
        let left: Vec<_> =
            all.extract_if(.., |client, _| is_gone(client.as_ref())).flat_map(|(_, drafts)| drafts).collect();
        all.insert(Some(client.clone()), left.clone());
        left
    }
}
