//! What there is to see of a call beyond its observation: the change of a file, the end of a command, a page.
//!
//! Made of the details that a tool tells. Always holds: words are sanitised; lines of a diff are not, they pass the
//! sanitiser when they are drawn, as arguments do.

use serde::{Deserialize, Serialize};

use crate::widgets::diff::Diff;
use steersman_base::details::Details;
use steersman_base::image::{ImageDigest, ImageInfo};
use steersman_base::summary;
use steersman_base::text::visible_line;

/// What there is to see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shown {
    Diff(Diff),
    Command {
        words: String,
        /// True when it failed: by its exit code, by a signal, by its time.
        failed: bool,
        /// Lines that it printed, where they were counted.
        lines: Option<u64>,
        /// Lines of them that the model did not get.
        left_out: u64,
        /// The file that holds the whole output, when the model did not get all of it.
        saved: Option<String>,
    },
    /// What came from an address: status, type, size.
    Page(String),
    Images {
        /// How many.
        words: String,
        images: Vec<ImageDigest>,
    },
}

impl Shown {
    /// Takes what a tool tells; `None` for what this version does not know.
    pub fn from_details(details: &Details) -> Option<Self> {
        match details {
            Details::Diff(diff) => Some(Self::Diff(Diff::new(diff))),
            Details::Command(end) => Some(Self::Command {
                words: summary::ended(end),
                failed: end.failed(),
                lines: end.lines,
                left_out: end.lines_left_out,
                saved: end.saved.as_ref().map(|path| visible_line(path).into_owned()),
            }),
            Details::Page(page) => Some(Self::Page(summary::page(page))),
            Details::Images(pictures) => Some(Self::Images {
                words: summary::count(pictures.images.len(), "image"),
                images: digests(&pictures.images),
            }),
            Details::Unknown => None,
        }
    }

    /// Returns the end of a command in other words.
    #[must_use]
    pub fn with_summary(self, others: &str) -> Self {
        match self {
            Self::Command { failed, lines, left_out, saved, .. } => {
                Self::Command { words: others.to_owned(), failed, lines, left_out, saved }
            }
            Self::Diff(_) | Self::Page(_) | Self::Images { .. } => self,
        }
    }

    /// Returns it in a few words, for the head of the call.
    pub fn summary(&self) -> &str {
        match self {
            Self::Diff(diff) => &diff.words,
            Self::Command { words, .. } | Self::Page(words) | Self::Images { words, .. } => words,
        }
    }

    /// Returns the images.
    pub fn images(&self) -> &[ImageDigest] {
        match self {
            Self::Images { images, .. } => images,
            Self::Diff(_) | Self::Command { .. } | Self::Page(_) => &[],
        }
    }
}

/// Returns the images that can be asked for.
pub fn digests(images: &[ImageInfo]) -> Vec<ImageDigest> {
    images.iter().filter_map(|ui| ui.digest.clone()).collect()
}
