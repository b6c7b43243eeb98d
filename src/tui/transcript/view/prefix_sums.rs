//! A binary indexed tree: sums over the beginning of a long list, and changes in it, in logarithmic time.
//!
//! Used for the heights of cells.

/// A list of numbers with their sums.
#[derive(Debug, Default)]
pub(super) struct PrefixSums {
    tree: Vec<usize>,
}

impl PrefixSums {
    pub(super) fn clear(&mut self) {
        self.tree.clear();
    }

    pub(super) fn push(&mut self, number: usize) {
        let place = self.tree.len() + 1;
        let first = place - lowest_bit(place);
        let mut sum = number;
        let mut below = place - 1;
        while below > first {
            sum += self.tree.get(below - 1).copied().unwrap_or(0);
            below -= lowest_bit(below);
        }
        self.tree.push(sum);
    }

    /// Puts another number in the place of one.
    pub(super) fn change(&mut self, index: usize, old: usize, new: usize) {
        let mut place = index + 1;
        while let Some(sum) = self.tree.get_mut(place - 1) {
            *sum = (*sum + new).saturating_sub(old);
            place += lowest_bit(place);
        }
    }

    /// Returns the sum of the first numbers, so many of them.
    pub(super) fn sum(&self, count: usize) -> usize {
        let mut place = count.min(self.tree.len());
        let mut sum = 0;
        while place > 0 {
            sum += self.tree.get(place - 1).copied().unwrap_or(0);
            place -= lowest_bit(place);
        }
        sum
    }
}

fn lowest_bit(place: usize) -> usize {
    place & place.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::PrefixSums;

    #[test]
    fn sums_follow_pushes_and_changes() {
        let mut sums = PrefixSums::default();
        let mut heights: Vec<usize> = (0..100).map(|index| index * 7 % 13).collect();
        for height in &heights {
            sums.push(*height);
        }
        for index in [0, 1, 31, 32, 63, 99] {
            let old = std::mem::replace(&mut heights[index], index + 5);
            sums.change(index, old, index + 5);
        }
        for count in 0..=100 {
            assert_eq!(sums.sum(count), heights[..count].iter().sum::<usize>(), "the first {count}");
        }
    }
}
