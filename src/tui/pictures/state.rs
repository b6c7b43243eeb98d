//! Which images of the transcript have a picture, and which are asked for: those in view, each once.
//!
//! The pane of the transcripts owns it. Always holds: a terminal has at most so many pictures at once; one in view is not taken
//! away for another; an image that cannot be shown is not asked for again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::PictureProtocol;
use crate::image::{Image, ImageDigest, Preview};
use crate::limits;
use crate::protocol::Request;
use crate::tui::effect::Effect;

/// The place of a picture among those that the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PictureSlot(pub u8);

/// A picture that the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Its place.
    pub slot: PictureSlot,
    /// Its columns.
    pub columns: u16,
    /// Its rows.
    pub rows: u16,
}

/// The room for one picture, in cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PictureRoom {
    /// Most columns.
    pub columns: u16,
    /// Most rows.
    pub rows: u16,
}

/// The pictures by their images. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placements(Arc<BTreeMap<ImageDigest, Placement>>);

/// What is known of the pictures.
#[derive(Debug, Default)]
pub struct Pictures {
    /// How the terminal is given pictures; `None` as long as it is not known to show any.
    protocol: Option<PictureProtocol>,
    placements: Placements,
    /// The images with a picture, in the order in which they got it.
    order: Vec<ImageDigest>,
    /// The images that are being read or made.
    asked: Vec<ImageDigest>,
    /// The images that have no picture.
    refused: Vec<ImageDigest>,
    in_view: Vec<ImageDigest>,
    room: PictureRoom,
}

impl Placements {
    /// Returns the picture of an image.
    pub fn get(&self, digest: &ImageDigest) -> Option<Placement> {
        self.0.get(digest).copied()
    }
}

impl Pictures {
    /// Notes that the terminal shows pictures.
    pub fn support(&mut self, protocol: PictureProtocol) {
        self.protocol = Some(protocol);
    }

    /// Returns whether the terminal shows pictures.
    pub fn is_supported(&self) -> bool {
        self.protocol.is_some()
    }

    /// Returns the pictures that the terminal has.
    pub fn placements(&self) -> &Placements {
        &self.placements
    }

    /// Takes the images of the cells in view and the room for each; asks for those of which nothing is known.
    pub fn drawn(&mut self, in_view: Vec<ImageDigest>, room: PictureRoom) -> Vec<Effect> {
        self.in_view = in_view;
        self.room = room;
        let is_new = |digest: &&ImageDigest| {
            self.placements.get(digest).is_none() && !self.asked.contains(digest) && !self.refused.contains(digest)
        };
        let mut wanted: Vec<ImageDigest> = self.in_view.iter().filter(is_new).cloned().collect();
        wanted.dedup();
        self.asked.extend(wanted.iter().cloned());
        wanted.into_iter().map(|digest| Effect::Request(Request::ReadImage { digest })).collect()
    }

    /// Takes an image that was asked for; has a picture made of it.
    pub fn read(&mut self, digest: ImageDigest, image: Option<Image>) -> Option<Effect> {
        match (image, self.protocol) {
            (Some(image), Some(protocol)) if self.asked.contains(&digest) => {
                Some(Effect::MakePicture { digest, image, room: self.room, cut: protocol.cut() })
            }
            _ => {
                self.refuse(digest);
                None
            }
        }
    }

    /// Takes the picture of an image; has the terminal keep it where there is room for one more.
    pub fn made(&mut self, digest: ImageDigest, outcome: Result<Preview, String>) -> Option<Effect> {
        let picture = match outcome {
            Ok(picture) => picture,
            Err(reason) => {
                tracing::debug!(%reason, "an image is shown by its name only");
                self.refuse(digest);
                return None;
            }
        };
        let (Some(protocol), Some(slot)) = (self.protocol, self.free_slot()) else {
            self.refuse(digest);
            return None;
        };
        self.asked.retain(|asked| *asked != digest);
        let placement = Placement { slot, columns: picture.columns, rows: picture.rows };
        Arc::make_mut(&mut self.placements.0).insert(digest.clone(), placement);
        self.order.push(digest);
        Some(Effect::KeepPicture { slot, picture, protocol })
    }

    /// Finds a place, where need be that of the oldest picture that is out of view.
    fn free_slot(&mut self) -> Option<PictureSlot> {
        let is_taken = |slot: &PictureSlot| self.placements.0.values().any(|placement| placement.slot == *slot);
        if let Some(free) = (0..limits::PICTURES).map(PictureSlot).find(|slot| !is_taken(slot)) {
            return Some(free);
        }
        let oldest = self.order.iter().position(|digest| !self.in_view.contains(digest))?;
        let digest = self.order.remove(oldest);
        Arc::make_mut(&mut self.placements.0).remove(&digest).map(|placement| placement.slot)
    }

    fn refuse(&mut self, digest: ImageDigest) {
        self.asked.retain(|asked| *asked != digest);
        self.refused.push(digest);
        if self.refused.len() > limits::PICTURELESS {
            self.refused.remove(0);
        }
    }
}
