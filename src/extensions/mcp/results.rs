//! The result of a call as the model gets it: texts as they are, everything else named and kept as a file.
//!
//! A result is text of strangers: whoever shows it makes it visible. Long texts are cut by the same cap as those of
//! commands, the whole of them in the session's files; images, sounds and other binary parts go there too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use steersman_base::limits;
use steersman_base::summary::bytes;
use steersman_base::text::{clip, visible_line};
use steersman_core::tool::{Outputs, ResultImages, ToolError, shorten};
use steersman_images::FittedImage;

/// Makes the observation of a call's result.
///
/// # Errors
/// [`ToolError::Failed`] with the same words when the server says that the call failed.
pub(super) async fn observation(result: &Value, outputs: Option<&Outputs>) -> Result<String, ToolError> {
    let mut parts = Vec::new();
    let mut blobs = 0;
    for block in result.get("content").and_then(Value::as_array).into_iter().flatten() {
        parts.push(part(block, outputs, &mut blobs));
    }
    if parts.iter().all(|part| part.trim().is_empty())
        && let Some(structured) = result.get("structuredContent").filter(|content| !content.is_null())
    {
        parts.push(serde_json::to_string_pretty(structured).unwrap_or_default());
    }
    // What a server of an early version answered.
    if let Some(result) = result.get("toolResult").filter(|_| parts.is_empty()) {
        parts.push(result.to_string());
    }
    let mut text = parts.join("\n");
    if text.trim().is_empty() {
        "[the server returned nothing]".clone_into(&mut text);
    }
    let text = shorten(text.replace('\0', "␀"), outputs).await;
    let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    if is_error { Err(ToolError::Failed(text)) } else { Ok(text) }
}

/// Leaves the images of a result for the model, those of resources too, made smaller where they are too large, away from the
/// run. Returns sentences about those that cannot be shown.
pub(super) async fn show_images(result: &Value, tool: &str, images: &ResultImages) -> Vec<String> {
    let found: Vec<(String, String)> = image_data(result)
        .take(limits::IMAGES)
        .enumerate()
        .map(|(place, data)| (format!("image {} of {}", place + 1, visible_line(tool)), data.to_owned()))
        .collect();
    if found.is_empty() {
        return Vec::new();
    }
    let images = images.clone();
    let shown = tokio::task::spawn_blocking(move || {
        let show = |(name, data): (String, String)| {
            let decoded = STANDARD.decode(data.trim()).map_err(|error| error.to_string());
            let fitted = decoded.and_then(|bytes| FittedImage::new(name.clone(), &bytes));
            let outcome = fitted.and_then(|fitted| images.add(fitted.image));
            outcome.err().map(|why| format!("[{name} is not shown: {why}]"))
        };
        found.into_iter().filter_map(show).collect()
    });
    shown.await.unwrap_or_else(|_| vec!["[an image is not shown: it could not be opened]".to_owned()])
}

/// Adds sentences to an observation, also to one of an error.
pub(super) fn with_notes(observation: Result<String, ToolError>, notes: &[String]) -> Result<String, ToolError> {
    let add = |text: String| std::iter::once(text).chain(notes.iter().cloned()).collect::<Vec<_>>().join("\n");
    match observation {
        Ok(text) => Ok(add(text)),
        Err(ToolError::Failed(text)) => Err(ToolError::Failed(add(text))),
        Err(error) => Err(error),
    }
}

/// Returns the data of the images of a result: of a call, and of a resource that was read.
fn image_data(result: &Value) -> impl Iterator<Item = &str> {
    let list = |name: &str| result.get(name).and_then(Value::as_array).into_iter().flatten();
    list("content").filter_map(image_of_block).chain(list("contents").filter_map(image_of_resource))
}

fn image_of_block(block: &Value) -> Option<&str> {
    match block.get("type")?.as_str()? {
        "image" => block.get("data")?.as_str(),
        "resource" => image_of_resource(block.get("resource")?),
        _ => None,
    }
}

fn image_of_resource(resource: &Value) -> Option<&str> {
    let is_image = resource.get("mimeType")?.as_str()?.starts_with("image/");
    resource.get("blob")?.as_str().filter(|_| is_image)
}

/// Makes the text of a resource that was read.
pub(super) async fn resource(result: &Value, outputs: Option<&Outputs>) -> String {
    let mut blobs = 0;
    let contents = result.get("contents").and_then(Value::as_array);
    let parts: Vec<String> = contents.into_iter().flatten().map(|one| embedded(one, outputs, &mut blobs)).collect();
    let text = if parts.is_empty() { "[the resource is empty]".to_owned() } else { parts.join("\n") };
    shorten(text.replace('\0', "␀"), outputs).await
}

/// Returns the text of a prompt's messages, each behind who says it where that is not the user alone.
pub(super) fn prompt(result: &Value) -> String {
    let messages: Vec<&Value> = result.get("messages").and_then(Value::as_array).into_iter().flatten().collect();
    let is_user = |message: &&Value| message.get("role").and_then(Value::as_str) != Some("assistant");
    let is_plain = messages.iter().all(is_user);
    let one = |message: &Value| {
        let content = message.get("content").unwrap_or(&Value::Null);
        let blocks: Vec<&Value> = content.as_array().map_or_else(|| vec![content], |list| list.iter().collect());
        let text = blocks.into_iter().map(|block| part(block, None, &mut 0)).collect::<Vec<_>>().join("\n");
        let who = if is_user(&message) { "User" } else { "Assistant" };
        if is_plain { text } else { format!("{who}: {text}") }
    };
    messages.into_iter().map(one).collect::<Vec<_>>().join("\n\n")
}

fn part(block: &Value, outputs: Option<&Outputs>, blobs: &mut usize) -> String {
    let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => text("text").to_owned(),
        kind @ ("image" | "audio") => blob(kind, text("mimeType"), text("data"), outputs, blobs),
        "resource" => embedded(block.get("resource").unwrap_or(&Value::Null), outputs, blobs),
        "resource_link" => {
            let named = [text("name"), text("description")].into_iter().filter(|text| !text.is_empty());
            let named = named.collect::<Vec<_>>().join(": ");
            format!("[resource {} {named}]", text("uri")).replace(" ]", "]")
        }
        kind => format!("[a part of the kind {:?}, which is not known]", clip(&visible_line(kind), 40)),
    }
}

fn embedded(resource: &Value, outputs: Option<&Outputs>, blobs: &mut usize) -> String {
    let text = |name: &str| resource.get(name).and_then(Value::as_str);
    let uri = text("uri").unwrap_or_default();
    match (text("text"), text("blob")) {
        (Some(words), _) => format!("[resource {uri}]\n{words}"),
        (None, Some(data)) => {
            format!("[resource {uri}]\n{}", blob("file", text("mimeType").unwrap_or_default(), data, outputs, blobs))
        }
        (None, None) => format!("[resource {uri}, empty]"),
    }
}

/// Names a binary part, and keeps it where there is a place.
fn blob(kind: &str, mime: &str, data: &str, outputs: Option<&Outputs>, blobs: &mut usize) -> String {
    let mime = visible_line(mime);
    let mime = clip(&mime, 60);
    *blobs += 1;
    let Ok(content) = STANDARD.decode(data.trim()) else { return format!("[{kind} {mime}: its data cannot be read]") };
    let size = bytes(content.len() as u64);
    let Some(outputs) = outputs.filter(|_| *blobs <= limits::MCP_BLOBS) else {
        return format!("[{kind} {mime}, {size}, not kept]");
    };
    match outputs.keep(&content, ending(&mime)) {
        Ok(path) => format!("[{kind} {mime}, {size}, kept as {}]", path.display()),
        Err(error) => format!("[{kind} {mime}, {size}, not kept: {error}]"),
    }
}

fn ending(mime: &str) -> &'static str {
    match mime {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/gzip" => "gz",
        "application/zip" => "zip",
        mime if mime.starts_with("text/") => "txt",
        _ => "bin",
    }
}
