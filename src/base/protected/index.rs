//! The index of git: which files it writes where somebody restores them. Git itself looks at these names when it makes an index,
//! and not when it reads one; so one that a command made by hand could name `.git/hooks`, or a place outside of the tree.
//!
//! Source: `read-cache.c` of git 2.47, gitformat-index(5). Read is what git reads, in each of the ways in which it does that:
//! one entry after the other, and in blocks that a table names.

use super::fold_case;

/// The first bytes of an index; a file without them is none.
const SIGNATURE: &[u8] = b"DIRC";
const HEADER_BYTES: usize = 12;
/// Where the mode lies in an entry, and what comes before its hash.
const MODE_AT: usize = 24;
const STATE_BYTES: usize = 40;
/// Flags of an entry: more flags follow; the length of its name, or that it is longer.
const EXTENDED: usize = 0x4000;
const NAME_MASK: usize = 0xFFF;
/// The mode of a directory that is not checked out.
const DIRECTORY: u32 = 0o040_000;

/// Tells whether a file named like an index is none, or names only files in the working tree that are none of git's own.
/// `hash_bytes` is the length of hashes in its repository.
pub fn is_harmless_index(bytes: &[u8], hash_bytes: usize) -> bool {
    !bytes.starts_with(SIGNATURE) || parse(bytes, hash_bytes).is_some()
}

fn parse(bytes: &[u8], hash_bytes: usize) -> Option<()> {
    let (version, count) = (number(bytes, 4)?, number(bytes, 8)?);
    let mut at = HEADER_BYTES;
    let mut name: Vec<u8> = Vec::new();
    // Where entries begin; none where one needs the name before it.
    let mut starts = Vec::new();
    for _ in 0..count {
        let flags_at = at + STATE_BYTES + hash_bytes;
        let flags = usize::from(u16::from_be_bytes(bytes.get(flags_at..)?.first_chunk().copied()?));
        let mut name_at = flags_at + if flags & EXTENDED == 0 { 2 } else { 4 };
        let mut kept = 0;
        if version == 4 {
            let (removed, length) = distance(bytes.get(name_at..)?)?;
            name_at += length;
            kept = name.len().checked_sub(removed)?;
        }
        let rest = bytes.get(name_at..)?;
        let length = memchr::memchr(0, rest)?;
        name.truncate(kept);
        name.extend_from_slice(rest.get(..length)?);
        let is_directory = number(bytes, at + MODE_AT)? == DIRECTORY;
        if flags & NAME_MASK != name.len().min(NAME_MASK) || !is_plain(&name, is_directory) {
            return None;
        }
        starts.push((kept == 0).then_some(at));
        at = if version == 4 { name_at + length + 1 } else { at + ((name_at - at + length + 8) & !7) };
    }
    let end = bytes.len().checked_sub(hash_bytes)?;
    // The way to the extensions from the end leads to the same place.
    let marker = end.checked_sub(12 + hash_bytes);
    let other = marker.filter(|marker| bytes.get(*marker..).is_some_and(|rest| rest.starts_with(b"EOIE")));
    let is_same = other.is_none_or(|marker| number(bytes, marker + 8).is_some_and(|number| number as usize == at));
    is_same.then_some(())?;
    while let Some(extension) = bytes.get(at..end).filter(|rest| rest.len() >= 8) {
        let size = number(extension, 4)? as usize;
        if extension.starts_with(b"IEOT") && !blocks_are(extension.get(12..8 + size)?, &starts) {
            return None;
        }
        at += 8 + size;
    }
    Some(())
}

/// Tells whether a table of blocks names the entries as they lie one after the other.
fn blocks_are(table: &[u8], starts: &[Option<usize>]) -> bool {
    let mut next = 0;
    let is_right = table.chunks_exact(8).all(|block| {
        let (Some(offset), Some(count)) = (number(block, 0), number(block, 4)) else { return false };
        let is_start = count == 0 || starts.get(next) == Some(&Some(offset as usize));
        next += count as usize;
        is_start
    });
    is_right && next == starts.len()
}

fn is_plain(name: &[u8], is_directory: bool) -> bool {
    let name = if is_directory { name.strip_suffix(b"/").unwrap_or(name) } else { name };
    // One that takes the place of another in a shared index has no name of its own.
    name.is_empty()
        || name.split(|byte| *byte == b'/').all(|part| {
            let part = String::from_utf8_lossy(part);
            !matches!(&*part, "" | "." | "..") && !matches!(&*fold_case(&part), ".git" | "git~1")
        })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_be_bytes)
}

/// Reads how much of the name before is left out, and how many bytes say so.
fn distance(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}
