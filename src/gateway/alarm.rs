//! A deadline that is put off again and again: that of a connection between two requests.
//!
//! Owns one timer for as long as the connection lives. Setting a timer takes a lock and two places in a wheel, for every
//! request, to be taken away again a moment later. So the timer stays where it is; if it goes off too early it is
//! set to when it is wanted by then.

use std::pin::Pin;

use tokio::time::{Instant, Sleep, sleep_until};

/// The deadline.
pub struct Alarm {
    timer: Pin<Box<Sleep>>,
    due: Instant,
}

impl Alarm {
    /// At this time.
    pub fn at(due: Instant) -> Alarm {
        Alarm { timer: Box::pin(sleep_until(due)), due }
    }

    /// At this time instead.
    pub fn put_off(&mut self, due: Instant) {
        self.due = due;
        if due < self.timer.deadline() {
            self.timer.as_mut().reset(due);
        }
    }

    /// Until it is time. May be given up, and asked for again.
    pub async fn rings(&mut self) {
        loop {
            self.timer.as_mut().await;
            if self.timer.deadline() >= self.due {
                return;
            }
            self.timer.as_mut().reset(self.due);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn rings_when_it_is_wanted_and_not_before() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut alarm = Alarm::at(after(10));
        alarm.put_off(after(30));
        alarm.rings().await;
        assert_eq!(began.elapsed().as_secs(), 30, "put off");
        alarm.put_off(after(60));
        alarm.put_off(after(40));
        alarm.rings().await;
        assert_eq!(began.elapsed().as_secs(), 40, "and brought forward");
        alarm.rings().await;
        assert_eq!(began.elapsed().as_secs(), 40, "whoever asks again is late");
    }
}
