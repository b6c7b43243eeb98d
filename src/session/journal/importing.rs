//! The journal of a session that another program wrote: written whole, or not at all.

use std::{fs, io};

use jiff::tz::TimeZone;

use crate::host::Keeper as _;
use crate::journal::files::SessionFiles;
use crate::journal::record::{Header, Record};
use crate::journal::recording::Journal;
use steersman_core::provider::ApiKey;

/// Records that are handed over at once: the writer has to keep up.
const PART: usize = 1_000;

/// What came of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Import {
    /// Its journal is written.
    Written,
    /// It was there already, from the same file.
    There,
}

impl SessionFiles {
    /// Writes the journal of a session that another program wrote, without these keys. One that is there is written anew when
    /// its file has changed since.
    ///
    /// # Errors
    /// What the directory says.
    pub fn import(&self, header: &Header, records: Vec<Record>, secrets: Vec<ApiKey>) -> io::Result<Import> {
        let earlier = self.list()?.into_iter().find(|file| file.session == header.session);
        if let Some(file) = &earlier
            && file.header().is_some_and(|there| there.imported == header.imported)
        {
            return Ok(Import::There);
        }
        let path = self.path_of(header, &TimeZone::system());
        // No name of a journal, so that nobody sees a part of one.
        let unfinished = path.with_extension("importing");
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let journal = Journal::begin_import(header.clone(), self.creating_at(unfinished.clone(), None));
        for secret in secrets {
            journal.hide(secret);
        }
        for (index, record) in records.into_iter().enumerate() {
            journal.record(record);
            if index % PART == PART - 1 {
                journal.keep();
            }
        }
        journal.keep();
        if let Some(missing) = journal.close() {
            let _ = fs::remove_file(&unfinished);
            return Err(io::Error::other(missing));
        }
        drop(journal);
        if let Some(earlier) = earlier {
            earlier.remove()?;
        }
        fs::rename(&unfinished, &path)?;
        fs::File::open(path.parent().unwrap_or(&path))?.sync_all()?;
        Ok(Import::Written)
    }
}
