//! What fills the context windows of a tree of agents, and what the user wants done with single parts. Its images, too.
//!
//! Agents publish what they hold and look at the requests at their boundaries; a host reads the one and writes the other. A
//! short lock, never held across an await. Always holds: a request of an agent that has ended is gone.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::gallery::Gallery;
use crate::sync::lock;
use steersman_base::id::{AgentId, CallId};
use steersman_base::image::Image;
use steersman_base::image::ImageDigest;
use steersman_base::protocol::{ContextItem, ContextKind, ContextPart, ContextReport, ContextRequest};

/// The contents of the context windows of a tree.
#[derive(Debug, Default)]
pub struct ContextBook {
    pages: Mutex<BTreeMap<AgentId, Page>>,
    images: Mutex<Gallery>,
    left_out: Mutex<Vec<String>>,
}

/// What is known of one agent.
#[derive(Debug, Default)]
struct Page {
    report: Option<ContextReport>,
    requests: BTreeMap<ContextItem, ContextRequest>,
}

impl ContextBook {
    /// Takes what an agent holds now, in place of what it held.
    pub fn publish(&self, report: ContextReport) {
        let mut pages = lock(&self.pages);
        let page = pages.entry(report.agent.clone()).or_default();
        page.report = Some(report);
    }

    /// Says what of the user's and the project's files counts for nothing, one sentence each.
    pub fn leave_out(&self, sentences: Vec<String>) {
        *lock(&self.left_out) = sentences;
    }

    /// Returns what every agent that runs holds, the main agent first, with the requests of the user; with what is left out
    /// behind what the main agent holds.
    pub fn reports(&self) -> Vec<ContextReport> {
        let left_out = lock(&self.left_out).clone();
        let part = |name: &String| ContextPart {
            kind: ContextKind::LeftOut,
            name: name.clone(),
            tokens: 0,
            item: None,
            request: None,
        };
        let with_wishes = |page: &Page| {
            let mut report = page.report.clone()?;
            if report.agent.is_main() {
                report.parts.extend(left_out.iter().map(part));
            }
            for part in &mut report.parts {
                part.request = part.item.as_ref().and_then(|item| page.requests.get(item)).copied();
            }
            Some(report)
        };
        lock(&self.pages).values().filter_map(with_wishes).collect()
    }

    /// Sets or ends a request about a part; false when the agent holds no such part, or that cannot be done with it.
    pub fn request(&self, agent: &AgentId, item: &ContextItem, request: Option<ContextRequest>) -> bool {
        let mut pages = lock(&self.pages);
        let Some(page) = pages.get_mut(agent) else { return false };
        let holds = |report: &ContextReport| report.parts.iter().any(|part| part.item.as_ref() == Some(item));
        let cannot = matches!((item, request), (ContextItem::Image(_), Some(ContextRequest::Pin)));
        if cannot || !page.report.as_ref().is_some_and(holds) {
            return false;
        }
        match request {
            Some(request) => page.requests.insert(item.clone(), request),
            None => page.requests.remove(item),
        };
        true
    }

    /// Takes what is to be taken out of an agent's conversation.
    pub fn take_drops(&self, agent: &AgentId) -> Vec<ContextItem> {
        let mut pages = lock(&self.pages);
        let Some(page) = pages.get_mut(agent) else { return Vec::new() };
        let drops: Vec<ContextItem> = page
            .requests
            .iter()
            .filter(|(_, request)| **request == ContextRequest::Drop)
            .map(|(item, _)| item.clone())
            .collect();
        page.requests.retain(|_, request| *request != ContextRequest::Drop);
        drops
    }

    /// Returns the results of an agent that a compaction keeps.
    pub fn pins(&self, agent: &AgentId) -> Vec<CallId> {
        let pages = lock(&self.pages);
        let requests = pages.get(agent).into_iter().flat_map(|page| &page.requests);
        let pinned = requests.filter(|(_, request)| **request == ContextRequest::Pin);
        let call = |item: &ContextItem| if let ContextItem::Call(call) = item { Some(call.clone()) } else { None };
        pinned.filter_map(|(item, _)| call(item)).collect()
    }

    /// Keeps images that have entered a conversation, for the screens that show it.
    pub fn keep_images<'a>(&self, images: impl IntoIterator<Item = &'a Image>) {
        images.into_iter().for_each(|image| lock(&self.images).keep(image));
    }

    /// Returns an image of the conversations; `None` where it is not kept any more.
    pub fn image(&self, digest: &ImageDigest) -> Option<Image> {
        lock(&self.images).find(digest)
    }

    /// Forgets an agent that has ended.
    pub fn forget(&self, agent: &AgentId) {
        lock(&self.pages).remove(agent);
    }
}
