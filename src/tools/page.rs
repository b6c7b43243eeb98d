//! What `fetch` and `web_scrape` share: an address is put to approval as it will be requested, and then requested.
//!
//! `http://host/…` is asked as `https://host/…`. When nobody answers there, the `http` address is put to approval by
//! itself and asked. A host that the configuration allows, and an address with a port of its own, are asked as written.

use crate::web::{Body, Client, Target, WebError, WebResponse, decode};
use steersman_base::details::{Details, PageInfo};
use steersman_base::limits;
use steersman_base::text::{clip, visible_line};
use steersman_core::approval::FetchOperation;
use steersman_core::tool::{Args, ToolContext, ToolError};

/// An answer, read.
pub(super) struct Page {
    /// The address that answered.
    pub(super) url: String,
    pub(super) content_type: crate::web::ContentType,
    pub(super) body: Body,
    /// Sentences about how it was got.
    pub(super) notes: Vec<String>,
}

/// Asks for leave to get an address, gets it, and reads its body when it is of a kind that is wanted.
pub(super) async fn get(
    client: &Client,
    context: &ToolContext,
    tool: &'static str,
    url: &str,
    wanted: impl Fn(&WebResponse) -> Result<(), String>,
) -> Result<Page, ToolError> {
    let mut notes = Vec::new();
    let written = client.target(url)?;
    let reply = match written.upgraded() {
        None => ask(client, context, tool, &written).await??,
        Some(safe) => match ask(client, context, tool, &safe).await? {
            Err(unreachable @ WebError::Unreachable { .. }) => {
                notes.push(format!("asked over http, because over https {unreachable}"));
                ask(client, context, tool, &written).await??
            }
            reply => reply?,
        },
    };
    let (url, status, content_type) = (reply.url().to_string(), reply.status(), reply.content_type().clone());
    let show = |bytes: u64| {
        let content_type = content_type.essence().to_owned();
        context.details(Details::Page(PageInfo { url: url.clone(), status: status.as_u16(), content_type, bytes }));
    };
    if !status.is_success() {
        let wait =
            reply.header("retry-after").map(|wait| format!(" (to be tried again after: {})", visible_line(wait)));
        let wait = wait.unwrap_or_default();
        let textual = content_type.is_text();
        let body = if textual { reply.read_body().await.ok() } else { None };
        show(body.as_ref().map_or(0, |body| body.bytes.len() as u64));
        let words =
            body.map(|body| decode(&body.bytes, &content_type).trim().to_owned()).filter(|words| !words.is_empty());
        let words = words.map(|words| format!(":\n{}", clip(&words, limits::ERROR_CHARS))).unwrap_or_default();
        return Err(ToolError::failed(format!("{url} answered {status}{wait}{words}")));
    }
    if let Err(why) = wanted(&reply) {
        show(0);
        return Err(ToolError::Failed(why));
    }
    let body = reply.read_body().await?;
    show(body.bytes.len() as u64);
    if body.cut {
        notes.push(format!("the body is longer than {} bytes; the rest was not read", body.bytes.len()));
    }
    Ok(Page { url, content_type, body, notes })
}

async fn ask(
    client: &Client,
    context: &ToolContext,
    tool: &'static str,
    target: &Target,
) -> Result<Result<WebResponse, WebError>, ToolError> {
    let operation = context.approve(FetchOperation { tool: tool.into(), url: target.url().to_string() }).await?.take();
    let target = client.target(&operation.url)?;
    Ok(client.get(&target).await)
}

/// Reads the optional first character that is wanted.
pub(super) fn offset(args: &Args) -> Result<usize, ToolError> {
    let offset = usize::try_from(args.opt_int("offset").unwrap_or(0));
    offset.map_err(|_| ToolError::failed("offset must be at least 0"))
}

/// Cuts a text to the characters of one call, with its notes behind it.
pub(super) fn window(text: &str, offset: usize, notes: &[String]) -> Result<String, ToolError> {
    let mut places = text.char_indices().map(|(at, _)| at).skip(offset);
    let start = places.next().unwrap_or(text.len());
    let end = places.nth(limits::WEB_CHARS - 1).unwrap_or(text.len());
    let whole = || text.chars().count();
    if offset > 0 && start == text.len() {
        return Err(ToolError::failed(format!("offset {offset} is past the end: the text has {} characters", whole())));
    }
    // Servers of models stumble over a NUL; it has a picture.
    let mut shown = text.get(start..end).unwrap_or_default().replace('\0', "␀");
    if shown.trim().is_empty() {
        shown.clear();
        shown.push_str("[there is no text]");
    }
    let cut = (end < text.len()).then(|| {
        let next = offset + limits::WEB_CHARS;
        format!("characters {offset} to {next} of {}; to go on, use offset {next}", whole())
    });
    for note in notes.iter().chain(&cut) {
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.extend(["[", note, "]\n"]);
    }
    Ok(shown)
}

/// Says how large a body is that was not read.
pub(super) fn size(reply: &WebResponse) -> String {
    reply.length().map_or_else(|| "of unknown size".to_owned(), |length| format!("{length} bytes"))
}
