//! What the parts read from Cargo.toml.

/// The names in `[features]`, without `default`.
pub fn features(manifest: &str) -> Vec<String> {
    section(manifest, "[features]")
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim())
        .filter(|name| *name != "default" && is_name(name))
        .map(str::to_owned)
        .collect()
}

/// The value of `rust-version` in `[package]`.
pub fn rust_version(manifest: &str) -> Option<String> {
    section(manifest, "[package]")
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| key.trim() == "rust-version")
        .map(|(_, value)| value.trim().trim_matches('"').to_owned())
}

/// The names of `[[bin]]` entries.
pub fn bins(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == "[[bin]]";
        } else if let Some((key, value)) = line.split_once('=')
            && inside
            && key.trim() == "name"
        {
            names.push(value.trim().trim_matches('"').to_owned());
        }
    }
    names
}

fn section<'a>(manifest: &'a str, header: &'a str) -> impl Iterator<Item = &'a str> {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(move |line| *line != header)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
[package]
name = "x"
rust-version = "1.88"

[features]
default = []
## Words = here do not count.
alloc = ["managed/alloc"]
test-utils = [
    "alloc",
]

[[bin]]
name = "chain"
test = false

[[bin]]
name = "packet"

[lib]
name = "other"
"#;

    #[test]
    fn features_are_listed_without_default() {
        assert_eq!(features(MANIFEST), ["alloc", "test-utils"]);
    }

    #[test]
    fn rust_version_is_found() {
        assert_eq!(rust_version(MANIFEST).as_deref(), Some("1.88"));
    }

    #[test]
    fn bins_are_listed() {
        assert_eq!(bins(MANIFEST), ["chain", "packet"]);
    }
}
