//! Server-sent events: bytes in, frames out. Pure; used by every streaming provider.
//!
//! The bytes may be split anywhere. A line is decoded only when it is whole, so a character cut in two by the
//! network stays whole. More lenient than the standard in two points that real servers need: the last event
//! counts without a blank line after it, and comments (signs of life) and unknown fields (errors) are reported.

use steersman_base::limits;

/// A frame of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// An event with data.
    Event {
        /// The value of `event:`, empty without one.
        name: &'a str,
        /// The last `id:` of the stream, empty without one.
        id: &'a str,
        /// The data lines, joined with LF.
        data: &'a str,
    },
    /// A comment, which is only a sign of life.
    Comment,
    /// How long a client is to wait before it takes a broken stream up again, milliseconds.
    Retry(u64),
    /// A field that the standard does not know.
    Field {
        /// The field's name.
        name: &'a str,
        /// Its value.
        value: &'a str,
    },
}

/// The reason why a stream cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooLong {
    /// A line over its cap.
    #[error("a line of the stream is longer than {0} bytes")]
    Line(usize),
    /// The data lines of one event over their cap.
    #[error("an event of the stream is longer than {0} bytes")]
    Event(usize),
}

/// The decoder of one stream. Takes pieces of any size; keeps only the incomplete line and event.
#[derive(Debug)]
pub struct Decoder {
    line: Vec<u8>,
    after_cr: bool,
    started: bool,
    event: PartialEvent,
    line_cap: usize,
}

#[derive(Debug)]
struct PartialEvent {
    name: String,
    id: String,
    data: String,
    has_data: bool,
    cap: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with_caps(limits::SSE_LINE_BYTES, limits::SSE_EVENT_BYTES)
    }
}

impl Decoder {
    /// Makes a decoder with its own caps, bytes of a line and of an event's data.
    pub fn with_caps(line: usize, event: usize) -> Self {
        let fresh =
            PartialEvent { name: String::new(), id: String::new(), data: String::new(), has_data: false, cap: event };
        Self { line: Vec::new(), after_cr: false, started: false, event: fresh, line_cap: line }
    }

    /// Takes the next bytes and gives each frame that they complete to `each`, whose error ends the call.
    ///
    /// # Errors
    /// [`TooLong`], or what `each` returned. The decoder must not be used afterwards.
    pub fn push<E: From<TooLong>>(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = after;
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.check_line(rest.len())?;
                self.line.extend_from_slice(rest);
                return Ok(());
            };
            let (head, tail) = rest.split_at(end);
            self.check_line(head.len())?;
            if self.line.is_empty() {
                take_line(&mut self.event, &mut self.started, head, &mut each)?;
            } else {
                self.line.extend_from_slice(head);
                take_line(&mut self.event, &mut self.started, &self.line, &mut each)?;
                self.line.clear();
            }
            self.after_cr = tail.first() == Some(&b'\r');
            rest = tail.get(1..).unwrap_or_default();
        }
        Ok(())
    }

    /// Ends the stream: an unfinished line and an event without its blank line still count.
    ///
    /// # Errors
    /// As [`Decoder::push`].
    pub fn finish<E: From<TooLong>>(mut self, mut each: impl FnMut(Frame<'_>) -> Result<(), E>) -> Result<(), E> {
        if !self.line.is_empty() {
            take_line(&mut self.event, &mut self.started, &self.line, &mut each)?;
        }
        take_line(&mut self.event, &mut self.started, b"", &mut each)
    }

    fn check_line(&self, more: usize) -> Result<(), TooLong> {
        let whole = self.line.len().saturating_add(more);
        if whole > self.line_cap { Err(TooLong::Line(self.line_cap)) } else { Ok(()) }
    }
}

/// Takes one whole line without its end.
fn take_line<E: From<TooLong>>(
    event: &mut PartialEvent,
    started: &mut bool,
    line: &[u8],
    each: &mut impl FnMut(Frame<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let first = !std::mem::replace(started, true);
    let line = if first { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
    if line.is_empty() {
        let complete = Frame::Event { name: &event.name, id: &event.id, data: &event.data };
        let dispatched = if event.has_data { each(complete) } else { Ok(()) };
        event.name.clear();
        event.data.clear();
        event.has_data = false;
        return dispatched;
    }
    let line = String::from_utf8_lossy(line);
    let (field, value) = line.split_once(':').unwrap_or((&line, ""));
    let value = value.strip_prefix(' ').unwrap_or(value);
    match field {
        "" => return each(Frame::Comment),
        "data" => {
            if event.data.len().saturating_add(value.len()) >= event.cap {
                return Err(TooLong::Event(event.cap).into());
            }
            if event.has_data {
                event.data.push('\n');
            }
            event.data.push_str(value);
            event.has_data = true;
        }
        "event" => value.clone_into(&mut event.name),
        "id" if !value.contains('\0') => value.clone_into(&mut event.id),
        "retry" => return value.trim().parse().map_or(Ok(()), |millis| each(Frame::Retry(millis))),
        "id" => {}
        name => return each(Frame::Field { name, value }),
    }
    Ok(())
}
