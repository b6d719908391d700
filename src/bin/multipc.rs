//! The command `multipc`; everything is in `multipc::cli`.

fn main() {
    std::process::exit(multipc::cli::main());
}
