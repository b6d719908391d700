// Two boards, brought up by configuration accesses alone, and one page from board 0 into the
// memory of board 1. The sequence is that of hw/doc/put.md, section "Start".
//
// C11 and C++17:
//   cargo build --release --manifest-path hw/capi/Cargo.toml
//   cc -std=c11 -Ihw/capi/include hw/capi/examples/two_boards.c
//      hw/capi/target/release/libmultipc_capi.a -lpthread -ldl -lm -o two_boards
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multipc.h"

// Registers of the controller, by offset in its configuration space.
enum {
  PCI_COMMAND = 0x04,
  LATENCY = 0x0C,
  STATUS = 0x40,
  STATUS_MASK = 0x44,
  COMMAND = 0x48,
  LPE_MAX = 0x50,
  LPE_CURRENT = 0x54,
  LPE_NEW = 0x58,
  LPE_BASE = 0x5C,
  LMI_MAX = 0x60,
  LMI_CURRENT = 0x64,
  LMI_NEW = 0x68,
  LMI_BASE = 0x6C,
  LRM_BASE = 0x70,
  R3_DOUT = 0x74
};

// Two rings of eight entries of 16 bytes, then packet counters; pages above.
#define ENTRIES 8u
#define LME 0x1000u
#define LMR (LME + 16u * ENTRIES)
#define COUNTERS (LMR + 16u * ENTRIES)
#define SOURCE 0x8001u
#define TARGET 0x9002u

// Bits of STATUS that count, and flags of a descriptor: NOR, LMP, LMI, NOS.
#define PAGE_TRANSMITTED 0x80000000u
#define PAGE_RECEIVED 0x40000000u
#define NOTIFY_BOTH 0xCA000000u

static void check(multipc_status status, const char *what) {
  if (status != MULTIPC_OK) {
    fprintf(stderr, "%s: %s: %s\n", what, multipc_status_name(status), multipc_last_error());
    exit(1);
  }
}

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static uint32_t read_register(multipc_machine *machine, uint32_t node, uint8_t offset) {
  uint32_t value = 0;
  check(multipc_machine_config_read(machine, node, offset, &value), "read");
  return value;
}

static void write_register(multipc_machine *machine, uint32_t node, uint8_t offset,
                           uint32_t value) {
  check(multipc_machine_config_write(machine, node, offset, value), "write");
}

static uint64_t now_ps(const multipc_machine *machine) {
  multipc_machine_state state;
  check(multipc_machine_look(machine, &state), "look");
  return state.time_ps;
}

static void put_word(uint8_t *bytes, uint32_t word) {
  for (unsigned i = 0; i < 4; i++) {
    bytes[i] = (uint8_t)(word >> (8 * i));
  }
}

// The start of one controller and its router.
static void start(multipc_machine *machine, uint32_t node) {
  const uint32_t last = 16u * (ENTRIES - 1u);
  uint8_t table[MULTIPC_TABLE_BYTES];
  // One soft reset is not reliable on silicon: four, the table with the last.
  for (int pass = 1; pass <= 4; pass++) {
    const uint32_t latency = read_register(machine, node, LATENCY);
    write_register(machine, node, COMMAND, 0x00008000u);
    write_register(machine, node, LATENCY, latency | 0xFF00u);
    write_register(machine, node, STATUS_MASK, 0);
    write_register(machine, node, LPE_MAX, LME + last);
    write_register(machine, node, LPE_CURRENT, LME);
    write_register(machine, node, LPE_NEW, LME);
    write_register(machine, node, LPE_BASE, LME);
    write_register(machine, node, LMI_MAX, LMR + last);
    write_register(machine, node, LMI_NEW, LMR);
    write_register(machine, node, LMI_CURRENT, LMR);
    write_register(machine, node, LMI_BASE, LMR);
    write_register(machine, node, LRM_BASE, COUNTERS);
    if (pass == 4) {
      check(multipc_machine_table(machine, node, table), "table");
      for (size_t i = MULTIPC_TABLE_BYTES; i > 0; i--) {
        write_register(machine, node, R3_DOUT, table[i - 1]);
      }
    }
    write_register(machine, node, COMMAND, 0x80000000u);
    write_register(machine, node, COMMAND, 0x80004000u);
    write_register(machine, node, COMMAND, 0x80006000u);
    write_register(machine, node, COMMAND, 0x80007000u);
  }
  write_register(machine, node, STATUS_MASK, 0xC0FBF0FFu);
  write_register(machine, node, PCI_COMMAND, 0x00000104u);
  printf("node %u: started at %.3f us\n", node, (double)now_ps(machine) / 1e6);
}

// Both links of a router: to its board (0) and to the cable (1).
static void wait_for_links(multipc_machine *machine, uint32_t node) {
  const uint64_t limit = now_ps(machine) + 1000000000u;
  while ((read_register(machine, node, STATUS) & 0xFFu) != 0x03u) {
    size_t count = 0;
    if (now_ps(machine) > limit) {
      fail("links do not come up");
    }
    check(multipc_machine_run_until_time(machine, now_ps(machine) + 10000000u, NULL, 0, &count),
          "run");
  }
  printf("node %u: links 0 and 1 work at %.3f us\n", node, (double)now_ps(machine) / 1e6);
  // What start-up has counted as errors is forgotten.
  write_register(machine, node, STATUS, 0x00FFF000u);
  write_register(machine, node, PCI_COMMAND, 0x00000104u);
}

static void move(multipc_machine *machine, uint32_t length) {
  uint8_t page[4096];
  uint8_t descriptor[16];
  const uint8_t *found = NULL;
  multipc_event events[4];
  int told[2] = {0, 0};
  for (uint32_t i = 0; i < length; i++) {
    page[i] = (uint8_t)(i * 7u + (i >> 8));
  }
  check(multipc_machine_memory_write(machine, 0, SOURCE, page, length), "page");
  put_word(descriptor, 1u << 16 | length);      // node 1, length
  put_word(descriptor + 4, NOTIFY_BOTH | 0x42u); // flags, message identifier
  put_word(descriptor + 8, TARGET);
  put_word(descriptor + 12, SOURCE);
  check(multipc_machine_memory_write(machine, 0, LME, descriptor, sizeof descriptor), "entry");
  check(multipc_machine_watch(machine, MULTIPC_PIN_INTA), "watch");
  // First the entry, then the pointer behind it: the chip reads at once.
  write_register(machine, 0, LPE_NEW, LME + 16u);
  const uint64_t posted = now_ps(machine);
  while (!told[0] || !told[1]) {
    size_t count = 0;
    check(multipc_machine_run_until_time(machine, posted + 100000000u, events, 4, &count), "run");
    if (count == 0) {
      fail("no interrupt");
    }
    for (size_t i = 0; i < count; i++) {
      if (events[i].after == 0 && events[i].index < 2) {
        told[events[i].index] = 1;
        printf("node %u: INTA# low after PCI cycle %llu, %.3f us after LPE_NEW\n",
               events[i].index, (unsigned long long)events[i].cycle,
               (double)(events[i].time_ps - posted) / 1e6);
      }
    }
  }
  if ((read_register(machine, 0, STATUS) & PAGE_TRANSMITTED) == 0 ||
      (read_register(machine, 1, STATUS) & PAGE_RECEIVED) == 0) {
    fail("STATUS does not count the page");
  }
  if (read_register(machine, 1, LMI_NEW) != LMR + 16u) {
    fail("no report");
  }
  // Take the report back, acknowledge both: the lines rise.
  write_register(machine, 1, LMI_CURRENT, LMR + 16u);
  write_register(machine, 0, STATUS, PAGE_TRANSMITTED);
  write_register(machine, 1, STATUS, PAGE_RECEIVED);
  for (uint32_t node = 0; node < 2; node++) {
    uint8_t asserted = 1;
    check(multipc_machine_interrupt(machine, node, &asserted), "interrupt");
    if (asserted) {
      fail("INTA# stays low");
    }
  }
  check(multipc_machine_memory_view(machine, 1, TARGET, length, &found), "view");
  if (memcmp(found, page, length) != 0) {
    fail("the page is not what was sent");
  }
  printf("%u bytes right at node 1\n", length);
}

// Misuse is told, not suffered.
static void misuse(multipc_machine *machine) {
  uint32_t value = 0;
  if (multipc_machine_config_read(NULL, 0, 0, &value) != MULTIPC_ERROR_NULL ||
      multipc_machine_config_read(machine, 7, 0, &value) != MULTIPC_ERROR_ARGUMENT) {
    fail("misuse was not told");
  }
  printf("misuse: %s\n", multipc_last_error());
}

int main(void) {
  multipc_machine_config config;
  multipc_machine *machine = NULL;
  check(multipc_check_abi(MULTIPC_ABI_VERSION), "version");
  check(multipc_machine_config_default(&config), "configuration");
  config.memory_bytes = 0x10000u;
  check(multipc_machine_new("pair", &config, &machine), "machine");
  start(machine, 0);
  start(machine, 1);
  wait_for_links(machine, 0);
  wait_for_links(machine, 1);
  move(machine, 1000);
  misuse(machine);
  multipc_machine_free(machine);
  return 0;
}
