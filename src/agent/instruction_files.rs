//! Instruction files in a conversation: the mark that each stands between, and which of them a text holds.
//!
//! Pure. Who writes them keeps the mark out of every file: so none can end its own part.

/// The name of the mark; a number stands behind it where a file has this word.
pub const INSTRUCTION_FILE: &str = "context_file";

/// Returns the files that stand in a text, each with its path and its own text.
pub(super) fn instruction_files(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once(&format!("<{INSTRUCTION_FILE}")) {
        rest = behind;
        if let Some((path, body, behind)) = first(behind) {
            found.push((path, body));
            rest = behind;
        }
    }
    found
}

/// Reads the file whose mark has just begun; returns what stands behind it too.
fn first(text: &str) -> Option<(&str, &str, &str)> {
    let (number, behind) = text.split_once(" path=\"")?;
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if !(number.is_empty() || number.strip_prefix('_').is_some_and(is_number)) {
        return None;
    }
    let (path, behind) = behind.split_once("\">\n")?;
    let (body, behind) = behind.split_once(&format!("\n</{INSTRUCTION_FILE}{number}>"))?;
    Some((path, body, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_found_with_its_path_and_its_text() {
        let text = "Read this.\n\n<context_file path=\"a/AGENTS.md\">\nOne.\n\nTwo.\n</context_file>\n\n<context_file \
                    path=\"b\">\n\n</context_file>\n\n<context_file path=\"c\">\nC\n</context_file>";
        assert_eq!(instruction_files(text), [("a/AGENTS.md", "One.\n\nTwo."), ("b", ""), ("c", "C")]);
        let numbered = "<context_file_3 path=\"a\">\n<context_file path=\"x\">\n</context_file_3>";
        assert_eq!(instruction_files(numbered), [("a", "<context_file path=\"x\">")]);
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for text in
            ["", "<context_file", "<context_file path=\"a\">\nno end", "<context_files path=\"a\">\n\n</context_files>"]
        {
            assert_eq!(instruction_files(text), [], "{text}");
        }
    }
}
