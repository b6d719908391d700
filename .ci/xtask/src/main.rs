//! Set-up and checks of the project.
fn main() {}
