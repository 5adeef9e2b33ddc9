//! Chinese, in simplified characters.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "zh",
    numbers: "zh",
    rtl: false,
    group: ",",
    group_from: 1,
    range: "-",
    plural: Plural::None,
    seconds: Forms::same("{}秒"),
    minutes: Forms::same("{}分钟"),
    hours: Forms::same("{}小时"),
    about: "约{}",
    soon: "不到1分钟",

    room: "等候室",
    waiting_title: "您正在排队",
    position: "您的排队位置",
    wait: "预计等待时间",
    people: "排队人数",
    ticket: "您的号码",
    class: "类别",
    keep: "请保持此页面打开。轮到您时将自动进入。",
    paused: "队伍暂时停止。您的位置会保留。",
    paused_short: "已暂停",
    unsent: "您的表单尚未提交。轮到您时将返回该页面，您可以重新提交。",
    leave: "离开队伍",
    leave_sure: "要离开队伍吗？您将失去当前位置。",
    connected: "已连接",
    updated: "更新于 {}",
    reconnecting: "正在重新连接…",
    last_known: "连接已中断。这是您最后已知的位置，我们会继续尝试。",

    admitted_title: "轮到您了",
    admitted_text: "正在进入…",
    admitted_window: "您的名额还会保留 {}",
    admitted_go: "立即进入",

    passed: Notice {
        title: "您的号已过", text: "轮到您时您不在，进入时间已过。"
    },
    used: Notice { title: "此位置已使用", text: "此排队位置已被使用或放弃。" },
    completed: Notice { title: "已完成", text: "您的访问已完成。谢谢！" },
    left: Notice { title: "您已离开队伍", text: "您的位置已让给下一位。" },
    revoked: Notice { title: "您的访问已结束", text: "网站结束了您的访问。" },
    idle: Notice {
        title: "您的访问已结束", text: "您有一段时间没有操作，名额已让给下一位。"
    },
    capped: Notice {
        title: "您的访问已结束", text: "为了让其他人也能进入，单次访问时间已到。"
    },
    unknown: Notice {
        title: "此位置已失效", text: "队伍已重新开始，或您的号码已过期。"
    },
    rejoin: "重新排队",

    closed: Notice {
        title: "暂未开放", text: "此页面目前未开放，会不时自动检查。"
    },
    full: Notice {
        title: "队伍已满", text: "等待的人太多，目前无法再加入。此页面会自动重试。"
    },
    busy: Notice {
        title: "正在加入队伍…",
        text: "同时到达的人很多。请留在此页面，您将自动获得位置。",
    },
    lost: Notice {
        title: "请稍候",
        text: "目前无法连接到队伍。没有人会失去位置。此页面会自动重试。",
    },
    arrived: Notice {
        title: "您的到达时间已记录",
        text: "目前无法连接到队伍。您将按到达时间获得位置。请保持此页面打开，它会自动继续。",
    },
    down: Notice {
        title: "网站没有响应", text: "不是您的网络问题。此页面会自动重试。"
    },
    slow: Notice {
        title: "网站响应时间过长", text: "网站未能及时响应。此页面会自动重试。"
    },
    frame: Notice {
        title: "这里需要排队", text: "要保留您的位置，请在单独的窗口中打开此页面。"
    },
    frame_open: "打开页面",
    cookies: Notice {
        title: "Cookie 已关闭",
        text: "您的排队位置保存在 Cookie 中，而您的浏览器没有保存它。请允许此网站使用 Cookie 后重试。",
    },
    not_sent: Notice {
        title: "您的表单尚未提交",
        text: "这里需要排队，而您还没有位置。请先打开页面，然后重新提交表单。",
    },
    not_sent_go: "前往页面",
    error: Notice { title: "出了点问题", text: "此页面会自动重试。" },
    again: "{}后重试",
    try_now: "立即重试",
    name_title: "您叫什么名字？",
    name_text: "这里所有人都能看到谁在里面、谁在等待。请选择不超过40个字符的名字。",
    name_label: "您的名字",
    name_join: "加入队列",
    name_taken: "这里已有人使用这个名字，请另选一个。",
    name_unfit: "名字需为1到40个可见字符。",
    inside: "正在里面",
    opens: "{} 后开放",
    draw_title: "抽签",
    draw_text: "位置在开放时抽签决定。种子的指纹在开放前公布，种子本身在开放后公布。本页在您的浏览器中计算某个号码抽到的位置。",
    draw_link: "关于抽签",
    draw_promise: "开放前的承诺",
    draw_seed: "开放后公布的种子",
    draw_place: "抽到的位置",
    draw_check: "核对",
    draw_soon: "尚未抽签。种子将在开放后显示在这里。",
    draw_good: "正确：种子与承诺一致，此号码抽到了此位置。",
    draw_other_seed: "不正确：这不是承诺的种子。",
    draw_other_place: "不正确：此号码没有抽到此位置。",
    draw_unpromised: "此次抽签前没有任何承诺，无法核对。",
    draw_outside: "此号码不参加任何抽签，按到达顺序排列。",
};
