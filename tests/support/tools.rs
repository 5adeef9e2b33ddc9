//! Programs of others that judge ours. `make tools` puts them below `target/tools`; `ANTEROOM_TOOLS` names another folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Something below the folder.
///
/// # Panics
/// If it is not there.
#[track_caller]
pub fn tool(path: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools =
        std::env::var_os("ANTEROOM_TOOLS").map_or_else(|| here.join("target/tools"), PathBuf::from);
    let tool = tools.join(path);
    assert!(tool.exists(), "{} is missing: run make tools", tool.display());
    tool
}

/// A Python program of the tests, with the packages of the Makefile.
#[track_caller]
pub fn python(program: &str) -> Command {
    let mut command = Command::new(tool("venv/bin/python"));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(program));
    command
}

/// What a program prints.
///
/// # Panics
/// If it fails.
#[track_caller]
pub fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "run make tools if a package is missing: {out}\n{err}");
    out
}
