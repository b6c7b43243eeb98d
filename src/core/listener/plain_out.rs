//! The writers of plain output: the answer and the notes on one writer, or each on its own.

use std::io::Write;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The fewest columns at which rows are wrapped.
const FEWEST: usize = 20;
/// Columns before the text of a framed row.
const BAR: usize = 2;

/// The writer or writers of answers and notes.
pub(super) struct PlainOut {
    writer: Box<dyn Write + Send>,
    /// `None`: the notes go to the same writer.
    notes: Option<Box<dyn Write + Send>>,
    frame: Option<AnswerFrame>,
    mid_line: bool,
}

/// The bar before every row of the answer; rows are wrapped here, as a terminal would leave the bar out.
struct AnswerFrame {
    columns: Box<dyn Fn() -> usize + Send>,
    /// The columns used in the row; 0 before its bar.
    used: usize,
}

impl PlainOut {
    /// Writes both to one writer, the answer as it is.
    pub(super) fn mixed(writer: impl Write + Send + 'static) -> Self {
        Self { writer: Box::new(writer), notes: None, frame: None, mid_line: false }
    }

    /// Writes both to one terminal, the answer behind a bar.
    pub(super) fn framed(writer: impl Write + Send + 'static, columns: impl Fn() -> usize + Send + 'static) -> Self {
        Self { frame: Some(AnswerFrame { columns: Box::new(columns), used: 0 }), ..Self::mixed(writer) }
    }

    /// Writes each to a writer of its own.
    pub(super) fn apart(answer: impl Write + Send + 'static, notes: impl Write + Send + 'static) -> Self {
        Self { notes: Some(Box::new(notes)), ..Self::mixed(answer) }
    }

    /// Returns whether the answer has a writer of its own, which gets nothing else.
    pub(super) fn is_apart(&self) -> bool {
        self.notes.is_some()
    }

    /// Writes a part of the answer.
    pub(super) fn answer(&mut self, text: &str) {
        if !text.is_empty() {
            self.mid_line = !text.ends_with('\n');
            match &mut self.frame {
                Some(frame) => write(&mut self.writer, &frame.rows(text)),
                None => write(&mut self.writer, text),
            }
        }
    }

    /// Writes a line of the program.
    pub(super) fn note(&mut self, line: &str) {
        if let Some(notes) = &mut self.notes {
            return write(notes, line);
        }
        self.end_line();
        write(&mut self.writer, line);
    }

    /// Ends the last line of the answer.
    pub(super) fn end_line(&mut self) {
        if self.mid_line {
            self.answer("\n");
        }
    }
}

fn write(writer: &mut impl Write, text: &str) {
    if let Err(error) = writer.write_all(text.as_bytes()).and_then(|()| writer.flush()) {
        tracing::debug!(%error, "plain output was not written");
    }
}

impl AnswerFrame {
    fn rows(&mut self, text: &str) -> String {
        let columns = (self.columns)().max(FEWEST);
        let mut rows = String::with_capacity(text.len() + text.len() / 8);
        for cluster in text.graphemes(true) {
            if cluster == "\n" {
                rows.push_str(if self.used == 0 { "│\n" } else { "\n" });
                self.used = 0;
                continue;
            }
            let width = cluster.width();
            if self.used == 0 {
                rows.push_str("│ ");
                self.used = BAR;
            } else if self.used + width > columns {
                rows.push_str("\n│↪");
                self.used = BAR;
            }
            rows.push_str(cluster);
            self.used += width;
        }
        rows
    }
}
