//! What a model says in its own words about a text of the user: a line of a reply that begins with the text's id, as the
//! frame of the text asks for it (`[m9] the schema is v4 now`).
//!
//! Pure; used by the receipts, the transcript and the exports. Always holds: without such a line there is no answer, and
//! its sentence is one safe line of bounded length.

use crate::id::MessageId;
use crate::limits;
use crate::text::{clip, visible_line};

/// What a reply says that was done with one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextAnswer {
    /// The text, as the model names it; it need not exist.
    pub id: MessageId,
    /// The sentence, sanitized.
    pub sentence: String,
}

/// Characters before the id that only make it a list's entry or a quotation, or stress it.
const MARKS: [char; 4] = ['-', '*', '>', '`'];

/// Returns the answers to texts in a whole reply, in order.
pub fn text_answers(reply: &str) -> Vec<TextAnswer> {
    let answers = reply.lines().filter_map(|line| {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || MARKS.contains(&c));
        let (id, behind) = line.strip_prefix('[')?.split_once(']')?;
        let is_id =
            !id.is_empty() && id.len() <= limits::ANSWER_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let sentence =
            behind.trim_start_matches(|c: char| c.is_whitespace() || MARKS.contains(&c) || c == ':').trim_end();
        // A link is no answer.
        if !is_id || behind.starts_with('(') || sentence.is_empty() {
            return None;
        }
        let sentence: String = sentence.chars().take(limits::ANSWER_COLUMNS).collect();
        let sentence = clip(&visible_line(&sentence), limits::ANSWER_COLUMNS).into_owned();
        Some(TextAnswer { id: MessageId::new(id), sentence })
    });
    answers.take(limits::ANSWERS).collect()
}

/// Returns what an answer to this text begins with.
pub fn answer_mark(id: &MessageId) -> String {
    format!("[{id}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(reply: &str) -> Vec<(String, String)> {
        text_answers(reply).into_iter().map(|answer| (answer.id.as_str().to_owned(), answer.sentence)).collect()
    }

    #[test]
    fn a_line_that_begins_with_an_id_is_an_answer_and_nothing_else_is() {
        let reply = "I go on.\n[m9] The schema is v4 now.\n- **[m10]**: left the tests out\n";
        let wanted = [("m9", "The schema is v4 now."), ("m10", "left the tests out")];
        assert_eq!(parse(reply), wanted.map(|(id, sentence)| (id.to_owned(), sentence.to_owned())));
        for nothing in ["", "see [m9] there", "[m9]", "[m9] \n", "[m9](http://a)", "[m 9] x", "[] x", "m9: x"] {
            assert_eq!(parse(nothing), [], "{nothing:?}");
        }
    }

    #[test]
    fn a_sentence_is_safe_and_bounded_and_so_is_their_number() {
        let long = format!("[m1] \u{1b}[31m{}", "x".repeat(10_000));
        let (_, sentence) = parse(&long).remove(0);
        assert!(!sentence.contains('\u{1b}') && sentence.chars().count() <= limits::ANSWER_COLUMNS, "{sentence}");
        assert_eq!(parse(&"[m1] done\n".repeat(1_000)).len(), limits::ANSWERS);
    }
}
