//! Images as pictures in the transcript: which are asked for, what stands in the cells, what the terminal is written.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use steersman_base::details::{Details, ResultPictures};
use steersman_base::event::{Event, Outcome};
use steersman_base::image::{Image, ImageInfo};
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_base::protocol::Request;
use steersman_base::steering::TextKind;
use steersman_images::{CellArea, Preview, PreviewCrop};
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::pictures::placeholder::{self, PLACEHOLDER};
use steersman_tui::pictures::{NewPicture, PictureJob, PictureProtocol, PictureSlot, Placement};
use steersman_tui::terminal::paint::Painter;

use crate::support::stage::Stage;

const CELL: (u16, u16) = (10, 20);

fn image(name: &str, width: u32, height: u32, colour: u8) -> Image {
    let picture = DynamicImage::from(RgbImage::from_pixel(width, height, Rgb([colour, 30, 30])));
    let mut bytes = Vec::new();
    picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
    Image::new(name, &bytes).unwrap()
}

fn says(stage: &mut Stage, text: &str, images: &[&Image]) {
    stage.handle.context().keep_images(images.iter().copied());
    user_turn(stage, text, images.iter().map(|image| image.facts()).collect());
}

fn user_turn(stage: &mut Stage, text: &str, images: Vec<ImageInfo>) {
    let (content, kind) = (text.to_owned(), TextKind::default());
    let (mid_loop, step) = (false, 0);
    let event = Event::UserTurn {
        content,
        mid_loop,
        injection: None,
        step,
        after: None,
        sender: None,
        kind,
        met: None,
        images,
    };
    stage.event("", event);
}

/// Lets the terminal show pictures.
fn stage(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.tell(Msg::Pictures(PictureProtocol::Kitty, CELL));
    stage
}

/// Draws, and makes the pictures that are wanted then, as the program does; returns how many.
fn make(stage: &mut Stage) -> usize {
    stage.draw();
    let effects = std::mem::take(&mut stage.effects);
    let mut made = 0;
    for effect in effects {
        if let Effect::MakePicture(PictureJob { digest, image, room, cut }) = effect {
            made += 1;
            stage.tell(Msg::PictureMade { digest, outcome: Preview::new(&image, room, cut) });
        }
    }
    made
}

fn asked(stage: &Stage) -> usize {
    let is_requested = |effect: &&Effect| matches!(effect, Effect::Request(Request::ReadImage { .. }));
    stage.effects.iter().filter(is_requested).count()
}

fn cells(buffer: &Buffer) -> usize {
    buffer.content().iter().filter_map(placeholder::decode).count()
}

// --- which images have pictures

#[test]
fn an_image_in_view_is_asked_for_once_and_stands_beneath_its_text_at_its_own_size() {
    let mut stage = stage(80, 24);
    says(&mut stage, "see [image 1: p.png 100×40, 1 KB]", &[&image("p.png", 100, 40, 1)]);
    assert_eq!(make(&mut stage), 1);
    let buffer = stage.draw();
    assert_eq!(cells(&buffer), 10 * 2, "{}", stage.screen());
    let rows: Vec<String> = stage.screen().lines().map(str::to_owned).collect();
    let text = rows.iter().position(|row| row.contains("see [image 1: p.png")).unwrap();
    assert!(rows[text + 1].contains(PLACEHOLDER) && rows[text + 2].contains(PLACEHOLDER), "{rows:?}");
    stage.draw();
    assert_eq!(asked(&stage), 0, "it is there");
    // The same image again is the same picture.
    says(&mut stage, "once more", &[&image("p.png", 100, 40, 1)]);
    assert_eq!(make(&mut stage), 0);
    assert_eq!(cells(&stage.draw()), 2 * 10 * 2);
    // Also where another one stands between two of it, and none of them was in view before.
    let (one, other) = (image("q.png", 20, 20, 2), image("r.png", 20, 20, 3));
    says(&mut stage, "three", &[&one, &other, &one]);
    assert_eq!(make(&mut stage), 2);
}

#[test]
fn without_such_a_terminal_nothing_is_asked_and_nothing_stands_there() {
    let mut stage = Stage::new(80, 24);
    says(&mut stage, "see [image 1: p.png 100×40, 1 KB]", &[&image("p.png", 100, 40, 1)]);
    let buffer = stage.draw();
    assert_eq!((asked(&stage), cells(&buffer)), (0, 0));
}

#[test]
fn a_large_image_takes_a_bounded_part_of_the_screen_and_a_narrow_one_shows_its_name() {
    let mut stage = stage(100, 40);
    says(&mut stage, "a wall", &[&image("p.png", 3_000, 2_000, 1)]);
    make(&mut stage);
    let buffer = stage.draw();
    let marks: Vec<_> = buffer.content().iter().filter_map(placeholder::decode).collect();
    let (rows, columns) = marks.iter().fold((0, 0), |(row, column), mark| (mark.row.max(row), mark.column.max(column)));
    assert!(rows < limits::PICTURE_ROWS && columns < limits::PICTURE_COLUMNS, "{rows} {columns}");
    assert!(rows >= 8, "{rows}");
    stage.resize(20, 40);
    let narrow = stage.draw();
    assert_eq!(cells(&narrow), 0, "no part of it stands there");
    assert!(stage.screen().contains("a wall"));
    stage.resize(100, 40);
    assert_eq!(cells(&stage.draw()), marks.len());
}

#[test]
fn the_image_of_a_call_is_folded_away_with_it() {
    let mut stage = stage(80, 30);
    let shot = image("image 1 of browser_shot", 100, 100, 7);
    stage.handle.context().keep_images([&shot]);
    let arguments = Arguments::parse("{}");
    stage.turn("").event("", Event::ToolCall { id: "c1".into(), name: "browser_shot".to_owned(), arguments });
    let details = Details::Images(ResultPictures { images: vec![shot.facts()] });
    stage.event("", Event::ToolDetails { id: "c1".into(), details });
    stage.result("", "c1", "[image]").turn_ended("", Outcome::Completed, None);
    assert!(stage.screen().contains("browser_shot · 1 image"), "{}", stage.screen());
    assert_eq!(make(&mut stage), 0, "nobody looks at it yet");
    stage.keys("<c-o><enter>");
    assert_eq!(make(&mut stage), 1, "{}", stage.screen());
    assert_eq!(cells(&stage.draw()), 10 * 5, "{}", stage.screen());
    stage.keys("<enter>");
    assert_eq!(cells(&stage.draw()), 0);
}

#[test]
fn an_image_that_is_gone_or_cannot_be_opened_is_asked_for_once_and_stays_a_name() {
    let mut stage = stage(80, 24);
    let lost = image("lost.png", 10, 10, 1);
    // A header alone: it is an image by its first bytes.
    let torn = Image::new("torn.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    says(&mut stage, "both", &[&torn]);
    user_turn(&mut stage, "lost", vec![lost.facts()]);
    assert_eq!(make(&mut stage), 1, "the one is not there, the other is tried");
    stage.draw();
    stage.draw();
    assert_eq!((asked(&stage), cells(&stage.draw())), (0, 0));
}

#[test]
fn a_terminal_has_a_bounded_number_and_the_oldest_out_of_view_goes_first() {
    let mut stage = stage(80, 24);
    for number in 0..=limits::PICTURES {
        says(&mut stage, &format!("number {number}"), &[&image("p.png", 40, 40, number)]);
        assert_eq!(make(&mut stage), 1, "{number}");
    }
    let slots: Vec<u8> =
        stage.draw().content().iter().filter_map(placeholder::decode).map(|cell| cell.slot.0).collect();
    assert!(slots.contains(&0), "the place of the first is the newest's: {slots:?}");
    let is_kept = |number| {
        let digest = image("p.png", 40, 40, number).digest();
        stage.app.transcripts.pictures.placements().get(&digest).is_some()
    };
    assert_eq!((is_kept(0), is_kept(1), is_kept(limits::PICTURES)), (false, true, true));
}

#[test]
fn nothing_that_a_model_says_stands_for_a_picture() {
    let mut stage = stage(80, 24);
    let mark = format!("{PLACEHOLDER}\u{305}\u{305}");
    stage.turn("").says("", &format!("see {mark} there")).turn_ended("", Outcome::Completed, None);
    assert!(stage.screen().contains("<U+10EEEE>"), "{}", stage.screen());
    assert!(!stage.screen().contains(PLACEHOLDER));
}

// --- pictures out of images

#[test]
fn a_picture_is_bounded_never_enlarged_and_refused_under_the_limits_of_every_image() {
    let room = CellArea { columns: 60, rows: 12, cell: CELL };
    let made = |width, height, cut| Preview::new(&image("p.png", width, height, 1), room, cut).unwrap();
    for (size, cells) in
        [((1, 1), (1, 1)), ((100, 40), (10, 2)), ((101, 41), (11, 3)), ((5_000, 10), (60, 1)), ((10, 5_000), (1, 12))]
    {
        let whole = made(size.0, size.1, PreviewCrop::Whole);
        assert_eq!(((whole.columns, whole.rows), whole.parts.len()), (cells, 1), "{size:?}");
        let rows = made(size.0, size.1, PreviewCrop::Rows);
        assert_eq!(rows.parts.len(), usize::from(cells.1), "{size:?}");
        let row = image::load_from_memory(&rows.parts[0]).unwrap();
        assert_eq!((row.width(), row.height()), (u32::from(cells.0) * 10, 20));
    }
    let mut bomb = vec![0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 0, 0, 0, 13];
    bomb.extend_from_slice(b"IHDR\0\x01\0\0\0\x01\0\0\x08\x06\0\0\0\0\0\0\0");
    let bomb = Image::new("bomb.png", &bomb).unwrap();
    assert!(Preview::new(&bomb, room, PreviewCrop::Whole).is_err());
    assert!(Preview::new(&image("p.png", 4, 4, 1), CellArea { rows: 0, ..room }, PreviewCrop::Whole).is_err());
}

#[test]
fn a_picture_in_sixels_fits_its_cells_exactly_and_is_bounded_whatever_it_shows() {
    let room = |cell| CellArea { columns: 60, rows: 12, cell };
    let text = |part: &[u8]| String::from_utf8(part.to_vec()).unwrap();
    let small = Preview::new(&image("p.png", 95, 41, 1), room((9, 19)), PreviewCrop::Sixels).unwrap();
    assert_eq!((small.columns, small.rows, small.parts.len()), (11, 3, 3));
    assert!(small.parts.iter().all(|part| text(part).starts_with("\"1;1;99;19#")), "{}", text(&small.parts[0]));
    // Noise costs the most.
    let mut seed = 1_u32;
    let noise = RgbImage::from_fn(1_000, 1_000, |_, _| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [_, red, green, blue] = seed.to_le_bytes();
        Rgb([red, green, blue])
    });
    let mut bytes = Vec::new();
    noise.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
    let noise = Preview::new(&Image::new("noise.png", &bytes).unwrap(), room((39, 80)), PreviewCrop::Sixels).unwrap();
    let size: usize = noise.parts.iter().map(Vec::len).sum();
    assert!(noise.columns > 10 && size < limits::PICTURE_BYTES, "{} columns, {size} bytes", noise.columns);
    // Cells of which a terminal lies.
    assert!(Preview::new(&image("p.png", 4, 4, 1), room((10, 60_000)), PreviewCrop::Sixels).is_err());
}

#[test]
fn pictures_in_sixels_are_made_again_for_cells_of_another_size() {
    let mut stage = Stage::new(80, 24);
    stage.tell(Msg::Pictures(PictureProtocol::Sixel, CELL));
    says(&mut stage, "see", &[&image("p.png", 100, 40, 1)]);
    assert_eq!(make(&mut stage), 1);
    assert_eq!(cells(&stage.draw()), 10 * 2);
    stage.tell(Msg::Pictures(PictureProtocol::Sixel, CELL));
    assert_eq!((cells(&stage.draw()), make(&mut stage)), (10 * 2, 0), "nothing is new");
    // The picture is gone until there is one for these cells; one that was made meanwhile comes too late.
    stage.tell(Msg::Pictures(PictureProtocol::Sixel, (5, 10)));
    assert_eq!(cells(&stage.draw()), 0);
    stage.tell(Msg::Pictures(PictureProtocol::Sixel, (20, 40)));
    assert_eq!(make(&mut stage), 2, "the one for the cells between comes too late, the other is for the last cells");
    assert_eq!(cells(&stage.draw()), 5);
    // A terminal that scales them keeps them.
    let mut stage = self::stage(80, 24);
    says(&mut stage, "see", &[&image("p.png", 100, 40, 1)]);
    assert_eq!(make(&mut stage), 1);
    stage.tell(Msg::Pictures(PictureProtocol::Kitty, (5, 10)));
    assert_eq!((cells(&stage.draw()), make(&mut stage)), (10 * 2, 0));
}

// --- what the terminal is written

/// Draws frames through the painter.
struct Painted(ratatui::Terminal<Painter>);

impl Painted {
    fn new(protocol: PictureProtocol) -> Self {
        let mut painter = Painter::new(Size { width: 20, height: 8 });
        let room = CellArea { columns: 6, rows: 3, cell: CELL };
        let picture = Preview::new(&image("p.png", 60, 60, 9), room, protocol.cut()).unwrap();
        painter.keep_picture(&NewPicture { slot: PictureSlot(0), picture, protocol });
        Self(ratatui::Terminal::new(painter).unwrap())
    }

    /// Draws the picture with its first row at a height, and a text over all; returns what is written.
    fn frame(&mut self, top: Option<u16>, over: Option<(u16, u16)>) -> String {
        let draw = |frame: &mut ratatui::Frame<'_>| {
            let buffer = frame.buffer_mut();
            let placement = Placement { slot: PictureSlot(0), columns: 6, rows: 3 };
            for (y, row) in top.into_iter().flat_map(|top| (top..).zip(placeholder::rows(placement))) {
                row.draw(buffer, 2, y, 18);
            }
            if let Some((x, y)) = over {
                buffer.set_string(x, y, "over", Style::new());
            }
        };
        self.0.draw(draw).unwrap();
        String::from_utf8(self.0.backend_mut().take_bytes()).unwrap()
    }

    fn counts(&mut self, top: Option<u16>, over: Option<(u16, u16)>) -> (usize, usize) {
        let written = self.frame(top, over);
        (written.matches("\x1b]1337;").count(), written.matches("\x1b_Ga=T").count())
    }
}

#[test]
fn rows_are_drawn_where_they_are_whole_and_blank_where_something_lies_over_them() {
    let mut painted = Painted::new(PictureProtocol::Iterm2);
    let first = painted.frame(Some(1), None);
    assert_eq!(first.matches("\x1b]1337;").count(), 3);
    for row in ["\x1b[2;3H\x1b]1337;", "\x1b[3;3H\x1b]1337;", "\x1b[4;3H\x1b]1337;"] {
        assert!(first.contains(row), "{first:?}");
    }
    assert!(!first.contains(PLACEHOLDER));
    assert_eq!(painted.frame(Some(1), None), "", "nothing changed");
    let covered = painted.frame(Some(1), Some((4, 2)));
    assert!(!covered.contains("1337") && covered.contains("over"), "{covered:?}");
    assert_eq!(painted.counts(Some(1), None), (1, 0), "the row that was covered");
    assert_eq!(painted.counts(None, None), (0, 0));
    // A part of it beyond the last row of the screen.
    assert_eq!(painted.counts(Some(6), None), (2, 0));
    // Everything is written again.
    painted.0.backend_mut().forget();
    painted.0.resize(Rect::new(0, 0, 20, 8)).unwrap();
    assert_eq!(painted.counts(Some(6), None), (2, 0));
}

#[test]
fn sixels_are_drawn_over_blank_cells_and_never_in_the_last_row_of_the_screen() {
    let begin = "\x1b7      \x1b8\x1bP0;1;0q\"1;1;60;20#";
    let mut painted = Painted::new(PictureProtocol::Sixel);
    let first = painted.frame(Some(1), None);
    for row in ["\x1b[2;3H", "\x1b[3;3H", "\x1b[4;3H"] {
        assert!(first.contains(&format!("{row}{begin}")), "{first:?}");
    }
    assert!(!first.contains(PLACEHOLDER));
    assert_eq!(painted.frame(Some(1), None), "", "nothing changed");
    let covered = painted.frame(Some(1), Some((4, 2)));
    assert!(!covered.contains("\x1bP") && covered.contains("over"), "{covered:?}");
    assert_eq!(painted.frame(Some(1), None).matches(begin).count(), 1, "the row that was covered");
    assert_eq!(painted.frame(Some(5), None).matches(begin).count(), 2, "the third would be in the last row");
    assert_eq!(painted.frame(None, None).matches(begin).count(), 0);
}

#[test]
fn a_picture_that_the_terminal_keeps_is_sent_with_the_first_frame_that_shows_it() {
    let mut painted = Painted::new(PictureProtocol::Kitty);
    assert_eq!(painted.counts(None, None), (0, 0), "it is not in view");
    let shown = painted.frame(Some(1), None);
    assert_eq!(shown.matches("\x1b_Ga=T").count(), 1);
    assert!(shown.find("\x1b_Ga=T") < shown.find(PLACEHOLDER), "{shown:?}");
    assert!(shown.contains("38;2;83;84;0"), "{shown:?}");
    assert_eq!(painted.counts(Some(3), None), (0, 0));
    assert_eq!(painted.counts(None, None), (0, 0));
    assert_eq!(painted.counts(Some(1), Some((3, 2))), (0, 0));
    painted.0.backend_mut().forget();
    painted.0.resize(Rect::new(0, 0, 20, 8)).unwrap();
    assert_eq!(painted.counts(Some(1), None), (0, 1), "the terminal was emptied");
}
