//! Where a value would stand in a list that is in order, in two looks at memory: a search among ten thousand takes fourteen.
//!
//! Owns the counts at the steps of one list, found once when that is made. Knows nothing of what the values mean, and keeps none of
//! them: the list is brought along to each question.

/// Each step is so many values; how many of the list are below each is counted once.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    /// The first value.
    from: u64,
    /// A step is two to this power wide.
    shift: u32,
    /// How many are below each step, and at the end all. Empty: none are, or they are in no order, and so all must be searched.
    below: Vec<u32>,
}

/// At most: 32 KB.
const STEPS: u64 = 8_192;

impl Steps {
    pub(super) fn of<T>(list: &[T], value: impl Fn(&T) -> u64) -> Steps {
        let (Some(first), Some(last)) = (list.first(), list.last()) else {
            return Steps::default();
        };
        if !list.is_sorted_by_key(&value) {
            return Steps::default();
        }
        let (from, last) = (value(first), value(last));
        let shift = (0..64).find(|shift| (last - from) >> shift < STEPS).unwrap_or(63);
        let mut below = Vec::with_capacity(((last - from) >> shift) as usize + 2); // at most STEPS + 1
        for (nth, one) in (0..).zip(list) {
            let step = ((value(one) - from) >> shift) as usize;
            below.resize(below.len().max(step + 1), nth);
        }
        below.push(u32::try_from(list.len()).unwrap_or(u32::MAX)); // the head is bounded
        Steps { from, shift, below }
    }

    /// How many of the list that this was made of are at or below a limit.
    pub(super) fn upto<T>(&self, list: &[T], value: impl Fn(&T) -> u64, limit: u64) -> usize {
        let (low, high) = match limit.checked_sub(self.from) {
            _ if self.below.is_empty() => (0, list.len()),
            None => return 0,
            Some(into) => {
                let step = usize::try_from(into >> self.shift).unwrap_or(usize::MAX);
                match self.below.get(step..).and_then(|steps| steps.get(..2)) {
                    Some(ends) => (ends[0] as usize, ends[1] as usize),
                    None => return list.len(),
                }
            }
        };
        low + list[low..high].partition_point(|one| value(one) <= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_count_as_a_search_would_however_they_stand() {
        let lists: [Vec<u64>; 8] = [
            vec![],
            vec![5],
            (1..200).collect(),
            vec![3; 50],
            (0..100).map(|nth| nth * nth).collect(),
            [vec![1; 40], vec![1_000_000; 3]].concat(),
            (0..10_000).map(|nth| nth * 977).collect(),
            vec![0, 7, u64::MAX],
        ];
        for list in lists {
            let steps = Steps::of(&list, |one| *one);
            let some = [999_999, 1_000_000, 1_000_001, 9_769_022, 9_769_023, u64::MAX];
            for limit in (0..2_200).chain(some) {
                let searched = list.iter().filter(|one| **one <= limit).count();
                let found = steps.upto(&list, |one| *one, limit);
                assert_eq!(found, searched, "{limit} among {}", list.len());
            }
        }
    }

    #[test]
    fn a_list_in_no_order_does_no_harm() {
        let list = [9, 2, 7];
        let steps = Steps::of(&list, |one| *one);
        assert!(steps.upto(&list, |one| *one, 5) <= list.len());
    }
}
