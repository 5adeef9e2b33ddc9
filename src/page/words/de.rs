//! German.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "de",
    numbers: "de",
    rtl: false,
    group: ".",
    group_from: 1,
    range: "–",
    plural: Plural::One,
    seconds: Forms::one("{} Sekunde", "{} Sekunden"),
    minutes: Forms::one("{} Minute", "{} Minuten"),
    hours: Forms::one("{} Stunde", "{} Stunden"),
    about: "etwa {}",
    soon: "weniger als eine Minute",

    room: "Warteraum",
    waiting_title: "Sie stehen in der Warteschlange",
    position: "Ihr Platz in der Schlange",
    wait: "Voraussichtliche Wartezeit",
    people: "Wartende insgesamt",
    ticket: "Ihr Ticket",
    class: "Kategorie",
    keep: "Lassen Sie diese Seite geöffnet. Wenn Sie an der Reihe sind, werden Sie automatisch eingelassen.",
    paused: "Die Warteschlange ist kurz angehalten. Sie behalten Ihren Platz.",
    paused_short: "angehalten",
    unsent: "Ihr Formular wurde nicht gesendet. Wenn Sie an der Reihe sind, kommen Sie zur Seite zurück und können es erneut senden.",
    leave: "Warteschlange verlassen",
    leave_sure: "Warteschlange verlassen? Sie verlieren dann Ihren Platz.",
    connected: "Verbunden",
    updated: "Stand: {}",
    reconnecting: "Verbindung wird wiederhergestellt …",
    last_known: "Die Verbindung ist unterbrochen. Das ist Ihr letzter bekannter Platz; wir versuchen es weiter.",

    admitted_title: "Sie sind an der Reihe",
    admitted_text: "Sie werden jetzt eingelassen …",
    admitted_window: "Ihr Zugang bleibt noch {} reserviert",
    admitted_go: "Jetzt eintreten",

    passed: Notice {
        title: "Sie wurden bereits aufgerufen",
        text: "Sie waren an der Reihe, während Sie nicht da waren. Die Zeit zum Eintreten ist abgelaufen.",
    },
    used: Notice {
        title: "Dieser Platz ist verbraucht",
        text: "Dieser Platz in der Schlange wurde bereits genutzt oder aufgegeben.",
    },
    completed: Notice { title: "Fertig", text: "Ihr Besuch ist abgeschlossen. Vielen Dank!" },
    left: Notice {
        title: "Sie haben die Warteschlange verlassen",
        text: "Ihr Platz ist an die nächste Person gegangen.",
    },
    revoked: Notice {
        title: "Ihr Besuch wurde beendet",
        text: "Die Website hat Ihren Besuch beendet.",
    },
    idle: Notice {
        title: "Ihr Besuch ist zu Ende",
        text: "Sie waren eine Weile nicht aktiv. Ihr Platz ist an die nächste Person gegangen.",
    },
    capped: Notice {
        title: "Ihr Besuch ist zu Ende",
        text: "Die Zeit für einen Besuch ist abgelaufen, damit auch andere an die Reihe kommen.",
    },
    unknown: Notice {
        title: "Dieser Platz gilt nicht mehr",
        text: "Die Warteschlange wurde neu begonnen, oder Ihr Ticket ist zu alt.",
    },
    rejoin: "Neu anstellen",

    closed: Notice {
        title: "Zurzeit geschlossen",
        text: "Diese Seite ist im Moment nicht geöffnet. Sie prüft von Zeit zu Zeit selbst, ob sich das ändert.",
    },
    full: Notice {
        title: "Die Warteschlange ist voll",
        text: "Es warten so viele Menschen, dass sich gerade niemand mehr anstellen kann. Diese Seite versucht es von selbst erneut.",
    },
    busy: Notice {
        title: "Sie werden eingereiht …",
        text: "Gerade kommen sehr viele Menschen auf einmal. Bleiben Sie auf dieser Seite: Sie erhalten Ihren Platz automatisch.",
    },
    lost: Notice {
        title: "Einen Moment bitte",
        text: "Die Warteschlange ist gerade nicht erreichbar. Niemand verliert seinen Platz. Diese Seite versucht es von selbst erneut.",
    },
    arrived: Notice {
        title: "Ihre Ankunft ist vermerkt",
        text: "Die Warteschlange ist gerade nicht erreichbar. Sie bekommen Ihren Platz nach der Zeit Ihrer Ankunft. Lassen Sie diese Seite geöffnet: Es geht von selbst weiter.",
    },
    down: Notice {
        title: "Die Website antwortet nicht",
        text: "An Ihrer Verbindung liegt es nicht. Diese Seite versucht es von selbst erneut.",
    },
    slow: Notice {
        title: "Die Website braucht zu lange",
        text: "Sie hat nicht rechtzeitig geantwortet. Diese Seite versucht es von selbst erneut.",
    },
    frame: Notice {
        title: "Hier gibt es eine Warteschlange",
        text: "Damit Sie Ihren Platz behalten, muss diese Seite in einem eigenen Fenster geöffnet sein.",
    },
    frame_open: "Seite öffnen",
    cookies: Notice {
        title: "Cookies sind ausgeschaltet",
        text: "Ihr Platz in der Schlange steht in einem Cookie, und Ihr Browser speichert es nicht. Erlauben Sie Cookies für diese Website und versuchen Sie es erneut.",
    },
    not_sent: Notice {
        title: "Ihr Formular wurde nicht gesendet",
        text: "Hier gibt es eine Warteschlange, und Sie haben noch keinen Platz darin. Öffnen Sie zuerst die Seite; danach können Sie das Formular erneut senden.",
    },
    not_sent_go: "Zur Seite",
    error: Notice {
        title: "Etwas ist schiefgegangen",
        text: "Diese Seite versucht es von selbst erneut.",
    },
    again: "Nächster Versuch in {}",
    try_now: "Jetzt versuchen",
    name_title: "Wie heißt du?",
    name_text: "Alle hier sehen, wer dran ist und wer wartet. Wähle einen Namen mit höchstens 40 Zeichen.",
    name_label: "Dein Name",
    name_join: "In die Schlange stellen",
    name_taken: "So heißt hier schon jemand. Wähle einen anderen Namen.",
    name_unfit: "Ein Name hat 1 bis 40 sichtbare Zeichen.",
    inside: "Gerade drin",
    opens: "Öffnet in {}",
    draw_title: "Die Auslosung",
    draw_text: "Die Plätze werden bei der Öffnung ausgelost. Ein Fingerabdruck des Startwerts wird vorher veröffentlicht, der Startwert selbst danach. Diese Seite rechnet in Ihrem Browser nach, welchen Platz eine Nummer bekommen hat.",
    draw_link: "Zur Auslosung",
    draw_promise: "Vor der Öffnung versprochen",
    draw_seed: "Startwert, danach veröffentlicht",
    draw_place: "Geloster Platz",
    draw_check: "Prüfen",
    draw_soon: "Noch wurde nichts ausgelost. Der Startwert erscheint hier nach der Öffnung.",
    draw_good: "Richtig: Der Startwert ist der versprochene, und diese Nummer hat diesen Platz bekommen.",
    draw_other_seed: "Falsch: Das ist nicht der Startwert, der versprochen wurde.",
    draw_other_place: "Falsch: Diese Nummer hat nicht diesen Platz bekommen.",
    draw_unpromised: "Vor dieser Auslosung wurde nichts versprochen: Sie lässt sich nicht prüfen.",
    draw_outside: "Diese Nummer ist in keiner Auslosung: Für sie zählt, wann sie kam.",
};
