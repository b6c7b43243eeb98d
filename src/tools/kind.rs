//! What a file is when it is not text, by its first bytes. Called by `read`, which then says so.

use std::path::Path;

/// How much of a file decides.
pub(super) const SAMPLE_BYTES: usize = 8 * 1024;

/// First bytes of files of well-known kinds.
const KINDS: [(&[u8], &str); 30] = [
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\xff\xfe\0\0", "UTF-32 text"),
    (b"\0\0\xfe\xff", "UTF-32 text"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"PK\x03\x04", "a ZIP archive or a document packed as one"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x04\x22\x4d\x18", "LZ4 data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"!<arch>\n", "a library or package archive"),
    (b"\x7fELF", "an executable or library (ELF)"),
    (b"\xfe\xed\xfa\xce", "an executable or library (Mach-O)"),
    (b"\xfe\xed\xfa\xcf", "an executable or library (Mach-O)"),
    (b"\xce\xfa\xed\xfe", "an executable or library (Mach-O)"),
    (b"\xcf\xfa\xed\xfe", "an executable or library (Mach-O)"),
    (b"\xca\xfe\xba\xbe", "a Java class or Mach-O binary"),
    (b"\0asm", "a WebAssembly module"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS", "Ogg audio or video"),
    (b"\0\0\x01\0", "an icon"),
];

/// Where the converter of PDFs is usually installed.
const PDFTOTEXT: [&str; 3] = ["/usr/bin/pdftotext", "/usr/local/bin/pdftotext", "/opt/homebrew/bin/pdftotext"];

/// A kind of file that is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Pdf,
    Other(&'static str),
}

impl FileKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pdf => "a PDF document",
            Self::Other(name) => name,
        }
    }

    /// Tells whether it is text in an encoding that is not kept here.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Other(name) if name.ends_with(" text"))
    }

    /// Returns how its text can be had, when that is known.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Pdf if PDFTOTEXT.iter().any(|path| Path::new(path).is_file()) => {
                "; the command `pdftotext FILE -` prints its text"
            }
            Self::Pdf | Self::Other(_) => "",
        }
    }
}

pub(super) fn not_text(sample: &[u8]) -> Option<FileKind> {
    if sample.starts_with(b"%PDF-") {
        return Some(FileKind::Pdf);
    }
    // Some of these beginnings could be text; then nothing but text follows.
    let binary = is_binary(sample);
    let known = KINDS.iter().find(|(magic, _)| sample.starts_with(magic)).map(|(_, name)| *name);
    let name = match known {
        Some(name) if binary || !sample.is_ascii() || name.ends_with("image") => Some(name),
        _ if sample.starts_with(b"RIFF") && sample.get(8..12) == Some(b"WEBP") => Some("a WebP image"),
        _ if sample.starts_with(b"RIFF") && sample.get(8..12) == Some(b"WAVE") => Some("WAVE audio"),
        _ if sample.starts_with(b"BM") && binary => Some("a BMP image"),
        _ if sample.starts_with(b"MZ") && binary => Some("an executable or library (Windows)"),
        _ if sample.starts_with(b"ID3") && binary => Some("MP3 audio"),
        _ if sample.get(257..262) == Some(b"ustar") => Some("a tar archive"),
        _ if sample.get(4..8) == Some(b"ftyp") && binary => Some("MP4 audio, video or image"),
        _ if binary => Some("a binary file"),
        _ => None,
    };
    name.map(FileKind::Other)
}

fn is_binary(sample: &[u8]) -> bool {
    let odd = |byte: &&u8| matches!(**byte, 1..=7 | 14..=26 | 28..=31 | 127);
    let controls = sample.iter().filter(odd).count();
    let broken: usize = sample.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    // Texts in old encodings have broken letters, never many controls.
    sample.contains(&0) || controls * 20 > sample.len() || (controls + broken) * 2 > sample.len()
}
