//! Images that the user attaches in the message: how they come, how they stand in the text, and when they are sent.

use crate::support::png::png_of;
use std::fs;
use std::io::Cursor;
use std::os::unix::fs::symlink;
use std::path::Path;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use steersman_base::event::{Event, Outcome, Pending, UserText};
use steersman_base::image::{Image, ImageType};
use steersman_base::limits;
use steersman_base::protocol::{ImageSupport, Notice, Request, Unfinished};
use steersman_images::{CellArea, Preview, PreviewCrop};
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::run::images::read_image;
use tempfile::TempDir;

use super::paths_offered::list;
use super::pending_list::{entries, queue, said};
use crate::support::stage::Stage;

/// A directory with `picture.png`, 640×480, and a longer name in a directory of its own.
fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("picture.png"), png_of(640, 480)).unwrap();
    fs::create_dir(directory.path().join("docs")).unwrap();
    fs::write(directory.path().join("docs/my shot.png"), png_of(2, 1)).unwrap();
    directory
}

fn stage() -> Stage {
    let mut stage = Stage::new(80, 24);
    list(&mut stage, &["picture.png", "docs/", "docs/my shot.png", "notes.txt"]);
    stage
}

/// Takes the images that are to be read.
fn asked(stage: &mut Stage) -> Vec<(String, String)> {
    let effects = std::mem::take(&mut stage.effects);
    let asked = effects.into_iter().filter_map(|effect| match effect {
        Effect::ReadImage { written, path } => Some((written, path)),
        _ => None,
    });
    asked.collect()
}

/// Reads the images that are to be read, as the program does.
fn answer(stage: &mut Stage, cwd: &Path) {
    for (written, path) in asked(stage) {
        let outcome = read_image(&path, cwd, None);
        stage.tell(Msg::ImageRead { written, outcome });
    }
}

fn supports(stage: &mut Stage, support: ImageSupport) {
    stage.tell(Msg::from(Notice::Images(support)));
}

fn text(stage: &Stage) -> String {
    stage.app.message.text()
}

fn label(number: u32) -> String {
    format!("[image {number}: picture.png 640×480, {} KB]", png_of(640, 480).len().div_ceil(1_000))
}

fn names(stage: &Stage) -> Vec<Vec<String>> {
    let names = |entry: Pending| entry.message.images.into_iter().map(|image| image.name).collect();
    entries(stage).into_iter().map(names).collect()
}

// --- how an image comes

#[test]
fn a_path_that_is_taken_from_the_list_becomes_an_image_and_is_sent_with_the_text() {
    let directory = directory();
    let mut stage = stage();
    stage.keys("look at @pictu<tab>");
    assert_eq!(text(&stage), "look at @picture.png ");
    answer(&mut stage, directory.path());
    supports(&mut stage, ImageSupport::Taken);
    assert_eq!(text(&stage), format!("look at {} ", label(1)));
    stage.keys("please<enter>");
    assert_eq!(queue(&stage), [format!("look at {} please", label(1))]);
    assert_eq!(names(&stage), [["picture.png"]]);
    assert!(stage.screen().contains("[image 1: picture.png 640×480"), "{}", stage.screen());
}

#[test]
fn a_path_that_is_typed_becomes_one_with_the_blank_behind_it_and_one_at_the_end_with_enter() {
    let directory = directory();
    let mut stage = stage();
    supports(&mut stage, ImageSupport::Taken);
    stage.keys("@\"docs/my shot.png\" ");
    answer(&mut stage, directory.path());
    assert_eq!(text(&stage), format!("[image 1: docs/my shot.png 2×1, {} B] ", png_of(2, 1).len()), "{}", said(&stage));
    stage.keys("and @picture.png<esc><enter>");
    assert_eq!(queue(&stage), Vec::<String>::new(), "it is not read yet");
    assert!(said(&stage).contains("as soon as its images are read"), "{}", said(&stage));
    answer(&mut stage, directory.path());
    assert_eq!(queue(&stage), [format!("[image 1: docs/my shot.png 2×1, {} B] and {}", png_of(2, 1).len(), label(2))]);
    assert_eq!(names(&stage), [["docs/my shot.png", "picture.png"]]);
    assert_eq!(text(&stage), "");
}

#[test]
fn a_path_that_is_pasted_or_dropped_becomes_an_image() {
    let directory = directory();
    let path = directory.path().join("docs/my shot.png");
    let path = path.to_str().unwrap();
    for pasted in [
        path.to_owned(),
        path.replace(' ', "\\ ") + " ",
        format!("'{path}'"),
        format!("file://{}", path.replace(' ', "%20")),
    ] {
        let mut stage = stage();
        supports(&mut stage, ImageSupport::Unknown);
        stage.keys("see ").paste(&pasted);
        assert_eq!(text(&stage), format!("see {pasted}"));
        answer(&mut stage, Path::new("/"));
        let label = format!("see [image 1: my shot.png 2×1, {} B]", png_of(2, 1).len());
        assert_eq!(text(&stage).trim_end(), label, "{pasted}");
        stage.keys("<enter>");
        assert_eq!(names(&stage), [["my shot.png"]]);
    }
}

#[test]
fn only_what_the_user_names_is_attached() {
    let mut stage = stage();
    stage.event("", Event::TurnStarted { turn: 1 });
    stage.says("", "see @picture.png and [image 1: picture.png 640×480, 1 KB]");
    stage.turn_ended("", Outcome::Completed, None);
    stage.paste("first\nsee @picture.png");
    stage.keys("<enter>");
    stage.paste("look at @picture.png ").keys("<enter>");
    stage.keys("mail me@picture.png <enter>");
    assert_eq!(asked(&mut stage), []);
    assert_eq!(queue(&stage).len(), 3);
    assert!(names(&stage).iter().all(Vec::is_empty));
}

// --- how it stands in the text

#[test]
fn an_image_in_the_text_is_one_character_for_the_cursor_and_for_undo() {
    let directory = directory();
    let mut stage = stage();
    stage.keys("a @picture.png ");
    answer(&mut stage, directory.path());
    stage.keys("b<left><left><left>x");
    assert_eq!(text(&stage), format!("a x{} b", label(1)));
    stage.keys("<right><bs>");
    assert_eq!(text(&stage), "a x b");
    stage.keys("<c-_>");
    assert_eq!(text(&stage), format!("a x{} b", label(1)), "undo brings it back");
    supports(&mut stage, ImageSupport::Taken);
    stage.keys("<enter>");
    assert_eq!(names(&stage), [["picture.png"]]);
    stage.drain();
    stage.refresh().keys("<up>");
    assert_eq!(text(&stage), format!("a x{} b", label(1)), "the history has it");
    stage.keys(" again<enter>");
    assert_eq!(names(&stage), [["picture.png"]]);
}

#[test]
fn an_edit_of_a_pending_text_keeps_its_images_takes_them_away_and_adds_some() {
    let directory = directory();
    let mut stage = stage();
    supports(&mut stage, ImageSupport::Taken);
    stage.keys("start<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).call("", "c1", "bash");
    stage.keys("see @picture.png ");
    answer(&mut stage, directory.path());
    stage.keys("<enter>");
    stage.keys("<f2><enter>").keys(" well<enter>");
    assert_eq!(
        (queue(&stage), names(&stage)),
        (vec![format!("see {}  well", label(1))], vec![vec!["picture.png".to_owned()]])
    );
    stage.keys("<f2><enter>").keys("<c-u>no image<enter>");
    assert_eq!((queue(&stage), names(&stage)), (vec!["no image".to_owned()], vec![vec![]]));
    stage.keys("<f2><enter>").paste(directory.path().join("docs/my shot.png").to_str().unwrap());
    answer(&mut stage, directory.path());
    stage.keys("<enter>");
    assert_eq!(names(&stage), [["my shot.png"]]);
}

#[test]
fn a_text_that_a_stop_gives_back_has_its_images_again() {
    let directory = directory();
    let mut stage = stage();
    supports(&mut stage, ImageSupport::Taken);
    stage.keys("start<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).call("", "c1", "bash");
    stage.keys("see @picture.png ");
    answer(&mut stage, directory.path());
    stage.keys("<enter>").carry_out(Effect::Request(Request::Stop));
    assert_eq!(text(&stage), format!("see {} ", label(1)));
    stage.turn_ended("", Outcome::Cancelled, None);
    stage.keys("<enter>");
    assert_eq!(names(&stage).last().unwrap(), &["picture.png"]);
}

// --- what is refused

#[test]
fn a_model_that_takes_no_images_is_known_before_enter_and_the_text_stays() {
    let directory = directory();
    let mut stage = stage();
    stage.keys("@picture.png ");
    assert!(stage.effects.contains(&Effect::Request(Request::CheckImages)));
    answer(&mut stage, directory.path());
    supports(&mut stage, ImageSupport::Refused);
    assert!(said(&stage).contains("the model takes no images"), "{}", said(&stage));
    stage.keys("what is it<enter>");
    assert_eq!(queue(&stage), Vec::<String>::new());
    assert!(said(&stage).contains("not sent: the model takes no images"), "{}", said(&stage));
    assert_eq!(text(&stage), format!("{} what is it", label(1)));
    stage.keys("<c-u>@picture.png ");
    assert!(said(&stage).contains("not attached: the model takes no images"), "{}", said(&stage));
    stage.keys("<enter>");
    assert_eq!(queue(&stage), ["@picture.png "], "as text it is sent");
    let switched = Event::ModelSwitched { from: None, to: Some("seeing".to_owned()), provider: None };
    stage.event("", switched).effects.clear();
    stage.paste(directory.path().join("picture.png").to_str().unwrap());
    assert!(stage.effects.contains(&Effect::Request(Request::CheckImages)), "another model may take them");
    answer(&mut stage, directory.path());
    supports(&mut stage, ImageSupport::Taken);
    stage.keys("<enter>");
    assert_eq!(names(&stage).last().unwrap(), &["picture.png"]);
}

#[test]
fn a_text_waits_for_the_answer_whether_the_model_takes_images() {
    let directory = directory();
    let mut stage = stage();
    stage.keys("@picture.png ");
    answer(&mut stage, directory.path());
    stage.keys("<enter>");
    assert_eq!(queue(&stage), Vec::<String>::new());
    supports(&mut stage, ImageSupport::Unknown);
    assert_eq!(queue(&stage), [format!("{} ", label(1))], "where nobody knows it is sent");
}

#[test]
fn what_cannot_be_read_stays_text_with_the_reason() {
    let directory = directory();
    fs::write(directory.path().join("text.png"), "no image").unwrap();
    let mut stage = stage();
    for (path, reason) in [("gone.png", "No such file"), ("text.png", "it is no PNG, JPEG, GIF or WebP image")] {
        stage.keys(&format!("@{path} "));
        answer(&mut stage, directory.path());
        assert!(said(&stage).contains(reason), "{}", said(&stage));
        assert_eq!(text(&stage), format!("@{path} "));
        stage.keys("<enter>");
        assert_eq!(queue(&stage).last().unwrap(), &format!("@{path} "));
    }
}

#[test]
fn only_regular_files_of_bounded_size_are_read_and_none_through_a_link_out_of_the_project() {
    let directory = directory();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.png");
    fs::write(&secret, png_of(3, 3)).unwrap();
    let path = |name: &str| directory.path().join(name);
    symlink(&secret, path("link.png")).unwrap();
    symlink(outside.path(), path("linked")).unwrap();
    symlink("picture.png", path("inner.png")).unwrap();
    symlink("/dev/zero", path("zero.png")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, path("fifo.png"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    fs::File::create(path("large.png")).unwrap().set_len(limits::IMAGE_FILE_BYTES + 1).unwrap();
    let read = |name: &str| read_image(name, directory.path(), None).map(|fitted| (fitted.width, fitted.height));
    for (name, reason) in [
        ("link.png", "a link out of the working directory"),
        ("linked/secret.png", "a link out of the working directory"),
        ("zero.png", "a link out of the working directory"),
        ("fifo.png", "not a regular file"),
        ("docs", "not a regular file"),
        ("large.png", "larger than"),
    ] {
        assert!(read(name).unwrap_err().contains(reason), "{name}: {:?}", read(name));
    }
    assert_eq!(read("inner.png"), Ok((640, 480)));
    assert_eq!(read(secret.to_str().unwrap()), Ok((3, 3)), "the user names it");
    assert!(read("/dev/zero").unwrap_err().contains("not a regular file"));
}

// --- sizes

#[test]
fn what_fits_is_sent_byte_for_byte_and_what_is_too_large_becomes_smaller() {
    use steersman_images::FittedImage;
    let small = FittedImage::new("a.png", &png_of(640, 480)).unwrap();
    assert_eq!(small.image, steersman_base::image::Image::new("a.png", &png_of(640, 480)).unwrap());
    let large = FittedImage::new("b.png", &png_of(4_000, 1_000)).unwrap();
    assert_eq!((large.width, large.height), (1_568, 392));
    assert!(large.image.facts().bytes as u64 <= limits::IMAGE_BYTES);
    // Noise becomes no smaller as a PNG.
    let mut seed = 1_u32;
    let noise = RgbImage::from_fn(1_500, 1_500, |_, _| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [red, green, blue, _] = seed.to_be_bytes();
        Rgb([red, green, blue])
    });
    let mut bytes = Vec::new();
    DynamicImage::from(noise).write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
    assert!(bytes.len() as u64 > limits::IMAGE_BYTES);
    let fitted = FittedImage::new("noise.png", &bytes).unwrap();
    assert_eq!(fitted.image.media_type, ImageType::Jpeg);
    assert!(fitted.image.facts().bytes as u64 <= limits::IMAGE_BYTES);
}

/// The image of one pixel in each format, with the size that its header names changed.
fn with_sides(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    DynamicImage::new_rgb8(1, 1).write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    let short = |side: u32| u16::try_from(side).unwrap();
    match format {
        ImageFormat::Png => {
            bytes[16..20].copy_from_slice(&width.to_be_bytes());
            bytes[20..24].copy_from_slice(&height.to_be_bytes());
            // The checksum of the header chunk, so that it is believed.
            let mut crc = flate2::Crc::new();
            crc.update(&bytes[12..29]);
            bytes[29..33].copy_from_slice(&crc.sum().to_be_bytes());
        }
        ImageFormat::Jpeg => {
            let frame = bytes.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
            bytes[frame + 5..frame + 7].copy_from_slice(&short(height).to_be_bytes());
            bytes[frame + 7..frame + 9].copy_from_slice(&short(width).to_be_bytes());
        }
        ImageFormat::Gif => {
            bytes[6..8].copy_from_slice(&short(width).to_le_bytes());
            bytes[8..10].copy_from_slice(&short(height).to_le_bytes());
        }
        ImageFormat::WebP => {
            // Lossless: 14 bits for each side, behind the signature of the chunk.
            let sides = (width - 1) | ((height - 1) << 14);
            let kept = u32::from_le_bytes(bytes[21..25].try_into().unwrap()) >> 28 << 28;
            bytes[21..25].copy_from_slice(&(sides | kept).to_le_bytes());
        }
        other => panic!("{other:?} is not sent"),
    }
    bytes
}

#[test]
fn an_image_whose_header_names_too_many_pixels_or_too_long_a_side_is_not_opened() {
    use steersman_images::FittedImage;
    for (format, width, height, why) in [
        (ImageFormat::Png, 60_000, 60_000, "60000×60000 pixels, more than 64 million"),
        (ImageFormat::Jpeg, 60_000, 60_000, "60000×60000 pixels, more than 64 million"),
        (ImageFormat::Gif, 60_000, 60_000, "60000×60000 pixels, more than 64 million"),
        (ImageFormat::WebP, 16_000, 16_000, "16000×16000 pixels, more than 64 million"),
        (ImageFormat::Png, 64_000_000, 1, "64000000×1 pixels, more than 32768 on one side"),
        (ImageFormat::Png, 1, 40_000, "1×40000 pixels, more than 32768 on one side"),
        (ImageFormat::Jpeg, 65_000, 8, "65000×8 pixels, more than 32768 on one side"),
        (ImageFormat::Gif, 8, 65_000, "8×65000 pixels, more than 32768 on one side"),
    ] {
        let bomb = with_sides(format, width, height);
        // As many as a message may have, and one after another: none of them is opened.
        for _ in 0..limits::IMAGES {
            let reason = FittedImage::new("bomb", &bomb).unwrap_err();
            assert!(reason.contains(why), "{format:?}: {reason}");
        }
        let room = CellArea { columns: 60, rows: 12, cell: (10, 20) };
        let reason = Preview::new(&Image::new("bomb", &bomb).unwrap(), room, PreviewCrop::Whole).unwrap_err();
        assert!(reason.contains(why), "{format:?}: {reason}");
    }
    let cut = &png_of(3_000, 3_000)[..200];
    assert!(FittedImage::new("cut.png", cut).is_err());
}

#[test]
fn a_long_and_narrow_image_within_the_limits_becomes_smaller() {
    use steersman_images::FittedImage;
    let fitted = FittedImage::new("long.png", &png_of(limits::IMAGE_OPENED_SIDE, 64)).unwrap();
    assert_eq!((fitted.width, fitted.height), (limits::IMAGE_SIDE, 3));
    let fitted = FittedImage::new("long.png", &png_of(1, limits::IMAGE_OPENED_SIDE)).unwrap();
    assert_eq!((fitted.width, fitted.height), (1, limits::IMAGE_SIDE));
}

// --- what is kept

#[test]
fn a_draft_that_is_kept_has_its_images_again_when_the_session_is_resumed() {
    let directory = directory();
    let mut stage = stage();
    stage.keys("look @picture.png ");
    answer(&mut stage, directory.path());
    let kept = stage.app.unsent();
    assert_eq!(kept.len(), 1);
    assert_eq!((kept[0].images[0].label.as_str(), kept[0].images[0].path.as_str()), (&*label(1), "picture.png"));
    let unfinished = || Unfinished { drafts: kept.clone(), ..Unfinished::default() };

    let mut resumed = self::stage();
    resumed.tell(Msg::from(Notice::Unfinished(unfinished())));
    answer(&mut resumed, directory.path());
    supports(&mut resumed, ImageSupport::Taken);
    assert_eq!(text(&resumed), format!("look {} ", label(1)));
    resumed.keys("<enter>");
    assert_eq!(names(&resumed), [["picture.png"]]);

    fs::write(directory.path().join("picture.png"), png_of(10, 10)).unwrap();
    let mut changed = self::stage();
    changed.tell(Msg::from(Notice::Unfinished(unfinished())));
    answer(&mut changed, directory.path());
    assert!(said(&changed).contains("is not what it was"), "{}", said(&changed));
}

#[test]
fn a_text_that_an_earlier_process_left_waiting_has_its_images_in_an_edit() {
    let directory = directory();
    let mut stage = stage();
    supports(&mut stage, ImageSupport::Taken);
    let image = read_image("picture.png", directory.path(), None).unwrap().image;
    let entry = Pending::new(
        "m1".into(),
        UserText { images: vec![image], ..UserText::new(format!("see {}", label(3))) },
        stage.app.ui.now,
    );
    stage.handle.interloper().take_over(vec![entry], 9);
    stage.refresh();
    stage.keys("<f2><enter>").keys("<bs> nothing<enter>");
    assert_eq!((queue(&stage), names(&stage)), (vec!["see  nothing".to_owned()], vec![vec![]]));
    stage.keys("@picture.png ");
    answer(&mut stage, directory.path());
    assert_eq!(text(&stage), format!("{} ", label(4)), "numbers go on");
}

#[test]
fn the_picture_of_the_clipboard_goes_to_the_cursor() {
    let mut stage = stage();
    supports(&mut stage, ImageSupport::Taken);
    stage.keys("a b<left><c-v>");
    assert!(stage.effects.contains(&Effect::PasteImage));
    let outcome = Err("there is no wl-paste".to_owned());
    stage.tell(Msg::ImageRead { written: String::new(), outcome });
    assert_eq!(said(&stage), "not attached: there is no wl-paste");
    stage.keys("<c-v>");
    let outcome = steersman_images::FittedImage::new("clipboard", &png_of(2, 2));
    stage.tell(Msg::ImageRead { written: String::new(), outcome });
    assert_eq!(text(&stage), format!("a [image 1: clipboard 2×2, {} B]b", png_of(2, 2).len()));
}

// --- lines

#[test]
fn a_line_that_is_read_as_a_whole_is_sent_with_the_images_that_it_names() {
    let directory = directory();
    let mut stage = Stage::in_lines();
    supports(&mut stage, ImageSupport::Taken);
    stage.line("compare @picture.png with @\"docs/my shot.png\" please");
    assert_eq!(queue(&stage), Vec::<String>::new(), "they are not read yet");
    answer(&mut stage, directory.path());
    let small = png_of(2, 1).len();
    let sent = format!("compare {} with [image 2: docs/my shot.png 2×1, {small} B] please", label(1));
    assert_eq!(queue(&stage), [sent], "{}", stage.written());
    assert_eq!(names(&stage), [["picture.png", "docs/my shot.png"]]);
    assert!(stage.written().contains("[image 1: picture.png 640×480"));
    // The next line is one by itself.
    stage.line("and @notes.txt, @nobody.png");
    answer(&mut stage, directory.path());
    assert!(stage.written().contains("not attached: @nobody.png"));
    assert_eq!(queue(&stage).len(), 1, "it stays in the line");
    stage.line("");
    assert_eq!(queue(&stage)[1], "and @notes.txt, @nobody.png", "sent as it is");
}

#[test]
fn a_line_with_images_waits_for_the_answer_whether_the_model_takes_them() {
    let directory = directory();
    let mut stage = Stage::in_lines();
    stage.line("@picture.png");
    answer(&mut stage, directory.path());
    assert_eq!(queue(&stage), Vec::<String>::new());
    stage.line("a text of its own");
    assert_eq!(queue(&stage), ["a text of its own"]);
    supports(&mut stage, ImageSupport::Taken);
    assert_eq!(queue(&stage)[1], label(1));
    supports(&mut stage, ImageSupport::Refused);
    stage.line("@docs/x.png");
    assert!(asked(&mut stage).is_empty());
    assert!(stage.written().contains("the model takes no images"));
}

#[test]
fn an_image_is_attached_to_a_line_that_is_typed_key_by_key() {
    let directory = directory();
    let mut stage = Stage::in_lines();
    supports(&mut stage, ImageSupport::Taken);
    stage.keys("look at @picture.png<enter>");
    answer(&mut stage, directory.path());
    assert_eq!(queue(&stage), [format!("look at {}", label(1))]);
    assert_eq!(names(&stage), [["picture.png"]]);
}

#[test]
fn an_image_in_the_message_and_in_the_pending_list_looks_like_this() {
    let directory = directory();
    let mut stage = stage();
    supports(&mut stage, ImageSupport::Taken);
    stage.keys("start<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).call("", "c1", "bash");
    stage.keys("what is @picture.png ");
    answer(&mut stage, directory.path());
    stage.keys("<enter>").keys("and @picture.png ");
    answer(&mut stage, directory.path());
    insta::assert_snapshot!("attached_80x24", stage.picture());
}
