//! What terminals send, and what it is taken for.

use crossterm::event::{KeyEventKind, MouseButton, MouseEventKind};

use super::*;

const NONE: KeyModifiers = KeyModifiers::NONE;
const ALT: KeyModifiers = KeyModifiers::ALT;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

fn whole(bytes: &[u8]) -> Vec<Decoded> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    decoder.feed(bytes, &mut out);
    decoder.decide(&mut out);
    assert!(decoder.pending.is_empty(), "{bytes:?} leaves {:?}", decoder.pending);
    out
}

/// The same with each byte in a read of its own.
fn by_bytes(bytes: &[u8]) -> Vec<Decoded> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for byte in bytes {
        decoder.feed(&[*byte], &mut out);
    }
    decoder.decide(&mut out);
    out
}

/// The same of an answer whose rest comes so late that its beginning was taken for a key; without that key.
fn late(answer: &[u8], cut: usize) -> Vec<Decoded> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    decoder.feed(&answer[..cut], &mut out);
    decoder.decide(&mut out);
    assert_eq!(out.len(), 1);
    decoder.feed(&answer[cut..], &mut out);
    out.split_off(1)
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Decoded {
    Decoded::Key(KeyEvent::new(code, modifiers))
}

fn typed(c: char) -> Decoded {
    key(KeyCode::Char(c), NONE)
}

#[test]
fn an_answer_about_pictures_is_never_a_key_however_it_is_cut() {
    for (answer, decoded) in [(&b"\x1b_Gi=31;OK\x1b\\"[..], &[KITTY][..]), (b"\x1b_Gi=31;ENOTSUPPORTED:no\x1b\\", &[])]
    {
        assert_eq!(whole(answer), decoded);
        assert_eq!(by_bytes(answer), decoded);
        assert_eq!(whole(&[b"a", answer, b"b"].concat()), [&[typed('a')], decoded, &[typed('b')]].concat());
        for cut in 1..=2 {
            assert_eq!(late(answer, cut), decoded);
        }
    }
    let endless = [b"\x1b_Gi=31;", vec![b'x'; 1_000].as_slice()].concat();
    assert!(!whole(&endless).contains(&KITTY));
    assert_eq!(whole(b"\x1b_"), [key(KeyCode::Char('_'), ALT)]);
    assert_eq!(whole(b"\x1b_x"), [key(KeyCode::Char('_'), ALT), typed('x')]);
}

#[test]
fn the_attributes_and_the_size_of_a_cell_are_never_keys_however_they_are_cut() {
    for (answer, decoded) in [
        // foot, xterm as a VT340, Konsole, Windows Terminal.
        (&b"\x1b[?62;4;22c"[..], &[SIXELS][..]),
        (b"\x1b[?63;1;2;4;6;9;15;22c", &[SIXELS]),
        (b"\x1b[?62;1;4c", &[SIXELS]),
        (b"\x1b[?61;4;6;7;14;21;22;23;24;28;32;42c", &[SIXELS]),
        // VTE, Alacritty, Terminal.app.
        (b"\x1b[?65;1;9c", &[]),
        (b"\x1b[?6c", &[]),
        (b"\x1b[?1;2c", &[]),
        (b"\x1b[6;20;10t", &[Decoded::CellPixels((10, 20))]),
        (b"\x1b[6;0;0t", &[]),
        (b"\x1b[6;20;10;5t", &[]),
        (b"\x1b[6;99999;10t", &[]),
        (b"\x1b[4;720;1200t", &[]),
        (b"\x1b[6;20;10t\x1b[?62;4;22c", &[Decoded::CellPixels((10, 20)), SIXELS]),
        // How many colours there are now.
        (b"\x1b[?1;0;256S", &[]),
    ] {
        assert_eq!(whole(answer), decoded, "{}", String::from_utf8_lossy(answer));
        assert_eq!(by_bytes(answer), decoded);
        assert_eq!(whole(&[b"a", answer, b"b"].concat()), [&[typed('a')], decoded, &[typed('b')]].concat());
        for cut in 1..answer.len() {
            let mut decoder = Decoder::default();
            let mut out = Vec::new();
            decoder.feed(&answer[..cut], &mut out);
            decoder.feed(&answer[cut..], &mut out);
            assert_eq!(out, decoded, "cut at {cut}");
        }
    }
    // So late that its beginning was taken for keys: no byte of the rest is typed.
    for answer in [&b"\x1b[?62;4;22c"[..], b"\x1b[?65;1;9c", b"\x1b[6;20;10t", b"\x1b[?1;0;256S"] {
        for cut in 1..=2 {
            let out = late(answer, cut);
            assert!(!out.iter().any(|one| matches!(one, Decoded::Key(_))), "{answer:?}: {out:?}");
        }
    }
    assert_eq!(whole(b"\x1b[cd"), [key(KeyCode::Esc, NONE), typed('['), typed('c'), typed('d')]);
}

#[test]
fn an_answer_about_the_background_is_never_a_key_however_it_is_cut() {
    for (answer, colour) in [
        (&b"\x1b]11;rgb:1e1e/2e2e/3e3e\x1b\\"[..], [0x1e, 0x2e, 0x3e]),
        (b"\x1b]11;rgb:ff/FF/00\x07", [255, 255, 0]),
        (b"\x1b]11;rgba:f/0/8/ffff\x07", [255, 0, 136]),
    ] {
        assert_eq!(whole(answer), [Decoded::Background(colour)]);
        assert_eq!(by_bytes(answer), [Decoded::Background(colour)]);
        assert_eq!(whole(&[b"a", answer, b"b"].concat()), [typed('a'), Decoded::Background(colour), typed('b')]);
        // So late that its beginning was taken for keys: no byte of the rest is typed.
        for cut in 1..=2 {
            assert_eq!(late(answer, cut), [Decoded::Background(colour)]);
        }
    }
    assert_eq!(whole(b"\x1b]"), [key(KeyCode::Char(']'), ALT)]);
    assert_eq!(whole(b"\x1b]x"), [key(KeyCode::Char(']'), ALT), typed('x')]);
    assert_eq!(whole(b"\x1b]11;rgb:00/00\x07x"), [typed('x')]);
    assert_eq!(whole(b"\x1b]11;rgb:zz"), [typed('z'), typed('z')]);
    assert_eq!(whole(&[b"\x1b]11;rgb:", &[b'0'; 99][..], b"x"].concat()), [typed('x')]);
}

#[test]
fn keys_of_every_kind_of_terminal_are_known() {
    let cases: &[(&[u8], KeyCode, KeyModifiers)] = &[
        (b"\r", KeyCode::Enter, NONE),
        (b"\n", KeyCode::Char('j'), CTRL),
        (b"\x08", KeyCode::Char('h'), CTRL),
        (b"\x1f", KeyCode::Char('7'), CTRL),
        (b"\0", KeyCode::Char(' '), CTRL),
        (b"\x1b", KeyCode::Esc, NONE),
        (b"\x1bx", KeyCode::Char('x'), ALT),
        (b"\x1b\r", KeyCode::Enter, ALT),
        (b"\x1b\x7f", KeyCode::Backspace, ALT),
        (b"\x1b[", KeyCode::Char('['), ALT),
        (b"\x1bO", KeyCode::Char('O'), ALT),
        ("\x1b\u{e4}".as_bytes(), KeyCode::Char('\u{e4}'), ALT),
        (b"\x1b[A", KeyCode::Up, NONE),
        (b"\x1bOA", KeyCode::Up, NONE),
        (b"\x1b\x1b[A", KeyCode::Up, ALT),
        (b"\x1b[1;3A", KeyCode::Up, ALT),
        (b"\x1b[1;5D", KeyCode::Left, CTRL),
        (b"\x1b[5D", KeyCode::Left, CTRL),
        (b"\x1b[3^", KeyCode::Delete, CTRL),
        (b"\x1b[Z", KeyCode::BackTab, SHIFT),
        (b"\x1b[3~", KeyCode::Delete, NONE),
        (b"\x1b[3;5~", KeyCode::Delete, CTRL),
        (b"\x1b[15~", KeyCode::F(5), NONE),
        (b"\x1b[24~", KeyCode::F(12), NONE),
        (b"\x1bOS", KeyCode::F(4), NONE),
        (b"\x1b[[E", KeyCode::F(5), NONE),
        (b"\x1b[27u", KeyCode::Esc, NONE),
        (b"\x1b[13;2u", KeyCode::Enter, SHIFT),
        (b"\x1b[27;2;13~", KeyCode::Enter, SHIFT),
        (b"\x1b[99;5u", KeyCode::Char('c'), CTRL),
        (b"\x1b[97:65;2u", KeyCode::Char('A'), NONE),
        (b"\x1b[57421u", KeyCode::PageUp, NONE),
    ];
    for (bytes, code, modifiers) in cases {
        assert_eq!(whole(bytes), [key(*code, *modifiers)], "{:?}", String::from_utf8_lossy(bytes));
        assert_eq!(by_bytes(bytes), [key(*code, *modifiers)], "{:?} byte by byte", String::from_utf8_lossy(bytes));
    }
    let up = Decoded::Key(KeyEvent::new_with_kind(KeyCode::Char('a'), NONE, KeyEventKind::Release));
    assert_eq!(whole(b"\x1b[97;1:3u"), [up]);
}

#[test]
fn an_escape_at_the_end_of_a_read_waits_for_the_next() {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    decoder.feed(b"a\x1b", &mut out);
    assert_eq!((out.as_slice(), decoder.awaits()), ([typed('a')].as_slice(), Some(Awaits::Key)));
    decoder.feed(b"[B", &mut out);
    assert_eq!(out, [typed('a'), key(KeyCode::Down, NONE)]);
    out.clear();
    decoder.feed(b"\x1b[1;", &mut out);
    assert_eq!(decoder.awaits(), None, "no key looks like that: it can only be the beginning of one");
    decoder.feed(b"3A", &mut out);
    assert_eq!(out, [key(KeyCode::Up, ALT)]);
}

#[test]
fn two_presses_of_escape_are_two() {
    assert_eq!(whole(b"\x1b\x1b"), [key(KeyCode::Esc, NONE), key(KeyCode::Esc, NONE)]);
    assert_eq!(whole(b"\x1b\x1bx"), [key(KeyCode::Esc, NONE), key(KeyCode::Char('x'), ALT)]);
}

#[test]
fn text_typed_right_behind_the_escape_key_is_not_lost() {
    assert_eq!(whole(b"\x1b[to"), [key(KeyCode::Esc, NONE), typed('['), typed('t'), typed('o')]);
    assert_eq!(by_bytes(b"\x1b[to"), whole(b"\x1b[to"));
}

#[test]
fn a_paste_is_one_however_it_is_cut_and_nothing_in_it_is_a_key() {
    let bytes = "a\x1b[200~rm -rf\r\n\x1b[A \u{1f980}\x1b[201~\r".as_bytes();
    let expected = [typed('a'), Decoded::Paste("rm -rf\r\n\x1b \u{1f980}".to_owned()), key(KeyCode::Enter, NONE)];
    assert_eq!(whole(bytes), expected);
    assert_eq!(by_bytes(bytes), expected);
    for cut in 0..bytes.len() {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        decoder.feed(&bytes[..cut], &mut out);
        decoder.feed(&bytes[cut..], &mut out);
        assert_eq!(out, expected, "cut at {cut}");
    }
}

#[test]
fn a_paste_without_end_does_not_grow_for_ever() {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    decoder.feed(b"\x1b[200~", &mut out);
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..=limits::PASTE_READ_BYTES / chunk.len() {
        decoder.feed(&chunk, &mut out);
    }
    decoder.feed(b"\x1b[201~y", &mut out);
    let Some(Decoded::Paste(text)) = out.first() else { panic!("no paste") };
    assert_eq!((text.len(), &out[1..]), (limits::PASTE_READ_BYTES, [typed('y')].as_slice()));
}

#[test]
fn the_mouse_and_the_focus_are_reported() {
    let at = |kind, column, row, modifiers| Decoded::Mouse(MouseEvent { kind, column, row, modifiers });
    assert_eq!(whole(b"\x1b[<0;1;1M"), [at(MouseEventKind::Down(MouseButton::Left), 0, 0, NONE)]);
    assert_eq!(whole(b"\x1b[<0;300;120m"), [at(MouseEventKind::Up(MouseButton::Left), 299, 119, NONE)]);
    assert_eq!(whole(b"\x1b[<34;5;6M"), [at(MouseEventKind::Drag(MouseButton::Right), 4, 5, NONE)]);
    assert_eq!(whole(b"\x1b[<69;2;3M"), [at(MouseEventKind::ScrollDown, 1, 2, SHIFT)]);
    assert_eq!(whole(b"\x1b[M !!"), [at(MouseEventKind::Down(MouseButton::Left), 0, 0, NONE)]);
    assert_eq!(whole(b"\x1b[<0;0;1M"), [], "no such column");
    assert_eq!(whole(b"\x1b[I\x1b[O"), [Decoded::Attention(Attention::Here), Decoded::Attention(Attention::Away)]);
}

#[test]
fn what_means_nothing_is_passed_over_and_what_follows_is_not_lost() {
    for noise in
        [&b"\x1b[?62;c"[..], b"\x1b[?1u", b"\x1b[12;40R", b"\x1b[57441u", b"\x1b[99999999;5u", b"\xff\xfe", b"\xc3("]
    {
        let mut bytes = noise.to_vec();
        bytes.push(b'x');
        assert_eq!(whole(&bytes).last(), Some(&typed('x')), "{noise:?}");
    }
    assert_eq!(whole(b"\x1b[12\x1b[A"), [key(KeyCode::Up, NONE)], "a torn sequence");
    assert_eq!(whole(&[b"\x1b[".as_slice(), &[b'1'; 200], b"x"].concat()).last(), Some(&typed('x')));
}

#[test]
fn no_bytes_whatsoever_make_it_panic_or_stand_still() {
    proptest::proptest!(|(bytes in proptest::collection::vec(
        proptest::prop_oneof![proptest::num::u8::ANY, proptest::sample::select(b"\x1b[]O<;:0129~Mmu".to_vec())], 0..200))| {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for part in bytes.chunks(7) {
            decoder.feed(part, &mut out);
        }
        decoder.decide(&mut out);
        assert!(decoder.pending.len() <= STRING_BYTES + 3);
    });
}
