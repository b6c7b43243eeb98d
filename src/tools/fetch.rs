//! The tool `fetch`: the text of an address, word for word.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::page::{self, Page};
use crate::web::{Client, WebResponse, decode};
use steersman_base::limits;
use steersman_core::tool::{Args, Concurrency, Parameters, Tool, ToolContext, ToolError, ToolSpec, Traits};

/// Gets texts from the web as they are.
pub struct FetchTool {
    client: Client,
    spec: ToolSpec,
}

impl FetchTool {
    /// Makes the tool with the client that it asks through.
    pub fn new(client: Client) -> Self {
        let parameters = Parameters::build(|p| {
            p.required_string("url", "The whole address, with https://.");
            p.optional_integer("offset", "How many characters to pass over. Default 0.");
        });
        let description = format!(
            "Gets an address and shows its text word for word: source files, JSON, XML, plain text, HTML as it is \
             written (web_scrape shows a page for reading). At most {} characters per call; to go on, call again with \
             the offset that the last line names. Redirects to another site are named, not followed. Not for images, \
             archives and other binary files.",
            limits::WEB_CHARS
        );
        let spec = ToolSpec::new("fetch", description, parameters).concurrency(Concurrency::Parallel).traits(Traits {
            private: false,
            untrusted: true,
            egress: true,
        });
        Self { client, spec }
    }
}

impl Tool for FetchTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            let offset = page::offset(&args)?;
            let Page { content_type, body, notes, url } =
                page::get(&self.client, context, "fetch", args.str("url"), is_text).await?;
            if content_type.essence().is_empty() && body.bytes.contains(&0) {
                let size = body.bytes.len();
                return Err(ToolError::failed(format!("{url} has no type and is not text ({size} bytes)")));
            }
            page::window(&decode(&body.bytes, &content_type), offset, &notes)
        }
        .boxed()
    }
}

/// Refuses what is not text by its type; what has none is looked at.
fn is_text(reply: &WebResponse) -> Result<(), String> {
    let kind = reply.content_type();
    if kind.is_text() || kind.essence().is_empty() {
        return Ok(());
    }
    let hint = if kind.is_pdf() { "; web_scrape reads PDF documents" } else { "" };
    Err(format!("{} is {} ({}); fetch shows text only{hint}", reply.url(), kind.essence(), page::size(reply)))
}
