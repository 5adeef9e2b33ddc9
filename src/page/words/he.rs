//! Hebrew.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "he",
    numbers: "he",
    rtl: true,
    group: ",",
    group_from: 1,
    range: "–",
    plural: Plural::Hebrew,
    seconds: Forms {
        one: "שנייה אחת", two: "שתי שניות", few: "", many: "", other: "{} שניות"
    },
    minutes: Forms {
        one: "דקה אחת", two: "שתי דקות", few: "", many: "", other: "{} דקות"
    },
    hours: Forms {
        one: "שעה אחת", two: "שעתיים", few: "", many: "", other: "{} שעות"
    },
    about: "בערך {}",
    soon: "פחות מדקה",

    room: "חדר המתנה",
    waiting_title: "אתם בתור",
    position: "המקום שלכם בתור",
    wait: "זמן המתנה משוער",
    people: "אנשים בתור",
    ticket: "הכרטיס שלכם",
    keep: "השאירו את הדף הזה פתוח. כשיגיע תורכם תיכנסו באופן אוטומטי.",
    paused: "התור מושהה לרגע. המקום שלכם נשמר.",
    paused_short: "מושהה",
    unsent: "הטופס לא נשלח. כשיגיע תורכם תחזרו לדף ותוכלו לשלוח אותו שוב.",
    leave: "יציאה מהתור",
    leave_sure: "לצאת מהתור? תאבדו את המקום שלכם.",
    connected: "מחובר",
    updated: "עודכן בשעה {}",
    reconnecting: "מתחבר מחדש…",
    last_known: "החיבור נותק. זה המקום האחרון הידוע שלכם; אנחנו ממשיכים לנסות.",

    admitted_title: "הגיע תורכם",
    admitted_text: "מכניסים אתכם…",
    admitted_window: "התור שלכם נשמר למשך {}",
    admitted_go: "כניסה עכשיו",

    passed: Notice {
        title: "התור שלכם עבר",
        text: "תורכם הגיע כשלא הייתם כאן, והזמן לכניסה הסתיים.",
    },
    used: Notice {
        title: "המקום הזה כבר נוצל", text: "המקום הזה בתור כבר נוצל או שוחרר."
    },
    completed: Notice {
        title: "הכול מוכן", text: "הביקור שלכם הושלם. תודה!"
    },
    left: Notice {
        title: "יצאתם מהתור", text: "המקום שלכם עבר לאדם הבא."
    },
    revoked: Notice {
        title: "הביקור שלכם הסתיים", text: "האתר סיים את הביקור שלכם."
    },
    idle: Notice {
        title: "הביקור שלכם הסתיים",
        text: "לא הייתה פעילות במשך זמן מה, והמקום שלכם עבר לאדם הבא.",
    },
    capped: Notice {
        title: "הביקור שלכם הסתיים",
        text: "הזמן לביקור אחד הסתיים, כדי שגם אחרים יקבלו תור.",
    },
    unknown: Notice {
        title: "המקום הזה כבר לא תקף",
        text: "התור התחיל מחדש, או שהכרטיס שלכם ישן מדי.",
    },
    rejoin: "הצטרפות מחדש לתור",

    closed: Notice {
        title: "סגור כרגע",
        text: "הדף הזה אינו פתוח כרגע. הוא בודק שוב מעצמו מדי פעם.",
    },
    full: Notice {
        title: "התור מלא",
        text: "כל כך הרבה אנשים ממתינים שאי אפשר להצטרף כרגע. הדף מנסה שוב מעצמו.",
    },
    busy: Notice {
        title: "מצטרפים לתור…",
        text: "הרבה אנשים מגיעים בבת אחת. הישארו בדף הזה: תקבלו את המקום שלכם באופן אוטומטי.",
    },
    lost: Notice {
        title: "רגע, בבקשה",
        text: "אי אפשר להגיע אל התור כרגע. איש אינו מאבד את מקומו. הדף מנסה שוב מעצמו.",
    },
    down: Notice {
        title: "האתר לא עונה", text: "הבעיה אינה בחיבור שלכם. הדף מנסה שוב מעצמו."
    },
    slow: Notice {
        title: "האתר עונה לאט מדי", text: "הוא לא ענה בזמן. הדף מנסה שוב מעצמו."
    },
    frame: Notice {
        title: "יש כאן תור",
        text: "כדי לשמור על המקום שלכם, הדף צריך להיות פתוח בחלון משלו.",
    },
    frame_open: "פתיחת הדף",
    cookies: Notice {
        title: "קובצי Cookie כבויים",
        text: "המקום שלכם בתור נשמר בקובץ Cookie, והדפדפן שלכם אינו שומר אותו. אפשרו קובצי Cookie לאתר הזה ונסו שוב.",
    },
    not_sent: Notice {
        title: "הטופס לא נשלח",
        text: "יש כאן תור ועדיין אין לכם בו מקום. פתחו קודם את הדף; אחר כך תוכלו לשלוח את הטופס שוב.",
    },
    not_sent_go: "מעבר לדף",
    error: Notice { title: "משהו השתבש", text: "הדף מנסה שוב מעצמו." },
    again: "ניסיון נוסף בעוד {}",
    try_now: "לנסות עכשיו",
};
