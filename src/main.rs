//! The `anteroom` program. What it does is in the library, see [`anteroom::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    anteroom::cli::run()
}
