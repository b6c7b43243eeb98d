//! The lock that git itself takes while it changes a file of settings, so that no git that had read a command's change
//! writes it back after that was put back.
//!
//! Who does not get it goes on without: a command can make such a file, but then no other git writes either.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::Errno;

use crate::workspace::beneath::NameInDirectory;
use crate::workspace::snapshot::restore::{free_name, remove, write};

/// The files that git changes under a lock of the same name with this ending.
const SETTINGS: [&str; 2] = ["config", "config.worktree"];
const ENDING: &str = ".lock";

/// A lock that is held until it is dropped.
pub(super) struct SettingsLock<'a> {
    place: &'a NameInDirectory,
    name: OsString,
}

impl<'a> SettingsLock<'a> {
    /// Takes the lock of a file of settings, with the mark in it; waits for it as long as there are looks left, 10
    /// ms apart.
    pub(super) fn take(place: &'a NameInDirectory, mark: &str, looks: &mut usize) -> Option<Self> {
        if !SETTINGS.iter().any(|name| *place.name == **name) {
            return None;
        }
        let mut name = place.name.to_os_string();
        name.push(ENDING);
        // Whole from its first moment: a program that is killed now leaves nothing that cannot be told to be its own.
        let made = free_name(place, mark).ok()?;
        write(place, &made, mark.as_bytes(), 0o600).ok()?;
        loop {
            match rustix::fs::renameat_with(&place.dir, &*made, &place.dir, &*name, RenameFlags::NOREPLACE) {
                Ok(()) => return Some(Self { place, name }),
                Err(Errno::EXIST) if *looks > 0 => {
                    *looks -= 1;
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(_) => {
                    remove(place, &made);
                    return None;
                }
            }
        }
    }
}

impl Drop for SettingsLock<'_> {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(&self.place.dir, &*self.name, AtFlags::empty());
    }
}

/// Returns whether a file is a lock that a program with this mark made.
pub(super) fn is_ours(name: &OsStr, bytes: &[u8], mark: &str) -> bool {
    let name = name.to_str().and_then(|name| name.strip_suffix(ENDING));
    name.is_some_and(|name| SETTINGS.contains(&name)) && !mark.is_empty() && bytes == mark.as_bytes()
}
