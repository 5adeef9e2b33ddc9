//! Spanish.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "es",
    numbers: "es",
    rtl: false,
    group: ".",
    group_from: 2,
    range: "–",
    plural: Plural::One,
    seconds: Forms::one("{} segundo", "{} segundos"),
    minutes: Forms::one("{} minuto", "{} minutos"),
    hours: Forms::one("{} hora", "{} horas"),
    about: "unos {}",
    soon: "menos de un minuto",

    room: "Sala de espera",
    waiting_title: "Estás en la fila",
    position: "Tu lugar en la fila",
    wait: "Espera estimada",
    people: "Personas en la fila",
    ticket: "Tu turno",
    class: "Categoría",
    keep: "Mantén esta página abierta. Cuando te toque, entrarás automáticamente.",
    paused: "La fila está en pausa por un momento. Conservas tu lugar.",
    paused_short: "en pausa",
    unsent: "Tu formulario no se ha enviado. Cuando te toque, volverás a la página y podrás enviarlo de nuevo.",
    leave: "Salir de la fila",
    leave_sure: "¿Salir de la fila? Perderás tu lugar.",
    connected: "Conectado",
    updated: "Actualizado a las {}",
    reconnecting: "Reconectando…",
    last_known: "Se ha perdido la conexión. Este es tu último lugar conocido; seguimos intentándolo.",

    admitted_title: "Es tu turno",
    admitted_text: "Estás entrando…",
    admitted_window: "Te guardamos el turno durante {}",
    admitted_go: "Entrar ahora",

    passed: Notice {
        title: "Tu turno ya pasó",
        text: "Te tocó mientras no estabas y el plazo para entrar ha terminado.",
    },
    used: Notice {
        title: "Este lugar ya no sirve",
        text: "Este lugar en la fila ya se usó o se abandonó.",
    },
    completed: Notice { title: "Todo listo", text: "Tu visita ha terminado. ¡Gracias!" },
    left: Notice {
        title: "Has salido de la fila",
        text: "Tu lugar ha pasado a la siguiente persona.",
    },
    revoked: Notice {
        title: "Tu visita ha terminado",
        text: "El sitio ha dado por terminada tu visita.",
    },
    idle: Notice {
        title: "Tu visita ha terminado",
        text: "No hubo actividad durante un rato y tu lugar pasó a la siguiente persona.",
    },
    capped: Notice {
        title: "Tu visita ha terminado",
        text: "Se acabó el tiempo de una visita, para que otras personas tengan su turno.",
    },
    unknown: Notice {
        title: "Este lugar ya no es válido",
        text: "La fila ha empezado de nuevo o tu turno es demasiado antiguo.",
    },
    rejoin: "Volver a la fila",

    closed: Notice {
        title: "Cerrado por ahora",
        text: "Esta página no está abierta en este momento. Lo comprueba por sí sola de vez en cuando.",
    },
    full: Notice {
        title: "La fila está llena",
        text: "Hay tanta gente esperando que nadie más puede unirse ahora. Esta página lo intenta de nuevo por sí sola.",
    },
    busy: Notice {
        title: "Entrando en la fila…",
        text: "Está llegando mucha gente a la vez. Quédate en esta página: recibirás tu lugar automáticamente.",
    },
    lost: Notice {
        title: "Un momento, por favor",
        text: "Ahora no se puede acceder a la fila. Nadie pierde su lugar. Esta página lo intenta de nuevo por sí sola.",
    },
    arrived: Notice {
        title: "Tu llegada ha quedado registrada",
        text: "Ahora no se puede acceder a la fila. Recibirás tu lugar según la hora a la que llegaste. Mantén esta página abierta: continúa por sí sola.",
    },
    down: Notice {
        title: "El sitio no responde",
        text: "No es tu conexión. Esta página lo intenta de nuevo por sí sola.",
    },
    slow: Notice {
        title: "El sitio tarda demasiado",
        text: "No ha respondido a tiempo. Esta página lo intenta de nuevo por sí sola.",
    },
    frame: Notice {
        title: "Aquí hay una fila",
        text: "Para conservar tu lugar, esta página debe abrirse en su propia ventana.",
    },
    frame_open: "Abrir la página",
    cookies: Notice {
        title: "Las cookies están desactivadas",
        text: "Tu lugar en la fila se guarda en una cookie y tu navegador no la conserva. Permite las cookies de este sitio e inténtalo de nuevo.",
    },
    not_sent: Notice {
        title: "Tu formulario no se ha enviado",
        text: "Aquí hay una fila y aún no tienes lugar en ella. Abre primero la página; después podrás enviar el formulario de nuevo.",
    },
    not_sent_go: "Ir a la página",
    error: Notice {
        title: "Algo ha salido mal",
        text: "Esta página lo intenta de nuevo por sí sola.",
    },
    again: "Próximo intento en {}",
    try_now: "Intentar ahora",
    name_title: "¿Cómo te llamas?",
    name_text: "Aquí todos ven quién está dentro y quién espera. Elige un nombre de hasta 40 caracteres.",
    name_label: "Tu nombre",
    name_join: "Unirse a la fila",
    name_taken: "Alguien ya tiene ese nombre. Elige otro.",
    name_unfit: "Un nombre tiene de 1 a 40 caracteres visibles.",
    inside: "Dentro ahora",
    opens: "Abre en {}",
    draw_title: "El sorteo",
    draw_text: "Los lugares se sortean en la apertura. Antes se publica una huella de la semilla y después la propia semilla. Esta página calcula en tu navegador qué lugar le tocó a un número.",
    draw_link: "Sobre el sorteo",
    draw_promise: "Prometido antes de la apertura",
    draw_seed: "Semilla, publicada después",
    draw_place: "Lugar sorteado",
    draw_check: "Comprobar",
    draw_soon: "Aún no se ha sorteado nada. La semilla aparecerá aquí después de la apertura.",
    draw_good: "Correcto: la semilla es la prometida y a este número le tocó este lugar.",
    draw_other_seed: "Incorrecto: esta no es la semilla prometida.",
    draw_other_place: "Incorrecto: a este número no le tocó este lugar.",
    draw_unpromised: "No se prometió nada antes de este sorteo: no se puede comprobar.",
    draw_outside: "Este número no está en ningún sorteo: cuenta cuándo llegó.",
};
