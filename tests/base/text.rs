//! The sanitiser: hostile text is shown, not obeyed; real writing stays as it is.

use std::borrow::Cow;

use proptest::prelude::*;
use steersman_base::text::{clip, is_blank, visible, visible_line};

#[test]
fn terminal_sequences_are_shown() {
    let table = [
        ("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m"),
        ("\u{1b}]0;title\u{7}x", "␛]0;title␇x"),
        ("\u{1b}]52;c;cGF5\u{1b}\\", "␛]52;c;cGF5␛\\"),
        ("\u{1b}]8;;http://x\u{1b}\\t\u{1b}]8;;\u{1b}\\", "␛]8;;http://x␛\\t␛]8;;␛\\"),
        ("\u{1b}P1$qm\u{1b}\\", "␛P1$qm␛\\"),
        ("\u{1b}_apc\u{1b}^pm\u{1b}Xsos", "␛_apc␛^pm␛Xsos"),
        ("unterminated \u{1b}[", "unterminated ␛["),
        ("unterminated \u{1b}", "unterminated ␛"),
        ("\u{9b}2J\u{9d}0;x\u{9c}\u{90}q\u{85}", "<U+009B>2J<U+009D>0;x<U+009C><U+0090>q<U+0085>"),
        ("\u{1b}[2A\u{1b}[1G\u{1b}[K", "␛[2A␛[1G␛[K"),
        ("safe\rEVIL", "safe␍EVIL"),
        ("abc\u{8}\u{8}x", "abc␈␈x"),
        ("\0\u{7f}\u{b}\u{c}\u{e}", "␀␡␋␌␎"),
        ("é\u{1b}[1mé", "é␛[1mé"),
    ];
    for (hostile, shown) in table {
        assert_eq!(visible(hostile), shown, "{hostile:?}");
    }
}

#[test]
fn bidi_tags_and_invisible_characters_are_shown_as_codes() {
    let table = [
        ("a\u{202e}b\u{202c}", "a<U+202E>b<U+202C>"),
        ("\u{2066}x\u{2069}\u{200e}\u{200f}\u{61c}", "<U+2066>x<U+2069><U+200E><U+200F><U+061C>"),
        ("pass\u{ad}word", "pass<U+00AD>word"),
        ("zero\u{200b}width\u{feff}\u{2060}", "zero<U+200B>width<U+FEFF><U+2060>"),
        ("\u{e0041}\u{e007f}", "<U+E0041><U+E007F>"),
        ("a\u{200d}b a\u{200c}b", "a<U+200D>b a<U+200C>b"),
        ("a\u{fe0f}", "a<U+FE0F>"),
        ("\u{3164}\u{115f}\u{ffa0}", "<U+3164><U+115F><U+FFA0>"),
        ("line\u{2028}para\u{2029}", "line<U+2028>para<U+2029>"),
        // Bytes hidden in selectors behind an emoji: one selector may stay, the message may not.
        ("😀\u{fe0f}\u{fe0f}\u{e0141}", "😀\u{fe0f}<U+FE0F><U+E0141>"),
        ("👩\u{200d}\u{200d}👩", "👩<U+200D><U+200D>👩"),
        ("👩\u{200d}", "👩<U+200D>"),
        ("🏴\u{e0067}\u{e0062}\u{e007f}", "🏴<U+E0067><U+E0062><U+E007F>"),
    ];
    for (hostile, shown) in table {
        assert_eq!(visible(hostile), shown, "{hostile:?}");
    }
}

#[test]
fn real_writing_stays_as_it_is() {
    let table = [
        "plain ASCII ~!@#\nsecond line",
        "Ünïcödé, naïve, Å, e\u{301}, Việt Nam",
        "می\u{200c}خواهم کتاب\u{200c}ها",
        "क्\u{200d}ष क्\u{200c}ष र्\u{200d} हिन्दी",
        "র\u{200d}্যাব",
        "ශ්\u{200d}රී ලංකා",
        "ที่นี่ ภาษาไทย",
        "한국어 \u{1112}\u{1161}\u{11ab}",
        "日本語 葛\u{e0100}城",
        "שָׁלוֹם العَرَبِيَّة",
        "👩\u{200d}👩\u{200d}👧 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 👍🏽 🇩🇪 ☎\u{fe0e}",
        "⠋⠙\u{2800}⣿ ┌─┐ │ \u{e0b0} \u{a0}\u{3000}",
        "␛ <U+202E> ⏎ …",
    ];
    for text in table {
        assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text:?} became {:?}", visible(text));
    }
}

#[test]
fn tabs_go_to_stops_and_line_ends_become_one_kind() {
    assert_eq!(visible("\tx"), "    x");
    assert_eq!(visible("ab\tx\ty"), "ab  x   y");
    assert_eq!(visible("abcd\tx"), "abcd    x");
    assert_eq!(visible("one\nab\tx"), "one\nab  x");
    assert_eq!(visible("語\tx"), "語  x");
    assert_eq!(visible("e\u{301}\tx"), "e\u{301}   x");
    assert_eq!(visible("a\r\nb\r\n\r\n"), "a\nb\n\n");
    assert_eq!(visible("a\r\r\nb\r"), "a␍\nb␍");
    assert_eq!(visible("\u{1b}\tx"), "␛   x");
}

#[test]
fn one_line_shows_its_line_breaks() {
    assert_eq!(visible_line("a\nb\r\nc\rd\te"), "a⏎b⏎c␍d e");
    assert!(matches!(visible_line("plain"), Cow::Borrowed("plain")));
}

#[test]
fn marks_are_capped_and_never_join_what_stands_before_the_text() {
    let zalgo = format!("a{}b", "\u{301}".repeat(12));
    assert_eq!(visible(&zalgo), format!("a{}<U+0301><U+0301>b", "\u{301}".repeat(10)));
    assert_eq!(visible("\u{301}a\n\u{301}b"), "◌\u{301}a\n◌\u{301}b");
    assert_eq!(visible("a\u{1b}\u{301}"), "a␛\u{301}");
}

#[test]
fn a_joiner_stays_while_there_is_room_for_it_and_for_a_mark_behind_it() {
    let joined = |marks: usize| format!("\u{915}{}\u{200d}\u{937}", "\u{94d}".repeat(marks));
    // The cap, less the joiner and the mark.
    assert_eq!(visible(&joined(8)), joined(8));
    assert_eq!(visible(&joined(9)), joined(9).replace('\u{200d}', "<U+200D>"));
    // Behind the joiner the one mark fits, and no second.
    let heap = format!("\u{915}{}\u{200d}\u{94d}\u{94d}x", "\u{94d}".repeat(8));
    assert_eq!(visible(&heap), format!("\u{915}{}\u{200d}\u{94d}<U+094D>x", "\u{94d}".repeat(8)));
}

#[test]
fn clip_cuts_between_characters_as_they_are_seen() {
    let table = [
        ("hello", 5, "hello"),
        ("hello", 4, "hel…"),
        ("hello", 1, "…"),
        ("hello", 0, ""),
        ("", 0, ""),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("日本語", 2, "…"),
        ("日本語", 1, "…"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ("a👩\u{200d}👩\u{200d}👧bcd", 4, "a👩\u{200d}👩\u{200d}👧…"),
    ];
    for (text, columns, clipped) in table {
        assert_eq!(clip(text, columns), clipped, "{text:?} at {columns}");
    }
}

#[test]
fn blank_is_what_shows_nothing() {
    for blank in ["", " \t\r\n", "\u{200b}\u{feff}", "\u{3164}\u{a0}\u{2800}", "\u{e0041}", "\u{ad}\u{202e}"] {
        assert!(is_blank(blank), "{blank:?}");
    }
    assert!(!is_blank("\u{200b}."));
}

fn obeyed(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{AD}' | '\u{FEFF}' | '\u{E0000}'..='\u{E00FF}' | '\u{2028}' | '\u{2029}')
}

/// Text with many of the characters that matter, close together.
fn hostile() -> impl Strategy<Value = String> {
    let special = proptest::sample::select(
        "\u{1b}\u{9b}\u{7}\r\n\t\u{200d}\u{200c}\u{fe0f}\u{fe00}\u{e0100}\u{e0041}\u{202e}\u{61c}\u{301}\u{94d}\u{180b}\u{17b4}\u{20e3}\u{1160}👩❤🏴1#کیकष语ᠠក⏎◌\u{1161}"
            .chars()
            .collect::<Vec<_>>(),
    );
    let c = prop_oneof![4 => special, 1 => any::<char>(), 1 => proptest::char::range(' ', '~')];
    prop_oneof![
        proptest::collection::vec(c, 0..40).prop_map(|chars| chars.into_iter().collect()),
        (0_usize..14, "[\u{200c}\u{200d}\u{301}\u{94d}ی]{0,6}")
            .prop_map(|(marks, tail)| format!("ک{}{tail}", "\u{301}".repeat(marks))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn nothing_that_a_terminal_obeys_comes_out(text in hostile()) {
        let shown = visible(&text);
        prop_assert!(!shown.chars().any(obeyed), "{:?}", shown);
        let line = visible_line(&text);
        prop_assert!(!line.chars().any(|c| obeyed(c) || c == '\n'), "{:?}", line);
    }

    #[test]
    fn showing_twice_is_showing_once(text in hostile()) {
        let shown = visible(&text).into_owned();
        prop_assert!(matches!(visible(&shown), Cow::Borrowed(_)), "{:?} became {:?}", shown, visible(&shown));
        let line = visible_line(&text).into_owned();
        prop_assert!(matches!(visible_line(&line), Cow::Borrowed(_)), "{:?}", line);
    }

    #[test]
    fn a_clipped_text_fits(text in hostile(), columns in 0_usize..20) {
        use unicode_segmentation::UnicodeSegmentation;
        use unicode_width::UnicodeWidthStr;
        let line = visible_line(&text);
        let clipped = clip(&line, columns);
        let width: usize = clipped.graphemes(true).map(UnicodeWidthStr::width).sum();
        prop_assert!(width <= columns, "{:?} has {} columns", clipped, width);
        prop_assert!(clipped == line || clipped.is_empty() || clipped.ends_with('…'));
    }
}
