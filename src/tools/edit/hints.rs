//! What to tell a model whose text is not in the file: where it is nearly, and what differs.

use steersman_base::text::distance;

/// Lines of the file that are compared letter by letter, and how long such a line may be.
const COMPARED_LINES: usize = 5_000;
const COMPARED_CHARS: usize = 200;

/// Says in one clause why a text was not found. Both have `\n` line ends.
pub(super) fn not_found(content: &[u8], needle: &[u8]) -> String {
    let content = String::from_utf8_lossy(content);
    let needle = String::from_utf8_lossy(needle);
    let wanted: Vec<&str> = needle.lines().collect();
    let lines: Vec<&str> = content.lines().collect();
    if needle.contains(char::REPLACEMENT_CHARACTER) {
        return "it contains �, which stands for bytes that are not UTF-8: take a part without them".to_owned();
    }
    if wanted.iter().all(|line| is_numbered(line)) {
        return "leave out the line numbers that read shows".to_owned();
    }
    if let Some(at) = blanks_apart(&lines, &wanted) {
        return spacing(&lines, &wanted, at);
    }
    if let Some(text) = breaks_off(&lines, &wanted) {
        return text;
    }
    nearest(&lines, &wanted).unwrap_or_else(|| "nothing in it is alike; read it again".to_owned())
}

/// Tells whether a line begins as `read` shows it: number, tab.
fn is_numbered(line: &str) -> bool {
    line.split_once('\t').is_some_and(|(number, _)| number.trim().parse::<u64>().is_ok())
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Finds where the text is but for white space.
fn blanks_apart(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let wanted: Vec<String> = wanted.iter().map(|line| squeezed(line)).collect();
    if wanted.iter().all(String::is_empty) {
        return None;
    }
    let lines: Vec<String> = lines.iter().map(|line| squeezed(line)).collect();
    lines.windows(wanted.len()).position(|window| window == wanted)
}

/// Says where only white space differs, with the first such line.
fn spacing(lines: &[&str], wanted: &[&str], at: usize) -> String {
    let pairs = lines.iter().skip(at).zip(wanted);
    let differs = pairs.enumerate().find(|(_, (line, wanted))| line != wanted);
    match differs {
        Some((index, (line, _))) => {
            format!("line {} differs in white space only; it is {}", at + index + 1, quoted(line))
        }
        None => format!("it is at line {} but for the line breaks at its end", at + 1),
    }
}

/// Finds where the text begins as in the file and then goes on differently.
fn breaks_off(lines: &[&str], wanted: &[&str]) -> Option<String> {
    let (first, rest) = wanted.split_first()?;
    if first.trim().is_empty() || rest.is_empty() {
        return None;
    }
    let starts = lines.iter().enumerate().filter(|(_, line)| line.ends_with(first)).map(|(at, _)| at);
    let same = |at: usize| lines.iter().skip(at + 1).zip(rest).take_while(|(line, wanted)| line == wanted).count();
    let (at, same) = starts.map(|at| (at, same(at))).max_by_key(|(at, same)| (*same, usize::MAX - at))?;
    let index = at + 1 + same;
    let wanted = rest.get(same)?;
    Some(match lines.get(index) {
        Some(line) => {
            format!("it begins at line {}, but line {} is {}, not {}", at + 1, index + 1, quoted(line), quoted(wanted))
        }
        None => format!("it begins at line {}, but the file ends before {}", at + 1, quoted(wanted)),
    })
}

/// Finds the line most like the first one that says anything.
fn nearest(lines: &[&str], wanted: &[&str]) -> Option<String> {
    let wanted = wanted.iter().map(|line| line.trim()).find(|line| !line.is_empty())?;
    let length = wanted.chars().count();
    if length > COMPARED_CHARS {
        return None;
    }
    let near = lines.iter().enumerate().take(COMPARED_LINES).filter_map(|(index, line)| {
        let line = line.trim();
        let alike = line.chars().count().abs_diff(length) <= length / 3;
        let edits = if alike { distance(line, wanted) } else { return None };
        (edits <= length / 3).then_some((edits, index))
    });
    let (_, index) = near.min()?;
    Some(format!("the nearest is line {}: {}", index + 1, quoted(lines.get(index)?)))
}

/// Quotes a line so that tabs and the like show.
fn quoted(line: &str) -> String {
    let cut: String = line.chars().take(COMPARED_CHARS).collect();
    let more = if cut.len() < line.len() { "…" } else { "" };
    format!("{cut:?}{more}")
}
