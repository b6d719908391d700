// multipc: models of the MPC network, for C11 and C++17. hw/doc/use-beside-rtl.md
// leads through it.
//
// Made by cbindgen from hw/capi/src; not to be edited. It is compared, and with
// MULTIPC_WRITE=1 renewed, by: cargo test --manifest-path hw/capi/Cargo.toml --test header

#ifndef MULTIPC_H
#define MULTIPC_H

#include <stddef.h>
#include <stdint.h>

// Version of this interface: structures, functions, meanings. A program compares the
// value of its header with the library's, `multipc_check_abi(MULTIPC_ABI_VERSION)`.
#define MULTIPC_ABI_VERSION 2

// Silicon without errata.
#define MULTIPC_REVISION_IDEAL 0

// The first run, with its errata.
#define MULTIPC_REVISION_RUN_1 1

// The second run, with its errata.
#define MULTIPC_REVISION_RUN_2 2

// Done.
#define MULTIPC_OK 0

// A pointer is null.
#define MULTIPC_ERROR_NULL 1

// An argument is outside its range, or a pointer is not aligned.
#define MULTIPC_ERROR_ARGUMENT 2

// Header and library do not belong together.
#define MULTIPC_ERROR_ABI 3

// No machine of this shape can be built.
#define MULTIPC_ERROR_SHAPE 4

// Bytes outside the memory of a board.
#define MULTIPC_ERROR_MEMORY 5

// A configuration access ended badly on the bus.
#define MULTIPC_ERROR_BUS 6

// Not now: an access or an instruction is under way (or none that could be taken), the
// driver is starting, or open already, or the user has its identifiers.
#define MULTIPC_ERROR_BUSY 7

// The driver is not open.
#define MULTIPC_ERROR_CLOSED 8

// The driver has stopped its board after a fault; to be closed and opened again.
#define MULTIPC_ERROR_STOPPED 9

// No room: the ring of the driver, its users, its identifiers. Polling makes room in
// the ring.
#define MULTIPC_ERROR_FULL 10

// The driver does not reach this node by its links.
#define MULTIPC_ERROR_UNREACHABLE 11

// An entry that the controller must not be given.
#define MULTIPC_ERROR_PROTOCOL 12

// Faults of which one cannot be: a place that the machine lacks, a number never reached.
#define MULTIPC_ERROR_FAULT 13

// A text that does not say what it should.
#define MULTIPC_ERROR_TEXT 14

// A fault of the library itself; the handle is to be freed.
#define MULTIPC_ERROR_INTERNAL 99

// The direction of a cable that port `port` of router `index` drives.
#define MULTIPC_PLACE_ROUTER 1

// The wires to the router that the controller of node `index` drives.
#define MULTIPC_PLACE_NODE 2

// The PCI bus of node `index`.
#define MULTIPC_PLACE_BUS 3

// At this edge of the place's clock; 0 is the next one.
#define MULTIPC_WHEN_CYCLE 0

// On a cable: with this character, IDLE not counted.
#define MULTIPC_WHEN_CHARACTER 1

// On a cable: with this character of packets.
#define MULTIPC_WHEN_PACKET 2

// On a cable: with this data character.
#define MULTIPC_WHEN_DATA 3

// On a cable: with this EP or EEP.
#define MULTIPC_WHEN_END 4

// On a cable: with this FCC.
#define MULTIPC_WHEN_GRANT 5

// On a bus: with this memory transaction.
#define MULTIPC_WHEN_TRANSACTION 6

// On a bus: with this memory read.
#define MULTIPC_WHEN_READ 7

// On a bus: with this memory write.
#define MULTIPC_WHEN_WRITE 8

// Bits of the character are inverted: those of `value`, 0x001 to 0x1FF.
#define MULTIPC_FAULT_CORRUPT 1

// The character is lost.
#define MULTIPC_FAULT_DROP 2

// The character `value` takes the place of the next IDLE.
#define MULTIPC_FAULT_INSERT 3

// Both directions of the cable are without signal for `times` link cycles; `UINT64_MAX` is
// for ever.
#define MULTIPC_FAULT_CUT 4

// This direction alone is.
#define MULTIPC_FAULT_CUT_ONE_WAY 5

// The memory answers by retry, `times` transactions in a row, as all that follow.
#define MULTIPC_FAULT_RETRY 6

// `value` words, then a disconnect without data.
#define MULTIPC_FAULT_DISCONNECT_AFTER 7

// A disconnect with the word of number `value`.
#define MULTIPC_FAULT_DISCONNECT_WITH 8

// `value` words, then a target abort.
#define MULTIPC_FAULT_TARGET_ABORT 9

// `value` clocks more before the first word.
#define MULTIPC_FAULT_EXTRA_LATENCY 10

// `value` clocks lost before each word after the first.
#define MULTIPC_FAULT_WAIT_STATES 11

// Read data with a wrong parity bit.
#define MULTIPC_FAULT_BAD_PARITY 12

// No DEVSEL#: the initiator ends with a master abort.
#define MULTIPC_FAULT_NO_DEVSEL 13

// Reads take `value` clocks more, for `times` PCI cycles.
#define MULTIPC_FAULT_SLOW_READS 14

// GNT# is stuck high for `times` PCI cycles; `UINT64_MAX` is for ever.
#define MULTIPC_FAULT_HOLD_GRANT 15

// A record: the far end sees another line, `after` instead of `before`.
#define MULTIPC_EFFECT_CHANGED 1

// A record: what `what` says begins here.
#define MULTIPC_EFFECT_BEGUN 2

// A record: a cut, or a GNT# withheld, is over.
#define MULTIPC_EFFECT_OVER 3

// A record: the memory answers a transaction as `what` says.
#define MULTIPC_EFFECT_ANSWERED 4

// Most memory of all boards together, in bytes.
#define MULTIPC_MEMORY_MAX 4294967296

// A PE that asks for nobody.
#define MULTIPC_NO_PE 65535

// Boards of a machine at most, and chips of a stage.
#define MULTIPC_MASPAR_BOARDS 16

// No instruction is under way.
#define MULTIPC_MASPAR_IDLE 0

// `ropen` is under way.
#define MULTIPC_MASPAR_ROPEN 1

// `rfetchc` is under way.
#define MULTIPC_MASPAR_RFETCH 2

// Ports of a router.
#define MULTIPC_PORTS 8

// Bytes of a routing table.
#define MULTIPC_TABLE_BYTES 258

// A line: no signal, the sender is in reset.
#define MULTIPC_LINE_NO_SIGNAL 1024

// A line, beside a symbol: the FCC pulse of a parallel port.
#define MULTIPC_LINE_FCC 512

// Mask of the symbol of a line: bit 8 marks a control character.
#define MULTIPC_LINE_SYMBOL 511

// Control character: normal end of packet.
#define MULTIPC_EP 299

// Control character: exceptional end of packet.
#define MULTIPC_EEP 331

// Control character: 32 more characters may be sent.
#define MULTIPC_FCC 395

// Control character: filler.
#define MULTIPC_IDLE 427

// Not opened yet, or closed.
#define MULTIPC_PHASE_CLOSED 0

// Opened; what the board tells is ignored until `multipc_put_ready`.
#define MULTIPC_PHASE_STARTING 1

// Pages may be posted.
#define MULTIPC_PHASE_RUNNING 2

// Stopped after a fault, until it is closed and opened again.
#define MULTIPC_PHASE_STOPPED 3

// Pages that left and messages that arrived raise INTA#: `multipc_put_interrupt`.
#define MULTIPC_MODEL_INTERRUPT 0

// Only errors raise INTA#: `multipc_put_poll`.
#define MULTIPC_MODEL_POLLING 1

// A page with `MULTIPC_NOS` has left.
#define MULTIPC_PUT_SENT 1

// A message with `MULTIPC_LMI` has arrived.
#define MULTIPC_PUT_RECEIVED 2

// The board tells of error bits, now cleared: `status` has bits 23 to 12 of STATUS,
// `value` bits 30 to 27 and 24 of register 04h.
#define MULTIPC_PUT_ERRORS 3

// A pointer register, at `offset`, holds `value`, outside what was posted.
#define MULTIPC_PUT_BAD_POINTER 4

// STATUS, in `status`, counts pages or messages and there is none to acknowledge.
#define MULTIPC_PUT_LOOP 5

// No user owns the message identifier of this event.
#define MULTIPC_NO_SAP 4294967295

// Flag of an entry: the receiver counts the message when it is complete (needs
// `MULTIPC_LMI`).
#define MULTIPC_NOR 2147483648

// Flag of an entry: last page of the message.
#define MULTIPC_LMP 1073741824

// Flag of an entry: part of a composed message, without data.
#define MULTIPC_CM 536870912

// Flag of an entry: the receiver counts the packets.
#define MULTIPC_LRM 268435456

// Flag of an entry: the receiver gets a report when the message is complete.
#define MULTIPC_LMI 134217728

// Flag of an entry: short message, 8 bytes in `remote` and `local`, length 0.
#define MULTIPC_SM 67108864

// Flag of an entry: the sender counts the page when it has left (needs `MULTIPC_LMP`).
#define MULTIPC_NOS 33554432

// Users of a board at most.
#define MULTIPC_SAPS 6

// The link clock: routers, cables, the link side of the controllers.
#define MULTIPC_CLOCK_LINK 0

// The PCI clock: buses, host bridges, the PCI side of the controllers.
#define MULTIPC_CLOCK_PCI 1

// INTA# of a node, 0 is asserted.
#define MULTIPC_PIN_INTA 1

// REQ# of a node's controller, 0 is asserted.
#define MULTIPC_PIN_REQ 2

// The link status of a router, 8 bits.
#define MULTIPC_PIN_LINK_STATUS 4

// The line that a port of a router drives.
#define MULTIPC_PIN_LINE 8

// Most events that wait to be taken; more are lost and counted.
#define MULTIPC_EVENTS_MAX 65536

// A board.
typedef struct multipc_board multipc_board;

// A controller.
typedef struct multipc_ddc multipc_ddc;

// Boards and cables.
typedef struct multipc_machine multipc_machine;

// A MasPar router with what its PEs ask for.
typedef struct multipc_maspar multipc_maspar;

// The driver of one board.
typedef struct multipc_put multipc_put;

// A router.
typedef struct multipc_rcube multipc_rcube;

// What a call returns: `MULTIPC_OK` or one of `MULTIPC_ERROR_...`.
typedef int32_t multipc_status;

// The memory of a board, as calls to the harness. Words are little-endian; `addr` is a
// multiple of 4. They must not call the board back: it answers `MULTIPC_ERROR_BUSY`.
typedef struct multipc_memory {
  // Handed to each call.
  void *user;
  // Not 0: there is memory at `addr`; else nobody answers on the bus.
  uint8_t (*claims)(void *user, uint32_t addr);
  // The word at `addr`.
  uint32_t (*read)(void *user, uint32_t addr);
  // Writes the bytes `i` of `value` for which bit `i` of `enables` is 1.
  void (*write)(void *user, uint32_t addr, uint32_t value, uint8_t enables);
} multipc_memory;

// What a board drives.
typedef struct multipc_board_outputs {
  // A line a port of the router; port 0 is the controller's.
  uint16_t lines[MULTIPC_PORTS];
  // Bit `k`: link `k` of the router works.
  uint8_t link_status;
  // INTA#, a level.
  uint8_t inta_n;
  // REQ# of the controller.
  uint8_t req_n;
  // A configuration access has ended and waits to be taken.
  uint8_t config_done;
} multipc_board_outputs;

// What the ports of a router sample at a link clock edge.
typedef struct multipc_rcube_inputs {
  // A line a port: symbol, `MULTIPC_LINE_FCC`, or `MULTIPC_LINE_NO_SIGNAL`. Higher
  // bits are ignored.
  uint16_t lines[MULTIPC_PORTS];
} multipc_rcube_inputs;

// What the PCI side of the controller samples at a PCI clock edge.
typedef struct multipc_ddc_inputs {
  // AD.
  uint32_t ad;
  // C/BE#, 4 bits.
  uint8_t cbe_n;
  // PAR.
  uint8_t par;
  // FRAME#.
  uint8_t frame_n;
  // IRDY#.
  uint8_t irdy_n;
  // TRDY#.
  uint8_t trdy_n;
  // DEVSEL#.
  uint8_t devsel_n;
  // STOP#.
  uint8_t stop_n;
  // PERR#.
  uint8_t perr_n;
  // SERR#.
  uint8_t serr_n;
  // IDSEL, active high.
  uint8_t idsel;
  // GNT#.
  uint8_t gnt_n;
  // Link status of the router: bit `k`, link `k` works.
  uint8_t r3_status;
} multipc_ddc_inputs;

// What the PCI side of the controller drives after a PCI clock edge; `_oe` is 1 where it
// drives, 0 where it is released (the value is then that of the pull-up).
typedef struct multipc_ddc_outputs {
  // AD.
  uint32_t ad;
  // AD is driven.
  uint8_t ad_oe;
  // C/BE#.
  uint8_t cbe_n;
  // C/BE# is driven.
  uint8_t cbe_oe;
  // PAR.
  uint8_t par;
  // PAR is driven.
  uint8_t par_oe;
  // FRAME#.
  uint8_t frame_n;
  // FRAME# is driven.
  uint8_t frame_oe;
  // IRDY#.
  uint8_t irdy_n;
  // IRDY# is driven.
  uint8_t irdy_oe;
  // TRDY#.
  uint8_t trdy_n;
  // TRDY# is driven.
  uint8_t trdy_oe;
  // DEVSEL#.
  uint8_t devsel_n;
  // DEVSEL# is driven.
  uint8_t devsel_oe;
  // STOP#.
  uint8_t stop_n;
  // STOP# is driven.
  uint8_t stop_oe;
  // PERR#.
  uint8_t perr_n;
  // PERR# is driven.
  uint8_t perr_oe;
  // SERR#, open drain: low or released.
  uint8_t serr_n;
  // SERR# is driven.
  uint8_t serr_oe;
  // REQ#.
  uint8_t req_n;
  // INTA#, a level.
  uint8_t inta_n;
  // R3_INIT: releases the router.
  uint8_t r3_init;
  // A byte for the router's configuration chain is on `r3_dout` in this cycle.
  uint8_t r3_strobe;
  // R3_DOUT.
  uint8_t r3_dout;
} multipc_ddc_outputs;

// One fault of a script.
typedef struct multipc_fault {
  // `MULTIPC_PLACE_...`.
  uint32_t place;
  // Router or node.
  uint32_t index;
  // Port of the router, else 0.
  uint32_t port;
  // `MULTIPC_WHEN_...`.
  uint32_t when;
  // Which one, from 1, counted from the moment the faults are set.
  uint64_t number;
  // `MULTIPC_FAULT_...`, those up to `MULTIPC_FAULT_CUT_ONE_WAY` on cables, the others on
  // buses.
  uint32_t what;
  // See `what`; else ignored.
  uint32_t value;
  // See `what`; else ignored. 0 acts as 1.
  uint64_t times;
} multipc_fault;

// Faults at random, the same for the same seed. Rates are probabilities, 0 to 1: of cables
// for each character of a direction, of buses for each memory transaction.
typedef struct multipc_random_faults {
  // The seed.
  uint64_t seed;
  // A character gets one to nine of its bits inverted.
  double corrupt;
  // A character is lost.
  double drop;
  // A character takes the place of the next IDLE.
  double insert;
  // The cable is cut in both directions, for 1 to `cut_cycles` cycles.
  double cut;
  // Retry.
  double retry;
  // Disconnect after 1 to 16 words.
  double disconnect;
  // Target abort, at once or after up to 15 words.
  double target_abort;
  // No DEVSEL#.
  double no_devsel;
  // Wrong parity of read data.
  double parity;
  // 1 to `delay_clocks` clocks more before the first word.
  double delay;
  // GNT# is withheld for 1 to `hold_cycles` cycles.
  double hold_grant;
  // The longest cut, in link cycles; 0 acts as 1.
  uint32_t cut_cycles;
  // The longest delay, in PCI clocks; 0 acts as 1.
  uint32_t delay_clocks;
  // The longest time without grant, in PCI cycles; 0 acts as 1.
  uint32_t hold_cycles;
  // Not 0: the wires between controllers and routers are disturbed as well.
  uint8_t boards;
} multipc_random_faults;

// One thing that a fault did.
typedef struct multipc_fault_record {
  // The edge: of the link clock on a cable, of the PCI clock on a bus.
  uint64_t cycle;
  // `MULTIPC_EFFECT_...`.
  uint32_t effect;
  // `MULTIPC_PLACE_...`.
  uint32_t place;
  // Router or node.
  uint32_t index;
  // Port of the router.
  uint32_t port;
  // `MULTIPC_FAULT_...`; 0 where a line was changed. A cut of one direction is one, too.
  uint32_t what;
  // The number that goes with `what`.
  uint32_t value;
  // Which character of this direction, or transaction of this bus, from 1.
  uint64_t number;
  // Cycles from here on, `UINT64_MAX` for ever.
  uint64_t times;
  // Address of the transaction.
  uint32_t address;
  // The line that was driven.
  uint16_t before;
  // The line that goes on.
  uint16_t after;
  // The transaction is a write.
  uint8_t write;
} multipc_fault_record;

// What is chosen about a machine; `multipc_machine_config_default` fills it in.
typedef struct multipc_machine_config {
  // Frequency of the link clock, in hertz. Default 66 MHz.
  uint64_t link_hz;
  // Frequency of the PCI clock, in hertz. Default 33.33 MHz.
  uint64_t pci_hz;
  // Physical address of the memory of each board. Default 0.
  uint32_t memory_base;
  // Bytes of it. Default 1 MiB.
  uint32_t memory_bytes;
  // Silicon, `MULTIPC_REVISION_...`. Default ideal.
  uint32_t revision;
} multipc_machine_config;

// What a machine is and where it stands.
typedef struct multipc_machine_state {
  // The present, in picoseconds.
  uint64_t time_ps;
  // Edges of the link clock so far.
  uint64_t link_cycle;
  // Edges of the PCI clock so far.
  uint64_t pci_cycle;
  // Events that were lost because nobody took them.
  uint64_t events_lost;
  // Nodes.
  uint32_t nodes;
  // Routers.
  uint32_t routers;
} multipc_machine_state;

// One clock edge.
typedef struct multipc_edge {
  // The number of the edge, from 1.
  uint64_t cycle;
  // When it is, in picoseconds.
  uint64_t time_ps;
  // `MULTIPC_CLOCK_...`.
  uint32_t clock;
} multipc_edge;

// A watched pin has changed.
typedef struct multipc_event {
  // The edge of `clock` after which the pin carries `after`, from 1.
  uint64_t cycle;
  // When that edge is, in picoseconds.
  uint64_t time_ps;
  // `MULTIPC_CLOCK_...`.
  uint32_t clock;
  // `MULTIPC_PIN_...`.
  uint32_t pin;
  // The node or the router.
  uint32_t index;
  // The port of `MULTIPC_PIN_LINE`, else 0.
  uint32_t port;
  // What it carried.
  uint32_t before;
  // What it carries.
  uint32_t after;
} multipc_event;

// The structure of a MasPar router; `multipc_maspar_config_preset` fills it in. What each
// choice rests on: hw/doc/maspar.md.
typedef struct multipc_maspar_config {
  // PEs: 1024, 2048, 4096, 8192 or 16,384.
  uint32_t pes;
  // `ropen`, in ticks.
  uint32_t ropen_ticks;
  // `rfetchc` without its data bits, in ticks.
  uint32_t transfer_ticks;
  // The rest of one time round the loop, in ticks.
  uint32_t rest_ticks;
  // The four bits of the target cluster's number that steer stage 1, most significant
  // first.
  uint8_t group[4];
  // Not 0: stage-1 chips are four crossbars instead of hyperbars.
  uint8_t crossbars;
  // The two bits of the source cluster's number that choose the crossbar.
  uint8_t crossbar_bits[2];
  // The stage-1 wires in the order of their priority at stage 2.
  uint8_t stage2_wires[4];
  // Not 0: stage 2 has all wires of one board, then those of the next; else one wire of
  // all boards, then the next wire.
  uint8_t board_by_board;
  // The stage-2 wires in the order of their priority at stage 3.
  uint8_t stage3_wires[4];
  // Not 0: a cluster puts forward its highest PE that asks, else its lowest.
  uint8_t highest;
} multipc_maspar_config;

// What the loop over a pattern did.
typedef struct multipc_maspar_report {
  // Ticks from the first `ropen` to the last branch.
  uint64_t ticks;
  // Times round the loop: router cycles.
  uint32_t cycles;
  // PEs served.
  uint32_t served;
} multipc_maspar_report;

// Where a router stands.
typedef struct multipc_maspar_state {
  // Ticks so far, of all instructions.
  uint64_t ticks;
  // `MULTIPC_MASPAR_...`.
  uint32_t instruction;
  // The tick of the instruction that comes next, from 0.
  uint32_t tick;
  // PEs that ask and were not served yet (`tflag` is 1).
  uint32_t asking;
  // Paths that their sources know of.
  uint32_t connected;
} multipc_maspar_state;

// The wires at the inputs of a stage: a word a chip (a board), a bit an input.
typedef struct multipc_maspar_wires {
  // Requests.
  uint64_t request[MULTIPC_MASPAR_BOARDS];
  // Address bits.
  uint64_t data[MULTIPC_MASPAR_BOARDS];
  // Acknowledgements and fetched bits, on their way back.
  uint64_t back[MULTIPC_MASPAR_BOARDS];
} multipc_maspar_wires;

// A path, and what came back over it.
typedef struct multipc_maspar_path {
  // The value fetched so far.
  uint64_t value;
  // The PE that asked.
  uint32_t source;
  // The PE that it asked for.
  uint32_t target;
} multipc_maspar_path;

// What a driver touches of its board. Each call gets `user` and `node` and returns
// `MULTIPC_OK`, or a status that comes back from the call of the driver. They must not
// call that driver back (it answers `MULTIPC_ERROR_BUSY`) and must not throw.
typedef struct multipc_hardware {
  // Handed to each call.
  void *user;
  // Handed to each call.
  uint32_t node;
  // The register at `offset` of the configuration space into `*value`.
  multipc_status (*read)(void *user, uint32_t node, uint8_t offset, uint32_t *value);
  // Writes it.
  multipc_status (*write)(void *user, uint32_t node, uint8_t offset, uint32_t value);
  // Copies `len` bytes of the memory that the controller reaches, from physical
  // address `addr`, to `bytes`.
  multipc_status (*load)(void *user, uint32_t node, uint32_t addr, uint8_t *bytes, size_t len);
  // Copies `len` bytes to that memory. They are there before the next `write`.
  multipc_status (*store)(void *user,
                          uint32_t node,
                          uint32_t addr,
                          const uint8_t *bytes,
                          size_t len);
  // Whether INTA# is asserted, 1 or 0 into `*asserted`. May be null: only the first
  // run of the silicon needs it.
  multipc_status (*inta)(void *user, uint32_t node, uint8_t *asserted);
} multipc_hardware;

// Where a driver stands, and its counters.
typedef struct multipc_put_state {
  // `MULTIPC_PHASE_...`.
  uint32_t phase;
  // Entries that can be posted now.
  uint32_t room;
  // The number that the next entry will have; the first one after an opening has 0.
  uint64_t next;
  // Every entry below this number was read by the controller, and those with
  // `MULTIPC_NOS` have left.
  uint64_t retired;
  // Entries posted since the driver was made, as all that follows.
  uint64_t posted;
  // Pages acknowledged as sent.
  uint64_t sent;
  // Reports taken.
  uint64_t received;
  // Acknowledgements written for pages.
  uint64_t acknowledged_pages;
  // Acknowledgements written for messages.
  uint64_t acknowledged_messages;
  // Pages and messages whose identifier no user owns.
  uint64_t unclaimed;
  // Interrupts without a cause.
  uint32_t spurious;
  // Faults told.
  uint32_t faults;
} multipc_put_state;

// What a driver is told when it is opened; `multipc_put_config_default` fills it in.
typedef struct multipc_put_config {
  // `MULTIPC_TABLE_BYTES` for the board's router (`multipc_machine_table`), read
  // during the call. Null: no node is reached by links.
  const uint8_t *table;
  // Physical address of the driver's tables, a multiple of 16; they take
  // 32 `entries` + 4 `counters` bytes.
  uint32_t base;
  // Entries of each of the two rings, 2 to 65,536, one less usable. Default 1024.
  uint32_t entries;
  // Packet counters, 0 to 2^24. Default 65,536.
  uint32_t counters;
  // This node. Default: the one of the hardware.
  uint32_t node;
  // Nodes of the machine, 1 to 256. Default 16.
  uint32_t nodes;
  // `MULTIPC_MODEL_...`. Default interrupt.
  uint32_t model;
  // The silicon whose faults the driver works around, `MULTIPC_REVISION_...`.
  // Default ideal.
  uint32_t revision;
  // Whose error handling it has: that of the drivers of the two runs, or ours,
  // `MULTIPC_REVISION_...`. Default ideal (ours).
  uint32_t policy;
  // Physical address, a multiple of 4, of 65,544 bytes for pages that the first run
  // cannot read in place; 0, the default, is none.
  uint32_t bounce;
  // Entries kept back in the count of free ones. Default 0.
  uint32_t reserve;
  // Not 0: packets are counted; composed messages need it. Default 0.
  uint8_t count_packets;
  // Not 0: one write acknowledges up to 4096 pages or messages. Default 0: one.
  uint8_t weighted;
  // Not 0: reports are looked at only while a message is counted, as the driver of
  // the record does. Default 0.
  uint8_t when_counted;
  // Not 0: a layer above sends lost messages again, so that errors of a link do not
  // stop the board. Default 0.
  uint8_t recovery;
  // Not 0: register 00h may hold anything. Default 0: it must hold 0.
  uint8_t any_identity;
} multipc_put_config;

// How an opening went.
typedef struct multipc_put_started {
  // STATUS at the end.
  uint32_t status;
  // 1: nodes are reached by links, since a table was loaded and the controller told
  // no error.
  uint8_t links;
} multipc_put_started;

// One entry to post. A page is contiguous in the physical memory of both nodes; there is
// nothing to pin, the controller takes the addresses as they are.
typedef struct multipc_entry {
  // Destination.
  uint32_t node;
  // Message identifier, 24 bits: one of the sender's user, and of the receiver's.
  uint32_t mi;
  // The sum of `MULTIPC_NOR` ... `MULTIPC_NOS`.
  uint32_t flags;
  // Bytes of the page, 1 to 65,535; 0 for short and composed messages.
  uint32_t length;
  // Physical address there; first word of a short message.
  uint32_t remote;
  // Physical address here; second word of a short message.
  uint32_t local;
} multipc_entry;

// What the driver tells, once.
typedef struct multipc_put_event {
  // `MULTIPC_PUT_...`.
  uint32_t kind;
  // The user that owns the message identifier, or `MULTIPC_NO_SAP`.
  uint32_t sap;
  // Sent: the page as it was posted. Received: `mi` is set, the rest 0.
  struct multipc_entry entry;
  // Received: the data of a short message.
  uint32_t data[2];
  // See `MULTIPC_PUT_ERRORS`, `MULTIPC_PUT_LOOP`.
  uint32_t status;
  // See `MULTIPC_PUT_ERRORS`, `MULTIPC_PUT_BAD_POINTER`.
  uint32_t value;
  // Received: packets of the message.
  uint16_t packets;
  // Received: 1 when it was a short message.
  uint8_t short_message;
  // See `MULTIPC_PUT_BAD_POINTER`.
  uint8_t offset;
  // A fault: 1 when the board was stopped for it.
  uint8_t stopped;
} multipc_put_event;

// What one call of `multipc_put_poll` or `multipc_put_interrupt` did.
typedef struct multipc_put_served {
  // Events written.
  size_t events;
  // Ring entries taken back from the controller.
  uint16_t descriptors;
  // Reports taken.
  uint16_t reports;
  // 1: there is more, call again.
  uint8_t more;
  // 1: the interrupt had a cause; always so for polls.
  uint8_t cause;
} multipc_put_served;

// How a router is wired.
typedef struct multipc_rcube_config {
  // Bit `k`: port `k` is parallel (a controller's), else serial (a cable's).
  uint8_t parallel;
  // Not 0: start-up counts of 1, so that links come up in a few cycles.
  uint8_t quick;
} multipc_rcube_config;

// What the ports of a router drive after a link clock edge.
typedef struct multipc_rcube_outputs {
  // A line a port.
  uint16_t lines[MULTIPC_PORTS];
  // Bit `k`: link `k` works.
  uint8_t link_status;
} multipc_rcube_outputs;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the interface that the library has.
uint32_t multipc_abi_version(void);

// `MULTIPC_ERROR_ABI` unless the library has the version of the program's header.
multipc_status multipc_check_abi(uint32_t version);

// The version of the library, as text; never null, never to be freed.
const char *multipc_version(void);

// Reads the register at `offset` by a configuration cycle on the node's bus; time goes
// on until it is over. Nobody there reads as all ones.
multipc_status multipc_machine_config_read(struct multipc_machine *machine,
                                           uint32_t node,
                                           uint8_t offset,
                                           uint32_t *value);

// Writes the register at `offset` by a configuration cycle on the node's bus; time goes
// on until it is over.
multipc_status multipc_machine_config_write(struct multipc_machine *machine,
                                            uint32_t node,
                                            uint8_t offset,
                                            uint32_t value);

// Whether INTA# of the node is asserted: 1 or 0 into `*asserted`. When it changes:
// `multipc_machine_watch` with `MULTIPC_PIN_INTA`.
multipc_status multipc_machine_interrupt(const struct multipc_machine *machine,
                                         uint32_t node,
                                         uint8_t *asserted);

// Copies `len` bytes from the node's memory at `addr`; takes no time.
multipc_status multipc_machine_memory_read(const struct multipc_machine *machine,
                                           uint32_t node,
                                           uint32_t addr,
                                           uint8_t *bytes,
                                           size_t len);

// Copies `len` bytes to the node's memory at `addr`; takes no time.
multipc_status multipc_machine_memory_write(struct multipc_machine *machine,
                                            uint32_t node,
                                            uint32_t addr,
                                            const uint8_t *bytes,
                                            size_t len);

// The node's memory in place: `*bytes` leads to the `len` bytes at `addr`, to be read
// only, until the next call with this machine.
multipc_status multipc_machine_memory_view(const struct multipc_machine *machine,
                                           uint32_t node,
                                           uint32_t addr,
                                           size_t len,
                                           const uint8_t **bytes);

// A board after power-on, with silicon `MULTIPC_REVISION_...`, into `*out`.
multipc_status multipc_board_new(uint32_t revision,
                                 const struct multipc_memory *memory,
                                 struct multipc_board **out);

// Frees a board; null is nothing.
void multipc_board_free(struct multipc_board *board);

// One PCI clock edge of the whole board.
multipc_status multipc_board_step_pci(struct multipc_board *board,
                                      struct multipc_board_outputs *outputs);

// One link clock edge of router and controller: samples `inputs` (port 0 is the
// controller's, its line is ignored), then `*outputs` is what the pins carry. At
// coincident edges the link clock goes first.
multipc_status multipc_board_step_link(struct multipc_board *board,
                                       const struct multipc_rcube_inputs *inputs,
                                       struct multipc_board_outputs *outputs);

// Lets the bridge begin a configuration access at the next PCI clock edges: a read of
// the register at `offset`, or with `write` not 0 a write of `value`. One at a time;
// `multipc_board_config_take` ends it.
multipc_status multipc_board_config_start(struct multipc_board *board,
                                          uint8_t offset,
                                          uint8_t write,
                                          uint32_t value);

// The value read or written by the configuration access that has ended;
// `MULTIPC_ERROR_BUSY` while there is none. One that nobody answered reads as all ones.
multipc_status multipc_board_config_take(struct multipc_board *board, uint32_t *value);

// What a board drives since its last edges.
multipc_status multipc_board_pins(struct multipc_board *board,
                                  struct multipc_board_outputs *outputs);

// The register at `offset`, a multiple of 4, without a bus access and its side effects.
multipc_status multipc_board_register(struct multipc_board *board,
                                      uint8_t offset,
                                      uint32_t *value);

// A controller after power-on, `MULTIPC_REVISION_...`, into `*out`.
multipc_status multipc_ddc_new(uint32_t revision, struct multipc_ddc **out);

// Frees a controller; null is nothing.
void multipc_ddc_free(struct multipc_ddc *ddc);

// An idle bus: nothing asserted, no grant, all links down.
multipc_status multipc_ddc_idle_inputs(struct multipc_ddc_inputs *inputs);

// One PCI clock edge: samples `inputs`, then `*outputs` is what is driven.
multipc_status multipc_ddc_step_pci(struct multipc_ddc *ddc,
                                    const struct multipc_ddc_inputs *inputs,
                                    struct multipc_ddc_outputs *outputs);

// PCI clock edges with the same `inputs`, until an output pin changes or `cycles` edges
// are done. `*outputs` is what is driven then, `*changed` whether it has changed, and
// `*cycle` the number of the last edge, from 1 since the controller was made. The link
// side stands still meanwhile.
multipc_status multipc_ddc_run_until(struct multipc_ddc *ddc,
                                     const struct multipc_ddc_inputs *inputs,
                                     uint64_t cycles,
                                     struct multipc_ddc_outputs *outputs,
                                     uint8_t *changed,
                                     uint64_t *cycle);

// One link clock edge: samples the line `input` of the parallel port, then `*output` is
// the line that it drives.
multipc_status multipc_ddc_step_link(struct multipc_ddc *ddc, uint16_t input, uint16_t *output);

// What is driven since the last PCI clock edge.
multipc_status multipc_ddc_pins(const struct multipc_ddc *ddc,
                                struct multipc_ddc_outputs *outputs);

// The register at `offset`, a multiple of 4, without a bus access and its side effects.
multipc_status multipc_ddc_register(const struct multipc_ddc *ddc,
                                    uint8_t offset,
                                    uint32_t *value);

// What was wrong with the last call of this thread that failed; empty when none has.
// Valid until the next one fails; never null.
const char *multipc_last_error(void);

// The name of a status, as text: `"MULTIPC_OK"`. Never null, never to be freed.
const char *multipc_status_name(multipc_status status);

// Lets faults loose, from the next edges on: `count` of them, in any order, and those at
// random unless `random` is null. Those set before are taken off, and counting begins
// anew. `MULTIPC_ERROR_FAULT`: one of them cannot be, and the machine has none at all.
multipc_status multipc_machine_set_faults(struct multipc_machine *machine,
                                          const struct multipc_fault *faults,
                                          size_t count,
                                          const struct multipc_random_faults *random);

// Lets faults loose from the text of a TOML file (hw/doc/faults.md, "As a file"); else as
// `multipc_machine_set_faults`. `MULTIPC_ERROR_TEXT`, with the number of the line: the
// faults are those of before.
multipc_status multipc_machine_set_faults_text(struct multipc_machine *machine,
                                               const char *text);

// Takes the faults off: cut cables carry again what their ends drive, GNT# is given again.
// Their records are gone, too. None set is no error.
multipc_status multipc_machine_take_faults(struct multipc_machine *machine);

// What the faults did, oldest first, from record `first` (from 0) on: at most `capacity`
// into `records`, how many into `*count`, and how many there were since the faults were
// set into `*total`. The newest 4,096 are kept; of older ones the first that is kept comes
// instead.
multipc_status multipc_machine_fault_records(const struct multipc_machine *machine,
                                             uint64_t first,
                                             struct multipc_fault_record *records,
                                             size_t capacity,
                                             size_t *count,
                                             uint64_t *total);

// The record in words; `capacity` bytes at `text`, the zero at the end included, are enough
// or the words are cut.
multipc_status multipc_fault_record_text(const struct multipc_fault_record *record,
                                         char *text,
                                         size_t capacity);

// The router that a node's controller is wired to: its number is not that of the node
// in every shape.
multipc_status multipc_machine_router_of(const struct multipc_machine *machine,
                                         uint32_t node,
                                         uint32_t *router);

// Runs until every port with something plugged in shows its link working, at most to
// `time_ps`: 1 or 0 into `*up`. Watched pins do not stop it; their events wait.
multipc_status multipc_machine_run_until_links(struct multipc_machine *machine,
                                               uint64_t time_ps,
                                               uint8_t *up);

// The recommended configuration.
multipc_status multipc_machine_config_default(struct multipc_machine_config *config);

// A machine after power-on, into `*out`. `shape` names it: `pair`, `line:N`, `ring:N`,
// `mesh:AxB`, `torus:AxB`, `hypercube:D`, `tree:NxC`, `fat-tree:LxH`, `star:N`.
multipc_status multipc_machine_new(const char *shape,
                                   const struct multipc_machine_config *config,
                                   struct multipc_machine **out);

// Frees a machine; null is nothing.
void multipc_machine_free(struct multipc_machine *machine);

// What a machine is and where it stands.
multipc_status multipc_machine_look(const struct multipc_machine *machine,
                                    struct multipc_machine_state *state);

// The routing table of a router, `MULTIPC_TABLE_BYTES` into `table`: what the software
// of its board writes to R3_DOUT, last byte first.
multipc_status multipc_machine_table(const struct multipc_machine *machine,
                                     uint32_t router,
                                     uint8_t *table);

// Loads the table of a router without a board (a fat tree has some) and releases it.
multipc_status multipc_machine_load_table(struct multipc_machine *machine, uint32_t router);

// The pins to report from now on: the sum of `MULTIPC_PIN_...`. Events that wait are
// forgotten.
multipc_status multipc_machine_watch(struct multipc_machine *machine, uint32_t pins);

// Carries out the next clock edge.
multipc_status multipc_machine_step(struct multipc_machine *machine, struct multipc_edge *edge);

// Runs until a watched pin changes, or to `time_ps`. The changes of that edge are
// written to `events`, at most `capacity`; `*count` is how many, 0 when the time was
// reached. Changes that found no room, and those of configuration accesses made since,
// come with the next call, before the machine goes on. With `capacity` 0 nothing stops
// the run and `events` may be null.
multipc_status multipc_machine_run_until_time(struct multipc_machine *machine,
                                              uint64_t time_ps,
                                              struct multipc_event *events,
                                              size_t capacity,
                                              size_t *count);

// As `multipc_machine_run_until_time`, up to and including edge `cycle` of a clock,
// `MULTIPC_CLOCK_...`.
multipc_status multipc_machine_run_until_cycle(struct multipc_machine *machine,
                                               uint32_t clock,
                                               uint64_t cycle,
                                               struct multipc_event *events,
                                               size_t capacity,
                                               size_t *count);

// A router at rest, nobody asking, into `*out`.
multipc_status multipc_maspar_new(const struct multipc_maspar_config *config,
                                  struct multipc_maspar **out);

// Frees a router; null is nothing.
void multipc_maspar_free(struct multipc_maspar *maspar);

// A pattern by name for this machine, one target a PE into `targets`: `bit-reversal`,
// `shuffle`, `shift:-5`, `random:7`, `all-to:0`, ... A wrong name is answered with all of
// them.
multipc_status multipc_maspar_pattern(const struct multipc_maspar *maspar,
                                      const char *name,
                                      uint16_t *targets,
                                      size_t count);

// Loads what each PE asks for, `MULTIPC_NO_PE` for nobody; paths are taken down and an
// instruction under way ends.
multipc_status multipc_maspar_load(struct multipc_maspar *maspar,
                                   const uint16_t *targets,
                                   size_t count);

// The loop `ropen`, `rfetchc`, `gor1` over what is loaded, until nobody asks: each PE
// that asks gets `values[target]` into its element of `into`; the other elements stay.
// `width` is 8, 16, 32 or 64 bits. The ticks are counted as if each had been stepped.
// Afterwards nobody asks.
multipc_status multipc_maspar_route(struct multipc_maspar *maspar,
                                    uint32_t width,
                                    const uint64_t *values,
                                    uint64_t *into,
                                    size_t count,
                                    struct multipc_maspar_report *report);

// A structure with a name, into `*config`: `mp1`, `mp2`, `no-reversal`,
// `board-by-board`, `stage3-descending`, `crossbars`.
multipc_status multipc_maspar_config_preset(const char *name,
                                            struct multipc_maspar_config *config);

// Starts `ropen` of every PE whose `tflag` is 1: open paths are taken down.
// `MULTIPC_ERROR_BUSY` while an instruction is under way.
multipc_status multipc_maspar_ropen(struct multipc_maspar *maspar);

// Starts `rfetchc` over the open paths: `values` is what each PE holds, `width` 8, 16, 32
// or 64 bits of it. At its end the `tflag` of each PE that was connected is 0.
// `MULTIPC_ERROR_BUSY` while an instruction is under way.
multipc_status multipc_maspar_rfetch(struct multipc_maspar *maspar,
                                     uint32_t width,
                                     const uint64_t *values,
                                     size_t count);

// `gor1`: whether any `tflag` is 1, 1 or 0 into `*any`; takes the ticks of the rest of
// the loop. `MULTIPC_ERROR_BUSY` while an instruction is under way.
multipc_status multipc_maspar_gor1(struct multipc_maspar *maspar, uint8_t *any);

// So many ticks of the clock, or fewer when the instruction ends before; where the
// router stands then into `*state`.
multipc_status multipc_maspar_step(struct multipc_maspar *maspar,
                                   uint32_t ticks,
                                   struct multipc_maspar_state *state);

// Where the router stands.
multipc_status multipc_maspar_look(const struct multipc_maspar *maspar,
                                   struct multipc_maspar_state *state);

// The wires at the inputs of stage 1, 2 or 3, or of the PE selects (4).
multipc_status multipc_maspar_pins(const struct multipc_maspar *maspar,
                                   uint32_t stage,
                                   struct multipc_maspar_wires *wires);

// The paths that their sources know of, and what came back over each: at most `capacity`
// into `paths`, in the order of the clusters; how many there are into `*count`.
multipc_status multipc_maspar_paths(const struct multipc_maspar *maspar,
                                    struct multipc_maspar_path *paths,
                                    size_t capacity,
                                    size_t *count);

// A driver, not opened yet, of this hardware, into `*out`. The calls of `hardware` are
// copied.
multipc_status multipc_put_new(const struct multipc_hardware *hardware,
                               struct multipc_put **out);

// Frees a driver; null is nothing. The board is not touched.
void multipc_put_free(struct multipc_put *put);

// Where the driver stands, and its counters; touches no hardware.
multipc_status multipc_put_look(const struct multipc_put *put, struct multipc_put_state *state);

// The recommended configuration for a driver.
multipc_status multipc_put_config_default(const struct multipc_put *put,
                                          struct multipc_put_config *config);

// Opens the driver: soft resets, rings, routing table, enables (hw/doc/put.md, "Start").
// On silicon a second passes before `multipc_put_ready`; on a machine it is enough that
// the links work.
multipc_status multipc_put_open(struct multipc_put *put,
                                const struct multipc_put_config *config,
                                struct multipc_put_started *started);

// Ends the time after an opening in which what the board tells is ignored; in other
// phases nothing.
multipc_status multipc_put_ready(struct multipc_put *put);

// Closes the driver: users, identifiers and events that wait are gone. The board is not
// touched.
multipc_status multipc_put_close(struct multipc_put *put);

// One round of the polling model: errors, then at most `budget` entries of each ring,
// oldest first. Events are written to `events`, at most `capacity`; those that find no
// room come with the next calls, before the board is looked at again.
multipc_status multipc_put_poll(struct multipc_put *put,
                                uint16_t budget,
                                struct multipc_put_event *events,
                                size_t capacity,
                                struct multipc_put_served *served);

// The interrupt handler; to be called while INTA# is asserted, which is a level: it
// falls when every cause is acknowledged. Else as `multipc_put_poll`.
multipc_status multipc_put_interrupt(struct multipc_put *put,
                                     uint16_t budget,
                                     struct multipc_put_event *events,
                                     size_t capacity,
                                     struct multipc_put_served *served);

// The event in words: `"board reports eep; stopped"`; `capacity` bytes at `text`, the
// zero at the end included, are enough or the words are cut.
multipc_status multipc_put_event_text(const struct multipc_put_event *event,
                                      char *text,
                                      size_t capacity);

// The hardware of a node of a machine, into `*hardware`: accesses to registers take
// their bus cycles, memory takes no time. It is good as long as the machine lives.
multipc_status multipc_machine_hardware(struct multipc_machine *machine,
                                        uint32_t node,
                                        struct multipc_hardware *hardware);

// Posts the entries of a message, all or none, with one write of LPE_NEW; the number of
// the last one into `*sequence`. `MULTIPC_ERROR_FULL` goes away by polling.
multipc_status multipc_put_post(struct multipc_put *put,
                                const struct multipc_entry *entries,
                                size_t count,
                                uint64_t *sequence);

// Whether the entry of this number is known to have left: 1 or 0 into `*left`. One
// without `MULTIPC_NOS` is known to only when the controller has gone beyond the entry
// behind it. Touches no hardware: poll first.
multipc_status multipc_put_has_left(const struct multipc_put *put,
                                    uint64_t sequence,
                                    uint8_t *left);

// Expects a composed message of `senders` parts under `mi`.
multipc_status multipc_put_expect(struct multipc_put *put, uint32_t mi, uint32_t senders);

// Registers a user of the board (a SAP) in the first free slot; its number, from 0,
// into `*sap`.
multipc_status multipc_put_register_sap(struct multipc_put *put, uint32_t *sap);

// Takes a user off the board and frees its message identifiers.
multipc_status multipc_put_unregister_sap(struct multipc_put *put, uint32_t sap);

// Gives a user `n` message identifiers, a power of 2, once; the first of them into
// `*start`. All nodes that register and attach in the same order get the same ones.
multipc_status multipc_put_attach(struct multipc_put *put,
                                  uint32_t sap,
                                  uint32_t n,
                                  uint32_t *start);

// Says whether a node is reached by links (not 0) or not; all are after an opening with
// `links` 1.
multipc_status multipc_put_reach(struct multipc_put *put, uint32_t node, uint8_t reached);

// A router in reset, its configuration chain all zero, into `*out`.
multipc_status multipc_rcube_new(const struct multipc_rcube_config *config,
                                 struct multipc_rcube **out);

// Frees a router; null is nothing.
void multipc_rcube_free(struct multipc_rcube *rcube);

// One PCI clock edge of the configuration pins: with R3_INIT low, a strobe shifts the
// byte `dout` into the chain (byte 257 of a table first).
multipc_status multipc_rcube_chain(struct multipc_rcube *rcube,
                                   uint8_t r3_init,
                                   uint8_t strobe,
                                   uint8_t dout);

// Shifts a whole table of `MULTIPC_TABLE_BYTES` in and raises R3_INIT.
multipc_status multipc_rcube_configure(struct multipc_rcube *rcube, const uint8_t *table);

// The table in which every input has the same eight bounds (ascending) and selections
// (bit `k`: output `k`), with two-character headers: `MULTIPC_TABLE_BYTES` into `table`.
multipc_status multipc_table_uniform(const uint16_t *bounds,
                                     const uint8_t *selections,
                                     uint8_t *table);

// One link clock edge: samples `inputs`, then `*outputs` is what the pins carry.
multipc_status multipc_rcube_step(struct multipc_rcube *rcube,
                                  const struct multipc_rcube_inputs *inputs,
                                  struct multipc_rcube_outputs *outputs);

// Link clock edges with the same `inputs`, until an output pin changes or `cycles` edges
// are done. `*outputs` is what the pins carry then, `*changed` whether they have, and
// `*cycle` the number of the last edge, from 1 since the router was made.
multipc_status multipc_rcube_run_until(struct multipc_rcube *rcube,
                                       const struct multipc_rcube_inputs *inputs,
                                       uint64_t cycles,
                                       struct multipc_rcube_outputs *outputs,
                                       uint8_t *changed,
                                       uint64_t *cycle);

// What the pins carry since the last edge.
multipc_status multipc_rcube_pins(const struct multipc_rcube *rcube,
                                  struct multipc_rcube_outputs *outputs);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MULTIPC_H */
