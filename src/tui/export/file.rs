//! Writing an exported document: never over a file that is there.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;

use super::{ExportRequest, extension};
use steersman_base::limits;
use steersman_session::named_file::{ExistingFile, write_named};

/// Returns the name of a file that the user did not name: what it is, and the local date and time.
pub fn default_name(request: &ExportRequest, now: DateTime) -> String {
    let (subject, extension) = (request.subject.word(), request.form.extension());
    format!("steersman-{subject}-{}.{extension}", now.strftime("%Y-%m-%d-%H%M%S"))
}

/// Writes a document; returns the path of the file. A relative path is taken from `cwd`, `~/` from `home`; a directory gets
/// the default name; when the file is there, `-2`, `-3`, … is put behind its name.
///
/// # Errors
/// When the file cannot be written, or there are too many of that name.
pub fn save(
    request: &ExportRequest,
    text: &str,
    cwd: &Path,
    home: Option<&Path>,
    now: DateTime,
) -> io::Result<PathBuf> {
    let named = request.path.as_deref().unwrap_or_default();
    let mut path = match (named.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => cwd.join(named),
    };
    // A device or a FIFO has no other name: what is written goes into it.
    if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        write_named(&path, text.as_bytes(), ExistingFile::Kept).map_err(named)?;
        return Ok(path);
    }
    if named.ends_with('/') || path.is_dir() {
        path.push(default_name(request, now));
    } else if extension(named).is_none() {
        path.as_mut_os_string().push(format!(".{}", request.form.extension()));
    }
    let stem = path.file_stem().unwrap_or_default().to_owned();
    let end = path.extension().unwrap_or_default().to_owned();
    let named = |error: &io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    // Written beside and named at the end: a failure leaves nothing behind. Its rights are those of any new file.
    let directory = path.parent().unwrap_or(cwd);
    let rights = Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new()
        .prefix(".steersman-")
        .permissions(rights)
        .tempfile_in(directory)
        .map_err(|error| named(&error))?;
    file.write_all(text.as_bytes()).map_err(|error| named(&error))?;
    for number in 1..=limits::EXPORTS_OF_A_NAME {
        let mut place = path.clone();
        if number > 1 {
            let mut name = stem.clone();
            name.push(format!("-{number}."));
            name.push(&end);
            place.set_file_name(name);
        }
        match file.persist_noclobber(&place) {
            Ok(_) => return Ok(place),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => file = error.file,
            Err(error) => return Err(named(&error.error)),
        }
    }
    Err(io::Error::other(format!("{}: there are too many files of that name", path.display())))
}
