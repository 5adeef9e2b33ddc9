//! Chinese, in traditional characters, as it is said in Taiwan.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "zh-Hant",
    numbers: "zh-Hant",
    rtl: false,
    group: ",",
    group_from: 1,
    range: "-",
    plural: Plural::None,
    seconds: Forms::same("{}秒"),
    minutes: Forms::same("{}分鐘"),
    hours: Forms::same("{}小時"),
    about: "約{}",
    soon: "不到1分鐘",

    room: "等候室",
    waiting_title: "您正在排隊",
    position: "您的排隊位置",
    wait: "預計等候時間",
    people: "排隊人數",
    ticket: "您的號碼",
    class: "類別",
    keep: "請保持此頁面開啟。輪到您時將自動進入。",
    paused: "隊伍暫時停止。您的位置會保留。",
    paused_short: "已暫停",
    unsent: "您的表單尚未送出。輪到您時將返回該頁面，您可以重新送出。",
    leave: "離開隊伍",
    leave_sure: "要離開隊伍嗎？您將失去目前的位置。",
    connected: "已連線",
    updated: "更新於 {}",
    reconnecting: "正在重新連線…",
    last_known: "連線已中斷。這是您最後已知的位置，我們會繼續嘗試。",

    admitted_title: "輪到您了",
    admitted_text: "正在進入…",
    admitted_window: "您的名額還會保留 {}",
    admitted_go: "立即進入",

    passed: Notice {
        title: "您的號碼已過", text: "輪到您時您不在，進入時間已過。"
    },
    used: Notice { title: "此位置已使用", text: "此排隊位置已被使用或放棄。" },
    completed: Notice { title: "已完成", text: "您的造訪已完成。謝謝！" },
    left: Notice { title: "您已離開隊伍", text: "您的位置已讓給下一位。" },
    revoked: Notice { title: "您的造訪已結束", text: "網站結束了您的造訪。" },
    idle: Notice {
        title: "您的造訪已結束", text: "您有一段時間沒有操作，名額已讓給下一位。"
    },
    capped: Notice {
        title: "您的造訪已結束", text: "為了讓其他人也能進入，單次造訪時間已到。"
    },
    unknown: Notice {
        title: "此位置已失效", text: "隊伍已重新開始，或您的號碼已過期。"
    },
    rejoin: "重新排隊",

    closed: Notice {
        title: "暫未開放", text: "此頁面目前未開放，會不時自動檢查。"
    },
    full: Notice {
        title: "隊伍已滿", text: "等候的人太多，目前無法再加入。此頁面會自動重試。"
    },
    busy: Notice {
        title: "正在加入隊伍…",
        text: "同時到達的人很多。請留在此頁面，您將自動獲得位置。",
    },
    lost: Notice {
        title: "請稍候",
        text: "目前無法連線到隊伍。沒有人會失去位置。此頁面會自動重試。",
    },
    arrived: Notice {
        title: "您的到達時間已記錄",
        text: "目前無法連線到隊伍。您將按到達時間獲得位置。請保持此頁面開啟，它會自動繼續。",
    },
    down: Notice {
        title: "網站沒有回應", text: "不是您的網路問題。此頁面會自動重試。"
    },
    slow: Notice {
        title: "網站回應時間過長", text: "網站未能及時回應。此頁面會自動重試。"
    },
    frame: Notice {
        title: "這裡需要排隊", text: "要保留您的位置，請在單獨的視窗中開啟此頁面。"
    },
    frame_open: "開啟頁面",
    cookies: Notice {
        title: "Cookie 已關閉",
        text: "您的排隊位置儲存在 Cookie 中，而您的瀏覽器沒有儲存它。請允許此網站使用 Cookie 後重試。",
    },
    not_sent: Notice {
        title: "您的表單尚未送出",
        text: "這裡需要排隊，而您還沒有位置。請先開啟頁面，然後重新送出表單。",
    },
    not_sent_go: "前往頁面",
    error: Notice { title: "發生問題", text: "此頁面會自動重試。" },
    again: "{}後重試",
    try_now: "立即重試",
    name_title: "您叫什麼名字？",
    name_text: "這裡所有人都能看到誰在裡面、誰在等候。請選擇不超過40個字元的名字。",
    name_label: "您的名字",
    name_join: "加入隊伍",
    name_taken: "這裡已有人使用這個名字，請另選一個。",
    name_unfit: "名字需為1到40個可見字元。",
    inside: "正在裡面",
    opens: "{} 後開放",
    draw_title: "抽籤",
    draw_text: "位置在開放時抽籤決定。種子的指紋在開放前公布，種子本身在開放後公布。本頁在您的瀏覽器中計算某個號碼抽到的位置。",
    draw_link: "關於抽籤",
    draw_promise: "開放前的承諾",
    draw_seed: "開放後公布的種子",
    draw_place: "抽到的位置",
    draw_check: "核對",
    draw_soon: "尚未抽籤。種子將在開放後顯示在這裡。",
    draw_good: "正確：種子與承諾一致，此號碼抽到了此位置。",
    draw_other_seed: "不正確：這不是承諾的種子。",
    draw_other_place: "不正確：此號碼沒有抽到此位置。",
    draw_unpromised: "此次抽籤前沒有任何承諾，無法核對。",
    draw_outside: "此號碼不參加任何抽籤，依到達順序排列。",
};
