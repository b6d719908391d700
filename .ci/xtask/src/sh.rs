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

/// Runs the command with its output kept back; standard output is returned.
///
/// # Errors
/// As [`show`], and all that the command wrote.
pub fn quiet(mut command: Command) -> Result<String, Failure> {
    let text = line(&command);
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => Err(Failure {
            message: format!("`{text}`: {}", output.status),
            output: [output.stdout, output.stderr]
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .concat(),
        }),
        Err(error) => Err(Failure {
            message: format!("`{text}` did not start: {error}"),
            output: String::new(),
        }),
    }
}

/// A command that failed quietly.
pub struct Failure {
    /// The command line and how it ended.
    pub message: String,
    /// What it wrote.
    pub output: String,
}

/// Many commands alike: a line for each, and the output of those that failed in a
/// new way.
#[derive(Default)]
pub struct Series {
    steps: Vec<Result<(), String>>,
    shown: Vec<String>,
}

impl Series {
    /// Runs one of them.
    pub fn run(&mut self, title: &str, command: Command) {
        match quiet(command) {
            Ok(_) => {
                println!("ok     {title}");
                self.steps.push(Ok(()));
            }
            Err(Failure { message, output }) => {
                if self.shown.contains(&output) {
                    println!("FAILED {title}, as above");
                } else {
                    println!("FAILED {title}\n{output}");
                    self.shown.push(output);
                }
                self.steps.push(Err(message));
            }
        }
    }

    /// Counts one that could not even be tried.
    pub fn fail(&mut self, message: String) {
        self.steps.push(Err(message));
    }

    /// How many ran.
    ///
    /// # Errors
    /// As [`all`].
    pub fn end(self) -> Result<usize, String> {
        let count = self.steps.len();
        all(self.steps).map(|()| count)
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
