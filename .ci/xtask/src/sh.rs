//! Running other programs.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use crate::Context;

/// `cargo` in the root of the repository, with these arguments.
pub fn cargo(context: &Context, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(&context.root).args(arguments);
    command
}

/// The command as one would type it.
pub fn line(command: &Command) -> String {
    let mut words: Vec<String> = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={:?}", name.to_str()?, value?)))
        .collect();
    words.push(command.get_program().to_string_lossy().into_owned());
    words.extend(
        command
            .get_args()
            .map(OsStr::to_string_lossy)
            .map(|word| word.into_owned()),
    );
    words.join(" ")
}

/// Runs the command with its output shown.
///
/// # Errors
/// The command line, with its exit status or why it did not start.
pub fn show(mut command: Command) -> Result<(), String> {
    let text = line(&command);
    println!("$ {text}");
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{text}`: {status}")),
        Err(error) => Err(format!("`{text}` did not start: {error}")),
    }
}

/// Runs the command with its output kept back; it is shown when it fails.
///
/// # Errors
/// As [`show`].
pub fn quiet(mut command: Command) -> Result<String, String> {
    let text = line(&command);
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => {
            println!("$ {text}");
            print!("{}", String::from_utf8_lossy(&output.stdout));
            print!("{}", String::from_utf8_lossy(&output.stderr));
            Err(format!("`{text}`: {}", output.status))
        }
        Err(error) => Err(format!("`{text}` did not start: {error}")),
    }
}

/// True when the program starts and succeeds; says nothing.
pub fn works(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The failures of several steps that all ran, as one.
///
/// # Errors
/// The messages, with a first line that counts them when there are several.
pub fn all(steps: Vec<Result<(), String>>) -> Result<(), String> {
    let failures: Vec<String> = steps.into_iter().filter_map(Result::err).collect();
    match failures.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        many => Err(format!(
            "{} commands failed\n{}",
            many.len(),
            many.join("\n")
        )),
    }
}
