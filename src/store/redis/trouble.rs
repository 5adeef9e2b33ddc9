//! What can be the matter with a Redis, in sentences that tell an operator what to do. Pure.
//!
//! Owns how a server's error codes are read. Says nothing that came with a password, and never what to try
//! again: that is the [link](super::link)'s.

use std::fmt::Display;

use redis::ServerError;

use super::DEADLINE;
use crate::store::StoreError;

/// Why a Redis did not do what it was asked. The sentence follows its address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// There is no connection, or it broke.
    #[error(
        "can't be reached ({0}). It is tried again by itself; see whether it runs, and what is in between"
    )]
    Away(String),

    /// A connection, and no word.
    #[error(
        "does not answer within {} ms. It is tried again by itself, over a new connection; see what it is busy \
         with, and what is in between", DEADLINE.as_millis()
    )]
    Silent,

    /// It will be able to, or others will.
    #[error("is not ready ({0}). It is asked again by itself")]
    NotReady(String),

    /// It can't save what it has, and so takes nothing new.
    #[error(
        "can't write to its disk and takes no changes until it can ({0}). It is asked again by itself; make room on \
         that disk, and see its log for what it could not write"
    )]
    Unsaved(String),

    /// It only follows another one.
    #[error(
        "is a replica and takes no writes. Name the master, or the Sentinels who know it: \
         redis-sentinel://HOST:26379/NAME"
    )]
    Replica,

    /// Sentinels answer, and know no such master.
    #[error(
        "no Sentinel knows a master named \"{0}\": write the name that stands in their `sentinel monitor`"
    )]
    UnknownMaster(String),

    /// It is something else than the url says.
    #[error("{0}")]
    Misnamed(&'static str),

    /// Its certificate.
    #[error(
        "its certificate is not trusted ({0}). Name who signed it in store.ca_file, or its host as the \
         certificate does"
    )]
    Untrusted(String),

    /// A password is missing, or is the wrong one.
    #[error(
        "wants another password ({0}). Give it in store.password_file or ANTEROOM_REDIS_PASSWORD, and the name of \
         an ACL user in store.username"
    )]
    Locked(String),

    /// The user may not do what an exchange does.
    #[error(
        "its user may not do that ({0}). An exchange needs EVAL, EVALSHA, INFO and what the script calls: ACL SETUSER \
         NAME ~anteroom:* +@all -@dangerous +info"
    )]
    Denied(String),

    /// It would throw lines away.
    #[error(
        "may throw lines away when its memory is full (maxmemory-policy is {0}): CONFIG SET maxmemory-policy \
         noeviction, and write it into its configuration"
    )]
    Evicts(String),

    /// It lacks commands.
    #[error("is version {0}, and an exchange needs 7.0 or a newer one: upgrade it")]
    TooOld(String),

    /// It takes no more.
    #[error("is out of memory and takes nothing more. What it has is kept. Raise its maxmemory")]
    Full,

    /// That was not Redis speaking, or not about this.
    #[error("gave an answer that makes no sense ({0}): see what listens there")]
    Garbled(String),

    /// Whatever else it has against it.
    #[error("refused ({0}). Report this")]
    Refused(String),
}

/// A trouble, and whose it is.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) address: String,
    pub(super) trouble: Trouble,
}

impl From<Failure> for StoreError {
    fn from(Failure { address, trouble }: Failure) -> StoreError {
        StoreError::Redis { address, trouble }
    }
}

impl Trouble {
    /// Whether it may pass without anybody doing anything.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Trouble::Away(_)
                | Trouble::Silent
                | Trouble::NotReady(_)
                | Trouble::Unsaved(_)
                | Trouble::Replica
        )
    }

    /// Whose it is.
    pub(super) fn of(self, address: impl Display) -> Failure {
        Failure { address: address.to_string(), trouble: self }
    }

    /// What a server's error means.
    pub(super) fn said(error: &ServerError) -> Trouble {
        let details = error.details().unwrap_or_default();
        let whole = || format!("{} {details}", error.code()).trim_end().to_owned();
        match error.code() {
            "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" | "BUSY" | "MOVED" | "ASK"
            | "NOREPLICAS" => Trouble::NotReady(whole()),
            "MISCONF" => Trouble::Unsaved(whole()),
            "READONLY" => Trouble::Replica,
            "OOM" => Trouble::Full,
            "NOAUTH" | "WRONGPASS" => Trouble::Locked(whole()),
            "NOPERM" => Trouble::Denied(whole()),
            // So it greets whoever is one too many, before it hangs up.
            "ERR" if details.starts_with("max number of clients") => Trouble::NotReady(whole()),
            // So Redis 7.0 reports what is forbidden to a script, and so do later ones and Valkey.
            "ERR"
                if details.starts_with("The user executing the script")
                    || details.starts_with("ACL failure in script") =>
            {
                Trouble::Denied(whole())
            }
            "ERR" if details.starts_with("AUTH") => Trouble::Locked(whole()),
            _ => Trouble::Refused(whole()),
        }
    }
}
