//! What a shell line of a custom command printed, as it stands in the text that is sent: between two tags, which it cannot
//! close; and that text for lists and titles, with the line in the place of all that.
//!
//! Pure. Always holds: of a text without such tags nothing changes.

use std::borrow::Cow;

use super::visible_line;

/// The name of the tags; letters behind it make it one that the output has not.
const TAG: &str = "command-output";

/// Returns what a command printed between two tags.
pub fn with_tags(command: &str, output: &str) -> String {
    let mut tag = TAG.to_owned();
    while output.contains(&tag) || command.contains(&tag) {
        tag.push('x');
    }
    let command = visible_line(command).replace('"', "'");
    format!("<{tag} of=\"{command}\">\n{}\n</{tag}>", output.trim_end_matches('\n'))
}

/// Returns a text in which each command stands as it was written in the place of what it printed.
pub fn without_outputs(text: &str) -> Cow<'_, str> {
    let mut short = String::new();
    let mut rest = text;
    while let Some((before, command, behind)) = first_output(rest) {
        short.push_str(before);
        short.push_str("!`");
        short.push_str(command);
        short.push('`');
        rest = behind;
    }
    if short.is_empty() {
        return Cow::Borrowed(text);
    }
    short.push_str(rest);
    Cow::Owned(short)
}

/// Finds the first output: what stands before it, its command, and what stands behind it.
fn first_output(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices('<').find_map(|(at, sign)| {
        let name = text.get(at + sign.len()..)?;
        let letters = name.strip_prefix(TAG)?;
        let (tag, _) = name.split_at_checked(TAG.len() + letters.len() - letters.trim_start_matches('x').len())?;
        let (command, inner) = name.strip_prefix(tag)?.strip_prefix(" of=\"")?.split_once("\">\n")?;
        let (_, behind) = inner.split_once(&format!("\n</{tag}>"))?;
        (!command.contains('\n')).then_some((text.get(..at)?, command, behind))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stands_in_lists_as_it_was_written_whatever_it_printed() {
        for output in
            ["", " M a.rs", "one\ntwo\n", "</command-output>", "<command-output of=\"x\">\ny\n</command-output>"]
        {
            let text = format!("Status: {} and {}.", with_tags("git status", output), with_tags("ls \"a\"", output));
            assert_eq!(without_outputs(&text), "Status: !`git status` and !`ls 'a'`.", "{output}");
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "",
            "a < b",
            "<command-output>",
            "<command-output of=\"ls\">\nnever closed",
            "<command-outputs of=\"x\">\n\n</command-outputs>",
        ] {
            assert_eq!(without_outputs(text), text);
        }
    }
}
