//! Requests as browsers send them: every server gets the same ones, headers and all.

const AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const HINTS: &str = "sec-ch-ua: \"Chromium\";v=\"142\", \"Google Chrome\";v=\"142\", \"Not_A Brand\";v=\"99\"\r\n\
                     sec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: \"Linux\"\r\n";
const LANGUAGES: &str =
    "Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-GB,en;q=0.9,de;q=0.8\r\n";

/// What visitors ask for.
pub const PATH: &str = "/tickets/summer-festival?day=2";

/// What their pages ask for.
pub const STATUS: &str = "/.anteroom/v1/queue/status";

/// Somebody opens a page.
pub fn page(cookie: Option<&str>) -> String {
    format!(
        "GET {PATH} HTTP/1.1\r\nHost: shop.example.com\r\nConnection: keep-alive\r\n{HINTS}\
         Upgrade-Insecure-Requests: 1\r\nUser-Agent: {AGENT}\r\n\
         Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8\r\n\
         Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\n\
         Sec-Fetch-Dest: document\r\n{LANGUAGES}{}\r\n",
        line(cookie)
    )
}

/// Somebody sends a form: with a body, so by pingora's proxy.
pub fn form(cookie: &str) -> String {
    let body = "day=2&tickets=2&name=Ada+Lovelace&email=ada%40example.com&terms=on";
    format!(
        "POST {PATH} HTTP/1.1\r\nHost: shop.example.com\r\nConnection: keep-alive\r\n{HINTS}\
         Origin: http://shop.example.com\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\nUpgrade-Insecure-Requests: 1\r\nUser-Agent: {AGENT}\r\n\
         Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
         Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\n\
         Sec-Fetch-Dest: document\r\n{LANGUAGES}{}\r\n{body}",
        body.len(),
        line(Some(cookie))
    )
}

/// The waiting page asks where its visitor stands.
pub fn poll(cookie: &str) -> String {
    format!(
        "GET {STATUS} HTTP/1.1\r\nHost: shop.example.com\r\nConnection: keep-alive\r\n{HINTS}\
         User-Agent: {AGENT}\r\nAccept: application/json\r\nSec-Fetch-Site: same-origin\r\n\
         Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\nReferer: http://shop.example.com{PATH}\r\n\
         {LANGUAGES}{}\r\n",
        line(Some(cookie))
    )
}

/// An app joins: a device whose name ends in 12 digits, to be put between the two.
pub fn join() -> (String, String) {
    let (before, after) = ("{\"event_id\":\"sale\",\"device_id\":\"device-", "\"}");
    let head = format!(
        "POST /.anteroom/v1/queue/join HTTP/1.1\r\nHost: shop.example.com\r\nUser-Agent: app/1.0\r\n\
         Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        before.len() + 12 + after.len()
    );
    (head + before, after.to_owned())
}

fn line(cookie: Option<&str>) -> String {
    cookie.map_or_else(String::new, |cookie| format!("Cookie: {cookie}\r\n"))
}
