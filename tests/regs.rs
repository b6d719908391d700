//! The register maps of hw/regs (made from SystemRDL) against the tables of the
//! models, field by field.

use multipc::ddc::Erratum;
use multipc::ddc::registers::{Access, REGISTERS};
use multipc::rcube::RoutingTable;
use serde_json::Value;

fn map(name: &str) -> Value {
    let path = format!(
        "{}/hw/regs/generated/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).expect(&path);
    serde_json::from_str(&text).expect(&path)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().expect(key)
}

fn number(value: &Value, key: &str) -> u64 {
    value[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key} of {value}"))
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key} of {value}"))
}

fn access(field: &Value) -> Access {
    match word(field, "access") {
        "ro" => Access::ReadOnly,
        "rw" => Access::ReadWrite,
        "wo" => Access::WriteOnly,
        "w1c" => Access::WriteOneClears,
        "ack" => {
            let weight = number(&field["properties"], "ack_weight");
            Access::Acknowledge(weight.try_into().expect("16 bits"))
        }
        other => panic!("unknown access {other} of {field}"),
    }
}

/// Fields of STATUS and PCI_COMMAND_STATUS that have a property.
fn with(property: &str) -> Vec<(String, String)> {
    let map = map("pci_ddc");
    let mut found = Vec::new();
    for register in list(&map, "registers") {
        for field in list(register, "fields") {
            if !field["properties"][property].is_null() {
                found.push((
                    word(register, "name").to_owned(),
                    word(field, "name").to_owned(),
                ));
            }
        }
    }
    found
}

#[test]
fn registers_of_pci_ddc_are_those_of_the_map() {
    let map = map("pci_ddc");
    let registers = list(&map, "registers");
    assert_eq!(registers.len(), REGISTERS.len());
    for (ours, theirs) in REGISTERS.iter().zip(registers) {
        let name = ours.name;
        assert_eq!(name, word(theirs, "name"));
        assert_eq!(u64::from(ours.offset), number(theirs, "offset"), "{name}");
        assert_eq!(u64::from(ours.reset), number(theirs, "reset"), "{name}");
        assert_eq!(number(theirs, "width"), 32, "{name}");
        let fields = list(theirs, "fields");
        assert_eq!(ours.fields.len(), fields.len(), "{name}");
        for (our, their) in ours.fields.iter().zip(fields) {
            let name = format!("{name}.{}", our.name);
            assert_eq!(our.name, word(their, "name"), "{name}");
            assert_eq!(u64::from(our.low), number(their, "low"), "{name}");
            assert_eq!(u64::from(our.high), number(their, "high"), "{name}");
            assert_eq!(our.access, access(their), "{name}");
            let reset = u64::from((ours.reset & our.mask()) >> our.low);
            assert_eq!(reset, number(their, "reset"), "{name}");
        }
    }
}

#[test]
fn errata_in_the_map_are_those_of_the_model() {
    let map = map("pci_ddc");
    let mut found = Vec::new();
    for register in list(&map, "registers") {
        let places = std::iter::once(register).chain(list(register, "fields"));
        for properties in places.map(|place| &place["properties"]) {
            if properties["erratum"].is_null() {
                continue;
            }
            let number = number(properties, "erratum");
            let erratum = Erratum::ALL
                .iter()
                .find(|erratum| u64::from(erratum.number()) == number)
                .unwrap_or_else(|| panic!("no erratum {number}"));
            assert_eq!(erratum.name(), word(properties, "erratum_name"));
            found.push(number);
        }
    }
    found.sort_unstable();
    assert_eq!(found, [1, 1, 3, 5, 6, 9, 16, 16, 20]);
}

#[test]
fn swapped_writes_name_each_other() {
    let map = map("pci_ddc");
    let decoded = |name: &str| {
        let register = list(&map, "registers")
            .iter()
            .find(|register| word(register, "name") == name)
            .expect(name);
        word(&register["properties"], "erratum_write_decodes_as").to_owned()
    };
    assert_eq!(decoded("LMI_CURRENT"), "LMI_NEW");
    assert_eq!(decoded("LMI_NEW"), "LMI_CURRENT");
}

/// hw/doc/pci-ddc.md, "What stops the bus master": bits 23:19 and 15:12 of STATUS,
/// the fatal bits 24 and 27 to 30 of 04h.
#[test]
fn stopping_events_are_those_of_the_document() {
    let mut masks = [("STATUS", 0u32), ("PCI_COMMAND_STATUS", 0)];
    for (register, field) in with("stops_master") {
        let mask = masks.iter_mut().find(|(name, _)| *name == register);
        let info = REGISTERS.iter().find(|info| info.name == register);
        let field = info
            .and_then(|info| info.fields.iter().find(|other| other.name == field))
            .expect("checked above");
        mask.expect("an event").1 |= field.mask();
    }
    assert_eq!(
        masks,
        [("STATUS", 0x00F8_F000), ("PCI_COMMAND_STATUS", 0x7900_0000)]
    );
}

#[test]
fn a_soft_reset_loses_what_the_driver_restores() {
    let lost = with("lost_at_soft_reset");
    let expected = [("LATENCY_HEADER", "latency_timer"), ("INTERRUPT", "line")];
    assert_eq!(
        lost,
        expected.map(|(register, field)| (register.to_owned(), field.to_owned()))
    );
}

#[test]
fn every_field_of_the_map_is_described() {
    for chip in ["pci_ddc", "rcube"] {
        let map = map(chip);
        for register in list(&map, "registers") {
            let fields = list(register, "fields");
            assert!(!fields.is_empty(), "{register}");
            for field in fields {
                assert!(!word(field, "description").is_empty(), "{field}");
            }
            // Where it is from is told of the register, or of each field.
            let told = |place: &Value| place["properties"]["source"].is_string();
            assert!(
                told(register) || fields.iter().all(told),
                "{register}: no source"
            );
        }
    }
}

#[test]
fn the_chain_has_no_gaps() {
    let map = map("rcube");
    assert_eq!(number(&map, "bytes"), RoutingTable::WIRE_LEN as u64);
    assert_eq!(
        number(&map["properties"], "chain_bytes"),
        number(&map, "bytes")
    );
    let mut next = 0;
    for register in list(&map, "registers") {
        assert_eq!(number(register, "offset"), next, "{register}");
        next += number(register, "width") / 8;
        let bits: u64 = list(register, "fields")
            .iter()
            .map(|field| number(field, "high") - number(field, "low") + 1)
            .sum();
        assert_eq!(bits, number(register, "width"), "{register}");
    }
    assert_eq!(next, number(&map, "bytes"));
}

/// What the model reads from the bytes when one field of the map is set to all ones,
/// and everything else is 0.
#[test]
fn each_field_of_the_chain_is_where_the_model_reads_it() {
    let map = map("rcube");
    for register in list(&map, "registers") {
        let bytes_wide = usize::try_from(number(register, "width")).expect("small") / 8;
        let offset = usize::try_from(number(register, "offset")).expect("small");
        let properties = &register["properties"];
        let place = |key: &str| usize::try_from(number(properties, key)).expect("small");
        for field in list(register, "fields") {
            let name = format!("{} {}", word(register, "path"), word(field, "name"));
            let mask = (number(field, "low")..=number(field, "high"))
                .fold(0u16, |mask, bit| mask | 1 << bit);
            let mut bytes = [0; RoutingTable::WIRE_LEN];
            let big_endian = mask.to_be_bytes();
            bytes[offset..offset + bytes_wide].copy_from_slice(&big_endian[2 - bytes_wide..]);

            let mut expected = RoutingTable::default();
            match word(field, "name") {
                "mbound" | "lbound" => expected.bounds[place("link")][place("interval")] = mask,
                "mask" => expected.selections[place("link")][place("interval")] = 0xFF,
                "zero" => {}
                "outputs" => expected.header_deletion = 0xFF,
                "inputs" => expected.header_length = 0xFF,
                other => panic!("{other}"),
            }
            assert_eq!(RoutingTable::parse(&bytes), expected, "{name}");
            if word(field, "name") != "zero" {
                assert_eq!(expected.emit(), bytes, "{name}");
            }
        }
    }
}
