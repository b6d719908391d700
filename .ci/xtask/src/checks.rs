//! The parts that are mostly calls of cargo.

use std::fs;

use crate::sh::{Series, all, cargo, show};
use crate::tools::{self, TARGETS};
use crate::{Context, Verdict, capi, firmware, fuzz, hw, manifest, size};

/// Features that bare metal uses, beside none at all.
const EMBEDDED_FEATURES: &str = "alloc,defmt";

/// Every subset of these is checked; the others alone and all together.
const POWERSET: [&str; 5] = ["alloc", "std", "defmt", "log", "test-utils"];

/// Cases of each property test with `--long`.
const LONG_CASES: &str = "4096";

/// rustfmt over the workspaces.
pub fn fmt(context: &Context) -> Verdict {
    tools::component("rustfmt")?;
    // Names of files only: `cargo fmt` without `--check` does the rest.
    let check = |arguments: &[&str]| {
        let mut command = cargo(context, &["fmt"]);
        command.args(arguments).args(["--check", "--", "-l"]);
        show(command)
    };
    all(vec![
        check(&["--all"]),
        check(&["--manifest-path", fuzz::MANIFEST]),
        check(&["--manifest-path", size::MANIFEST]),
        check(&["--all", "--manifest-path", firmware::MANIFEST]),
        check(&["--manifest-path", capi::MANIFEST]),
        check(&["--manifest-path", hw::MANIFEST]),
    ])?;
    Ok(String::new())
}

/// clippy: everything with all features, the default build, the firmware.
pub fn clippy(context: &Context) -> Verdict {
    tools::component("clippy")?;
    tools::target(size::TARGET)?;
    let deny = ["--", "-D", "warnings"];
    let run = |arguments: &[&str]| {
        let mut command = cargo(context, &["clippy"]);
        command.args(arguments).args(deny);
        show(command)
    };
    all(vec![
        run(&["--workspace", "--all-targets", "--all-features"]),
        run(&["--all-targets"]),
        run(&[
            "--manifest-path",
            size::MANIFEST,
            "--target",
            size::TARGET,
            "--all-features",
        ]),
    ])?;
    Ok(String::new())
}

/// rustdoc without warnings: broken links, missing docs.
pub fn doc(context: &Context) -> Verdict {
    let mut command = cargo(context, &["doc", "--no-deps", "--all-features"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    show(command)?;
    Ok(String::new())
}

/// Where the property tests of a short run begin.
const SEED: &str = "20001";

/// The tests: everything with all features, then the library as firmware sees it.
pub fn test(context: &Context) -> Verdict {
    let run = |arguments: &[&str]| {
        let mut command = cargo(context, arguments);
        if context.long {
            command.env("MULTIPC_LONG", "1");
            command.env("PROPTEST_CASES", LONG_CASES);
        } else {
            // The same cases each time; a long run, or `cargo test`, draws new ones.
            command.env("PROPTEST_RNG_SEED", SEED);
        }
        show(command)
    };
    // `--no-fail-fast`: one run tells every failure.
    all(vec![
        run(&["test", "--workspace", "--all-features", "--no-fail-fast"]),
        run(&["test", "--no-default-features", "--lib"]),
    ])?;
    Ok(if context.long { "long" } else { "" }.into())
}

/// The library on each other target, without features and as firmware may use it.
pub fn targets(context: &Context) -> Verdict {
    let mut builds = Series::default();
    for target in TARGETS {
        if let Err(message) = tools::target(target) {
            builds.fail(message);
            continue;
        }
        for features in ["", EMBEDDED_FEATURES] {
            let mut command = cargo(context, &["rustc", "--quiet", "--lib"]);
            command.args(["--no-default-features", "--features", features]);
            command.args(["--target", target, "--", "-D", "warnings"]);
            builds.run(&format!("{target} [{features}]"), command);
        }
    }
    Ok(format!("{} builds", builds.end()?))
}

/// Features must add and never exclude: none, each, all, and combinations.
pub fn features(context: &Context) -> Verdict {
    tools::component("clippy")?;
    let text = fs::read_to_string(context.root.join("Cargo.toml")).map_err(|e| e.to_string())?;
    let names = manifest::features(&text);
    if let Some(missing) = POWERSET
        .iter()
        .find(|name| !names.iter().any(|n| n == *name))
    {
        return Err(format!("Cargo.toml has no feature {missing}"));
    }
    let mut checks = Series::default();
    for set in feature_sets(&names) {
        let mut command = cargo(context, &["clippy", "--quiet", "--lib", "--bins"]);
        command.args(["--no-default-features", "--features", &set]);
        command.args(["--", "-D", "warnings"]);
        checks.run(&format!("[{set}]"), command);
    }
    Ok(format!("{} combinations", checks.end()?))
}

/// Subsets of [`POWERSET`], then the other features alone, then all.
fn feature_sets(names: &[String]) -> Vec<String> {
    let mut sets: Vec<String> = (0..1u32 << POWERSET.len())
        .map(|bits| {
            let chosen = POWERSET
                .iter()
                .enumerate()
                .filter(|(i, _)| bits >> i & 1 == 1)
                .map(|(_, name)| *name);
            chosen.collect::<Vec<_>>().join(",")
        })
        .collect();
    let others = names
        .iter()
        .filter(|name| !POWERSET.contains(&name.as_str()));
    sets.extend(others.cloned());
    sets.push(names.join(","));
    sets
}

/// Builds with the oldest Rust where that can be had; else says what was checked instead.
pub fn msrv(context: &Context) -> Verdict {
    let text = fs::read_to_string(context.root.join("Cargo.toml")).map_err(|e| e.to_string())?;
    let version = manifest::rust_version(&text).ok_or("Cargo.toml has no rust-version")?;
    let readme = fs::read_to_string(context.root.join("README.md")).map_err(|e| e.to_string())?;
    let stated = format!("Rust {version}");
    if !readme.contains(&stated) {
        return Err(format!(
            "Cargo.toml says rust-version = \"{version}\", README.md does not say \"{stated}\""
        ));
    }
    if tools::toolchain(&version) {
        let plus = format!("+{version}");
        let check = |features: &[&str]| {
            let mut command = cargo(context, &[&plus, "check", "--lib", "--bins"]);
            command.args(features);
            show(command)
        };
        all(vec![
            check(&["--no-default-features"]),
            check(&["--all-features"]),
        ])?;
        return Ok(format!("built with Rust {version}"));
    }
    println!(
        "Rust {version} is not installed and cannot be installed here. Checked instead: \
         rust-version against README.md, and clippy::incompatible_msrv, which finds uses of \
         the standard library newer than rust-version (but no newer syntax)."
    );
    tools::component("clippy")?;
    let lint = |features: &str| {
        let mut command = cargo(context, &["clippy", "--lib", "--bins", features]);
        command.args(["--", "-D", "clippy::incompatible_msrv"]);
        show(command)
    };
    all(vec![lint("--no-default-features"), lint("--all-features")])?;
    Ok(format!(
        "NOT built with Rust {version} (not to be had); clippy::incompatible_msrv is clean"
    ))
}

/// The benchmarks, with their tables shown.
pub fn bench(context: &Context) -> Verdict {
    show(cargo(context, &["bench", "--all-features", "--bench", "*"]))?;
    show(cargo(
        context,
        &["bench", "--manifest-path", hw::MANIFEST, "--benches"],
    ))?;
    Ok(String::new())
}

/// Removes the build folders outside `target`.
pub fn clean(context: &Context) -> Verdict {
    all(vec![
        show(cargo(
            context,
            &["clean", "--manifest-path", fuzz::MANIFEST],
        )),
        show(cargo(
            context,
            &["clean", "--manifest-path", size::MANIFEST],
        )),
        show(cargo(
            context,
            &["clean", "--manifest-path", firmware::MANIFEST],
        )),
        show(cargo(
            context,
            &["clean", "--manifest-path", capi::MANIFEST],
        )),
    ])?;
    Ok(String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_sets_hold_none_each_and_all() {
        let names: Vec<String> = ["alloc", "std", "defmt", "log", "test-utils", "cli"]
            .map(str::to_owned)
            .into();
        let sets = feature_sets(&names);
        assert_eq!(sets.len(), 34);
        assert!(sets.contains(&String::new()));
        assert!(names.iter().all(|name| sets.contains(name)));
        assert_eq!(sets.last(), Some(&names.join(",")));
    }
}
