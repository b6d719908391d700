//! The header is what cbindgen makes of the source. MULTIPC_WRITE=1 renews it.

use std::path::Path;
use std::{env, fs};

#[test]
fn header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("include/multipc.h");
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("configuration");
    let mut made = Vec::new();
    cbindgen::Builder::new()
        .with_crate(root)
        .with_config(config)
        .generate()
        .expect("bindings")
        .write(&mut made);
    let made = without_safety(&String::from_utf8(made).expect("text"));
    if env::var_os("MULTIPC_WRITE").is_some() {
        fs::write(&path, &made).expect("written");
    }
    let found = fs::read_to_string(&path).expect("include/multipc.h");
    let line = found.lines().zip(made.lines()).position(|(a, b)| a != b);
    assert!(
        found == made,
        "include/multipc.h differs from the source in line {:?}; renew it with MULTIPC_WRITE=1",
        line.map(|line| line + 1)
    );
}

/// The sections on safety are for Rust; the rules of all calls stand once, at the top.
fn without_safety(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line == "// # Safety" {
            inside = true;
            // With the empty line before it.
            if lines.last() == Some(&"//") {
                lines.pop();
            }
        }
        inside &= line.starts_with("//");
        if !inside {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn sections_on_safety_are_left_out() {
    let text = "// Does it.\n//\n// # Safety\n// A promise.\nint f(void);\n// More.\n";
    assert_eq!(
        without_safety(text),
        "// Does it.\nint f(void);\n// More.\n"
    );
}
