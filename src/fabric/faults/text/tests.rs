use super::*;

const FILE: &str = r#"
[random]
seed = 7
cable = { corrupt = 1e-6, cut = 1e-9, cut_cycles = 500 }
bus = { retry = 0.01 }

[[cable]]
from = "router 0 port 1"
data = 20
corrupt = 0x10

[[cable]]
from = "node 3"
grant = 2
drop = true

[[cable]]
from = "router 1 port 7"
cycle = 5000
insert = "EP"

[[cable]]
from = "router 1 port 7"
end = 3
cut = 100
both = false

[[bus]]
node = 1
read = 2
slow_reads = 20
cycles = 1000

[[bus]]
node = 0
transaction = 9
target_abort_after = 3
times = 2
"#;

#[test]
fn a_file_says_what_rust_says() {
    let faults = Faults::from_toml(FILE).unwrap();
    let port = |router, port| End::Router { router, port };
    let expected = [
        FaultEvent::cable(port(0, 1), Kind::Data, 20, CableFault::Corrupt(0x10)),
        FaultEvent::cable(End::Node(3), Kind::Grant, 2, CableFault::Drop),
        FaultEvent::cable_at(port(1, 7), 5000, CableFault::Insert(Symbol::EP)),
        FaultEvent::cable(
            port(1, 7),
            Kind::End,
            3,
            CableFault::Cut {
                cycles: 100,
                both: false,
            },
        ),
        FaultEvent::bus(
            1,
            Transfers::Reads,
            2,
            BusFault::SlowReads {
                extra: 20,
                cycles: 1000,
            },
        ),
        FaultEvent::bus(
            0,
            Transfers::All,
            9,
            BusFault::Respond {
                response: TargetResponse::AbortAfter(3),
                times: 2,
            },
        ),
    ];
    assert_eq!(faults.events(), expected);
    let random = faults.random().unwrap();
    assert_eq!((random.seed, random.boards), (7, false));
    assert_eq!((random.cable.corrupt, random.cable.cut_cycles), (1e-6, 500));
    assert_eq!(random.bus.retry, 0.01);
}

#[test]
fn errors_name_the_line_and_the_value() {
    let say = |text: &str| Faults::from_toml(text).unwrap_err().to_string();
    let cable = |rest: &str| {
        let text = alloc::format!("# faults\n[[cable]]\nfrom = \"router 0 port 1\"\n{rest}");
        say(&text)
    };
    assert_eq!(
        cable("data = 20\ncorrupt = 0x200"),
        "line 5: corrupt = 512 is outside 0x001..=0x1FF"
    );
    assert_eq!(
        cable("data = 0\ndrop = true"),
        "line 4: data = 0 is outside 1.."
    );
    assert_eq!(
        cable("data = 1\nend = 2\ndrop = true"),
        "line 3: 2 of the keys cycle, character, packet, data, end, grant, exactly 1 is needed"
    );
    assert_eq!(
        cable("data = 1"),
        "line 3: 0 of the keys corrupt, drop, insert, cut, exactly 1 is needed"
    );
    assert!(cable("data = 1\ninsert = \"EOP\"").starts_with("line 5: \"EOP\" is no character"));
    assert!(cable("data = -4\ndrop = true").starts_with("line 4: "));
    assert_eq!(
        cable("data = 1\ndrop = true\nboth = false"),
        "line 6: both without cut, which it belongs to"
    );
    let bus = |rest: &str| say(&alloc::format!("[[bus]]\nnode = 0\nread = 1\n{rest}"));
    assert_eq!(
        bus("hold_grant = 9\ntimes = 3"),
        "line 5: times without a fault of single transactions, which it belongs to"
    );
    assert_eq!(
        bus("retry = true\ncycles = 9"),
        "line 5: cycles without slow_reads, which it belongs to"
    );
    assert_eq!(
        bus("retry = true\ntimes = 0"),
        "line 5: times = 0 is outside 1.."
    );
    assert!(cable("datum = 4").starts_with("line 4: unknown field `datum`"));
    assert!(say("\n[[bus]]\nnode = 70000\ncycle = 1\nretry = true").starts_with("line 3: "),);
    assert_eq!(
        say("\n\n[random]\nseed = 1\ncable = { corrupt = 1.5 }"),
        "line 3: cable corrupt rate 1.5 is outside 0..=1"
    );
    assert!(say("[[cable]").starts_with("line 1: "));
}

#[test]
fn every_end_reads_as_it_is_shown() {
    for node in [0, 7, u16::MAX] {
        assert_eq!(end(&End::Node(node).to_string()), Some(End::Node(node)));
        let router = End::Router {
            router: node,
            port: 7,
        };
        assert_eq!(end(&router.to_string()), Some(router));
    }
    assert_eq!(end("node"), None);
    assert_eq!(end("router 1 port 256"), None);
}
