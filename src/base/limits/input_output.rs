//! Limits of what is read from people and written to them: terminals, lines, images.

use std::time::Duration;

use super::MESSAGE_BYTES;

// Limits of what a terminal sends: keys that come apart, answers, pastes.

/// Most that is kept of one bracketed paste, bytes; a message holds far less.
pub const PASTE_READ_BYTES: usize = 8 * 1024 * 1024;
/// Time in which the rest of a key that came apart comes; then it is the Esc key.
pub const ESCAPE_PAUSE: Duration = Duration::from_millis(150);
/// The same over ssh, where a network parts the bytes.
pub const ESCAPE_PAUSE_SSH: Duration = Duration::from_millis(350);
/// Time behind an Esc in which what nobody types is still its rest.
pub const LATE_REST: Duration = Duration::from_millis(500);
/// Time in which a line end with more behind it is one of a paste.
pub const LINE_END_PAUSE: Duration = Duration::from_millis(8);
/// Time in which an answer about the background still changes the theme.
pub const BACKGROUND_TIME: Duration = Duration::from_secs(2);
/// Time in which the rest of an answer comes; then it is forgotten.
pub const ANSWER_REST: Duration = Duration::from_secs(1);
/// Time in which the rest of an answer that was given up still can come.
pub const ANSWER_LATE: Duration = Duration::from_secs(10);
/// Characters at once that count as a paste, also without the terminal's marks.
pub const BURST_CHARS: usize = 1_000;
/// Time in which more of such a paste comes.
pub const BURST_PAUSE: Duration = Duration::from_millis(50);
/// Time in which further input still belongs to such a paste.
pub const BURST_REST: Duration = Duration::from_millis(500);

// Limits of what is read and written as lines: `exec`, plain output and the line output.

/// Longest summary of a call, a result or a thought on a line of plain output, columns.
pub const SUMMARY_COLUMNS: usize = 100;
/// Longest reason or sentence of the program on a line of plain output, columns.
pub const REASON_COLUMNS: usize = 600;
/// `exec --json`: longest event, bytes, the answer itself left out; of a longer one the longest texts are cut.
pub const EVENT_BYTES: usize = 1024 * 1024;
/// `exec`: time in which something is to come from a pipe beside a prompt.
pub const FIRST_INPUT: Duration = Duration::from_secs(3);
/// `exec --permission-command`: time for one answer.
pub const PERMISSION_COMMAND_TIME: Duration = Duration::from_mins(1);
/// `exec --permission-command`: longest answer, bytes.
pub const PERMISSION_ANSWER_BYTES: u64 = 64 * 1024;
/// `exec`: calls that the result lists as refused.
pub const REFUSED_KEPT: usize = 100;
/// `exec`: what the result says of why a call was refused, bytes.
pub const REFUSED_BYTES: usize = 1024;
/// `exec`: output that is on its way to a slow reader before the agent reads no further in a reply, bytes.
pub const OUTPUT_BACKLOG: usize = 1024 * 1024;
/// `exec`: time in which a reader takes something at the end, or does not get the rest.
pub const OUTPUT_PATIENCE: Duration = Duration::from_secs(2);
/// `exec`: the same, after a stop.
pub const OUTPUT_FAREWELL: Duration = Duration::from_millis(300);
/// `exec`: longest time for the rest of the output after a stop.
pub const OUTPUT_FAREWELL_MOST: Duration = Duration::from_millis(700);
/// `exec --steer-stdin`: texts that wait for room in a queue before no more is read, bytes.
pub const STEER_BYTES: usize = 2 * MESSAGE_BYTES;
/// `exec --steer-stdin`: lines that wait before no more is read.
pub const STEER_LINES: usize = 200;
/// `exec --steer-stdin`: refused lines that are said one by one.
pub const REFUSED_LINES: usize = 100;
/// `exec`: refused operations that are listed at the end.
pub const REFUSED_SHOWN: usize = 20;
/// Longest stretch of a line that plain output sanitises as one while it streams, bytes.
pub const LIVE_BYTES: usize = 4 * 1024;
/// Line output: lines of a question that are written at once.
pub const QUESTION_LINES: usize = 60;
/// Line output: time without a key after which what was held back is written although a line is being typed.
pub const LINE_HELD: Duration = Duration::from_secs(20);
/// Line output: time that a tool runs before that is written.
pub const LINE_SLOW_TOOL: Duration = Duration::from_secs(2);
/// Line output: rows of one report, and entries that one search writes.
pub const LINE_ROWS: usize = 60;
/// Line output: characters of a typed line that are echoed; of a longer one the end.
pub const LINE_ECHO: usize = 4_000;
/// Line output: time that the last lines have to be written.
pub const LINE_FAREWELL: Duration = Duration::from_secs(2);

// Limits of images: those that users attach, those that tools return, and their pictures on the screen.

/// Largest image that is sent, bytes: what the strictest server takes, in base64.
pub const IMAGE_BYTES: u64 = 3_750 * 1024;
/// Largest file that is opened to make an image of it that can be sent, bytes.
pub const IMAGE_FILE_BYTES: u64 = 32 * 1024 * 1024;
/// Longest side of an image that is sent, pixels: servers make larger ones smaller themselves.
pub const IMAGE_SIDE: u32 = 1_568;
/// Most pixels of an image that is opened.
pub const IMAGE_PIXELS: u64 = 64_000_000;
/// Longest side of an image that is opened, pixels: what makes one smaller works on whole rows and columns.
pub const IMAGE_OPENED_SIDE: u32 = 32_768;
/// Most memory that opening an image may take, bytes; one image is opened at a time.
pub const IMAGE_MEMORY: u64 = 256 * 1024 * 1024;
/// Longest time for opening an image.
pub const IMAGE_TIME: Duration = Duration::from_secs(20);
/// Part of an image's bytes that is opened before that time is looked at; a PNG can become a thousand times as much.
pub const IMAGE_PIECE_BYTES: usize = 4 * 1024;
/// Quality of an image that becomes a JPEG, of 100.
pub const IMAGE_QUALITY: u8 = 85;
/// Images that the screen keeps, so that texts which come back have them.
pub const KEPT_IMAGES: usize = 100;
/// Most images of one message.
pub const IMAGES: usize = 10;
/// Images of the conversations that a host keeps for its screens.
pub const GALLERY_IMAGES: usize = 100;
/// Most bytes of them, in base64.
pub const GALLERY_BYTES: usize = 64 * 1024 * 1024;
/// Pictures that a terminal has at once; their numbers are one byte.
pub const PICTURES: u8 = 32;
/// Most bytes of a picture that a terminal is sent.
pub const PICTURE_BYTES: usize = 2 * 1024 * 1024;
/// Most columns of a picture; there is a mark for each, in `tui/pictures/placeholder.rs`.
pub const PICTURE_COLUMNS: u16 = 60;
/// Most rows of a picture.
pub const PICTURE_ROWS: u16 = 12;
/// Most pixels of a cell's side; a terminal that says more gets coarser pictures.
pub const CELL_PIXELS: u32 = 48;
/// Most pixels of a cell's side of a sixel terminal, which never scales pictures; one that says more gets no pictures.
pub const SIXEL_CELL_PIXELS: u32 = 128;
/// Most pixels of a sixel picture; with six bytes for each it is within [`PICTURE_BYTES`], whatever it shows.
pub const SIXEL_PIXELS: u32 = 300_000;
/// Most colours of a sixel picture: what terminals have at least.
pub const SIXEL_COLOURS: usize = 256;
/// Images of which the screen knows that they have no picture.
pub const PICTURELESS: usize = 1_000;
