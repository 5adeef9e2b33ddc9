//! French.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "fr",
    numbers: "fr",
    rtl: false,
    group: "\u{202f}",
    group_from: 1,
    range: "–",
    plural: Plural::ZeroOne,
    seconds: Forms::one("{} seconde", "{} secondes"),
    minutes: Forms::one("{} minute", "{} minutes"),
    hours: Forms::one("{} heure", "{} heures"),
    about: "environ {}",
    soon: "moins d’une minute",

    room: "Salle d’attente",
    waiting_title: "Vous êtes dans la file d’attente",
    position: "Votre place dans la file",
    wait: "Attente estimée",
    people: "Personnes dans la file",
    ticket: "Votre ticket",
    class: "Catégorie",
    keep: "Gardez cette page ouverte. Quand ce sera votre tour, vous entrerez automatiquement.",
    paused: "La file est en pause pour un instant. Vous gardez votre place.",
    paused_short: "en pause",
    unsent: "Votre formulaire n’a pas été envoyé. Quand ce sera votre tour, vous reviendrez à la page et pourrez l’envoyer de nouveau.",
    leave: "Quitter la file",
    leave_sure: "Quitter la file\u{a0}? Vous perdrez votre place.",
    connected: "Connecté",
    updated: "Mis à jour à {}",
    reconnecting: "Reconnexion…",
    last_known: "La connexion est interrompue. Voici votre dernière place connue\u{a0}; nous continuons d’essayer.",

    admitted_title: "C’est votre tour",
    admitted_text: "Nous vous faisons entrer…",
    admitted_window: "Votre tour est gardé pendant {}",
    admitted_go: "Entrer maintenant",

    passed: Notice {
        title: "Votre tour est passé",
        text: "Votre tour est venu pendant votre absence et le délai pour entrer est écoulé.",
    },
    used: Notice {
        title: "Cette place n’est plus disponible",
        text: "Cette place dans la file a déjà été utilisée ou abandonnée.",
    },
    completed: Notice {
        title: "C’est terminé", text: "Votre visite est terminée. Merci\u{a0}!"
    },
    left: Notice {
        title: "Vous avez quitté la file",
        text: "Votre place est revenue à la personne suivante.",
    },
    revoked: Notice {
        title: "Votre visite a pris fin", text: "Le site a mis fin à votre visite."
    },
    idle: Notice {
        title: "Votre visite a pris fin",
        text: "Vous êtes resté inactif un moment\u{a0}; votre place est revenue à la personne suivante.",
    },
    capped: Notice {
        title: "Votre visite a pris fin",
        text: "La durée d’une visite est écoulée, afin que d’autres aient leur tour.",
    },
    unknown: Notice {
        title: "Cette place n’est plus valable",
        text: "La file a recommencé, ou votre ticket est trop ancien.",
    },
    rejoin: "Reprendre une place dans la file",

    closed: Notice {
        title: "Fermé pour le moment",
        text: "Cette page n’est pas ouverte actuellement. Elle vérifie d’elle-même de temps en temps.",
    },
    full: Notice {
        title: "La file est complète",
        text: "Tant de personnes attendent que plus personne ne peut entrer dans la file. Cette page réessaie d’elle-même.",
    },
    busy: Notice {
        title: "Entrée dans la file…",
        text: "Beaucoup de personnes arrivent en même temps. Restez sur cette page\u{a0}: vous recevrez votre place automatiquement.",
    },
    lost: Notice {
        title: "Un instant, s’il vous plaît",
        text: "La file est momentanément injoignable. Personne ne perd sa place. Cette page réessaie d’elle-même.",
    },
    arrived: Notice {
        title: "Votre arrivée est enregistrée",
        text: "La file est momentanément injoignable. Vous recevrez votre place selon l’heure de votre arrivée. Gardez cette page ouverte : la suite est automatique.",
    },
    down: Notice {
        title: "Le site ne répond pas",
        text: "Votre connexion n’est pas en cause. Cette page réessaie d’elle-même.",
    },
    slow: Notice {
        title: "Le site met trop de temps",
        text: "Il n’a pas répondu à temps. Cette page réessaie d’elle-même.",
    },
    frame: Notice {
        title: "Il y a une file d’attente ici",
        text: "Pour garder votre place, cette page doit être ouverte dans sa propre fenêtre.",
    },
    frame_open: "Ouvrir la page",
    cookies: Notice {
        title: "Les cookies sont désactivés",
        text: "Votre place est gardée dans un cookie, et votre navigateur ne le conserve pas. Autorisez les cookies pour ce site, puis réessayez.",
    },
    not_sent: Notice {
        title: "Votre formulaire n’a pas été envoyé",
        text: "Il y a une file d’attente ici et vous n’y avez pas encore de place. Ouvrez d’abord la page\u{a0}; vous pourrez ensuite renvoyer le formulaire.",
    },
    not_sent_go: "Aller à la page",
    error: Notice {
        title: "Une erreur s’est produite", text: "Cette page réessaie d’elle-même."
    },
    again: "Prochain essai dans {}",
    try_now: "Réessayer",
    name_title: "Quel est votre nom ?",
    name_text: "Tout le monde ici voit qui joue et qui attend. Choisissez un nom de 40 caractères au plus.",
    name_label: "Votre nom",
    name_join: "Rejoindre la file",
    name_taken: "Quelqu’un porte déjà ce nom ici. Choisissez-en un autre.",
    name_unfit: "Un nom compte de 1 à 40 caractères visibles.",
    inside: "À l’intérieur",
    opens: "Ouverture dans {}",
    draw_title: "Le tirage au sort",
    draw_text: "Les places sont tirées au sort à l’ouverture. Une empreinte de la graine est publiée avant, la graine elle-même après. Cette page recalcule dans votre navigateur la place tirée pour un numéro.",
    draw_link: "À propos du tirage",
    draw_promise: "Promis avant l’ouverture",
    draw_seed: "Graine, publiée après",
    draw_place: "Place tirée",
    draw_check: "Vérifier",
    draw_soon: "Rien n’a encore été tiré. La graine apparaîtra ici après l’ouverture.",
    draw_good: "Correct\u{a0}: la graine est celle qui a été promise, et ce numéro a bien obtenu cette place.",
    draw_other_seed: "Incorrect\u{a0}: ce n’est pas la graine qui a été promise.",
    draw_other_place: "Incorrect\u{a0}: ce numéro n’a pas obtenu cette place.",
    draw_unpromised: "Rien n’a été promis avant ce tirage\u{a0}: il ne peut pas être vérifié.",
    draw_outside: "Ce numéro ne participe à aucun tirage\u{a0}: c’est son heure d’arrivée qui compte.",
};
