//! Dutch.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "nl",
    numbers: "nl",
    rtl: false,
    group: ".",
    group_from: 1,
    range: "–",
    plural: Plural::One,
    seconds: Forms::one("{} seconde", "{} seconden"),
    minutes: Forms::one("{} minuut", "{} minuten"),
    hours: Forms::same("{} uur"),
    about: "ongeveer {}",
    soon: "minder dan een minuut",

    room: "Wachtkamer",
    waiting_title: "Je staat in de rij",
    position: "Jouw plek in de rij",
    wait: "Geschatte wachttijd",
    people: "Mensen in de rij",
    ticket: "Jouw ticket",
    class: "Categorie",
    keep: "Houd deze pagina open. Als je aan de beurt bent, word je automatisch binnengelaten.",
    paused: "De rij staat even stil. Je houdt je plek.",
    paused_short: "staat stil",
    unsent: "Je formulier is niet verzonden. Als je aan de beurt bent, kom je terug op de pagina en kun je het opnieuw verzenden.",
    leave: "Rij verlaten",
    leave_sure: "Rij verlaten? Dan raak je je plek kwijt.",
    connected: "Verbonden",
    updated: "Bijgewerkt om {}",
    reconnecting: "Opnieuw verbinden…",
    last_known: "De verbinding is weg. Dit is je laatst bekende plek; we blijven het proberen.",

    admitted_title: "Je bent aan de beurt",
    admitted_text: "Je wordt binnengelaten…",
    admitted_window: "Je beurt blijft nog {} bewaard",
    admitted_go: "Nu naar binnen",

    passed: Notice {
        title: "Je beurt is voorbij",
        text: "Je was aan de beurt terwijl je er niet was, en de tijd om binnen te gaan is voorbij.",
    },
    used: Notice {
        title: "Deze plek is gebruikt",
        text: "Deze plek in de rij is al gebruikt of opgegeven.",
    },
    completed: Notice { title: "Klaar", text: "Je bezoek is afgerond. Bedankt!" },
    left: Notice { title: "Je hebt de rij verlaten", text: "Je plek is naar de volgende gegaan." },
    revoked: Notice {
        title: "Je bezoek is beëindigd", text: "De site heeft je bezoek beëindigd."
    },
    idle: Notice {
        title: "Je bezoek is voorbij",
        text: "Je was een tijdje niet actief, dus je plek is naar de volgende gegaan.",
    },
    capped: Notice {
        title: "Je bezoek is voorbij",
        text: "De tijd voor één bezoek is om, zodat ook anderen aan de beurt komen.",
    },
    unknown: Notice {
        title: "Deze plek is niet meer geldig",
        text: "De rij is opnieuw begonnen of je ticket is te oud.",
    },
    rejoin: "Opnieuw in de rij",

    closed: Notice {
        title: "Nu gesloten",
        text: "Deze pagina is op dit moment niet open. Ze kijkt af en toe vanzelf opnieuw.",
    },
    full: Notice {
        title: "De rij is vol",
        text: "Er wachten zoveel mensen dat niemand er nu nog bij kan. Deze pagina probeert het vanzelf opnieuw.",
    },
    busy: Notice {
        title: "Je komt in de rij…",
        text: "Er komen heel veel mensen tegelijk. Blijf op deze pagina: je krijgt vanzelf een plek.",
    },
    lost: Notice {
        title: "Een ogenblik",
        text: "De rij is nu niet bereikbaar. Niemand raakt zijn plek kwijt. Deze pagina probeert het vanzelf opnieuw.",
    },
    arrived: Notice {
        title: "Je aankomst is genoteerd",
        text: "De rij is nu niet bereikbaar. Je krijgt je plek op basis van het moment waarop je aankwam. Houd deze pagina open: het gaat vanzelf verder.",
    },
    down: Notice {
        title: "De site antwoordt niet",
        text: "Het ligt niet aan jouw verbinding. Deze pagina probeert het vanzelf opnieuw.",
    },
    slow: Notice {
        title: "De site doet er te lang over",
        text: "Er kwam niet op tijd antwoord. Deze pagina probeert het vanzelf opnieuw.",
    },
    frame: Notice {
        title: "Hier is een wachtrij",
        text: "Om je plek te houden moet deze pagina in een eigen venster open zijn.",
    },
    frame_open: "Pagina openen",
    cookies: Notice {
        title: "Cookies staan uit",
        text: "Je plek in de rij staat in een cookie en je browser bewaart die niet. Sta cookies toe voor deze site en probeer het opnieuw.",
    },
    not_sent: Notice {
        title: "Je formulier is niet verzonden",
        text: "Hier is een wachtrij en je hebt er nog geen plek in. Open eerst de pagina; daarna kun je het formulier opnieuw verzenden.",
    },
    not_sent_go: "Naar de pagina",
    error: Notice { title: "Er ging iets mis", text: "Deze pagina probeert het vanzelf opnieuw." },
    again: "Volgende poging over {}",
    try_now: "Nu proberen",
    name_title: "Hoe heet je?",
    name_text: "Iedereen hier ziet wie er binnen is en wie wacht. Kies een naam van hoogstens 40 tekens.",
    name_label: "Je naam",
    name_join: "In de rij gaan staan",
    name_taken: "Iemand hier heet al zo. Kies een andere naam.",
    name_unfit: "Een naam heeft 1 tot 40 zichtbare tekens.",
    inside: "Nu binnen",
    opens: "Gaat open over {}",
    draw_title: "De loting",
    draw_text: "De plekken worden bij de opening verloot. Een vingerafdruk van de beginwaarde wordt vooraf gepubliceerd, de beginwaarde zelf daarna. Deze pagina berekent in je browser welke plek een nummer heeft gekregen.",
    draw_link: "Over de loting",
    draw_promise: "Beloofd vóór de opening",
    draw_seed: "Beginwaarde, daarna gepubliceerd",
    draw_place: "Gelote plek",
    draw_check: "Controleren",
    draw_soon: "Er is nog niet geloot. De beginwaarde verschijnt hier na de opening.",
    draw_good: "Juist: de beginwaarde is de beloofde, en dit nummer heeft deze plek gekregen.",
    draw_other_seed: "Onjuist: dit is niet de beginwaarde die is beloofd.",
    draw_other_place: "Onjuist: dit nummer heeft deze plek niet gekregen.",
    draw_unpromised: "Vóór deze loting is niets beloofd: ze is niet te controleren.",
    draw_outside: "Dit nummer zit in geen loting: het telt wanneer het kwam.",
};
