//! What `exec` sends first: the prompt, with the files and the standard input that go with it.

use std::io::{self, IsTerminal as _, Read as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

use super::args::ExecArgs;
use crate::program::cli::exit::say;
use steersman_agent::OutputSchema;
use steersman_base::image::{Image, ImageType};
use steersman_base::limits;
use steersman_base::regular_file::{read_named, text_of};
use steersman_base::text::is_blank;
use steersman_extensions::output_schema;
use steersman_images::attach_bytes;

/// The first message.
#[derive(Debug)]
pub(super) struct Prompt {
    pub text: String,
    pub images: Vec<Image>,
    /// Whether it calls a command with shell lines, which the session fills in.
    pub is_filled_in: bool,
}

/// Reads the prompt and what belongs to it; `None` where requests come as JSON and none was given.
///
/// # Errors
/// One sentence for the user.
pub(super) fn read_prompt(args: &ExecArgs) -> Result<Option<Prompt>, String> {
    let is_taken = args.steer_stdin || args.has_json_input();
    let text = match (args.prompt.as_deref(), &args.prompt_file) {
        (Some("-"), _) if is_taken => {
            return Err("the prompt - reads standard input, and so does --steer-stdin: use one of them".to_owned());
        }
        (Some("-"), _) => standard_input()?,
        (Some(prompt), _) => prompt.to_owned(),
        (None, Some(path)) => trimmed(&read_prompt_file(path)?),
        (None, None) if !args.attach.is_empty() => return Err("--attach needs a prompt".to_owned()),
        (None, None) if !args.image.is_empty() => return Err("--image needs a prompt".to_owned()),
        (None, None) if args.has_json_input() => return Ok(None),
        (None, None) if !is_taken && !io::stdin().is_terminal() => standard_input()?,
        (None, None) => String::new(),
    };
    if is_blank(&text) {
        return Err(match (&args.prompt, &args.prompt_file) {
            (None, None) => {
                "exec needs a prompt: steersman exec PROMPT, or one on standard input (steersman exec --help)"
            }
            _ => "the prompt is blank",
        }
        .to_owned());
    }
    let mut prompt = Prompt { text, images: Vec::new(), is_filled_in: false };
    for path in &args.attach {
        let (name, bytes) = (path.display().to_string(), read_bytes(path, limits::IMAGE_FILE_BYTES)?);
        if ImageType::detect(&bytes).is_some() {
            attach_bytes(&mut prompt.text, &mut prompt.images, &name, &bytes)?;
        } else {
            add_block(&mut prompt.text, &format!("{name}:"), &text_within(path, bytes)?);
        }
    }
    for path in &args.image {
        let (name, bytes) = (path.display().to_string(), read_bytes(path, limits::IMAGE_FILE_BYTES)?);
        attach_bytes(&mut prompt.text, &mut prompt.images, &name, &bytes)?;
    }
    if args.prompt.as_deref().map_or(args.prompt_file.is_some(), |prompt| prompt != "-") && !is_taken && is_fed()? {
        let text = standard_input()?;
        if !is_blank(&text) {
            add_block(&mut prompt.text, "Standard input:", &text);
        }
    }
    Ok(Some(prompt))
}

/// Returns whether standard input is a file, or a pipe into which something is written, or which is closed. A parent that
/// leaves a pipe open and writes nothing is not waited for longer than [`limits::FIRST_INPUT`].
fn is_fed() -> Result<bool, String> {
    let stdin = io::stdin();
    match fstat(stdin.as_fd()).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::RegularFile) => Ok(true),
        Ok(FileType::Fifo) => {
            let patience = Timespec::try_from(limits::FIRST_INPUT).map_err(|error| error.to_string())?;
            let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
            let ready = poll(&mut polled, Some(&patience)).map_err(|error| format!("standard input: {error}"))?;
            if ready == 0 {
                say("nothing came on standard input: going on without it");
            }
            Ok(ready > 0)
        }
        _ => Ok(false),
    }
}

/// Reads standard input as the text of a message.
pub(in crate::program::cli) fn standard_input() -> Result<String, String> {
    let mut text = Vec::new();
    // One byte above the limit, so that the queue itself refuses a text that is too long.
    let longest = limits::MESSAGE_BYTES as u64 + 3;
    io::stdin()
        .lock()
        .take(longest)
        .read_to_end(&mut text)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    let text = text_of(text).map_err(|_| "standard input is not UTF-8 text".to_owned())?;
    Ok(trimmed(&text))
}

pub(super) fn read_prompt_file(path: &Path) -> Result<String, String> {
    text_within(path, read_bytes(path, limits::MESSAGE_BYTES as u64)?)
}

fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    read_named(path, most).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn text_within(path: &Path, bytes: Vec<u8>) -> Result<String, String> {
    let (most, size) = (limits::MESSAGE_BYTES, bytes.len());
    if size > most {
        return Err(format!("cannot read {}: it is larger than {most} bytes ({size} bytes)", path.display()));
    }
    text_of(bytes).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

pub(super) fn read_schema(path: &Path) -> Result<Arc<OutputSchema>, String> {
    let schema =
        output_schema::parse(&read_prompt_file(path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Arc::new(schema))
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches(['\r', '\n']).to_owned()
}

/// Adds a text as a block whose fence does not stand in it.
fn add_block(prompt: &mut String, title: &str, text: &str) {
    let mut run = 0;
    let mut longest = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    let text = text.trim_end_matches(['\r', '\n']);
    *prompt = format!("{prompt}\n\n{title}\n{fence}\n{text}\n{fence}");
}
