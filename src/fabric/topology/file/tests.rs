use std::string::ToString;

use super::*;
use crate::fabric::topology::{Cable, Medium, PortId, TopologyBuilder};

fn parse(text: &str) -> Result<MachineFile, FileError> {
    MachineFile::parse(text, Path::new("machine.toml"))
}

fn said(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn shapes_with_their_numbers() {
    for (text, shape) in [
        ("shape = 'pair'", "line:2"),
        ("shape = 'ring'\nlengths = [6]", "ring:6"),
        ("shape = 'mesh'\nlengths = [8, 8]", "mesh:8x8"),
        ("shape = 'hypercube'\ndimensions = 4", "hypercube:4"),
        ("shape = 'tree'\nchildren = 3\nboards = 20", "tree:20x3"),
        ("shape = 'fat-tree'\nlevels = 2\narity = 3", "fat-tree:2x3"),
        ("shape = 'fat-tree'\nlevels = 2", "fat-tree:2x4"),
        ("shape = 'star'\ngenerators = 5", "star:5"),
        ("shape = 'machine-128'", "hypercube:7"),
    ] {
        let file = parse(text).unwrap();
        let named: Shape = shape.parse().unwrap();
        assert_eq!(file.shape.unwrap(), named, "{text}");
        assert_eq!(file.topology, named.build().unwrap());
        assert_eq!((file.method, file.adaptive), (MethodName::Auto, false));
    }
}

#[test]
fn every_plug() {
    let file = parse(
        "routers = 3\nmethod = 'ir'\nadaptive = true\nlength_m = 2\n\
         [[generator]]\nrouter = 0\n[[generator]]\nrouter = 2\nport = 5\n\
         [[cable]]\nfrom = [0, 1]\nto = [1, 1]\n\
         [[cable]]\nfrom = [1, 2]\nto = [2, 7]\nlength_m = 40.0\nmedium = 'fibre'\n",
    )
    .unwrap();
    let mut builder = TopologyBuilder::new();
    for _ in 0..3 {
        builder.router();
    }
    builder.generator(PortId::new(0, 0));
    builder.generator(PortId::new(2, 5));
    builder.cable(Cable::new(PortId::new(0, 1), PortId::new(1, 1)).with_length_mm(2_000));
    builder.cable(
        Cable::new(PortId::new(1, 2), PortId::new(2, 7))
            .with_medium(Medium::Fibre)
            .with_length_mm(40_000),
    );
    assert_eq!(file.topology, builder.build().unwrap());
    assert_eq!((file.method, file.adaptive), (MethodName::Ir, true));
    assert_eq!(file.shape, None);
}

#[test]
fn cables_of_a_shape_have_a_length() {
    let file = parse("shape = 'ring'\nlengths = [3]\nlength_m = 60\nmedium = 'fibre'").unwrap();
    let lengths = file.topology.cables().iter().map(|cable| cable.length_mm);
    assert!(lengths.eq([60_000; 3]));
}

#[test]
fn errors_name_file_line_thing_value_and_range() {
    for (text, error) in [
        (
            "shape = 'rong'",
            "machine.toml:1: no shape 'rong', there are pair, line, ring, mesh, torus, hypercube, machine-128, tree, fat-tree, star",
        ),
        (
            "\nshape = 'mesh'\nlengths = [8, 0]",
            "machine.toml:3: a length of the shape is 0, at least 1 is needed",
        ),
        (
            "shape = 'ring'\nlengths = [3]\n\nlength_m = 6",
            "machine.toml:4: length_m = 6, this medium allows 0..=5 m",
        ),
        (
            "shape = 'ring'\nboards = 3",
            "machine.toml:2: boards beside shape = \"ring\", which wants lengths",
        ),
        (
            "routers = 2\ngenerators = 2",
            "machine.toml:2: a number of a shape without shape = \"...\"",
        ),
        (
            "shape = 'fat-tree'\narity = 2",
            "machine.toml:1: levels is missing beside shape = \"fat-tree\"",
        ),
        (
            "shape = 'tree'\nchildren = 2",
            "machine.toml:1: boards is missing beside shape = \"tree\"",
        ),
        (
            "shape = 'ring'",
            "machine.toml:1: lengths is missing beside shape = \"ring\"",
        ),
        (
            "shape = 'ring'\nlengths = [3]\nrouters = 3",
            "machine.toml:3: routers beside shape = \"ring\", one or the other",
        ),
        (
            "shape = 'ring'\nlengths = [3]\nlenght_m = 3",
            "machine.toml:3: unknown field `lenght_m`",
        ),
        (
            "method = 'ir'",
            "machine.toml: neither shape = \"...\" nor routers = N",
        ),
        (
            "routers = 70000",
            "machine.toml:1: routers = 70000, must be 1..=65535",
        ),
        (
            "routers = 2\n[[generator]]\nrouter = 2",
            "machine.toml:3: router 2, must be 0..=1",
        ),
        (
            "routers = 2\n[[generator]]\nrouter = 0\n[[cable]]\nfrom = [0, 8]\nto = [1, 1]",
            "machine.toml:5: port 8, must be 0..=7",
        ),
        (
            "routers = 2\n[[generator]]\nrouter = 0\n\n[[cable]]\nfrom = [0, 0]\nto = [1, 1]",
            "machine.toml:5: cable 0 wants router 0 port 0, where generator 0 is plugged in",
        ),
        (
            "routers = 2",
            "machine.toml:1: the machine has 0 generators, at least 1 is needed",
        ),
        (
            "routers = 2\nmethod = 'best'",
            "machine.toml:2: unknown variant `best`",
        ),
        (
            "routers = -1",
            "machine.toml:1: invalid value: integer `-1`",
        ),
        ("routers = ", "machine.toml:1: "),
    ] {
        assert!(said(text).starts_with(error), "{}\n{error}", said(text));
    }
    assert!(
        MachineFile::read(Path::new("no/such.toml"))
            .unwrap_err()
            .to_string()
            .starts_with("no/such.toml: cannot be read: ")
    );
}
