//! Portuguese, in the words of Brazil.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "pt",
    numbers: "pt",
    rtl: false,
    group: ".",
    group_from: 1,
    range: "–",
    plural: Plural::ZeroOne,
    seconds: Forms::one("{} segundo", "{} segundos"),
    minutes: Forms::one("{} minuto", "{} minutos"),
    hours: Forms::one("{} hora", "{} horas"),
    about: "cerca de {}",
    soon: "menos de um minuto",

    room: "Sala de espera",
    waiting_title: "Você está na fila",
    position: "Seu lugar na fila",
    wait: "Espera estimada",
    people: "Pessoas na fila",
    ticket: "Sua senha",
    keep: "Mantenha esta página aberta. Quando chegar a sua vez, você entrará automaticamente.",
    paused: "A fila está pausada por um momento. Você mantém o seu lugar.",
    paused_short: "pausada",
    unsent: "Seu formulário não foi enviado. Quando chegar a sua vez, você voltará à página e poderá enviá-lo de novo.",
    leave: "Sair da fila",
    leave_sure: "Sair da fila? Você perderá o seu lugar.",
    connected: "Conectado",
    updated: "Atualizado às {}",
    reconnecting: "Reconectando…",
    last_known: "A conexão caiu. Este é o seu último lugar conhecido; continuamos tentando.",

    admitted_title: "É a sua vez",
    admitted_text: "Você está entrando…",
    admitted_window: "A sua vez fica reservada por {}",
    admitted_go: "Entrar agora",

    passed: Notice {
        title: "A sua vez passou",
        text: "A sua vez chegou enquanto você não estava, e o tempo para entrar acabou.",
    },
    used: Notice {
        title: "Este lugar já foi usado",
        text: "Este lugar na fila já foi usado ou abandonado.",
    },
    completed: Notice { title: "Tudo pronto", text: "Sua visita foi concluída. Obrigado!" },
    left: Notice { title: "Você saiu da fila", text: "Seu lugar foi para a próxima pessoa." },
    revoked: Notice { title: "Sua visita terminou", text: "O site encerrou a sua visita." },
    idle: Notice {
        title: "Sua visita terminou",
        text: "Não houve atividade por um tempo, e seu lugar foi para a próxima pessoa.",
    },
    capped: Notice {
        title: "Sua visita terminou",
        text: "O tempo de uma visita acabou, para que outras pessoas tenham a sua vez.",
    },
    unknown: Notice {
        title: "Este lugar não é mais válido",
        text: "A fila recomeçou ou a sua senha é antiga demais.",
    },
    rejoin: "Entrar na fila de novo",

    closed: Notice {
        title: "Fechado no momento",
        text: "Esta página não está aberta agora. Ela verifica sozinha de tempos em tempos.",
    },
    full: Notice {
        title: "A fila está cheia",
        text: "Há tanta gente esperando que ninguém mais pode entrar na fila agora. Esta página tenta de novo sozinha.",
    },
    busy: Notice {
        title: "Entrando na fila…",
        text: "Muita gente está chegando ao mesmo tempo. Fique nesta página: você receberá o seu lugar automaticamente.",
    },
    lost: Notice {
        title: "Um momento, por favor",
        text: "Não é possível acessar a fila agora. Ninguém perde o lugar. Esta página tenta de novo sozinha.",
    },
    arrived: Notice {
        title: "Sua chegada está registrada",
        text: "A fila não pode ser acessada no momento. Você receberá seu lugar conforme a hora em que chegou. Mantenha esta página aberta: ela continua sozinha.",
    },
    down: Notice {
        title: "O site não está respondendo",
        text: "O problema não é a sua conexão. Esta página tenta de novo sozinha.",
    },
    slow: Notice {
        title: "O site está demorando demais",
        text: "Ele não respondeu a tempo. Esta página tenta de novo sozinha.",
    },
    frame: Notice {
        title: "Há uma fila aqui",
        text: "Para manter o seu lugar, esta página precisa estar aberta em uma janela própria.",
    },
    frame_open: "Abrir a página",
    cookies: Notice {
        title: "Os cookies estão desativados",
        text: "O seu lugar na fila fica em um cookie, e o seu navegador não o guarda. Permita cookies para este site e tente de novo.",
    },
    not_sent: Notice {
        title: "Seu formulário não foi enviado",
        text: "Há uma fila aqui e você ainda não tem um lugar nela. Abra primeiro a página; depois você poderá enviar o formulário de novo.",
    },
    not_sent_go: "Ir para a página",
    error: Notice { title: "Algo deu errado", text: "Esta página tenta de novo sozinha." },
    again: "Próxima tentativa em {}",
    try_now: "Tentar agora",
    name_title: "Qual é o seu nome?",
    name_text: "Todos aqui veem quem está dentro e quem espera. Escolha um nome com até 40 caracteres.",
    name_label: "O seu nome",
    name_join: "Entrar na fila",
    name_taken: "Alguém já tem este nome. Escolha outro.",
    name_unfit: "Um nome tem de 1 a 40 caracteres visíveis.",
    inside: "Dentro agora",
};
