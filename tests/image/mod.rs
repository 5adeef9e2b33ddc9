//! The image and the composition, as far as they can be shown without a container engine: what the Dockerfile copies is all that is
//! built from, its user is nobody special, its health check is run word for word, and the composition's parts fit each other.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Config, Gateway, Origin};

const DOCKERFILE: &str = include_str!("../../Dockerfile");
const COMPOSE: &str = include_str!("../../compose.yaml");
const COMPOSED: &str = include_str!("../../conf/compose.toml");
/// Where a node in a container listens.
const PORT: &str = "8080";

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Dockerfile's instructions of a kind, in one line each.
fn instructions(kind: &str) -> Vec<String> {
    let joined = DOCKERFILE.replace("\\\n", " ");
    let found = joined.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
    found.map(|rest| rest.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The words of an instruction in its list form.
fn words(list: &str) -> Vec<String> {
    serde_json::from_str(list).expect("a list of words")
}

/// What is copied from here into the stage that builds.
fn copied() -> Vec<PathBuf> {
    let here = instructions("COPY").into_iter().filter(|copy| !copy.starts_with("--from"));
    let sources = here.flat_map(|copy| {
        let words: Vec<String> = copy.split(' ').map(str::to_owned).collect();
        words[..words.len() - 1].to_vec()
    });
    sources.map(PathBuf::from).collect()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The package is whole: cargo finds every target it names.
#[test]
fn cargo_finds_everything_it_names_in_what_is_copied() {
    let stage = tempfile::tempdir().expect("a directory");
    for source in copied() {
        let from = repository().join(&source);
        let all = if from.is_dir() { files(&from) } else { vec![from] };
        for file in all {
            let to = stage.path().join(file.strip_prefix(repository()).expect("of ours"));
            fs::create_dir_all(to.parent().expect("a directory")).expect("made");
            fs::copy(&file, &to).expect("copied");
        }
    }
    // It reads the package and all it names before it looks for what it is asked for.
    let cargo = || -> String {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["check", "--locked", "--offline", "--bin", "nobody"]).current_dir(&stage);
        String::from_utf8(cargo.output().expect("cargo").stderr).expect("UTF-8")
    };
    let said = cargo();
    assert!(said.contains("no bin target named `nobody`"), "{said}");
    fs::remove_dir_all(stage.path().join("benches")).expect("removed");
    let said = cargo();
    assert!(said.contains("failed to parse manifest"), "it would tell what is missing: {said}");
}

/// What sources take in when they are compiled is copied, too.
#[test]
fn nothing_is_compiled_in_that_is_not_copied() {
    let copied = copied();
    let mut seen = 0;
    for file in files(&repository().join("src")) {
        let text = fs::read_to_string(&file).expect("a source");
        for (_, rest) in text.match_indices("include_str!(\"").map(|(at, _)| text.split_at(at)) {
            let named = rest.split('"').nth(1).expect("a path");
            let path = file.parent().expect("a directory").join(named);
            let path =
                path.canonicalize().unwrap_or_else(|_| panic!("{}: {named}", file.display()));
            let path =
                path.strip_prefix(repository().canonicalize().expect("here")).expect("of ours");
            // Documents are looked into by unit tests, which no image has.
            let tests = text.split_once("#[cfg(test)]").map_or(text.len(), |(code, _)| code.len());
            if text.len() - rest.len() < tests {
                assert!(copied.iter().any(|from| path.starts_with(from)), "{}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen} files are compiled in");
}

#[test]
fn it_runs_as_nobody_special_and_where_it_may_write() {
    let made = instructions("RUN").into_iter().find(|run| run.starts_with("useradd"));
    let made = made.expect("a user");
    let uid = made.split("--uid ").nth(1).and_then(|rest| rest.split(' ').next());
    assert!(uid.and_then(|uid| uid.parse::<u32>().ok()).is_some_and(|uid| uid >= 10_000), "{made}");
    let user = instructions("USER");
    assert_eq!(user.len(), 1);
    let directory = &instructions("WORKDIR")[1];
    assert!(
        made.contains(&format!("install -d -o {0} -g {0} -m 0700 {directory}", user[0])),
        "{made}"
    );
    assert_eq!(&instructions("VOLUME")[0], directory);
    assert_eq!(instructions("EXPOSE"), [PORT]);
    let program = instructions("COPY").pop().expect("the program");
    assert!(program.ends_with("/target/release/anteroom /usr/local/bin/anteroom"), "{program}");
}

/// The check itself, but for the port: it says yes to a node, while its store is away as well, and no to nobody.
#[test]
fn the_health_check_is_answered() {
    let health = instructions("HEALTHCHECK").pop().expect("a check");
    let command = words(health.split_once("CMD ").expect("a command").1);
    assert!(command[2].contains(PORT), "{command:?}");
    let origin = Origin::start();
    let config = Config::new(&[origin.address().to_string()]).room("sale", "max_active = 1");
    let nowhere = Gateway::start(config.store_at("redis://127.0.0.1:1"));
    let port = nowhere.addr().port().to_string();
    let check = || {
        let mut check = Command::new(&command[0]);
        check.arg(&command[1]).arg(command[2].replace(PORT, &port)).status().expect("bash")
    };
    assert!(check().success());
    drop(nowhere);
    assert!(!check().success(), "nobody is there");
}

/// The key is made once, by the very command of the composition, and nobody else may read it; the nodes' file is good with it.
#[test]
fn the_composition_makes_a_key_that_its_nodes_can_use() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_, rest) = COMPOSE.split_once("entrypoint: ").expect("the key's command");
    let entrypoint = words(rest.lines().next().expect("a line"));
    let program = Path::new(env!("CARGO_BIN_EXE_anteroom"));
    let beside = program.parent().expect("a directory").display().to_string();
    let path = format!("{beside}:{}", std::env::var("PATH").unwrap_or_default());
    let key = directory.path().join("signing.key");
    let make = || {
        let mut make = Command::new(&entrypoint[0]);
        make.args(&entrypoint[1..]).current_dir(directory.path()).env("PATH", &path);
        assert!(make.status().expect("sh").success());
        fs::read_to_string(&key).expect("a key")
    };
    let first = make();
    assert!(first.trim().len() >= 32, "{} characters", first.len());
    assert_eq!(fs::metadata(&key).expect("a file").permissions().mode() & 0o777, 0o600);
    assert_eq!(make(), first, "once");

    let file = directory.path().join("anteroom.toml");
    let in_image = format!("{}/signing.key", instructions("VOLUME")[0]);
    assert!(COMPOSED.contains(&in_image), "the key is where the volume is");
    let composed = COMPOSED.replace(&in_image, &key.display().to_string());
    // Its name is known in the composition alone.
    let composed = composed.replace("site:80", "127.0.0.1:80");
    fs::write(&file, composed).expect("written");
    let check = Command::new(program).args(["check", "-c"]).arg(&file).output().expect("a check");
    let said = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.status.success(), "{said}{}", String::from_utf8_lossy(&check.stderr));
    assert!(said.contains("redis://redis:6379"), "{said}");
}

#[test]
fn the_compositions_parts_fit() {
    for service in ["redis", "site", "key", "node-1", "node-2"] {
        assert!(COMPOSE.contains(&format!("\n  {service}:")), "{service}");
    }
    // What the nodes' file calls Redis and the site.
    assert!(COMPOSED.contains("\"redis://redis:6379\"") && COMPOSED.contains("\"site:80\""));
    assert!(COMPOSED.contains(&format!("listen = [\"0.0.0.0:{PORT}\"]")));
    let command = words(&instructions("CMD").pop().expect("a command"));
    let mounted = format!("./conf/compose.toml:{}:ro", command.last().expect("a file"));
    assert!(COMPOSE.contains(&mounted), "{mounted}");
    assert_eq!(COMPOSE.matches(&format!(":{PORT}\"]")).count(), 2, "a port for each node");
    // What docs/sizing.md wants of a Redis.
    for said in ["--appendonly yes", "--appendfsync everysec", "--maxmemory-policy noeviction"] {
        assert!(COMPOSE.contains(said), "{said}");
    }
}
