//! Czech.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "cs",
    numbers: "cs",
    rtl: false,
    group: "\u{a0}",
    group_from: 1,
    range: "–",
    plural: Plural::Czech,
    seconds: Forms { one: "{} sekundu", two: "", few: "{} sekundy", many: "", other: "{} sekund" },
    minutes: Forms { one: "{} minutu", two: "", few: "{} minuty", many: "", other: "{} minut" },
    hours: Forms { one: "{} hodinu", two: "", few: "{} hodiny", many: "", other: "{} hodin" },
    about: "asi {}",
    soon: "méně než minuta",

    room: "Čekárna",
    waiting_title: "Jste ve frontě",
    position: "Vaše místo ve frontě",
    wait: "Odhadované čekání",
    people: "Lidí ve frontě",
    ticket: "Vaše pořadové číslo",
    class: "Kategorie",
    keep: "Nechte tuto stránku otevřenou. Až na vás přijde řada, budete vpuštěni automaticky.",
    paused: "Fronta je na chvíli pozastavena. Vaše místo vám zůstává.",
    paused_short: "pozastaveno",
    unsent: "Váš formulář nebyl odeslán. Až na vás přijde řada, vrátíte se na stránku a můžete ho odeslat znovu.",
    leave: "Opustit frontu",
    leave_sure: "Opustit frontu? Přijdete o své místo.",
    connected: "Připojeno",
    updated: "Aktualizováno v {}",
    reconnecting: "Obnovuje se připojení…",
    last_known: "Spojení se přerušilo. Toto je vaše poslední známé místo; zkoušíme to dál.",

    admitted_title: "Jste na řadě",
    admitted_text: "Vpouštíme vás dovnitř…",
    admitted_window: "Místo vám držíme ještě {}",
    admitted_go: "Vstoupit",

    passed: Notice {
        title: "Vaše řada už minula",
        text: "Přišla na vás řada, když jste tu nebyli, a čas na vstup vypršel.",
    },
    used: Notice {
        title: "Toto místo už bylo využito",
        text: "Toto místo ve frontě už bylo využito nebo uvolněno.",
    },
    completed: Notice { title: "Hotovo", text: "Vaše návštěva je dokončena. Děkujeme!" },
    left: Notice { title: "Opustili jste frontu", text: "Vaše místo dostal další v pořadí." },
    revoked: Notice {
        title: "Vaše návštěva byla ukončena", text: "Web vaši návštěvu ukončil."
    },
    idle: Notice {
        title: "Vaše návštěva skončila",
        text: "Chvíli jste nebyli aktivní, a tak vaše místo dostal další v pořadí.",
    },
    capped: Notice {
        title: "Vaše návštěva skončila",
        text: "Čas na jednu návštěvu vypršel, aby se dostalo i na ostatní.",
    },
    unknown: Notice {
        title: "Toto místo už neplatí",
        text: "Fronta začala znovu, nebo je vaše číslo příliš staré.",
    },
    rejoin: "Zařadit se znovu",

    closed: Notice {
        title: "Momentálně zavřeno",
        text: "Tato stránka teď není otevřená. Čas od času to sama zkontroluje.",
    },
    full: Notice {
        title: "Fronta je plná",
        text: "Čeká tolik lidí, že se teď nikdo další nemůže zařadit. Stránka to sama zkusí znovu.",
    },
    busy: Notice {
        title: "Zařazujeme vás do fronty…",
        text: "Přichází hodně lidí najednou. Zůstaňte na této stránce: místo dostanete automaticky.",
    },
    lost: Notice {
        title: "Okamžik, prosím",
        text: "Fronta je teď nedostupná. Nikdo nepřijde o své místo. Stránka to sama zkusí znovu.",
    },
    arrived: Notice {
        title: "Váš příchod je zaznamenán",
        text: "Fronta je teď nedostupná. Místo dostanete podle času svého příchodu. Nechte tuto stránku otevřenou: pokračuje sama.",
    },
    down: Notice {
        title: "Web neodpovídá",
        text: "Vaším připojením to není. Stránka to sama zkusí znovu.",
    },
    slow: Notice {
        title: "Webu to trvá příliš dlouho",
        text: "Neodpověděl včas. Stránka to sama zkusí znovu.",
    },
    frame: Notice {
        title: "Je tu fronta",
        text: "Aby vám místo zůstalo, musí být tato stránka otevřená ve vlastním okně.",
    },
    frame_open: "Otevřít stránku",
    cookies: Notice {
        title: "Cookies jsou vypnuté",
        text: "Vaše místo ve frontě je uloženo v cookie a váš prohlížeč ji neuchovává. Povolte tomuto webu cookies a zkuste to znovu.",
    },
    not_sent: Notice {
        title: "Váš formulář nebyl odeslán",
        text: "Je tu fronta a ještě v ní nemáte místo. Nejprve otevřete stránku; potom můžete formulář odeslat znovu.",
    },
    not_sent_go: "Přejít na stránku",
    error: Notice { title: "Něco se pokazilo", text: "Stránka to sama zkusí znovu." },
    again: "Další pokus za {}",
    try_now: "Zkusit teď",
    name_title: "Jak se jmenujete?",
    name_text: "Všichni tu vidí, kdo je uvnitř a kdo čeká. Zvolte jméno do 40 znaků.",
    name_label: "Vaše jméno",
    name_join: "Zařadit se do fronty",
    name_taken: "Někdo se tu už tak jmenuje. Zvolte jiné jméno.",
    name_unfit: "Jméno má 1 až 40 viditelných znaků.",
    inside: "Právě uvnitř",
    opens: "Otevře se za {}",
    draw_title: "Losování",
    draw_text: "Místa se losují při otevření. Otisk počáteční hodnoty se zveřejní předem, hodnota sama potom. Tato stránka ve vašem prohlížeči spočítá, které místo číslo dostalo.",
    draw_link: "O losování",
    draw_promise: "Slíbeno před otevřením",
    draw_seed: "Počáteční hodnota, zveřejněná potom",
    draw_place: "Vylosované místo",
    draw_check: "Ověřit",
    draw_soon: "Zatím se nic nelosovalo. Počáteční hodnota se zde objeví po otevření.",
    draw_good: "Správně: počáteční hodnota je ta slíbená a toto číslo dostalo toto místo.",
    draw_other_seed: "Špatně: toto není slíbená počáteční hodnota.",
    draw_other_place: "Špatně: toto číslo nedostalo toto místo.",
    draw_unpromised: "Před tímto losováním nebylo nic slíbeno: nelze je ověřit.",
    draw_outside: "Toto číslo není v žádném losování: rozhoduje, kdy přišlo.",
};
