//! What comes apart on its way, at every byte and with every pause, by a clock of its own.

use crossterm::event::KeyEvent;

use super::*;

/// Plays bytes, each part so many milliseconds behind the one before; returns what was handed on, and when.
fn played(link: TerminalLink, parts: &[(u64, &[u8])]) -> Vec<(u64, Decoded)> {
    let start = Instant::now();
    let mut incoming = Incoming::new(link);
    let mut out = Vec::new();
    let millis = |at: Instant| u64::try_from((at - start).as_millis()).unwrap_or(u64::MAX);
    let mut now = start;
    for (pause, bytes) in parts {
        now += Duration::from_millis(*pause);
        while let Some(due) = incoming.due().filter(|due| *due < now) {
            out.extend(incoming.take_due(due).into_iter().map(|one| (millis(due), one)));
        }
        incoming.feed(bytes, now);
    }
    while let Some(due) = incoming.due() {
        let taken = incoming.take_due(due);
        out.extend(taken.into_iter().map(|one| (millis(due), one)));
    }
    out
}

fn decoded(link: TerminalLink, parts: &[(u64, &[u8])]) -> Vec<Decoded> {
    played(link, parts).into_iter().map(|(_, one)| one).collect()
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Decoded {
    Decoded::Key(KeyEvent::new(code, modifiers))
}

fn plain(code: KeyCode) -> Decoded {
    key(code, KeyModifiers::NONE)
}

fn typed(text: &str) -> Vec<Decoded> {
    let code = |c| if c == '\r' { KeyCode::Enter } else { KeyCode::Char(c) };
    text.chars().map(|c| plain(code(c))).collect()
}

/// Keys as terminals send them, in several bytes.
const KEYS: &[&str] = &[
    "\x1b[A",
    "\x1b[D",
    "\x1bOA",
    "\x1bOP",
    "\x1b[Z",
    "\x1b[3~",
    "\x1b[15~",
    "\x1b[1;5D",
    "\x1b[1;3A",
    "\x1b\x1b[A",
    "\x1b\r",
    "\x1b\x7f",
    "\x1bx",
    "\x1bP",
    "\x1bO",
    "\x1b[",
    "\x1b[13;2u",
    "\x1b[27;2;13~",
    "\x1b[99;5u",
    "\x1b[[E",
    "\x1b\u{e4}",
    "\x1b[<0;1;1M",
    "\x1b[I",
    "\x1b[O",
    "\x1b[200~a\rb\x1b[201~",
    "\u{1f980}",
];
/// What terminals answer; nothing of it is a key.
const ANSWERS: &[&str] = &[
    "\x1b]10;rgb:cdcd/d6d6/f4f4\x1b\\",
    "\x1b]10;rgb:ff/ff/ff\x07",
    "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
    "\x1b]4;1;rgb:ff/00/00\x07",
    "\x1b]52;c;aGVsbG8=\x1b\\",
    "\x1b[?62;22c",
    "\x1b[>0;276;0c",
    "\x1b[1;1R",
    "\x1b[24;80R",
    "\x1b[?2026;2$y",
    "\x1b[?1u",
    "\x1b[0n",
    "\x1b[6;20;10t",
    "\x1bP>|tmux 3.3a\x1b\\",
    "\x1bP!|00000000\x1b\\",
    "\x1bP1+r524742=38\x1b\\",
    "\x1b_Gi=31;OK\x1b\\",
    "\x1b[?997;1n",
    "\x1b[?13n",
    "\x1b[I",
    "\x1b[O",
];

fn is_key(one: &Decoded) -> bool {
    matches!(one, Decoded::Key(_) | Decoded::Paste(_))
}

#[test]
fn the_bytes_of_a_key_may_come_apart_anywhere() {
    for link in [TerminalLink::Local, TerminalLink::Ssh] {
        for sent in KEYS {
            let bytes = sent.as_bytes();
            let whole = decoded(link, &[(0, bytes)]);
            for pause in [10, 45, 90] {
                let apart: Vec<(u64, &[u8])> = bytes.chunks(1).map(|byte| (pause, byte)).collect();
                assert_eq!(decoded(link, &apart), whole, "{sent:?}, every {pause} ms a byte");
                for cut in 1..bytes.len() {
                    let parts = [(0, &bytes[..cut]), (pause, &bytes[cut..])];
                    assert_eq!(decoded(link, &parts), whole, "{sent:?}, cut at {cut} for {pause} ms");
                }
            }
        }
    }
}

#[test]
fn no_answer_of_the_terminal_is_typed_whenever_and_however_it_comes() {
    for answer in ANSWERS {
        let bytes = answer.as_bytes();
        for (pause, cut) in [0, 10, 45, 90].into_iter().flat_map(|pause| (1..bytes.len()).map(move |cut| (pause, cut)))
        {
            let out =
                decoded(TerminalLink::Local, &[(0, b"a"), (20, &bytes[..cut]), (pause, &bytes[cut..]), (20, b"b")]);
            let keys: Vec<_> = out.into_iter().filter(is_key).collect();
            assert_eq!(keys, typed("ab"), "{answer:?}, cut at {cut} for {pause} ms");
        }
        // So late that its beginning was taken for a key.
        for (pause, cut) in [160, 300, 600].into_iter().flat_map(|pause| (1..=2).map(move |cut| (pause, cut))) {
            let out = decoded(TerminalLink::Local, &[(0, &bytes[..cut]), (pause, &bytes[cut..])]);
            let keys: Vec<_> = out.into_iter().filter(is_key).collect();
            assert!(keys.len() <= 1, "{answer:?}, cut at {cut} for {pause} ms: {keys:?}");
        }
        // Right behind the Esc key.
        let out = decoded(TerminalLink::Local, &[(0, b"\x1b"), (50, bytes)]);
        assert_eq!(out.into_iter().filter(is_key).collect::<Vec<_>>(), [plain(KeyCode::Esc)], "{answer:?}");
    }
}

#[test]
fn the_rest_of_an_answer_that_was_given_up_is_typed_by_nobody() {
    for answer in ANSWERS.iter().filter(|answer| answer.starts_with(['\x1b']) && !answer.starts_with("\x1b[")) {
        let bytes = answer.as_bytes();
        for (pause, cut) in
            [1_600, 4_000].into_iter().flat_map(|pause| (6..bytes.len() - 2).map(move |cut| (pause, cut)))
        {
            let sent = [(0, &b"a"[..]), (20, &bytes[..cut]), (pause, &bytes[cut..]), (200, b"b")];
            let keys: Vec<_> = decoded(TerminalLink::Local, &sent).into_iter().filter(is_key).collect();
            assert_eq!(keys, typed("ab"), "{answer:?}, cut at {cut} for {pause} ms");
        }
    }
    // What is typed after a while is text.
    let sent = [(0, &b"\x1b]11;rgb:1e"[..]), (1_600, b"hello"), (100, b"\x1b[A")];
    let keys: Vec<_> = decoded(TerminalLink::Local, &sent).into_iter().filter(is_key).collect();
    assert_eq!(keys.len(), 6, "{keys:?}");
}

#[test]
fn keys_and_answers_that_come_apart_at_random_are_what_they_are_whole() {
    use proptest::prelude::*;
    let part = (0..KEYS.len() + ANSWERS.len(), proptest::collection::vec(prop_oneof![Just(0_u64), 10_u64..=90], 40));
    proptest!(|(parts in proptest::collection::vec(part, 1..6))| {
        let mut sent: Vec<(u64, &[u8])> = Vec::new();
        let mut expected = Vec::new();
        for (which, pauses) in &parts {
            let bytes = KEYS.iter().chain(ANSWERS).nth(*which).map_or(&b""[..], |sent| sent.as_bytes());
            expected.extend(decoded(TerminalLink::Local, &[(0, bytes)]));
            // The next begins when this one is decided.
            let first = sent.len();
            sent.extend(bytes.chunks(1).zip(pauses).map(|(byte, pause)| (*pause, byte)));
            sent[first].0 = 1_100;
        }
        prop_assert_eq!(decoded(TerminalLink::Local, &sent), expected);
    });
}

#[test]
fn no_string_that_comes_whole_is_typed_whatever_it_says() {
    for string in [
        "\x1b]lsteersman\x1b\\",
        "\x1b]Licon\x07",
        "\x1b]1337;ReportCellSize=20.0;10.0\x1b\\",
        "\x1bP2$u9/17/25\x1b\\",
        "\x1bP1!~0000\x1b\\",
        "\x1b_hello\x1b\\",
        "\x1b^private\x1b\\",
        "\x1bXstart\x1b\\",
    ] {
        let sent = format!("a{string}b");
        assert_eq!(decoded(TerminalLink::Local, &[(0, sent.as_bytes())]), typed("ab"), "{string:?}");
    }
    // Without an end they are keys.
    for (sent, key) in [("\x1b_x", '_'), ("\x1b]x", ']'), ("\x1bXx", 'X'), ("\x1b^x", '^')] {
        let out = decoded(TerminalLink::Local, &[(0, sent.as_bytes())]);
        assert_eq!(out, [vec![self::key(KeyCode::Char(key), KeyModifiers::ALT)], typed("x")].concat(), "{sent:?}");
    }
}

#[test]
fn keys_with_modifiers_are_what_they_are_in_every_form() {
    let sent = |text: &str| decoded(TerminalLink::Local, &[(0, text.as_bytes())]);
    for (code, is) in [(91, KeyCode::Esc), (109, KeyCode::Enter), (105, KeyCode::Tab)] {
        assert_eq!(sent(&format!("\x1b[27;5;{code}~")), [plain(is)], "{code}");
        assert_eq!(sent(&format!("\x1b[{code};5u")), [plain(is)], "{code}");
    }
    // Of the window manager: nothing is typed.
    for text in ["\x1b[27;9;97~", "\x1b[97;9u", "\x1b[99;13u", "\x1b[97;17u"] {
        assert_eq!(sent(text), [], "{text:?}");
    }
}

#[test]
fn a_lone_esc_is_decided_soon() {
    for (link, most) in [(TerminalLink::Local, 200), (TerminalLink::Ssh, 400)] {
        let out = played(link, &[(0, b"\x1b")]);
        assert_eq!(out.len(), 1);
        assert!(out[0].0 <= most && out[0].1 == plain(KeyCode::Esc), "{out:?}");
    }
    let twice = decoded(TerminalLink::Local, &[(0, b"\x1b"), (120, b"\x1b")]);
    assert_eq!(twice, [plain(KeyCode::Esc), plain(KeyCode::Esc)]);
}

#[test]
fn what_follows_an_esc_that_was_decided_moments_ago_is_not_typed() {
    let (esc, left) = (plain(KeyCode::Esc), plain(KeyCode::Left));
    for pause in [160, 300, 500] {
        let out = decoded(TerminalLink::Local, &[(0, b"\x1b"), (pause, b"[D")]);
        assert_eq!(out, [esc.clone(), left.clone()], "{pause} ms");
        let out = decoded(TerminalLink::Local, &[(0, b"\x1b"), (pause, b"["), (90, b"D")]);
        assert_eq!(out, [esc.clone(), left.clone()], "{pause} ms, and apart");
        let out = decoded(TerminalLink::Local, &[(0, b"\x1b"), (pause, b"[200~x"), (5, b"y\x1b[201~")]);
        assert_eq!(out, [esc.clone(), Decoded::Paste("xy".to_owned())], "{pause} ms, a paste");
    }
}

#[test]
fn what_is_typed_behind_esc_is_text() {
    for text in
        ["ok", "[x] done", "[1] a", "[draft]", "[1\r", "[?", "]", "]1", "Please", "OK", "[[", "[1", "\u{e4}", "x"]
    {
        let bytes = text.as_bytes();
        let parts = [(0, &b"\x1b"[..]), (200, bytes)];
        let expected = [vec![plain(KeyCode::Esc)], typed(text)].concat();
        assert_eq!(decoded(TerminalLink::Local, &parts), expected, "{text:?} at once");
        let mut parts = vec![(0, &b"\x1b"[..])];
        parts.extend(bytes.chunks(1).map(|byte| (200, byte)));
        assert_eq!(decoded(TerminalLink::Local, &parts), expected, "{text:?} slowly");
    }
    // A sequence of its own, as of the next key.
    let out = decoded(TerminalLink::Local, &[(0, b"\x1b"), (200, b"\x1b[D")]);
    assert_eq!(out, [plain(KeyCode::Esc), plain(KeyCode::Left)]);
}

#[test]
fn lines_that_come_at_once_are_one_paste_and_send_nothing() {
    let text = (1..=20).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\r");
    for size in [text.len(), 7, 2, 1] {
        let parts: Vec<(u64, &[u8])> = text.as_bytes().chunks(size).map(|part| (3, part)).collect();
        let out = decoded(TerminalLink::Local, &parts);
        assert!(!out.contains(&plain(KeyCode::Enter)), "by {size}: {out:?}");
        assert!(matches!(out.last(), Some(Decoded::Paste(pasted)) if text.ends_with(pasted.as_str())), "by {size}");
    }
    assert_eq!(decoded(TerminalLink::Local, &[(0, b"\x1b[Ia\r\nb")])[1..], [Decoded::Paste("a\r\nb".to_owned())]);
    // What comes a moment later is no part of it.
    let out = decoded(TerminalLink::Local, &[(0, b"a\rb"), (100, b"\r")]);
    assert_eq!(out, [Decoded::Paste("a\rb".to_owned()), plain(KeyCode::Enter)]);
}

#[test]
fn a_line_end_that_was_typed_sends() {
    for parts in [
        &[(0, &b"text\r"[..])][..],
        &[(0, b"text"), (20, b"\r"), (20, b"text"), (20, b"\r")],
        &[(0, b"text\r"), (20, b"text\r")],
        &[(0, b"text\rtext\r")],
        &[(0, b"te"), (2, b"xt\r"), (2, b"text\r")],
        &[(0, b"text\r"), (20, b"text\r"), (20, b"text\r"), (20, b"text\r")],
        &[(0, b"y\r\r\r\r")],
        &[(0, b"t"), (9, b"\r"), (9, b"t")],
    ] {
        let text: Vec<u8> = parts.iter().flat_map(|(_, bytes)| bytes.to_vec()).collect();
        let out = decoded(TerminalLink::Local, parts);
        assert_eq!(out, typed(&String::from_utf8_lossy(&text)));
    }
    let last = played(TerminalLink::Local, &[(0, b"text\r")]).pop();
    assert!(last.as_ref().is_some_and(|(at, last)| *last == plain(KeyCode::Enter) && *at <= 10), "{last:?}");
    // Other keys behind it make no paste of it.
    let out = decoded(TerminalLink::Local, &[(0, b"y\r\x1b[A")]);
    assert_eq!(out, [typed("y\r"), vec![plain(KeyCode::Up)]].concat());
}

#[test]
fn a_block_that_comes_at_once_is_one_text_however_it_is_read() {
    use proptest::prelude::*;
    let line = "[a-z ]{0,12}[a-z]";
    let cuts = proptest::collection::vec((1_usize..40, 0_u64..8), 0..40);
    proptest!(|(lines in proptest::collection::vec(line, 3..30), is_ended: bool, ends in "\r|\r\n", cuts in cuts)| {
        let text = lines.join(&ends) + if is_ended { &ends } else { "" };
        let mut rest = text.as_bytes();
        let mut parts: Vec<(u64, &[u8])> = Vec::new();
        for (length, pause) in cuts {
            let (part, behind) = rest.split_at(length.min(rest.len()));
            parts.push((pause, part));
            rest = behind;
        }
        parts.push((0, rest));
        parts.retain(|(_, part)| !part.is_empty());
        let handed_on = decoded(TerminalLink::Local, &parts);
        prop_assert!(!handed_on.iter().any(is_enter), "{handed_on:?}");
        let all: String = handed_on
            .iter()
            .map(|one| match one {
                Decoded::Paste(pasted) => pasted.clone(),
                one => character(one).map(String::from).unwrap_or_default(),
            })
            .collect();
        prop_assert_eq!(all, text);
    });
}

#[test]
fn a_key_that_is_no_character_ends_a_paste_without_marks_that_had_stopped() {
    let block: &[u8] = b"one\rtwo\rthree\r";
    let round: &[u8] = b"\x1bOR\x1b[H\r\r";
    let after = [plain(KeyCode::F(3)), plain(KeyCode::Home), plain(KeyCode::Enter), plain(KeyCode::Enter)];
    let pasted = [Decoded::Paste("one\rtwo\rthree\r".to_owned())];
    // Without end: each round would belong to the paste that the one before went on.
    let rounds: Vec<(u64, &[u8])> = std::iter::once((0, block)).chain([(200, round); 5]).collect();
    assert_eq!(decoded(TerminalLink::Local, &rounds), [&pasted[..], &vec![after; 5].concat()].concat());
    // Esc is decided after a wait of its own.
    let escaped = decoded(TerminalLink::Local, &[(0, block), (60, b"\x1b"), (200, b"y\r")]);
    assert_eq!(escaped, [pasted.to_vec(), vec![plain(KeyCode::Esc)], typed("y\r")].concat());
    // A slow line may part a paste anywhere; characters behind a pause are its rest.
    let parted = decoded(TerminalLink::Local, &[(0, block), (200, b"four\rfive\r")]);
    let text = |one: &Decoded| if let Decoded::Paste(text) = one { text.clone() } else { format!("{one:?}") };
    assert_eq!(parted.iter().map(text).collect::<String>(), "one\rtwo\rthree\rfour\rfive\r");
    // A control character in the midst of a paste does not end it.
    let mixed = decoded(TerminalLink::Local, &[(0, block), (20, b"\x01four\rfive\r")]);
    assert!(!mixed.iter().any(is_enter), "{mixed:?}");
}

#[test]
fn keys_within_a_paste_are_its_line_ends_and_tabs_and_nothing_else_of_a_sequence_is_text() {
    for (sent, text) in [
        ("one\x1b[13;1utwo\x1b[13utab\x1b[9uend", "one\ntwo\ntab\tend"),
        ("one\x1b[27;5;106~two\x1b[106;5uthree\x1b[105;5u.", "one\ntwo\nthree\t."),
        ("\x1b[97;1ub", "ab"),
        ("\x1b[31mred\x1b[0m \x1b[Aup\x1b[<0;1;1M", "\x1bred\x1b \x1bup\x1b"),
        ("a\x1b", "a\x1b"),
        ("a\x1b]x", "a\x1b]x"),
        ("a\x1b[13;1:1u\x1b[13;1:3ub\x1b[97;1:3u", "a\n\x1bb\x1b"),
        ("a\x1bOMb\x1bOIc", "a\nb\tc"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\.", "\x1blink\x1b."),
        ("a\x1bPq#0\x1b\\b\x1b_x\x1b\\", "a\x1bb\x1b"),
    ] {
        let bytes = format!("\x1b[200~{sent}\x1b[201~");
        for size in [bytes.len(), 1] {
            let parts: Vec<(u64, &[u8])> = bytes.as_bytes().chunks(size).map(|part| (1, part)).collect();
            assert_eq!(decoded(TerminalLink::Local, &parts), [Decoded::Paste(text.to_owned())], "{sent:?} by {size}");
        }
    }
}

#[test]
fn an_answer_in_three_parts_types_nothing_wherever_it_is_cut() {
    for (link, pauses) in [(TerminalLink::Local, [0, 5, 140, 210, 450]), (TerminalLink::Ssh, [0, 5, 340, 390, 450])] {
        for answer in ANSWERS {
            let bytes = answer.as_bytes();
            let cuts = (1..bytes.len()).flat_map(|one| (one + 1..bytes.len()).map(move |two| (one, two)));
            for (one, two) in cuts {
                for (first, second) in
                    pauses.iter().flat_map(|first| pauses.iter().map(move |second| (*first, *second)))
                {
                    let parts =
                        [(0, &bytes[..one]), (first, &bytes[one..two]), (second, &bytes[two..]), (3_000, &b"b"[..])];
                    let keys: Vec<_> = decoded(link, &parts).into_iter().filter(is_key).collect();
                    let what =
                        format!("{link:?} {answer:?}, cut at {one} and {two} for {first} and {second} ms: {keys:?}");
                    // What came before a pause may have been typed: Esc or Alt with a letter, a bracket, a number
                    // and, of the report of a letter only, the letter.
                    let before = if second >= 150 && two <= 5 {
                        two
                    } else if first >= 150 && one <= 5 {
                        one
                    } else {
                        1
                    };
                    let most = 1 + if bytes.len() == 3 { 3 } else { before };
                    assert!(keys.last() == typed("b").first() && keys.len() <= most, "{what}");
                }
            }
        }
    }
}

#[test]
fn the_last_byte_of_an_answer_that_was_given_up_is_not_typed() {
    for answer in ANSWERS.iter().filter(|answer| answer.ends_with("\x1b\\")) {
        let bytes = answer.as_bytes();
        let (body, end) = bytes.split_at(bytes.len() - 1);
        let keys = |parts: &[(u64, &[u8])]| -> Vec<_> {
            decoded(TerminalLink::Local, parts).into_iter().filter(is_key).collect()
        };
        assert_eq!(keys(&[(0, body), (1_500, end), (50, b"x\\")]), typed("x\\"), "{answer:?}");
        let (body, escape) = body.split_at(body.len() - 1);
        let late = keys(&[(0, body), (1_500, escape), (250, end), (50, b"\\")]);
        assert_eq!(late, [plain(KeyCode::Esc)].into_iter().chain(typed("\\")).collect::<Vec<_>>(), "{answer:?}");
        // Who types it much later types it.
        assert_eq!(keys(&[(0, bytes), (1_500, b"\\")]), typed("\\"), "{answer:?}");
    }
}

#[test]
fn a_number_behind_alt_and_a_bracket_is_typed() {
    for (parts, keys) in [
        (&[(0, &b"\x1b]"[..]), (100, b"1")][..], "1"),
        (&[(0, b"\x1b]"), (250, b"1"), (250, b"2")], "12"),
        (&[(0, b"\x1b]1"), (20, b"x")], "1x"),
    ] {
        let alt = key(KeyCode::Char(']'), KeyModifiers::ALT);
        let all: Vec<_> = [alt].into_iter().chain(typed(keys)).collect();
        assert_eq!(decoded(TerminalLink::Local, parts), all);
    }
}
