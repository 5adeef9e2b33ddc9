//! Japanese.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "ja",
    numbers: "ja",
    rtl: false,
    group: ",",
    group_from: 1,
    range: "～",
    plural: Plural::None,
    seconds: Forms::same("{}秒"),
    minutes: Forms::same("{}分"),
    hours: Forms::same("{}時間"),
    about: "約{}",
    soon: "1分未満",

    room: "待合室",
    waiting_title: "順番待ちの列に並んでいます",
    position: "現在の順番",
    wait: "待ち時間の目安",
    people: "待っている人数",
    ticket: "整理番号",
    class: "区分",
    keep: "このページを開いたままお待ちください。順番が来ると自動的に入場できます。",
    paused: "列は一時的に止まっています。順番はそのまま保たれます。",
    paused_short: "一時停止中",
    unsent: "フォームは送信されていません。順番が来るとこのページに戻り、もう一度送信できます。",
    leave: "列から出る",
    leave_sure: "列から出ますか？順番は失われます。",
    connected: "接続中",
    updated: "{} 更新",
    reconnecting: "再接続しています…",
    last_known: "接続が切れました。表示は最後に確認できた順番です。接続を試み続けています。",

    admitted_title: "順番が来ました",
    admitted_text: "入場しています…",
    admitted_window: "入場できる時間は残り {}",
    admitted_go: "今すぐ入る",

    passed: Notice {
        title: "順番が過ぎました",
        text: "不在の間に順番が来て、入場できる時間が過ぎました。",
    },
    used: Notice {
        title: "この順番は使用済みです",
        text: "この順番はすでに使われたか、取り消されています。",
    },
    completed: Notice {
        title: "完了しました",
        text: "ご利用が完了しました。ありがとうございました。",
    },
    left: Notice {
        title: "列から出ました", text: "順番は次の方に移りました。"
    },
    revoked: Notice {
        title: "ご利用は終了しました", text: "サイト側でご利用を終了しました。"
    },
    idle: Notice {
        title: "ご利用は終了しました",
        text: "しばらく操作がなかったため、順番は次の方に移りました。",
    },
    capped: Notice {
        title: "ご利用は終了しました",
        text: "ほかの方にもご利用いただくため、1回の利用時間が終了しました。",
    },
    unknown: Notice {
        title: "この順番は無効です",
        text: "列が新しく始まったか、整理番号が古くなっています。",
    },
    rejoin: "もう一度列に並ぶ",

    closed: Notice {
        title: "現在は受付していません",
        text: "このページは今は開いていません。ときどき自動で確認します。",
    },
    full: Notice {
        title: "列がいっぱいです",
        text: "待っている方が多く、今は列に並べません。自動でもう一度試します。",
    },
    busy: Notice {
        title: "列に並んでいます…",
        text: "アクセスが集中しています。このままお待ちください。順番は自動的に割り当てられます。",
    },
    lost: Notice {
        title: "少々お待ちください",
        text: "今は列につながりません。どなたの順番も失われません。自動でもう一度試します。",
    },
    arrived: Notice {
        title: "到着を記録しました",
        text: "今は列につながりません。順番は到着した時刻に従って決まります。このページを開いたままお待ちください。自動的に進みます。",
    },
    down: Notice {
        title: "サイトが応答していません",
        text: "お使いの回線の問題ではありません。自動でもう一度試します。",
    },
    slow: Notice {
        title: "サイトの応答に時間がかかっています",
        text: "時間内に応答がありませんでした。自動でもう一度試します。",
    },
    frame: Notice {
        title: "ここは順番待ちです",
        text: "順番を保つには、このページを独立したウィンドウで開く必要があります。",
    },
    frame_open: "ページを開く",
    cookies: Notice {
        title: "Cookie がオフになっています",
        text: "順番は Cookie に保存されますが、ブラウザーに残っていません。このサイトの Cookie を許可して、もう一度お試しください。",
    },
    not_sent: Notice {
        title: "フォームは送信されていません",
        text: "ここは順番待ちで、まだ列に並んでいません。先にページを開いてください。その後、フォームをもう一度送信できます。",
    },
    not_sent_go: "ページへ進む",
    error: Notice {
        title: "問題が発生しました", text: "自動でもう一度試します。"
    },
    again: "{}後にもう一度試します",
    try_now: "今すぐ試す",
    name_title: "お名前は？",
    name_text: "ここでは誰が中にいて誰が待っているかが全員に見えます。40文字以内の名前を選んでください。",
    name_label: "お名前",
    name_join: "列に並ぶ",
    name_taken: "その名前はすでに使われています。別の名前を選んでください。",
    name_unfit: "名前は1～40文字の見える文字です。",
    inside: "現在の入場者",
    opens: "開場まで {}",
    draw_title: "抽選",
    draw_text: "順番は開場時に抽選で決まります。開場前にシード値のハッシュを、開場後にシード値そのものを公開します。番号がどの順番になったかを、このページがお使いのブラウザーで計算します。",
    draw_link: "抽選について",
    draw_promise: "開場前の約束",
    draw_seed: "開場後に公開されたシード値",
    draw_place: "抽選の順番",
    draw_check: "確認する",
    draw_soon: "抽選はまだ行われていません。シード値は開場後にここに表示されます。",
    draw_good: "正しい結果です。シード値は約束されたもので、この番号はこの順番に当たりました。",
    draw_other_seed: "正しくありません。約束されたシード値ではありません。",
    draw_other_place: "正しくありません。この番号はこの順番に当たっていません。",
    draw_unpromised: "この抽選の前に約束された値がないため、確認できません。",
    draw_outside: "この番号はどの抽選の対象でもありません。到着した順番で決まります。",
};
