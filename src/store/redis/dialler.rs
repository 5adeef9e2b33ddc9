//! What it takes to reach a server: how to speak to it, and what opens it.
//!
//! Owns nothing but the two together. Knows no server itself: those who do hand it one.

use super::address::Address;
use super::connection::{Connection, Place};
use super::info::Part;
use super::tls::Tls;
use super::trouble::Failure;
use crate::store::StoreError;

/// Opens connections.
pub(super) struct Dialler {
    pub(super) address: Address,
    tls: Option<Tls>,
}

impl Dialler {
    /// One for all that an address leads to.
    pub(super) fn new(address: Address) -> Result<Dialler, StoreError> {
        let tls = if address.tls { Some(Tls::new(&address)?) } else { None };
        Ok(Dialler { address, tls })
    }

    /// A connection to one server, which can take a part.
    pub(super) async fn open(&self, place: &Place, part: Part) -> Result<Connection, Failure> {
        let connection = self.dial(place).await?;
        let Address { access, database, .. } = &self.address;
        match connection.greet(access, *database, part).await {
            Ok(()) => Ok(connection),
            Err(trouble) => Err(trouble.of(place)),
        }
    }

    /// A connection on which nothing was said.
    pub(super) async fn dial(&self, place: &Place) -> Result<Connection, Failure> {
        let dialled = Connection::dial(place, self.tls.as_ref()).await;
        dialled.map_err(|trouble| trouble.of(place))
    }
}
