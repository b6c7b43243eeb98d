//! A buffer as text that a person can read and insta can compare: its rows, then the stretches that have a style.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell, CellWidth as _};
use ratatui::style::{Color, Modifier};

/// Writes the rows between bars, and below them `row: columns style` for every styled stretch.
pub fn dump(buf: &Buffer) -> String {
    let mut rows = String::new();
    let mut styles = String::new();
    for y in buf.area.top()..buf.area.bottom() {
        rows.push('|');
        let mut covered = 0;
        let mut run: Option<(u16, String)> = None;
        for x in buf.area.left()..buf.area.right() {
            let cell = &buf[(x, y)];
            if covered == 0 {
                rows.push_str(cell.symbol());
                covered = cell.symbol().cell_width();
            }
            covered = covered.saturating_sub(1);
            let style = name(cell);
            match &run {
                Some((_, known)) if *known == style => {}
                Some((start, known)) => {
                    end_run(&mut styles, y, *start, x, known);
                    run = Some((x, style));
                }
                None => run = Some((x, style)),
            }
        }
        if let Some((start, known)) = run {
            end_run(&mut styles, y, start, buf.area.right(), &known);
        }
        rows.push_str("|\n");
    }
    format!("{rows}\n{styles}")
}

/// Returns the rows alone, blanks at their ends left out.
pub fn rows(buf: &Buffer) -> Vec<String> {
    let text = dump(buf);
    text.lines()
        .take(buf.area.height.into())
        .map(|row| row.trim_start_matches('|').trim_end_matches('|').trim_end().to_owned())
        .collect()
}

fn end_run(styles: &mut String, y: u16, start: u16, end: u16, style: &str) {
    if !style.is_empty() {
        writeln!(styles, "{y}: {start}-{} {style}", end - 1).unwrap();
    }
}

fn name(cell: &Cell) -> String {
    let mut parts = Vec::new();
    if cell.fg != Color::Reset {
        parts.push(format!("{:?}", cell.fg).to_lowercase());
    }
    if cell.bg != Color::Reset {
        parts.push(format!("on {:?}", cell.bg).to_lowercase());
    }
    parts.extend(cell.modifier.iter_names().map(|(name, _): (&str, Modifier)| name.to_lowercase()));
    parts.join(" ")
}
