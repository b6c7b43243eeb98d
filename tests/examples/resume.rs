//! A conversation that goes on in another process: recorded by a journal, read back, taken up by a new agent.

use jiff::tz::TimeZone;
use steersman::prelude::*;
use steersman::session::journal::{Header, Journal, SessionFiles, restore};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let files = SessionFiles::within(directory.path());

    let header = Header::new("example", "/work")?;
    let journal = Journal::begin(header.clone(), files.creating(&header, &TimeZone::UTC));
    let model = ScriptedProvider::new([Played::text("Hello, Ada.")]);
    let mut agent = Agent::with_provider(model, "You are helpful.").listener(journal.clone()).await?;
    println!("answer: {}", agent.ask("My name is Ada.").await?);
    drop(agent);
    journal.close();

    let recorded = restore(files.find(header.session.as_str())?.read()?.records);
    let model = ScriptedProvider::new([Played::text("Your name is Ada.")]);
    let mut agent = Agent::with_provider(model.clone(), "You are helpful.").history(recorded.messages).await?;
    println!("answer: {}", agent.ask("What is my name?").await?);
    println!("sent: {} messages", model.requests()[0].messages.len());
    Ok(())
}
