//! Turkish.

use super::{Forms, Notice, Plural, Words};

pub(super) static WORDS: Words = Words {
    code: "tr",
    numbers: "tr",
    rtl: false,
    group: ".",
    group_from: 1,
    range: "–",
    plural: Plural::One,
    seconds: Forms::same("{} saniye"),
    minutes: Forms::same("{} dakika"),
    hours: Forms::same("{} saat"),
    about: "yaklaşık {}",
    soon: "bir dakikadan az",

    room: "Bekleme odası",
    waiting_title: "Sıradasınız",
    position: "Sıradaki yeriniz",
    wait: "Tahmini bekleme süresi",
    people: "Sıradaki kişi sayısı",
    ticket: "Sıra numaranız",
    class: "Kategori",
    keep: "Bu sayfayı açık tutun. Sıranız geldiğinde otomatik olarak içeri alınacaksınız.",
    paused: "Sıra kısa bir süreliğine duraklatıldı. Yeriniz korunuyor.",
    paused_short: "duraklatıldı",
    unsent: "Formunuz gönderilmedi. Sıranız geldiğinde sayfaya geri dönecek ve formu yeniden gönderebileceksiniz.",
    leave: "Sıradan çık",
    leave_sure: "Sıradan çıkılsın mı? Yerinizi kaybedeceksiniz.",
    connected: "Bağlı",
    updated: "Güncelleme: {}",
    reconnecting: "Yeniden bağlanılıyor…",
    last_known: "Bağlantı kesildi. Bu, bilinen son yeriniz; denemeye devam ediyoruz.",

    admitted_title: "Sıra sizde",
    admitted_text: "İçeri alınıyorsunuz…",
    admitted_window: "Sıranız {} boyunca saklanıyor",
    admitted_go: "Şimdi gir",

    passed: Notice {
        title: "Sıranız geçti",
        text: "Siz yokken sıranız geldi ve giriş süresi doldu.",
    },
    used: Notice {
        title: "Bu yer kullanılmış",
        text: "Sıradaki bu yer daha önce kullanılmış veya bırakılmış.",
    },
    completed: Notice { title: "Tamamlandı", text: "Ziyaretiniz tamamlandı. Teşekkürler!" },
    left: Notice { title: "Sıradan çıktınız", text: "Yeriniz sıradaki kişiye geçti." },
    revoked: Notice {
        title: "Ziyaretiniz sona erdirildi",
        text: "Site ziyaretinizi sona erdirdi.",
    },
    idle: Notice {
        title: "Ziyaretiniz sona erdi",
        text: "Bir süre işlem yapmadığınız için yeriniz sıradaki kişiye geçti.",
    },
    capped: Notice {
        title: "Ziyaretiniz sona erdi",
        text: "Başkalarına da sıra gelmesi için bir ziyarete ayrılan süre doldu.",
    },
    unknown: Notice {
        title: "Bu yer artık geçerli değil",
        text: "Sıra yeniden başladı ya da sıra numaranız çok eski.",
    },
    rejoin: "Yeniden sıraya gir",

    closed: Notice {
        title: "Şu anda kapalı",
        text: "Bu sayfa şu anda açık değil. Ara sıra kendiliğinden yeniden bakar.",
    },
    full: Notice {
        title: "Sıra dolu",
        text: "O kadar çok kişi bekliyor ki şu anda başka kimse sıraya giremiyor. Bu sayfa kendiliğinden yeniden dener.",
    },
    busy: Notice {
        title: "Sıraya giriliyor…",
        text: "Aynı anda çok sayıda kişi geliyor. Bu sayfada kalın: yeriniz otomatik olarak verilecek.",
    },
    lost: Notice {
        title: "Bir dakika lütfen",
        text: "Sıraya şu anda ulaşılamıyor. Kimse yerini kaybetmez. Bu sayfa kendiliğinden yeniden dener.",
    },
    arrived: Notice {
        title: "Gelişiniz kaydedildi",
        text: "Sıraya şu anda ulaşılamıyor. Yerinizi geliş zamanınıza göre alacaksınız. Bu sayfayı açık tutun: kendiliğinden devam eder.",
    },
    down: Notice {
        title: "Site yanıt vermiyor",
        text: "Sorun bağlantınızda değil. Bu sayfa kendiliğinden yeniden dener.",
    },
    slow: Notice {
        title: "Site çok geç yanıt veriyor",
        text: "Zamanında yanıt gelmedi. Bu sayfa kendiliğinden yeniden dener.",
    },
    frame: Notice {
        title: "Burada bir sıra var",
        text: "Yerinizi korumak için bu sayfanın kendi penceresinde açık olması gerekir.",
    },
    frame_open: "Sayfayı aç",
    cookies: Notice {
        title: "Çerezler kapalı",
        text: "Sıradaki yeriniz bir çerezde saklanır ve tarayıcınız bu çerezi saklamıyor. Bu site için çerezlere izin verip yeniden deneyin.",
    },
    not_sent: Notice {
        title: "Formunuz gönderilmedi",
        text: "Burada bir sıra var ve henüz bir yeriniz yok. Önce sayfayı açın; ardından formu yeniden gönderebilirsiniz.",
    },
    not_sent_go: "Sayfaya git",
    error: Notice { title: "Bir sorun oluştu", text: "Bu sayfa kendiliğinden yeniden dener." },
    again: "{} sonra yeniden denenecek",
    try_now: "Şimdi dene",
    name_title: "Adınız nedir?",
    name_text: "Buradaki herkes kimin içeride olduğunu ve kimin beklediğini görür. En çok 40 karakterlik bir ad seçin.",
    name_label: "Adınız",
    name_join: "Sıraya gir",
    name_taken: "Burada bu ada sahip biri var. Başka bir ad seçin.",
    name_unfit: "Bir ad 1 ile 40 görünür karakterden oluşur.",
    inside: "Şu anda içeride",
    opens: "Açılışa kalan: {}",
    draw_title: "Kura",
    draw_text: "Yerler açılışta kurayla belirlenir. Başlangıç değerinin özeti önceden, değerin kendisi sonra yayımlanır. Bu sayfa bir numaraya hangi yerin çıktığını tarayıcınızda hesaplar.",
    draw_link: "Kura hakkında",
    draw_promise: "Açılıştan önce söz verilen",
    draw_seed: "Sonra yayımlanan başlangıç değeri",
    draw_place: "Kurada çıkan yer",
    draw_check: "Kontrol et",
    draw_soon: "Henüz kura çekilmedi. Başlangıç değeri açılıştan sonra burada görünür.",
    draw_good: "Doğru: başlangıç değeri söz verilendir ve bu numaraya bu yer çıkmıştır.",
    draw_other_seed: "Yanlış: bu, söz verilen başlangıç değeri değil.",
    draw_other_place: "Yanlış: bu numaraya bu yer çıkmadı.",
};
