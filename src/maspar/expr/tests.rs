extern crate std;
use std::string::ToString;

use super::*;

const SIZE: MachineSize = MachineSize::Pes16384;

fn pattern(text: &str) -> Pattern {
    Expr::parse(text).unwrap().pattern(SIZE, None).unwrap()
}

#[test]
fn expressions_spell_the_named_patterns() {
    for (text, named) in [
        ("rev(id, 14)", Pattern::bit_reversal(SIZE)),
        ("rotl(id, 1, bits)", Pattern::shuffle(SIZE)),
        ("rotr(id, 1, bits)", Pattern::unshuffle(SIZE)),
        ("x * rows + y", Pattern::transpose(SIZE)),
        ("~id & n - 1", Pattern::reversal(SIZE)),
        ("gray(id)", Pattern::gray(SIZE)),
        ("id ^ id >> 1", Pattern::gray(SIZE)),
        ("(id - 5) % n", Pattern::shift(SIZE, -5)),
        ("y << 7", Pattern::row_head(SIZE)),
        ("rev(id, 7)", Pattern::row_bit_reversal(SIZE)),
        (
            "bit(id, 0) == bit(id, 13) ? id : id ^ 0x2001",
            Pattern::butterfly(SIZE),
        ),
    ] {
        assert_eq!(pattern(text), named, "{text}");
    }
}

#[test]
fn operators_bind_as_the_table_says() {
    let value = |text| Expr::parse(text).unwrap().eval(SIZE, 0).unwrap();
    assert_eq!(value("1 + 2 * 3 - 4"), 3);
    assert_eq!(value("10 - 3 - 2"), 5);
    assert_eq!(value("1 | 6 ^ 2 & 3"), 1 | (6 ^ (2 & 3)));
    assert_eq!(value("1 << 2 + 1 == 8 && !0"), 1);
    assert_eq!(value("-7 % 5"), 3);
    assert_eq!(value("1 ? 2 : 0 ? 3 : 4"), 2);
    assert_eq!(value("min(3, max(1, 2)) + parity(0b111)"), 3);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let error = |text| Expr::parse(text).unwrap_err().to_string();
    assert_eq!(
        error("id +"),
        "at byte 4: expected a number, a name or an operator"
    );
    assert_eq!(error("(id"), "at byte 3: expected ')'");
    assert_eq!(
        error("id 3"),
        "at byte 3: expected a number, a name or an operator"
    );
    assert_eq!(error("rev(id)"), "at byte 6: expected ','");
    assert_eq!(Expr::parse("0xZZ").unwrap_err().trouble, Trouble::Number);
    assert_eq!(
        Expr::parse("foo").unwrap_err().trouble,
        Trouble::UnknownName
    );
    assert_eq!(
        Expr::parse(&"(".repeat(999)).unwrap_err().trouble,
        Trouble::TooDeep
    );
    assert_eq!(
        Expr::parse(&"-".repeat(999)).unwrap_err().trouble,
        Trouble::TooDeep
    );
}

#[test]
fn values_that_are_no_ids_are_named_with_their_pe() {
    let error = |text, only: Option<&str>| {
        let only = only.map(|only| Expr::parse(only).unwrap());
        Expr::parse(text)
            .unwrap()
            .pattern(SIZE, only.as_ref())
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    assert_eq!(
        error("id / (id - 3)", Some("id == 3")),
        Err("division by zero for PE 3".into())
    );
    assert_eq!(
        error("id - 1", None),
        Err("target -1 of PE 0 is no id".into())
    );
    assert_eq!(
        error("id + 1", None),
        Err("target 16384 of PE 16383 is outside 0..16384".into())
    );
    assert_eq!(error("id + 1", Some("id < n - 1")), Ok(()));
}

#[test]
fn the_widest_fields_are_moved_without_their_sign() {
    let value = |text: &str| Expr::parse(text).unwrap().eval(MachineSize::Pes1024, 5);
    // Bit 62 and bit 0 change places; bit 63 stays where it is.
    assert_eq!(value("rev(5, 63)"), Some(1 << 62 | 1 << 60));
    assert_eq!(value("rev(-1, 63)"), Some(-1));
    assert_eq!(value("rotl(5, 62, 63)"), Some(1 << 62 | 2));
    assert_eq!(value("rotr(5, 1, 63)"), Some(1 << 62 | 2));
    assert_eq!(value("rotl(-1, 1, 63)"), Some(-1));
    // Others are no fields.
    for bits in ["0", "64", "-1", "0x7fffffffffffffff"] {
        assert_eq!(value(&std::format!("rev(id, {bits})")), Some(5));
        assert_eq!(value(&std::format!("rotl(id, 1, {bits})")), Some(5));
    }
}
