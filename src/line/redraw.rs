//! New places for those at the head of a line that is drawn.
//!
//! Owns who of them comes in which order, and where among the others. They skip the part of the line that they skipped
//! when they came; of when they came nothing is left. All of it is a function of the seed and of what is known of them,
//! in whole numbers below 2^53, so that it is the same where Lua keeps the line.

use super::batch::Number;
use super::class::RANK_MAX;
use super::draw::Seed;
use super::settings::Class;

/// Somebody with a place of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Apart {
    pub(super) number: Number,
    /// Thousandths of the line that they skip.
    pub(super) skip: u64,
    pub(super) rank: u64,
}

impl Apart {
    /// A late returner: no class goes before them.
    pub(super) fn late(number: Number, place: Number, released: Number) -> Apart {
        Apart { number, skip: skipped(number, place, released), rank: RANK_MAX }
    }

    /// Of a class: of those with this rank the one that would have put them nearest to where they stand, of two as near the one that skips
    /// more. If there is none, they skip what they did skip.
    pub(super) fn classed(
        number: Number,
        (place, rank): (Number, u64),
        released: Number,
        classes: &[Class],
    ) -> Apart {
        let theirs = classes.iter().filter(|class| class.rank == rank && !class.is_ordinary());
        let far = |class: &&Class| class.place(number, released).abs_diff(place);
        let nearest = theirs.min_by_key(|class| (far(class), std::cmp::Reverse(class.skip)));
        let skip = nearest.map_or(skipped(number, place, released), |class| class.skip);
        Apart { number, skip, rank }
    }
}

/// Thousandths of what was before a number that somebody at a place skips. Whoever is drawn is above the frontier.
fn skipped(number: Number, place: Number, released: Number) -> u64 {
    let before = (number - released).max(1);
    1_000 * number.saturating_sub(place.max(released)).min(before) / before
}

/// Two generators of whole numbers in one (L'Ecuyer, 1988): no product reaches 2^47.
struct Chance {
    one: u64,
    two: u64,
}

const ONE: (u64, u64) = (2_147_483_563, 40_014);
const TWO: (u64, u64) = (2_147_483_399, 40_692);

impl Chance {
    /// From the seed's first 8 bytes.
    fn new(seed: &Seed) -> Chance {
        let part = |from: usize| {
            seed[from..from + 4].iter().fold(0, |all, byte| all << 8 | u64::from(*byte))
        };
        Chance { one: part(0) % (ONE.0 - 1) + 1, two: part(4) % (TWO.0 - 1) + 1 }
    }

    fn below(&mut self, count: u64) -> u64 {
        self.one = self.one * ONE.1 % ONE.0;
        self.two = self.two * TWO.1 % TWO.0;
        (self.one + ONE.0 - 2 - self.two) % (ONE.0 - 1) % count
    }
}

/// The places of those at the head, who come in the order of their numbers: number and place, in that order. So many others are
/// drawn, and all get places above `upto`.
pub(super) fn places(
    mut apart: Vec<Apart>,
    others: u64,
    upto: Number,
    seed: &Seed,
) -> Vec<(Number, Number)> {
    let mut chance = Chance::new(seed);
    for last in (1..apart.len()).rev() {
        let other = chance.below(last as u64 + 1);
        apart.swap(last, other as usize);
    }
    let count = apart.len() as u64;
    // As if they had come evenly spread over the line, the first of them anywhere in its first part. Of the others, so many are before
    // each then, if they are as many as these at least.
    let all = others.max(count);
    let first = if count > 0 { chance.below(all) } else { 0 };
    let behind = |nth: usize, one: &Apart| {
        let came = (nth as u64 * all + first) / count;
        came - one.skip * came / 1_000
    };
    let mut order: Vec<(u64, Apart)> =
        apart.iter().enumerate().map(|(nth, one)| (behind(nth, one), *one)).collect();
    order.sort_by_key(|(behind, one)| (*behind, std::cmp::Reverse(one.rank)));
    let placed = order.iter().zip(upto + 1..);
    let mut placed: Vec<(Number, Number)> =
        placed.map(|((behind, one), first)| (one.number, first + behind.min(&others))).collect();
    placed.sort_unstable();
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from another program: what was published must be checked for ever.
    #[test]
    fn it_is_what_it_was() {
        let seed: Seed = std::array::from_fn(|nth| nth as u8);
        let one = |number, skip, rank| Apart { number, skip, rank };
        let apart = vec![one(11, 500, 0), one(12, 1_000, 2), one(15, 500, 0), one(18, 1_000, 0)];
        let placed = places(apart, 6, 20, &seed);
        assert_eq!(placed, PLACED);
        let seed: Seed = std::array::from_fn(|nth| 255 - nth as u8);
        let mut chance = Chance::new(&seed);
        assert_eq!([(); 4].map(|()| chance.below(1_000_000)), BELOW);
    }

    const PLACED: [(Number, Number); 4] = [(11, 25), (12, 21), (15, 22), (18, 23)];
    const BELOW: [u64; 4] = [391779, 474747, 860314, 605908];

    #[test]
    fn everybody_has_a_place_of_their_own_and_whoever_skips_all_is_first() {
        let seed = |nth: u64| std::array::from_fn(|at| (nth * 37 + at as u64 * 11) as u8);
        for (count, others) in [(1, 0), (5, 0), (7, 3), (50, 1), (40, 500), (300, 300)] {
            for skip in [0, 100, 500, 950, 1_000] {
                let apart = (1..=count).map(|nth| {
                    let skip = if nth % 3 == 0 { 1_000 } else { skip };
                    Apart { number: 10 + nth, skip, rank: nth % 2 }
                });
                let apart: Vec<Apart> = apart.collect();
                let placed = places(apart.clone(), others, 1_000, &seed(count + skip));
                assert!(placed.is_sorted());
                let mut taken: Vec<Number> = placed.iter().map(|(_, place)| *place).collect();
                taken.sort_unstable();
                assert!(taken.windows(2).all(|pair| pair[0] < pair[1]), "{count}, {others}");
                assert!(
                    taken.iter().all(|place| *place > 1_000 && *place <= 1_000 + count + others)
                );
                let all = apart.iter().zip(&placed).filter(|(one, _)| one.skip == 1_000);
                let all: Vec<u64> = all.map(|(_, (_, place))| *place - 1_000).collect();
                assert!(all.iter().all(|place| *place <= count), "before all others: {all:?}");
            }
        }
    }

    #[test]
    fn the_class_is_told_by_the_place() {
        let class = |skip, rank| Class { name: "c".to_owned(), skip, rank };
        let classes = [class(0, 0), class(100, 0), class(500, 0), class(1_000, 0), class(900, 3)];
        let skip = |number, place, rank| Apart::classed(number, (place, rank), 100, &classes).skip;
        assert_eq!(
            [skip(1_100, 1_000, 0), skip(1_100, 600, 0), skip(1_100, 100, 0)],
            [100, 500, 1_000]
        );
        assert_eq!([skip(101, 101, 0), skip(101, 100, 0)], [500, 1_000], "the first to come");
        assert_eq!([skip(1_100, 1_000, 3), skip(1_100, 350, 7)], [900, 750]);
        assert_eq!(Apart::late(200, 100, 100).skip, 1_000);
        assert_eq!(Apart::late(200, 300, 100).skip, 0);
    }
}
