//! Which lines of two texts belong together: Myers' search for the middle of the shortest edit, from both ends at once.
//!
//! The search goes through the diagonals in the order in which git does, prunes lines that cannot help as git does, and
//! gives up an expensive search by the same measures; so its choice among equally short edits is git's.

/// A run of equal lines from this length on is worth following.
const LONG_RUN: isize = 20;
/// Edits after which a search looks for a good place instead of the best; and after which it takes any, at least.
const PATIENCE: isize = 256;
/// How far ahead of its cost a place must be to be good.
const AHEAD: isize = 4;
/// A line that occurs as often on the other side as the root of its length, or this often, is common.
const COMMON: usize = 1024;
/// How far around a common line one looks for lines that match nothing.
const AROUND: usize = 100;

/// Says what becomes of each line.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) removed: Vec<bool>,
    pub(super) added: Vec<bool>,
}

/// Compares two texts, given as numbers that are equal where the lines are.
pub(super) fn compare(before: &[u32], after: &[u32], distinct: usize) -> Changed {
    let mut changed = Changed { removed: vec![false; before.len()], added: vec![false; after.len()] };
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let rest = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (in_before, in_after) = (counts(before, distinct), counts(after, distinct));
    let left = prune(before, &in_after, head..before.len() - tail, &mut changed.removed);
    let right = prune(after, &in_before, head..after.len() - tail, &mut changed.added);
    let pick = |side: &[u32], kept: &[usize]| kept.iter().filter_map(|at| side.get(*at).copied()).collect::<Vec<u32>>();
    let search = Search::new(pick(before, &left), pick(after, &right));
    search.run(|side, from, to| {
        let (kept, marks) = match side {
            Side::Before => (&left, &mut changed.removed),
            Side::After => (&right, &mut changed.added),
        };
        for at in kept.get(from..to).unwrap_or_default() {
            if let Some(mark) = marks.get_mut(*at) {
                *mark = true;
            }
        }
    });
    changed
}

fn counts(side: &[u32], distinct: usize) -> Vec<usize> {
    let mut counts = vec![0; distinct];
    for line in side {
        if let Some(count) = counts.get_mut(*line as usize) {
            *count += 1;
        }
    }
    counts
}

/// Says how a line stands to the other side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It does not occur there.
    None,
    /// It does.
    Some,
    /// It occurs so often that it says little.
    Common,
}

/// Marks the lines that no search need look at; returns where the others are.
fn prune(side: &[u32], other: &[usize], range: std::ops::Range<usize>, marks: &mut [bool]) -> Vec<usize> {
    let common = root(side.len()).min(COMMON);
    let uses: Vec<Use> = side
        .get(range.clone())
        .unwrap_or_default()
        .iter()
        .map(|line| match other.get(*line as usize) {
            None | Some(0) => Use::None,
            Some(count) if *count >= common => Use::Common,
            Some(_) => Use::Some,
        })
        .collect();
    let mut kept = Vec::with_capacity(uses.len());
    for (index, used) in uses.iter().enumerate() {
        let dropped = match used {
            Use::None => true,
            Use::Some => false,
            Use::Common => is_lost(&uses, index),
        };
        let at = range.start + index;
        match marks.get_mut(at) {
            Some(mark) if dropped => *mark = true,
            _ => kept.push(at),
        }
    }
    kept
}

/// Tells whether a common line stands among so many that match nothing that it would only mislead.
fn is_lost(uses: &[Use], index: usize) -> bool {
    let (above, below) = uses.split_at_checked(index).unwrap_or_default();
    // The line itself is counted from both sides.
    let count = |near: &mut dyn Iterator<Item = &Use>| {
        let near: Vec<Use> = near.take(AROUND).copied().take_while(|used| *used != Use::Some).collect();
        let none = near.iter().filter(|used| **used == Use::None).count();
        (none, near.len() - none + 1)
    };
    let (none_above, common_above) = count(&mut above.iter().rev());
    let (none_below, common_below) = count(&mut below.iter().skip(1));
    if none_above == 0 || none_below == 0 {
        return false;
    }
    let common = common_above + common_below;
    common * 4 < common + none_above + none_below
}

/// Returns a power of two near the square root.
fn root(mut number: usize) -> usize {
    let mut root = 1;
    while number > 0 {
        root <<= 1;
        number >>= 2;
    }
    root
}

/// Names one of the two texts.
#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

/// Is a stretch of both texts that is compared by itself.
#[derive(Clone, Copy)]
struct Field {
    left: (isize, isize),
    right: (isize, isize),
    /// Whether only the best will do.
    exact: bool,
}

/// Is where a field is divided, and how well each half is known to fit.
struct Middle {
    left: isize,
    right: isize,
    exact: (bool, bool),
}

struct Search {
    before: Vec<u32>,
    after: Vec<u32>,
    /// The furthest place on each diagonal, from the start and from the end.
    forth: Diagonals,
    back: Diagonals,
    most: isize,
}

impl Search {
    fn new(before: Vec<u32>, after: Vec<u32>) -> Self {
        let diagonals = before.len() + after.len() + 3;
        let most = isize::try_from(root(diagonals)).unwrap_or(isize::MAX).max(PATIENCE);
        let (forth, back) = (Diagonals::new(diagonals, after.len()), Diagonals::new(diagonals, after.len()));
        Self { before, after, forth, back, most }
    }

    /// Reports every stretch of either side that matches nothing.
    fn run(mut self, mut report: impl FnMut(Side, usize, usize)) {
        let mut open = vec![Field {
            left: (0, self.before.len().cast_signed()),
            right: (0, self.after.len().cast_signed()),
            exact: false,
        }];
        while let Some(mut field) = open.pop() {
            self.shrink(&mut field);
            let (left, right) = (field.left, field.right);
            if left.0 == left.1 {
                report(Side::After, right.0.cast_unsigned(), right.1.cast_unsigned());
            } else if right.0 == right.1 {
                report(Side::Before, left.0.cast_unsigned(), left.1.cast_unsigned());
            } else {
                let middle = self.middle(&field);
                let exact = middle.exact;
                open.push(Field { left: (middle.left, left.1), right: (middle.right, right.1), exact: exact.1 });
                open.push(Field { left: (left.0, middle.left), right: (right.0, middle.right), exact: exact.0 });
            }
        }
    }

    fn same(&self, left: isize, right: isize) -> bool {
        let at = |side: &[u32], place: isize| side.get(place.cast_unsigned()).copied();
        at(&self.before, left) == at(&self.after, right)
    }

    /// Leaves out what is the same at both ends.
    fn shrink(&self, field: &mut Field) {
        let Field { left, right, .. } = field;
        while left.0 < left.1 && right.0 < right.1 && self.same(left.0, right.0) {
            left.0 += 1;
            right.0 += 1;
        }
        while left.0 < left.1 && right.0 < right.1 && self.same(left.1 - 1, right.1 - 1) {
            left.1 -= 1;
            right.1 -= 1;
        }
    }

    /// Finds where to divide a field, by walks from both corners until they meet.
    fn middle(&mut self, field: &Field) -> Middle {
        let Field { left, right, exact } = *field;
        let bounds = (left.0 - right.1, left.1 - right.0);
        let (start, end) = (left.0 - right.0, left.1 - right.1);
        let odd = (start - end) & 1 != 0;
        let (mut forth, mut back) = ((start, start), (end, end));
        self.forth.set(start, left.0);
        self.back.set(end, left.1);
        let mut cost = 1;
        loop {
            let mut long = false;
            self.forth.widen(&mut forth, bounds, -1);
            for diagonal in (forth.0..=forth.1).rev().step_by(2) {
                let (below, above) = (self.forth.at(diagonal - 1), self.forth.at(diagonal + 1));
                let from = if below >= above { below + 1 } else { above };
                let mut at = from;
                while at < left.1 && at - diagonal < right.1 && self.same(at, at - diagonal) {
                    at += 1;
                }
                long |= at - from > LONG_RUN;
                self.forth.set(diagonal, at);
                if odd && (back.0..=back.1).contains(&diagonal) && self.back.at(diagonal) <= at {
                    return Middle { left: at, right: at - diagonal, exact: (true, true) };
                }
            }
            self.back.widen(&mut back, bounds, isize::MAX);
            for diagonal in (back.0..=back.1).rev().step_by(2) {
                let (below, above) = (self.back.at(diagonal - 1), self.back.at(diagonal + 1));
                let from = if below < above { below } else { above - 1 };
                let mut at = from;
                while at > left.0 && at - diagonal > right.0 && self.same(at - 1, at - diagonal - 1) {
                    at -= 1;
                }
                long |= from - at > LONG_RUN;
                self.back.set(diagonal, at);
                if !odd && (forth.0..=forth.1).contains(&diagonal) && at <= self.forth.at(diagonal) {
                    return Middle { left: at, right: at - diagonal, exact: (true, true) };
                }
            }
            if !exact {
                if long
                    && cost > PATIENCE
                    && let Some(middle) = self.good(field, cost, forth, back)
                {
                    return middle;
                }
                if cost >= self.most {
                    return self.furthest(field, forth, back);
                }
            }
            cost += 1;
        }
    }

    /// Finds a place at a long run that lies far ahead of what it cost.
    fn good(&self, field: &Field, cost: isize, forth: (isize, isize), back: (isize, isize)) -> Option<Middle> {
        let Field { left, right, .. } = *field;
        let (start, end) = (left.0 - right.0, left.1 - right.1);
        let mut best = (AHEAD * cost, None);
        for diagonal in (forth.0..=forth.1).rev().step_by(2) {
            let at = self.forth.at(diagonal);
            let across = at - diagonal;
            let value = (at - left.0) + (across - right.0) - (diagonal - start).abs();
            let within = left.0 + LONG_RUN <= at && at < left.1 && right.0 + LONG_RUN <= across && across < right.1;
            if value > best.0 && within && (1..=LONG_RUN).all(|step| self.same(at - step, across - step)) {
                best = (value, Some(Middle { left: at, right: across, exact: (true, false) }));
            }
        }
        if best.1.is_some() {
            return best.1;
        }
        for diagonal in (back.0..=back.1).rev().step_by(2) {
            let at = self.back.at(diagonal);
            let across = at - diagonal;
            let value = (left.1 - at) + (right.1 - across) - (diagonal - end).abs();
            let within = left.0 < at && at <= left.1 - LONG_RUN && right.0 < across && across <= right.1 - LONG_RUN;
            if value > best.0 && within && (0..LONG_RUN).all(|step| self.same(at + step, across + step)) {
                best = (value, Some(Middle { left: at, right: across, exact: (false, true) }));
            }
        }
        best.1
    }

    /// Gives a search up at the place that went furthest.
    fn furthest(&self, field: &Field, forth: (isize, isize), back: (isize, isize)) -> Middle {
        let Field { left, right, .. } = *field;
        let mut first = (-1, -1);
        for diagonal in (forth.0..=forth.1).rev().step_by(2) {
            let at = self.forth.at(diagonal).min(left.1);
            let at = if at - diagonal > right.1 { right.1 + diagonal } else { at };
            let sum = at + at - diagonal;
            if first.0 < sum {
                first = (sum, at);
            }
        }
        let mut last = (isize::MAX, isize::MAX);
        for diagonal in (back.0..=back.1).rev().step_by(2) {
            let at = self.back.at(diagonal).max(left.0);
            let at = if at - diagonal < right.0 { right.0 + diagonal } else { at };
            let sum = at + at - diagonal;
            if sum < last.0 {
                last = (sum, at);
            }
        }
        if left.1 + right.1 - last.0 < first.0 - (left.0 + right.0) {
            Middle { left: first.1, right: first.0 - first.1, exact: (true, false) }
        } else {
            Middle { left: last.1, right: last.0 - last.1, exact: (false, true) }
        }
    }
}

/// Holds a place for each diagonal; they reach below zero.
struct Diagonals {
    places: Vec<isize>,
    zero: isize,
}

impl Diagonals {
    fn new(count: usize, below: usize) -> Self {
        Self { places: vec![0; count + 1], zero: below.cast_signed() + 1 }
    }

    fn at(&self, diagonal: isize) -> isize {
        self.places.get((diagonal + self.zero).cast_unsigned()).copied().unwrap_or_default()
    }

    fn set(&mut self, diagonal: isize, place: isize) {
        if let Some(held) = self.places.get_mut((diagonal + self.zero).cast_unsigned()) {
            *held = place;
        }
    }

    /// Takes in one more diagonal on each side; at the bounds one less, so that every second one stays the right one.
    fn widen(&mut self, range: &mut (isize, isize), bounds: (isize, isize), outside: isize) {
        if range.0 > bounds.0 {
            range.0 -= 1;
            self.set(range.0 - 1, outside);
        } else {
            range.0 += 1;
        }
        if range.1 < bounds.1 {
            range.1 += 1;
            self.set(range.1 + 1, outside);
        } else {
            range.1 -= 1;
        }
    }
}
