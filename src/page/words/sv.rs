//! Swedish.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "sv",
    numbers: "sv",
    rtl: false,
    group: "\u{a0}",
    group_from: 1,
    range: "–",
    plural: Plural::One,
    seconds: Forms::one("{} sekund", "{} sekunder"),
    minutes: Forms::one("{} minut", "{} minuter"),
    hours: Forms::one("{} timme", "{} timmar"),
    about: "ungefär {}",
    soon: "mindre än en minut",

    room: "Väntrum",
    waiting_title: "Du står i kö",
    position: "Din plats i kön",
    wait: "Beräknad väntetid",
    people: "Personer i kön",
    ticket: "Din kölapp",
    class: "Kategori",
    keep: "Håll den här sidan öppen. När det är din tur släpps du in automatiskt.",
    paused: "Kön är pausad en stund. Du behåller din plats.",
    paused_short: "pausad",
    unsent: "Ditt formulär skickades inte. När det är din tur kommer du tillbaka till sidan och kan skicka det igen.",
    leave: "Lämna kön",
    leave_sure: "Vill du lämna kön? Du förlorar din plats.",
    connected: "Ansluten",
    updated: "Uppdaterad kl. {}",
    reconnecting: "Återansluter…",
    last_known: "Anslutningen bröts. Det här är din senast kända plats; vi fortsätter att försöka.",

    admitted_title: "Det är din tur",
    admitted_text: "Du släpps in…",
    admitted_window: "Din tur hålls i {}",
    admitted_go: "Gå in nu",

    passed: Notice {
        title: "Din tur har passerat",
        text: "Det blev din tur medan du var borta, och tiden för att gå in är slut.",
    },
    used: Notice {
        title: "Platsen är förbrukad",
        text: "Den här platsen i kön har redan använts eller lämnats.",
    },
    completed: Notice { title: "Klart", text: "Ditt besök är avslutat. Tack!" },
    left: Notice { title: "Du har lämnat kön", text: "Din plats har gått till nästa person." },
    revoked: Notice {
        title: "Ditt besök har avslutats",
        text: "Webbplatsen har avslutat ditt besök.",
    },
    idle: Notice {
        title: "Ditt besök är slut",
        text: "Du var inaktiv en stund, så din plats gick till nästa person.",
    },
    capped: Notice {
        title: "Ditt besök är slut",
        text: "Tiden för ett besök är slut, så att fler får sin tur.",
    },
    unknown: Notice {
        title: "Platsen gäller inte längre",
        text: "Kön har börjat om, eller så är din kölapp för gammal.",
    },
    rejoin: "Ställ dig i kön igen",

    closed: Notice {
        title: "Stängt just nu",
        text: "Den här sidan är inte öppen för tillfället. Den kontrollerar själv igen då och då.",
    },
    full: Notice {
        title: "Kön är full",
        text: "Så många väntar att ingen mer kan ställa sig i kön just nu. Sidan försöker igen av sig själv.",
    },
    busy: Notice {
        title: "Ställer dig i kön…",
        text: "Många kommer samtidigt. Stanna på sidan: du får din plats automatiskt.",
    },
    lost: Notice {
        title: "Ett ögonblick",
        text: "Kön går inte att nå just nu. Ingen förlorar sin plats. Sidan försöker igen av sig själv.",
    },
    arrived: Notice {
        title: "Din ankomst är noterad",
        text: "Kön går inte att nå just nu. Du får din plats efter tiden då du kom. Håll den här sidan öppen: den fortsätter av sig själv.",
    },
    down: Notice {
        title: "Webbplatsen svarar inte",
        text: "Det är inte fel på din anslutning. Sidan försöker igen av sig själv.",
    },
    slow: Notice {
        title: "Webbplatsen tar för lång tid på sig",
        text: "Den svarade inte i tid. Sidan försöker igen av sig själv.",
    },
    frame: Notice {
        title: "Här är det kö",
        text: "För att behålla din plats måste sidan vara öppen i ett eget fönster.",
    },
    frame_open: "Öppna sidan",
    cookies: Notice {
        title: "Cookies är avstängda",
        text: "Din plats i kön sparas i en cookie, och din webbläsare behåller den inte. Tillåt cookies för webbplatsen och försök igen.",
    },
    not_sent: Notice {
        title: "Ditt formulär skickades inte",
        text: "Här är det kö och du har ingen plats i den ännu. Öppna sidan först; sedan kan du skicka formuläret igen.",
    },
    not_sent_go: "Till sidan",
    error: Notice { title: "Något gick fel", text: "Sidan försöker igen av sig själv." },
    again: "Nästa försök om {}",
    try_now: "Försök nu",
    name_title: "Vad heter du?",
    name_text: "Alla här ser vem som är inne och vem som väntar. Välj ett namn på högst 40 tecken.",
    name_label: "Ditt namn",
    name_join: "Ställ dig i kön",
    name_taken: "Någon här heter redan så. Välj ett annat namn.",
    name_unfit: "Ett namn har 1 till 40 synliga tecken.",
    inside: "Inne nu",
    opens: "Öppnar om {}",
    draw_title: "Lottningen",
    draw_text: "Platserna lottas när det öppnar. Ett fingeravtryck av startvärdet publiceras före, själva startvärdet efteråt. Den här sidan räknar i din webbläsare ut vilken plats ett nummer fick.",
    draw_link: "Om lottningen",
    draw_promise: "Utlovat före öppningen",
    draw_seed: "Startvärde, publicerat efteråt",
    draw_place: "Lottad plats",
    draw_check: "Kontrollera",
    draw_soon: "Inget har lottats än. Startvärdet visas här efter öppningen.",
    draw_good: "Rätt: startvärdet är det utlovade, och det här numret fick den här platsen.",
    draw_other_seed: "Fel: det här är inte startvärdet som utlovades.",
    draw_other_place: "Fel: det här numret fick inte den här platsen.",
};
