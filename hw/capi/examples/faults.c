// Faults between two boards: a flipped bit from the text of a file, then a cut cable and a stuck
// GNT# by calls, and what driver and link status make of them.
//
// C11 and C++17:
//   cargo build --release --manifest-path hw/capi/Cargo.toml
//   cc -std=c11 -Ihw/capi/include hw/capi/examples/faults.c
//      hw/capi/target/release/libmultipc_capi.a -lpthread -ldl -lm -o faults
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multipc.h"

static const char *const flipped =
    "[[cable]]\n"
    "from = \"router 0 port 1\"\n"
    "data = 30          # the 30th data character: one of the page\n"
    "corrupt = 0x10\n";

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

static uint64_t now_ps(const multipc_machine *machine) {
  multipc_machine_state state;
  check(multipc_machine_look(machine, &state), "look");
  return state.time_ps;
}

static void start(multipc_machine *machine, multipc_put *put, uint32_t node) {
  multipc_put_config config;
  multipc_put_started started;
  uint8_t table[MULTIPC_TABLE_BYTES];
  uint32_t router = 0;
  uint8_t up = 0;
  check(multipc_put_config_default(put, &config), "configuration");
  check(multipc_machine_router_of(machine, node, &router), "router");
  check(multipc_machine_table(machine, router, table), "table");
  config.table = table;
  config.base = 0x1000;
  config.entries = 16;
  config.counters = 16;
  config.nodes = 2;
  config.model = MULTIPC_MODEL_POLLING;
  check(multipc_put_open(put, &config, &started), "open");
  check(multipc_machine_run_until_links(machine, now_ps(machine) + 500000000u, &up), "links");
  check(multipc_put_ready(put), "ready");
}

// Sends 64 bytes and polls node 1 until its driver tells something; the time that it took.
static uint64_t send(multipc_machine *machine, multipc_put *puts[2]) {
  multipc_entry entry;
  uint64_t sequence = 0;
  memset(&entry, 0, sizeof entry);
  entry.node = 1;
  entry.flags = MULTIPC_LMP | MULTIPC_LMI | MULTIPC_NOR;
  entry.length = 64;
  entry.local = 0x8000;
  entry.remote = 0x9000;
  const uint64_t posted = now_ps(machine);
  check(multipc_put_post(puts[0], &entry, 1, &sequence), "post");
  while (now_ps(machine) < posted + 1000000000u) {
    multipc_put_event event;
    multipc_put_served served;
    check(multipc_put_poll(puts[1], 4, &event, 1, &served), "poll");
    if (served.events == 1) {
      char words[128];
      check(multipc_put_event_text(&event, words, sizeof words), "words");
      printf("node 1: %s\n", words);
      return now_ps(machine) - posted;
    }
  }
  fail("nobody tells anything");
  return 0;
}

// What the faults have done since they were set.
static void tell(const multipc_machine *machine) {
  multipc_fault_record records[8];
  size_t count = 0;
  uint64_t total = 0;
  check(multipc_machine_fault_records(machine, 0, records, 8, &count, &total), "records");
  for (size_t i = 0; i < count; i++) {
    char words[128];
    check(multipc_fault_record_text(&records[i], words, sizeof words), "words");
    printf("fault: %s\n", words);
  }
}

int main(void) {
  multipc_machine_config config;
  multipc_machine *machine = NULL;
  multipc_put *puts[2];
  multipc_fault fault;
  multipc_event event;
  multipc_machine_state state;
  size_t count = 0;
  uint8_t up = 0;

  check(multipc_check_abi(MULTIPC_ABI_VERSION), "version");
  check(multipc_machine_config_default(&config), "configuration");
  check(multipc_machine_new("pair", &config, &machine), "machine");
  for (uint32_t node = 0; node < 2; node++) {
    multipc_hardware hardware;
    check(multipc_machine_hardware(machine, node, &hardware), "hardware");
    check(multipc_put_new(&hardware, &puts[node]), "driver");
  }
  start(machine, puts[0], 0);
  start(machine, puts[1], 1);
  const uint64_t whole = send(machine, puts);

  // A bit of the page is flipped: the receiver's controller finds the CRC wrong, its driver
  // stops the board. A new start repairs it.
  check(multipc_machine_set_faults_text(machine, flipped), "faults");
  send(machine, puts);
  tell(machine);
  check(multipc_machine_take_faults(machine), "take off");
  check(multipc_put_close(puts[1]), "close");
  start(machine, puts[1], 1);
  send(machine, puts);

  // The cable is cut, from the next edge on, until it is repaired.
  memset(&fault, 0, sizeof fault);
  fault.place = MULTIPC_PLACE_ROUTER;
  fault.index = 0;
  fault.port = 1;
  fault.what = MULTIPC_FAULT_CUT;
  fault.times = UINT64_MAX;
  check(multipc_machine_watch(machine, MULTIPC_PIN_LINK_STATUS), "watch");
  check(multipc_machine_look(machine, &state), "look");
  const uint64_t cut = state.link_cycle;
  check(multipc_machine_set_faults(machine, &fault, 1, NULL), "cut");
  check(multipc_machine_run_until_time(machine, state.time_ps + 1000000u, &event, 1, &count),
        "run");
  if (count != 1) {
    fail("nobody sees the cut");
  }
  printf("link status of router %u: %02x after %llu link cycles\n", event.index, event.after,
         (unsigned long long)(event.cycle - cut));
  tell(machine);
  check(multipc_machine_run_until_links(machine, state.time_ps + 500000000u, &up), "run");
  printf("half a millisecond later: links %s\n", up ? "work" : "are still down");
  check(multipc_machine_look(machine, &state), "look");
  check(multipc_machine_take_faults(machine), "repair");
  check(multipc_machine_run_until_links(machine, state.time_ps + 500000000u, &up), "links");
  printf("repaired: links %s\n", up ? "work" : "are still down");

  // GNT# of node 0 is stuck for 1,000 PCI cycles, 30 us.
  memset(&fault, 0, sizeof fault);
  fault.place = MULTIPC_PLACE_BUS;
  fault.index = 0;
  fault.what = MULTIPC_FAULT_HOLD_GRANT;
  fault.times = 1000;
  check(multipc_machine_set_faults(machine, &fault, 1, NULL), "stuck");
  const uint64_t late = send(machine, puts);
  printf("%.1f us later than without\n", ((double)late - (double)whole) / 1e6);
  tell(machine);

  fault.index = 9;
  if (multipc_machine_set_faults(machine, &fault, 1, NULL) != MULTIPC_ERROR_FAULT) {
    fail("a bus that is not there was not refused");
  }
  printf("refused: %s\n", multipc_last_error());
  if (multipc_machine_set_faults_text(machine, "[[bus]]\nnode = 0\nread = 0\nretry = true\n") !=
      MULTIPC_ERROR_TEXT) {
    fail("a read that never comes was not refused");
  }
  printf("refused: %s\n", multipc_last_error());
  multipc_put_free(puts[0]);
  multipc_put_free(puts[1]);
  multipc_machine_free(machine);
  return 0;
}
