//! The text of a PDF document, by `pdftotext`: as a job of the spawner, confined to that one file, without a network.

use std::io::Write as _;
use std::time::Duration;

use crate::workspace::{Confinement, Failure, Job, Spawner};
use steersman_base::limits;
use steersman_core::tool::ToolError;

const NOT_INSTALLED: &str =
    "it is a PDF document, and pdftotext, which would read it, is not installed (Debian: poppler-utils)";

/// Returns the text of a document, its pages parted by form feeds, and whether there was more.
pub(super) async fn text(spawner: &Spawner, document: Vec<u8>) -> Result<(String, bool), ToolError> {
    let fault = |error: std::io::Error| ToolError::failed(format!("the PDF document cannot be read: {error}"));
    let directory = tempfile::Builder::new().prefix("steersman-pdf-").tempdir().map_err(fault)?;
    let path = directory.path().join("document.pdf");
    let of_file = path.clone();
    let written = tokio::task::spawn_blocking(move || std::fs::File::create(of_file)?.write_all(&document)).await;
    written.map_err(|error| fault(error.into()))?.map_err(fault)?;
    let job = Job {
        argv: ["pdftotext", "-q", "-enc", "UTF-8"]
            .into_iter()
            .map(Into::into)
            .chain([path.clone().into_os_string(), "-".into()])
            .collect(),
        cwd: directory.path().to_owned(),
        environment: Vec::new(),
        confinement: Confinement { readable: vec![directory.path().to_owned()], ..Confinement::default() },
    };
    tokio::time::timeout(limits::PDF_TIME, run(spawner, &job)).await.unwrap_or_else(|_| {
        let time = Duration::as_secs(&limits::PDF_TIME);
        Err(ToolError::failed(format!("the PDF document cannot be read: pdftotext took longer than {time} s")))
    })
}

async fn run(spawner: &Spawner, job: &Job) -> Result<(String, bool), ToolError> {
    let fault = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => ToolError::failed(NOT_INSTALLED),
        _ => ToolError::failed(format!("pdftotext cannot be run: {error}")),
    };
    let mut running = spawner.start_own(job, None).map_err(fault)?;
    let mut text = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    let mut cut = false;
    loop {
        let count = running.read_output(&mut piece).await.map_err(fault)?;
        if count == 0 {
            break;
        }
        text.extend_from_slice(piece.get(..count).unwrap_or_default());
        if text.len() > limits::WEB_BYTES {
            cut = true;
            running.kill();
            break;
        }
    }
    let ended = running.ended().await;
    let text = String::from_utf8_lossy(&text).into_owned();
    match ended.failure {
        Some(Failure::NotStarted(_)) => Err(ToolError::failed(NOT_INSTALLED)),
        _ if cut || ended.code == Some(0) => Ok((text, cut)),
        _ => {
            let words = steersman_base::text::visible_line(text.trim()).into_owned();
            let words = steersman_base::text::clip(&words, limits::ERROR_CHARS).into_owned();
            Err(ToolError::failed(format!("the PDF document cannot be read: pdftotext says {words:?}")))
        }
    }
}
