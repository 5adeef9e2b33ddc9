//! Letters between a line and whoever delivers them on this node.
//!
//! Owns those that were handed to this node and not yet taken by its courier. Knows nothing of what they say.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::Room;
use crate::line::Letter;

/// For letters that were asked for.
const PATIENCE: Duration = Duration::from_secs(10);

/// What has come, and that something has.
#[derive(Default)]
pub(super) struct Post {
    letters: Mutex<Vec<Letter>>,
    heard: Notify,
}

impl Room {
    /// Asks the line for up to so many letters; those it hands out, perhaps none.
    pub async fn take_letters(&self, wants: u32) -> Vec<Letter> {
        let heard = self.post.heard.notified();
        self.desk().want_letters(wants);
        self.said.notify_one();
        // A batch that nobody answers brings no letters, either.
        let _ = timeout(PATIENCE, heard).await;
        std::mem::take(&mut *self.letters())
    }

    /// A letter was delivered, or given up: nobody else is to.
    pub fn sent(&self, serial: u64) {
        self.desk().letter_sent(serial);
        self.said.notify_one();
    }

    /// The line has answered a batch that asked for letters.
    pub(super) fn receive(&self, letters: &[Letter]) {
        self.letters().extend_from_slice(letters);
        self.post.heard.notify_one();
    }

    fn letters(&self) -> std::sync::MutexGuard<'_, Vec<Letter>> {
        self.post.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
