//! Who came before whom: inversions, counted exactly.

/// Pairs of which the later stands first, counted by sorting: n log n, in place of n².
pub(super) fn inversions(order: &mut [u32]) -> u64 {
    let mut spare = vec![0; order.len()];
    let mut found = 0;
    let mut width = 1;
    // Bottom up: no recursion, and runs of two or four stay in a cache line.
    while width < order.len() {
        for (left, right) in order.chunks_mut(2 * width).zip(spare.chunks_mut(2 * width)) {
            found += merge(left, right, width);
        }
        order.copy_from_slice(&spare);
        width *= 2;
    }
    found
}

/// Merges two sorted runs; how many pairs were the wrong way round.
fn merge(runs: &[u32], merged: &mut [u32], width: usize) -> u64 {
    let (one, other) = runs.split_at(width.min(runs.len()));
    let (mut i, mut j, mut found) = (0, 0, 0);
    for slot in merged {
        if j == other.len() || i < one.len() && one[i] <= other[j] {
            *slot = one[i];
            i += 1;
        } else {
            *slot = other[j];
            j += 1;
            found += (one.len() - i) as u64;
        }
    }
    found
}

/// Kendall's tau: 1 is the same order, 0 none, -1 the reverse.
pub(super) fn tau(inversions: u64, count: u64) -> f64 {
    let pairs = count as f64 * (count as f64 - 1.0) / 2.0;
    if pairs > 0.0 { 1.0 - 2.0 * inversions as f64 / pairs } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_by_looking_at_every_pair() {
        for length in [0_u32, 1, 2, 3, 7, 64, 65, 500] {
            let order: Vec<u32> = (0..length).map(|n| n.wrapping_mul(2_654_435_761) % 97).collect();
            let pairs = order.iter().enumerate();
            let naive: usize =
                pairs.map(|(at, n)| order[at..].iter().filter(|later| *later < n).count()).sum();
            assert_eq!(inversions(&mut order.clone()), naive as u64, "{length}");
        }
        assert_eq!(tau(0, 5), 1.0);
        assert_eq!(tau(10, 5), -1.0);
        assert_eq!(tau(0, 1), 1.0);
    }
}
