//! English.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "en",
    numbers: "en",
    rtl: false,
    group: ",",
    group_from: 1,
    range: "–",
    plural: Plural::One,
    seconds: Forms::one("{} second", "{} seconds"),
    minutes: Forms::one("{} minute", "{} minutes"),
    hours: Forms::one("{} hour", "{} hours"),
    about: "about {}",
    soon: "less than a minute",

    room: "Waiting room",
    waiting_title: "You are in line",
    position: "Your place in line",
    wait: "Estimated wait",
    people: "People in line",
    ticket: "Your ticket",
    class: "Class",
    keep: "Keep this page open. When it is your turn, you will be let in automatically.",
    paused: "The line is paused for a moment. You keep your place.",
    paused_short: "paused",
    unsent: "Your form was not sent. When it is your turn you will be taken back to the page and can send it again.",
    leave: "Leave the line",
    leave_sure: "Leave the line? You will lose your place.",
    connected: "Connected",
    updated: "Updated at {}",
    reconnecting: "Reconnecting…",
    last_known: "The connection is gone. This is your last known place; we keep trying.",

    admitted_title: "It is your turn",
    admitted_text: "You are being let in…",
    admitted_window: "Your turn is kept for {}",
    admitted_go: "Go in now",

    passed: Notice {
        title: "Your turn has passed",
        text: "Your turn came while you were away, and the time to enter is over.",
    },
    used: Notice {
        title: "This place is used up",
        text: "This place in line has already been used or given up.",
    },
    completed: Notice { title: "All done", text: "Your visit is complete. Thank you!" },
    left: Notice {
        title: "You have left the line",
        text: "Your place has gone to the next person.",
    },
    revoked: Notice { title: "Your visit has ended", text: "The site has ended your visit." },
    idle: Notice {
        title: "Your visit has ended",
        text: "You were inactive for a while, so your place went to the next person.",
    },
    capped: Notice {
        title: "Your visit has ended",
        text: "The time for one visit is over, so that others get their turn.",
    },
    unknown: Notice {
        title: "This place is no longer valid",
        text: "The line has started anew, or your ticket is too old.",
    },
    rejoin: "Join the line again",

    closed: Notice {
        title: "Closed for now",
        text: "This page is not open at the moment. It looks again by itself from time to time.",
    },
    full: Notice {
        title: "The line is full",
        text: "So many people are waiting that nobody else can join right now. This page tries again by itself.",
    },
    busy: Notice {
        title: "Joining the line…",
        text: "Many people are arriving at once. Stay on this page: you will get your place by itself.",
    },
    lost: Notice {
        title: "One moment, please",
        text: "The line can’t be reached right now. Nobody loses their place. This page tries again by itself.",
    },
    arrived: Notice {
        title: "Your arrival is recorded",
        text: "The line can’t be reached for the moment. You will get your place by the time you arrived. Keep this page open: it goes on by itself.",
    },
    down: Notice {
        title: "The site is not answering",
        text: "It is not your connection. This page tries again by itself.",
    },
    slow: Notice {
        title: "The site is taking too long",
        text: "It has not answered in time. This page tries again by itself.",
    },
    frame: Notice {
        title: "There is a line here",
        text: "To keep your place, this page has to be open in a window of its own.",
    },
    frame_open: "Open the page",
    cookies: Notice {
        title: "Cookies are switched off",
        text: "Your place in line is kept in a cookie, and your browser does not keep it. Allow cookies for this site and try again.",
    },
    not_sent: Notice {
        title: "Your form was not sent",
        text: "There is a line here and you have no place in it yet. Open the page first; you can then send the form again.",
    },
    not_sent_go: "Go to the page",
    error: Notice { title: "Something went wrong", text: "This page tries again by itself." },
    again: "Next try in {}",
    try_now: "Try now",
    name_title: "What is your name?",
    name_text: "Everybody here sees who plays and who waits. Choose a name of up to 40 characters.",
    name_label: "Your name",
    name_join: "Join the line",
    name_taken: "Somebody here has this name already. Choose another one.",
    name_unfit: "A name has 1 to 40 visible characters.",
    inside: "Inside now",
    opens: "Opens in {}",
    draw_title: "The draw",
    draw_text: "Places are drawn by lot at the opening. A fingerprint of the seed is published before it, the seed itself after it. This page computes in your browser which place a number was drawn to.",
    draw_link: "About the draw",
    draw_promise: "Promised before the opening",
    draw_seed: "Seed, published after it",
    draw_place: "Place drawn",
    draw_check: "Check",
    draw_soon: "Nothing has been drawn yet. The seed appears here after the opening.",
    draw_good: "Right: the seed is the promised one, and this number was drawn to this place.",
    draw_other_seed: "Wrong: this is not the seed that was promised.",
    draw_other_place: "Wrong: this number was not drawn to this place.",
};
