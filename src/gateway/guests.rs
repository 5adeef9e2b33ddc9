//! How many connections each address has.
//!
//! Owns the counts, so that one address can't take all places of a node. Knows neither bounds nor proxies: who asks says how many
//! there may be.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections by address.
#[derive(Debug, Default)]
pub struct Guests(Mutex<HashMap<IpAddr, usize>>);

/// A connection that is counted; no longer when it is dropped.
#[derive(Debug)]
pub struct Guest {
    guests: Arc<Guests>,
    address: IpAddr,
}

impl Guests {
    /// One more of an address, if it has fewer than `most`.
    pub fn admit(self: &Arc<Guests>, address: IpAddr, most: usize) -> Option<Guest> {
        let address = customer(address);
        let mut counts = self.lock();
        let count = counts.entry(address).or_insert(0);
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Guest { guests: self.clone(), address })
    }

    /// Nothing can panic while it is held.
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut counts = self.guests.lock();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// IPv4 whole; of IPv6 the network that one customer has.
fn customer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_has_so_many_and_is_forgotten_with_the_last() {
        let guests = Arc::new(Guests::default());
        let of = |text: &str| guests.admit(text.parse().expect("an address"), 2);
        let (one, two) = (of("2001:db8::1"), of("2001:db8::2"));
        assert!(one.is_some() && two.is_some());
        assert!(of("2001:db8:0:0:9::").is_none(), "the same network");
        let elsewhere = [of("2001:db8:0:1::1"), of("192.0.2.1"), of("::ffff:192.0.2.1")];
        assert!(elsewhere.iter().all(Option::is_some));
        assert!(of("192.0.2.1").is_none(), "either way it is written");
        drop(one);
        assert!(of("2001:db8::3").is_some(), "one has gone");
        drop((two, elsewhere));
        assert!(guests.lock().is_empty());
    }
}
