//! Polish.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "pl",
    numbers: "pl",
    rtl: false,
    group: "\u{a0}",
    group_from: 2,
    range: "–",
    plural: Plural::Polish,
    seconds: Forms::slavic("{} sekundę", "{} sekundy", "{} sekund"),
    minutes: Forms::slavic("{} minutę", "{} minuty", "{} minut"),
    hours: Forms::slavic("{} godzinę", "{} godziny", "{} godzin"),
    about: "mniej więcej {}",
    soon: "mniej niż minuta",

    room: "Poczekalnia",
    waiting_title: "Jesteś w kolejce",
    position: "Twoje miejsce w kolejce",
    wait: "Szacowany czas oczekiwania",
    people: "Osoby w kolejce",
    ticket: "Twój bilet",
    class: "Kategoria",
    keep: "Nie zamykaj tej strony. Gdy przyjdzie Twoja kolej, wejdziesz automatycznie.",
    paused: "Kolejka jest na chwilę wstrzymana. Zachowujesz swoje miejsce.",
    paused_short: "wstrzymana",
    unsent: "Twój formularz nie został wysłany. Gdy przyjdzie Twoja kolej, wrócisz na stronę i można go będzie wysłać ponownie.",
    leave: "Opuść kolejkę",
    leave_sure: "Opuścić kolejkę? Stracisz swoje miejsce.",
    connected: "Połączono",
    updated: "Aktualizacja: {}",
    reconnecting: "Ponowne łączenie…",
    last_known: "Połączenie zostało przerwane. To Twoje ostatnie znane miejsce; próbujemy dalej.",

    admitted_title: "Twoja kolej",
    admitted_text: "Trwa wpuszczanie…",
    admitted_window: "Twoja kolej jest zachowana jeszcze przez {}",
    admitted_go: "Wejdź teraz",

    passed: Notice {
        title: "Twoja kolej minęła",
        text: "Twoja kolej nadeszła podczas Twojej nieobecności, a czas na wejście minął.",
    },
    used: Notice {
        title: "To miejsce zostało wykorzystane",
        text: "To miejsce w kolejce zostało już wykorzystane lub zwolnione.",
    },
    completed: Notice { title: "Gotowe", text: "Twoja wizyta jest zakończona. Dziękujemy!" },
    left: Notice { title: "Kolejka opuszczona", text: "Twoje miejsce zajęła następna osoba." },
    revoked: Notice {
        title: "Twoja wizyta została zakończona",
        text: "Serwis zakończył Twoją wizytę.",
    },
    idle: Notice {
        title: "Twoja wizyta się skończyła",
        text: "Przez pewien czas nie było aktywności, więc Twoje miejsce zajęła następna osoba.",
    },
    capped: Notice {
        title: "Twoja wizyta się skończyła",
        text: "Czas jednej wizyty minął, aby inni też mieli swoją kolej.",
    },
    unknown: Notice {
        title: "To miejsce jest już nieważne",
        text: "Kolejka zaczęła się od nowa albo Twój bilet jest za stary.",
    },
    rejoin: "Stań w kolejce ponownie",

    closed: Notice {
        title: "Chwilowo zamknięte",
        text: "Ta strona nie jest teraz otwarta. Co jakiś czas sprawdza to sama.",
    },
    full: Notice {
        title: "Kolejka jest pełna",
        text: "Czeka tak wiele osób, że nikt więcej nie może teraz dołączyć. Ta strona sama spróbuje ponownie.",
    },
    busy: Notice {
        title: "Dołączanie do kolejki…",
        text: "Przychodzi bardzo wiele osób naraz. Zostań na tej stronie: miejsce otrzymasz automatycznie.",
    },
    lost: Notice {
        title: "Chwileczkę",
        text: "Kolejka jest teraz nieosiągalna. Nikt nie traci miejsca. Ta strona sama spróbuje ponownie.",
    },
    arrived: Notice {
        title: "Twoje przybycie zostało zapisane",
        text: "Kolejka jest teraz nieosiągalna. Otrzymasz miejsce według czasu przybycia. Nie zamykaj tej strony: wszystko pójdzie dalej samo.",
    },
    down: Notice {
        title: "Serwis nie odpowiada",
        text: "To nie wina Twojego połączenia. Ta strona sama spróbuje ponownie.",
    },
    slow: Notice {
        title: "Serwis odpowiada zbyt długo",
        text: "Odpowiedź nie nadeszła na czas. Ta strona sama spróbuje ponownie.",
    },
    frame: Notice {
        title: "Tutaj jest kolejka",
        text: "Aby zachować miejsce, ta strona musi być otwarta we własnym oknie.",
    },
    frame_open: "Otwórz stronę",
    cookies: Notice {
        title: "Pliki cookie są wyłączone",
        text: "Twoje miejsce w kolejce jest zapisane w pliku cookie, a przeglądarka go nie przechowuje. Zezwól tej witrynie na pliki cookie i spróbuj ponownie.",
    },
    not_sent: Notice {
        title: "Twój formularz nie został wysłany",
        text: "Tutaj jest kolejka, a Ty nie masz w niej jeszcze miejsca. Najpierw otwórz stronę; potem możesz wysłać formularz ponownie.",
    },
    not_sent_go: "Przejdź do strony",
    error: Notice { title: "Coś poszło nie tak", text: "Ta strona sama spróbuje ponownie." },
    again: "Następna próba za {}",
    try_now: "Spróbuj teraz",
    name_title: "Jak masz na imię?",
    name_text: "Wszyscy tutaj widzą, kto jest w środku i kto czeka. Wybierz nazwę do 40 znaków.",
    name_label: "Twoja nazwa",
    name_join: "Dołącz do kolejki",
    name_taken: "Ktoś już ma tę nazwę. Wybierz inną.",
    name_unfit: "Nazwa ma od 1 do 40 widocznych znaków.",
    inside: "Teraz w środku",
    opens: "Otwarcie za {}",
    draw_title: "Losowanie",
    draw_text: "Miejsca są losowane przy otwarciu. Przedtem publikowany jest odcisk ziarna, a potem samo ziarno. Ta strona oblicza w Twojej przeglądarce, które miejsce przypadło danemu numerowi.",
    draw_link: "O losowaniu",
    draw_promise: "Obiecane przed otwarciem",
    draw_seed: "Ziarno, opublikowane potem",
    draw_place: "Wylosowane miejsce",
    draw_check: "Sprawdź",
    draw_soon: "Nic jeszcze nie wylosowano. Ziarno pojawi się tutaj po otwarciu.",
    draw_good: "Zgadza się: ziarno jest tym obiecanym, a temu numerowi przypadło to miejsce.",
    draw_other_seed: "Nie zgadza się: to nie jest obiecane ziarno.",
    draw_other_place: "Nie zgadza się: temu numerowi nie przypadło to miejsce.",
};
