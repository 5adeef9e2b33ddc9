//! What a url names, and what is said about one that names nothing.

use anteroom::store::redis::{Access, Address, Password, Target};
use proptest::prelude::*;

/// A url, and how it is shown.
#[test]
fn every_form_is_read_and_shown() {
    for (url, shown) in [
        ("redis://127.0.0.1", "redis://127.0.0.1:6379"),
        ("redis://redis.internal:7000/", "redis://redis.internal:7000"),
        ("redis://redis.internal/3", "redis://redis.internal:6379/3"),
        ("redis://[::1]:7000/0", "redis://[::1]:7000"),
        ("rediss://[2001:db8::1]", "rediss://[2001:db8::1]:6379"),
        ("redis://ops:hunter2@10.0.0.1/1", "redis://10.0.0.1:6379/1"),
        ("redis://:hunter2@10.0.0.1", "redis://10.0.0.1:6379"),
        ("valkey://10.0.0.1", "redis://10.0.0.1:6379"),
        ("valkeys://10.0.0.1", "rediss://10.0.0.1:6379"),
        ("unix:/run/redis.sock", "unix:/run/redis.sock"),
        ("unix:///run/redis.sock?db=2", "unix:/run/redis.sock?db=2"),
        ("unix:my redis.sock", "unix:my redis.sock"),
        ("redis-sentinel://a,b:1,c/sale", "redis-sentinel://a:26379,b:1,c:26379/sale"),
        ("rediss-sentinel://:p@a/sale/4", "rediss-sentinel://a:26379/sale/4"),
        ("valkey-sentinel://a/sale", "redis-sentinel://a:26379/sale"),
        ("redis-cluster://a,b:7000", "redis-cluster://a:6379,b:7000"),
        ("rediss-cluster://a/0", "rediss-cluster://a:6379"),
    ] {
        let address = Address::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(address.to_string(), shown, "{url}");
        let again = Address::parse(shown).expect("what is shown can be written");
        assert_eq!(
            (again.target, again.tls, again.database),
            (address.target, address.tls, address.database)
        );
    }
}

#[test]
fn what_opens_it_is_in_the_url_or_beside_it() {
    let access = |url: &str| Address::parse(url).expect("a good url").access;
    let both = access("redis://ops:p%40ss%2Fw%C3%B6rd@a");
    assert_eq!(both.username.as_deref(), Some("ops"));
    assert_eq!(both.password, Some(Password("p@ss/wörd".to_owned())));
    let at = access("redis://:p@ss@a");
    assert_eq!((at.username, at.password), (None, Some(Password("p@ss".to_owned()))));
    assert_eq!(access("redis://a"), Access::default());

    let beside = Access { password: Some(Password("other".to_owned())), ..Access::default() };
    let address = Address::parse("redis://ops:hunter2@a").and_then(|a| a.with(beside)).unwrap();
    assert_eq!(address.access.username.as_deref(), Some("ops"));
    assert_eq!(address.access.password, Some(Password("other".to_owned())));
    let alone = Address::parse("redis://ops@a").unwrap().with(Access::default()).unwrap_err();
    assert_eq!(alone.what, "has a user and no password");
}

#[test]
fn a_socket_may_count_from_elsewhere() {
    let address = Address::parse("unix:redis.sock").unwrap();
    let resolved = address.resolved(|path| std::path::Path::new("/run").join(path));
    assert_eq!(resolved.target, Target::Socket("/run/redis.sock".into()));
}

#[test]
fn every_mistake_is_told_with_what_to_write() {
    for (url, what, write) in [
        ("redis", "has no // after its kind", "redis://HOST:6379"),
        ("redis:6379", "has no // after its kind", "redis://HOST:6379"),
        ("redis://", "names no host", "redis://HOST:6379"),
        ("redis://:hunter2@", "names no host", "redis://HOST:6379"),
        ("redis://a:0", "has a port that is none", "redis://HOST:6379"),
        ("redis://a:65536", "has a port that is none", "redis://HOST:6379"),
        ("redis://a:http", "has a port that is none", "redis://HOST:6379"),
        ("redis://[::1]6379", "has a port that is none", "redis://HOST:6379"),
        ("redis://::1:6379", "has too many colons", "[brackets]"),
        ("redis://[::1:6379", "has too many colons", "[brackets]"),
        ("redis://a,b", "names several servers", "redis-sentinel://"),
        ("redis://a/sale", "has a database that is no number", "redis://HOST:6379/0"),
        ("redis://a/-1", "has a database that is no number", "from 0"),
        ("redis://a/4294967295", "has a database that is no number", "from 0"),
        ("redis://a?db=2", "has parameters", "it has none"),
        ("redis://:hunt?er2@a", "has parameters", "%3F"),
        ("redis://:hunt/er2@a", "has an @ after its first slash", "%2F"),
        ("redis://:hunt#er2@a", "has parameters", "%23"),
        ("redis://a b", "has a space or a line end in it", "redis://HOST:6379"),
        ("redis://:%ff@a", "has a user or password that is not text", "redis://HOST:6379"),
        ("redis-sentinel://a", "names no master", "redis-sentinel://HOST:26379,HOST:26379/NAME"),
        ("redis-sentinel:///sale", "names no host", "redis-sentinel://HOST"),
        ("redis-sentinel://a,,b/sale", "names no host", "redis-sentinel://HOST"),
        ("redis-sentinel://a/sale/x", "has a database that is no number", "redis-sentinel://"),
        ("redis-cluster://a/1", "names a database", "number 0"),
        ("unix:/a?db=x", "has a database that is no number", "unix:/run/redis/redis.sock?db=0"),
        ("redis-cluster://", "names no host", "redis-cluster://HOST"),
        ("unix:", "names no socket", "unix:/run/redis/redis.sock"),
        ("unix:/a?pass=hunter2", "has parameters", "keys of their own"),
        ("http://a", "names no kind of Redis", "redis-cluster"),
        ("", "names no kind of Redis", "redis-cluster"),
    ] {
        let error = Address::parse(url).expect_err(url);
        assert_eq!(error.what, what, "{url}");
        assert!(error.means.contains(write), "{url}: {error}");
    }
}

proptest! {
    /// Whatever is written, reading it does not panic, and says no more than it should.
    #[test]
    fn no_url_makes_the_reading_panic(any in "\\PC{0,40}", rest in "[a-z0-9:/@,\\[\\]?#%=.]{0,40}") {
        for scheme in Address::SCHEMES {
            for url in [format!("{scheme}://{rest}"), format!("{scheme}:{any}"), any.clone()] {
                if let Ok(address) = Address::parse(&url) {
                    let _ = address.to_string();
                }
            }
        }
    }

    /// Wherever it ends up, also in a url that can't be read.
    #[test]
    fn no_password_is_ever_shown(before in "[:/@,?#]{0,3}", after in "[:/@,?#\\[]{0,3}") {
        for scheme in Address::SCHEMES {
            let url = format!("{scheme}://ops:{before}hunter2{after}@redis.internal:6379/0");
            let shown = match Address::parse(&url) {
                Ok(address) => format!("{address:?} {address:#?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            // A socket's path is a path, whatever stands in it.
            prop_assert!(!shown.contains("hunter2") || scheme == "unix", "{}", shown);
        }
    }
}
