//! The others: nginx, HAProxy and bare pingora, each with one worker and with all that is known to make it quick.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use super::process::{Core, Process, command, free_address, is_installed, ours, write};
use super::requests::{PATH, STATUS};

/// A server under load.
pub struct Server {
    /// Its process.
    pub process: Process,
    /// Where it listens.
    pub address: SocketAddr,
}

/// What the origin answers, in bytes.
const BODY: usize = 1_024;

/// The site behind all proxies.
pub fn origin(folder: &Path) -> Option<Server> {
    let body = "x".repeat(BODY);
    let serving = format!("default_type text/plain;\n location / {{ return 200 \"{body}\"; }}");
    nginx(folder, "origin", Core::Others, "", &serving)
}

/// nginx before the site.
pub fn nginx_proxy(folder: &Path, origin: SocketAddr) -> Option<Server> {
    let upstream = format!(
        "upstream site {{ server {origin}; keepalive 256; keepalive_requests 1000000000; }}"
    );
    let serving = "location / { proxy_pass http://site; proxy_http_version 1.1; \
                   proxy_set_header Connection \"\"; proxy_set_header Host $http_host; }";
    nginx(folder, "proxy", Core::Measured, &upstream, serving)
}

/// nginx with files in the place of a page and of a status: by `sendfile`, as it comes, or without, which is quicker
/// for small ones.
pub fn nginx_files(folder: &Path, page: &[u8], status: &[u8], sendfile: bool) -> Option<Server> {
    let root = folder.join("files");
    for (path, body) in [(PATH, page), (STATUS, status)] {
        let file = root.join(path.split('?').next().unwrap_or_default().trim_start_matches('/'));
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, body).expect("a file");
    }
    let serving = format!("root {}; default_type text/html;", root.display());
    let (name, way) = match sendfile {
        true => ("sendfile", "sendfile on; tcp_nopush on;"),
        false => ("read", "sendfile off;"),
    };
    let http = format!("{way} open_file_cache max=100; open_file_cache_valid 60s;");
    nginx(folder, name, Core::Measured, &http, &serving)
}

/// One process, in the foreground: killed, it is gone.
fn nginx(folder: &Path, name: &str, core: Core, http: &str, server: &str) -> Option<Server> {
    let name = format!("nginx-{name}");
    if !found("nginx", &name) {
        return None;
    }
    let (folder, address) = (folder.join(name), free_address());
    fs::create_dir_all(&folder).expect("a folder");
    let own = folder.display();
    let text = format!(
        "daemon off; master_process off; worker_processes 1; worker_rlimit_nofile 65536;
         error_log {own}/error.log crit; pid {own}/pid;
         events {{ worker_connections 32768; multi_accept on; }}
         http {{
             access_log off; tcp_nodelay on;
             keepalive_timeout 600s; keepalive_requests 1000000000; reset_timedout_connection on;
             client_body_temp_path {own}/a; proxy_temp_path {own}/b; fastcgi_temp_path {own}/c;
             uwsgi_temp_path {own}/d; scgi_temp_path {own}/e;
             {http}
             server {{ listen {address} backlog=16384; {server} }}
         }}\n"
    );
    let file = write(&folder, "nginx.conf", &text);
    let mut nginx = command(core, "nginx");
    nginx.arg("-p").arg(&folder).arg("-e").arg(folder.join("error.log")).arg("-c").arg(file);
    Some(Server { process: Process::serve(nginx, address), address })
}

/// HAProxy before the site.
pub fn haproxy(folder: &Path, origin: SocketAddr) -> Option<Server> {
    if !found("haproxy", "HAProxy") {
        return None;
    }
    let address = free_address();
    let text = format!(
        "global
             nbthread 1
             maxconn 4000
         defaults
             mode http
             http-reuse always
             timeout connect 5s
             timeout client 600s
             timeout server 60s
         frontend visitors
             bind {address} backlog 16384
             default_backend site
         backend site
             server site {origin} pool-max-conn 256\n"
    );
    let file = write(folder, "haproxy.cfg", &text);
    let mut haproxy = command(Core::Measured, "haproxy");
    haproxy.arg("-db").arg("-q").arg("-f").arg(file);
    Some(Server { process: Process::serve(haproxy, address), address })
}

/// Bare pingora before the site: `bare` as it comes, or `tuned`.
pub fn pingora(example: &str, origin: SocketAddr) -> Option<Server> {
    let Some(program) = ours(&format!("examples/{example}")) else {
        println!("the example `{example}` is not built: left out");
        return None;
    };
    let address = free_address();
    let mut pingora = command(Core::Measured, &program.display().to_string());
    pingora.args([address.to_string(), origin.to_string()]);
    Some(Server { process: Process::serve(pingora, address), address })
}

fn found(program: &str, name: &str) -> bool {
    let found = is_installed(program);
    if !found {
        println!("{program} is not installed: {name} is left out");
    }
    found
}
