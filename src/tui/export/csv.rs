//! Comma-separated values as in RFC 4180, which no spreadsheet takes for formulas.

/// Characters at the start of a field with which spreadsheets begin a formula, and the guard itself, so that taking one
/// guard off gives every field back.
const GUARDED: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\''];

/// Writes rows of fields; each row ends with a carriage return and a line feed.
///
/// A field that starts with `=`, `+`, `-`, `@`, a tab, a carriage return or `'` gets a `'` before it.
pub fn csv<R, F>(rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = F>,
    F: AsRef<str>,
{
    let mut text = String::new();
    for row in rows {
        for (number, field) in row.into_iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            push(&mut text, field.as_ref());
        }
        text.push_str("\r\n");
    }
    text
}

fn push(text: &mut String, field: &str) {
    let guard = if field.starts_with(GUARDED) { "'" } else { "" };
    if field.contains([',', '"', '\r', '\n']) {
        text.extend(["\"", guard, &field.replace('"', "\"\""), "\""]);
    } else {
        text.extend([guard, field]);
    }
}
