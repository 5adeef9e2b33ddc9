//! Korean.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "ko",
    numbers: "ko",
    rtl: false,
    group: ",",
    group_from: 1,
    range: "~",
    plural: Plural::None,
    seconds: Forms::same("{}초"),
    minutes: Forms::same("{}분"),
    hours: Forms::same("{}시간"),
    about: "약 {}",
    soon: "1분 미만",

    room: "대기실",
    waiting_title: "대기열에 있습니다",
    position: "현재 순번",
    wait: "예상 대기 시간",
    people: "대기 인원",
    ticket: "대기 번호",
    class: "등급",
    keep: "이 페이지를 열어 두세요. 차례가 되면 자동으로 입장합니다.",
    paused: "대기열이 잠시 멈췄습니다. 순번은 그대로 유지됩니다.",
    paused_short: "일시 중지",
    unsent: "양식이 전송되지 않았습니다. 차례가 되면 페이지로 돌아가 다시 전송할 수 있습니다.",
    leave: "대기열 나가기",
    leave_sure: "대기열에서 나갈까요? 순번을 잃게 됩니다.",
    connected: "연결됨",
    updated: "{} 업데이트",
    reconnecting: "다시 연결하는 중…",
    last_known: "연결이 끊겼습니다. 마지막으로 확인된 순번이며, 계속 시도하고 있습니다.",

    admitted_title: "차례가 되었습니다",
    admitted_text: "입장하는 중입니다…",
    admitted_window: "입장 가능 시간 {} 남음",
    admitted_go: "지금 입장",

    passed: Notice {
        title: "차례가 지났습니다",
        text: "자리를 비운 사이 차례가 되었고, 입장 시간이 지났습니다.",
    },
    used: Notice {
        title: "이미 사용된 순번입니다",
        text: "이 순번은 이미 사용되었거나 취소되었습니다.",
    },
    completed: Notice {
        title: "완료되었습니다", text: "이용이 완료되었습니다. 감사합니다!"
    },
    left: Notice {
        title: "대기열에서 나갔습니다", text: "순번이 다음 사람에게 넘어갔습니다."
    },
    revoked: Notice {
        title: "이용이 종료되었습니다", text: "사이트에서 이용을 종료했습니다."
    },
    idle: Notice {
        title: "이용이 종료되었습니다",
        text: "한동안 활동이 없어 자리가 다음 사람에게 넘어갔습니다.",
    },
    capped: Notice {
        title: "이용이 종료되었습니다",
        text: "다른 사람도 이용할 수 있도록 1회 이용 시간이 끝났습니다.",
    },
    unknown: Notice {
        title: "더 이상 유효하지 않은 순번입니다",
        text: "대기열이 새로 시작되었거나 대기 번호가 너무 오래되었습니다.",
    },
    rejoin: "다시 줄 서기",

    closed: Notice {
        title: "지금은 닫혀 있습니다",
        text: "현재 이 페이지는 열려 있지 않습니다. 가끔 자동으로 다시 확인합니다.",
    },
    full: Notice {
        title: "대기열이 가득 찼습니다",
        text: "기다리는 사람이 많아 지금은 더 이상 대기할 수 없습니다. 자동으로 다시 시도합니다.",
    },
    busy: Notice {
        title: "대기열에 들어가는 중…",
        text: "많은 사람이 한꺼번에 접속하고 있습니다. 이 페이지에 머물러 주세요. 순번이 자동으로 주어집니다.",
    },
    lost: Notice {
        title: "잠시만 기다려 주세요",
        text: "지금은 대기열에 연결할 수 없습니다. 아무도 순번을 잃지 않습니다. 자동으로 다시 시도합니다.",
    },
    arrived: Notice {
        title: "도착 시각이 기록되었습니다",
        text: "지금은 대기열에 연결할 수 없습니다. 도착한 시각에 따라 순번을 받게 됩니다. 이 페이지를 열어 두세요. 자동으로 계속됩니다.",
    },
    down: Notice {
        title: "사이트가 응답하지 않습니다",
        text: "연결 문제가 아닙니다. 자동으로 다시 시도합니다.",
    },
    slow: Notice {
        title: "사이트 응답이 너무 늦습니다",
        text: "제시간에 응답하지 않았습니다. 자동으로 다시 시도합니다.",
    },
    frame: Notice {
        title: "여기에는 대기열이 있습니다",
        text: "순번을 유지하려면 이 페이지를 별도의 창에서 열어야 합니다.",
    },
    frame_open: "페이지 열기",
    cookies: Notice {
        title: "쿠키가 꺼져 있습니다",
        text: "순번은 쿠키에 저장되는데 브라우저가 이를 저장하지 않습니다. 이 사이트의 쿠키를 허용한 뒤 다시 시도해 주세요.",
    },
    not_sent: Notice {
        title: "양식이 전송되지 않았습니다",
        text: "여기에는 대기열이 있으며 아직 순번이 없습니다. 먼저 페이지를 연 다음 양식을 다시 전송해 주세요.",
    },
    not_sent_go: "페이지로 이동",
    error: Notice {
        title: "문제가 발생했습니다", text: "자동으로 다시 시도합니다."
    },
    again: "{} 후 다시 시도합니다",
    try_now: "지금 시도",
    name_title: "이름이 무엇인가요?",
    name_text: "여기서는 누가 안에 있고 누가 기다리는지 모두가 봅니다. 40자 이내의 이름을 정해 주세요.",
    name_label: "이름",
    name_join: "줄 서기",
    name_taken: "이미 사용 중인 이름입니다. 다른 이름을 정해 주세요.",
    name_unfit: "이름은 보이는 글자 1~40자입니다.",
    inside: "현재 입장 중",
    opens: "{} 후 열림",
    draw_title: "추첨",
    draw_text: "순번은 열릴 때 추첨으로 정해집니다. 시드의 지문은 열리기 전에, 시드 자체는 열린 뒤에 공개됩니다. 이 페이지는 번호가 어느 순번으로 뽑혔는지 브라우저에서 계산합니다.",
    draw_link: "추첨 안내",
    draw_promise: "열리기 전의 약속",
    draw_seed: "열린 뒤 공개된 시드",
    draw_place: "추첨된 순번",
    draw_check: "확인",
    draw_soon: "아직 추첨이 이루어지지 않았습니다. 시드는 열린 뒤 여기에 표시됩니다.",
    draw_good: "맞습니다. 시드는 약속된 것이고, 이 번호는 이 순번으로 뽑혔습니다.",
    draw_other_seed: "맞지 않습니다. 약속된 시드가 아닙니다.",
    draw_other_place: "맞지 않습니다. 이 번호는 이 순번으로 뽑히지 않았습니다.",
    draw_unpromised: "이 추첨 전에는 약속된 것이 없어 확인할 수 없습니다.",
    draw_outside: "이 번호는 추첨 대상이 아닙니다. 도착한 순서대로입니다.",
};
