//! Italian.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "it",
    numbers: "it",
    rtl: false,
    group: ".",
    group_from: 2,
    range: "–",
    plural: Plural::One,
    seconds: Forms::one("{} secondo", "{} secondi"),
    minutes: Forms::one("{} minuto", "{} minuti"),
    hours: Forms::one("{} ora", "{} ore"),
    about: "circa {}",
    soon: "meno di un minuto",

    room: "Sala d’attesa",
    waiting_title: "Sei in fila",
    position: "Il tuo posto in fila",
    wait: "Attesa stimata",
    people: "Persone in fila",
    ticket: "Il tuo numero",
    class: "Categoria",
    keep: "Tieni aperta questa pagina. Quando sarà il tuo turno, entrerai automaticamente.",
    paused: "La fila è in pausa per un momento. Mantieni il tuo posto.",
    paused_short: "in pausa",
    unsent: "Il modulo non è stato inviato. Quando sarà il tuo turno tornerai alla pagina e potrai inviarlo di nuovo.",
    leave: "Lascia la fila",
    leave_sure: "Vuoi lasciare la fila? Perderai il tuo posto.",
    connected: "Connesso",
    updated: "Aggiornato alle {}",
    reconnecting: "Riconnessione…",
    last_known: "La connessione si è interrotta. Questo è il tuo ultimo posto noto; continuiamo a provare.",

    admitted_title: "È il tuo turno",
    admitted_text: "Stai entrando…",
    admitted_window: "Il tuo turno è riservato per {}",
    admitted_go: "Entra ora",

    passed: Notice {
        title: "Il tuo turno è passato",
        text: "È arrivato il tuo turno mentre non c’eri e il tempo per entrare è scaduto.",
    },
    used: Notice {
        title: "Questo posto non è più disponibile",
        text: "Questo posto in fila è già stato usato o lasciato.",
    },
    completed: Notice { title: "Tutto fatto", text: "La tua visita è conclusa. Grazie!" },
    left: Notice {
        title: "Hai lasciato la fila",
        text: "Il tuo posto è passato alla persona successiva.",
    },
    revoked: Notice {
        title: "La tua visita è terminata",
        text: "Il sito ha terminato la tua visita.",
    },
    idle: Notice {
        title: "La tua visita è terminata",
        text: "Non c’è stata attività per un po’ e il tuo posto è passato alla persona successiva.",
    },
    capped: Notice {
        title: "La tua visita è terminata",
        text: "Il tempo per una visita è scaduto, così anche altri hanno il loro turno.",
    },
    unknown: Notice {
        title: "Questo posto non è più valido",
        text: "La fila è ricominciata da capo, oppure il tuo numero è troppo vecchio.",
    },
    rejoin: "Torna in fila",

    closed: Notice {
        title: "Chiuso al momento",
        text: "Questa pagina ora non è aperta. Controlla da sola di tanto in tanto.",
    },
    full: Notice {
        title: "La fila è piena",
        text: "Ci sono così tante persone in attesa che ora nessun altro può mettersi in fila. Questa pagina riprova da sola.",
    },
    busy: Notice {
        title: "Ti stai mettendo in fila…",
        text: "Stanno arrivando molte persone insieme. Resta su questa pagina: riceverai il tuo posto automaticamente.",
    },
    lost: Notice {
        title: "Un momento, per favore",
        text: "In questo momento la fila non è raggiungibile. Nessuno perde il posto. Questa pagina riprova da sola.",
    },
    arrived: Notice {
        title: "Il tuo arrivo è registrato",
        text: "In questo momento la fila non è raggiungibile. Riceverai il tuo posto in base all’ora del tuo arrivo. Tieni aperta questa pagina: prosegue da sola.",
    },
    down: Notice {
        title: "Il sito non risponde",
        text: "Non dipende dalla tua connessione. Questa pagina riprova da sola.",
    },
    slow: Notice {
        title: "Il sito impiega troppo tempo",
        text: "Non ha risposto in tempo. Questa pagina riprova da sola.",
    },
    frame: Notice {
        title: "Qui c’è una fila",
        text: "Per mantenere il tuo posto, questa pagina deve essere aperta in una finestra propria.",
    },
    frame_open: "Apri la pagina",
    cookies: Notice {
        title: "I cookie sono disattivati",
        text: "Il tuo posto in fila è conservato in un cookie e il tuo browser non lo salva. Consenti i cookie per questo sito e riprova.",
    },
    not_sent: Notice {
        title: "Il modulo non è stato inviato",
        text: "Qui c’è una fila e non hai ancora un posto. Apri prima la pagina; poi potrai inviare di nuovo il modulo.",
    },
    not_sent_go: "Vai alla pagina",
    error: Notice { title: "Qualcosa è andato storto", text: "Questa pagina riprova da sola." },
    again: "Prossimo tentativo tra {}",
    try_now: "Riprova ora",
    name_title: "Come ti chiami?",
    name_text: "Qui tutti vedono chi è dentro e chi aspetta. Scegli un nome di al massimo 40 caratteri.",
    name_label: "Il tuo nome",
    name_join: "Mettiti in fila",
    name_taken: "Qualcuno qui ha già questo nome. Scegline un altro.",
    name_unfit: "Un nome ha da 1 a 40 caratteri visibili.",
    inside: "Dentro adesso",
    opens: "Apre tra {}",
    draw_title: "Il sorteggio",
    draw_text: "I posti vengono sorteggiati all’apertura. Prima si pubblica un’impronta del seme, dopo il seme stesso. Questa pagina calcola nel tuo browser quale posto è toccato a un numero.",
    draw_link: "Informazioni sul sorteggio",
    draw_promise: "Promesso prima dell’apertura",
    draw_seed: "Seme, pubblicato dopo",
    draw_place: "Posto sorteggiato",
    draw_check: "Verifica",
    draw_soon: "Non è ancora stato sorteggiato nulla. Il seme apparirà qui dopo l’apertura.",
    draw_good: "Corretto: il seme è quello promesso e a questo numero è toccato questo posto.",
    draw_other_seed: "Errato: questo non è il seme promesso.",
    draw_other_place: "Errato: a questo numero non è toccato questo posto.",
    draw_unpromised: "Prima di questo sorteggio non è stato promesso nulla: non si può verificare.",
    draw_outside: "Questo numero non è in nessun sorteggio: conta quando è arrivato.",
};
