//! A million messages while one in a thousand is hit by a fault.
//!
//! ```text
//! cargo run --release --features alloc --example million [messages] [seed]
//! ```
//!
//! Two boards send to each other. Random faults disturb every cable and both
//! PCI buses; the reliable layer repairs. Each message has bytes of its own,
//! which are compared when it is told, then overwritten; whatever is written
//! there later is found before the place is used again. Document:
//! hw/doc/recovery.md.

use std::error::Error;

use multipc::fabric::faults::{Effect, Faults, RandomFaults};
use multipc::fabric::labelling::Labelling;
use multipc::fabric::topology::Topology;
use multipc::fabric::{BoardConfig, Machine, MachineConfig};
use multipc::put::{Model, Outcome, Put, PutConfig, RecoveryConfig, Reliable, Ticket};
use multipc::remote::{Flags, RemoteWrite, Transfer};
use multipc::time::Duration;

type Layer = Reliable<2, 64, 64>;

const TABLES: u32 = 0x1000;
const CONTROL: u32 = 0x1_0000;
const SOURCE: u32 = 0x2_0000;
const TARGET: u32 = 0x8_0000;
/// Buffers of each direction, and what one takes.
const SLOTS: u32 = 64;
const SLOT: u32 = 256;
/// What a message is overwritten with once it was told.
const TAKEN: u8 = 0xEE;
const ENTRIES: u32 = 256;
const ROUND: Duration = Duration::from_us(4);

/// Length of message `tag`, 1 to 200 bytes.
fn length(tag: u32) -> u32 {
    1 + tag.wrapping_mul(0x9E37_79B9) % 200
}

fn fill(node: usize, tag: u32, bytes: &mut [u8]) {
    let mut mix = tag.wrapping_mul(0x85EB_CA6B) ^ (node as u32) << 31;
    for byte in bytes {
        mix = mix.wrapping_mul(0x0019_660D).wrapping_add(0x3C6E_F35F);
        *byte = (mix >> 24) as u8;
    }
}

/// One direction: what its sender has started, and its receiver was told.
#[derive(Default)]
struct Direction {
    started: u32,
    told: u32,
    delivered: u32,
    failed: u32,
    tickets: std::collections::VecDeque<Ticket>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let messages: u32 = args.next().map_or(Ok(1_000_000), |arg| arg.parse())?;
    let seed: u64 = args.next().map_or(Ok(1), |arg| arg.parse())?;
    let each = messages.div_ceil(2);

    let topology = Topology::pair()?;
    let labelling = Labelling::auto(&topology)?;
    let config = MachineConfig::default();
    let mut machine = Machine::build(&topology, &labelling, config, &BoardConfig::default())?;
    let mut layers = boot(&mut machine, &topology, &labelling)?;

    // A message is about 600 characters on three cables, acknowledgement
    // included, and 10 transactions: in all one in a thousand is hit by
    // something on a cable, and as many by something on a bus.
    let mut random = RandomFaults::new(seed);
    random.boards = true;
    random.cable.corrupt = 9e-7;
    random.cable.drop = 7e-7;
    random.cable.insert = 7e-7;
    random.cable.cut = 2e-7;
    random.cable.cut_cycles = 500;
    random.bus.retry = 3e-5;
    random.bus.disconnect = 3e-5;
    random.bus.parity = 1e-5;
    random.bus.delay = 2e-5;
    random.bus.delay_clocks = 100;
    random.bus.target_abort = 3e-6;
    random.bus.no_devsel = 3e-6;
    random.bus.hold_grant = 1e-5;
    random.bus.hold_cycles = 1_000;
    machine.set_faults(Faults::script(vec![]).with_random(random))?;

    let begun = machine.now();
    let clock = std::time::Instant::now();
    let mut directions = [Direction::default(), Direction::default()];
    while directions
        .iter()
        .any(|way| way.delivered + way.failed < each)
    {
        for node in 0..2 {
            feed(&mut machine, &mut layers, &mut directions, node, each)?;
            let mut host = machine.host(node as u16)?;
            layers[node].tick(host.now());
            layers[node].poll(&mut host)?;
            take(
                &mut machine,
                &mut layers[node],
                &mut directions[1 - node],
                1 - node,
            )?;
            let way = &mut directions[node];
            while let Some(ticket) = way.tickets.front() {
                match layers[node].outcome(ticket)? {
                    None => break,
                    Some(Outcome::Delivered) => way.delivered += 1,
                    Some(outcome) => {
                        way.failed += 1;
                        println!("{outcome:?}");
                    }
                }
                way.tickets.pop_front();
            }
        }
        machine.run_for(ROUND);
    }
    let simulated = machine.now().since(begun);
    report(&machine, &layers, &directions, simulated, clock.elapsed())
}

/// The start of both boards, and the layer on each.
fn boot(
    machine: &mut Machine<'static>,
    topology: &Topology<'_>,
    labelling: &Labelling<'_>,
) -> Result<Vec<Layer>, Box<dyn Error>> {
    let mut recovery = RecoveryConfig::new(CONTROL);
    recovery.window = 32;
    recovery.timeout = Duration::from_us(300);
    recovery.stall = Duration::from_us(2_000);
    recovery.heartbeat = Some(Duration::from_us(10_000));
    // Longer than the start-up of the links, which takes 170 us.
    recovery.settle = Duration::from_us(200);
    let mut started = Vec::new();
    for node in 0..2u16 {
        let generator = labelling.generator_of(node).ok_or("no such node")?;
        let router = topology.generators()[usize::from(generator)].router;
        let table = labelling.table(router).emit();
        let mut settings = PutConfig::new(node, TABLES, &table);
        settings.nodes = 2;
        settings.entries = ENTRIES;
        settings.counters = 16;
        settings.model = Model::Polling;
        let mut put = Put::new();
        put.begin(&mut machine.host(node)?, &settings)?;
        started.push((put, table));
    }
    machine.run_for(Duration::from_us(400));
    let mut layers = Vec::new();
    for (node, (mut put, table)) in (0..).zip(started) {
        put.settled(&mut machine.host(node)?)?;
        let mut settings = PutConfig::new(node, TABLES, &table);
        settings.nodes = 2;
        settings.entries = ENTRIES;
        settings.counters = 16;
        settings.model = Model::Polling;
        layers.push(Layer::new(put, &settings, recovery, machine.now())?);
    }
    Ok(layers)
}

/// Starts what fits: a place is used again when its last message was
/// acknowledged.
fn feed(
    machine: &mut Machine<'static>,
    layers: &mut [Layer],
    directions: &mut [Direction; 2],
    node: usize,
    each: u32,
) -> Result<(), Box<dyn Error>> {
    let way = &mut directions[node];
    while way.started < each && way.started - way.delivered - way.failed < SLOTS {
        let tag = way.started;
        let (at, length) = (tag % SLOTS * SLOT, length(tag));
        if tag >= SLOTS {
            let mut old = [0; SLOT as usize];
            machine.host(1 - node as u16)?.load(TARGET + at, &mut old)?;
            if old.iter().any(|byte| *byte != TAKEN) {
                return Err(format!("message {} was written again", tag - SLOTS).into());
            }
        }
        let mut bytes = [0; SLOT as usize];
        fill(node, tag, &mut bytes);
        let mut host = machine.host(node as u16)?;
        host.store(SOURCE + at, &bytes)?;
        let transfer = Transfer {
            node: 1 - node as u16,
            local: (SOURCE + at).into(),
            remote: (TARGET + at).into(),
            length: length.into(),
            flags: Flags {
                notify_receiver: true,
                tag,
            },
        };
        way.tickets
            .push_back(layers[node].start(&mut host, transfer)?);
        way.started += 1;
    }
    Ok(())
}

/// Compares what `layer` was told of the messages of node `from`.
fn take(
    machine: &mut Machine<'static>,
    layer: &mut Layer,
    way: &mut Direction,
    from: usize,
) -> Result<(), Box<dyn Error>> {
    while let Some((_, arrival)) = layer.arrival_from() {
        let tag = arrival.tag;
        if tag != way.told {
            return Err(format!("message {tag} was told instead of {}", way.told).into());
        }
        way.told += 1;
        let mut host = machine.host(1 - from as u16)?;
        let at = TARGET + tag % SLOTS * SLOT;
        let (mut got, mut sent) = ([0; SLOT as usize], [0; SLOT as usize]);
        host.load(at, &mut got)?;
        fill(from, tag, &mut sent);
        let length = length(tag) as usize;
        if got[..length] != sent[..length] {
            return Err(format!("message {tag} is wrong").into());
        }
        host.store(at, &[TAKEN; SLOT as usize])?;
    }
    Ok(())
}

fn report(
    machine: &Machine<'static>,
    layers: &[Layer],
    directions: &[Direction; 2],
    simulated: Duration,
    took: std::time::Duration,
) -> Result<(), Box<dyn Error>> {
    let faults = machine.faults().ok_or("no faults")?;
    println!("faults: {}", faults.total());
    let mut kinds = [
        ("changed", 0u32),
        ("cut", 0),
        ("bus", 0),
        ("grant held", 0),
        ("ended", 0),
    ];
    for record in faults.records() {
        let kind = match record.effect {
            Effect::Changed { .. } => 0,
            Effect::Cut { .. } => 1,
            Effect::Responded { .. } | Effect::ReadsSlow { .. } => 2,
            Effect::GrantHeld { .. } => 3,
            _ => 4,
        };
        kinds[kind].1 += 1;
    }
    for (kind, count) in kinds {
        println!("  {kind:<12}{count:>8}");
    }
    for (node, layer) in layers.iter().enumerate() {
        let stats = layer.stats();
        println!("node {node}: {} messages started", directions[node].started);
        let [eep, header, data, ep, timeout] = stats.link_errors;
        for (what, count) in [
            ("delivered", stats.delivered),
            ("failed", stats.failed),
            ("received", stats.received),
            ("sent again", stats.resent),
            ("epochs", stats.epochs),
            ("EEP", eep),
            ("header CRC", header),
            ("data CRC", data),
            ("EP", ep),
            ("timeout", timeout),
            ("PCI", stats.pci_errors),
            ("bad data", stats.bad_data),
            ("restarts", stats.restarts),
        ] {
            println!("  {what:<12}{count:>8}");
        }
        let wraps = layer.put().stats().posted / u64::from(ENTRIES);
        println!("  send ring wrapped about {wraps} times since the last start");
    }
    let lost: u32 = directions.iter().map(|way| way.started - way.told).sum();
    let failed: u32 = directions.iter().map(|way| way.failed).sum();
    println!(
        "lost: {lost}, failed: {failed}, {:.3} s simulated in {:.1} s",
        simulated.as_us_f64() / 1e6,
        took.as_secs_f64()
    );
    if lost > 0 || failed > 0 {
        return Err("messages were lost".into());
    }
    Ok(())
}
