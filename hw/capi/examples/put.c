// The driver on two boards: open both, send a message of three pages and a short one, and take
// what the boards tell, by interrupts at the sender and by polling at the receiver.
//
// C11 and C++17:
//   cargo build --release --manifest-path hw/capi/Cargo.toml
//   cc -std=c11 -Ihw/capi/include hw/capi/examples/put.c
//      hw/capi/target/release/libmultipc_capi.a -lpthread -ldl -lm -o put
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multipc.h"

#define TABLES 0x1000u
#define SOURCE 0x40001u
#define TARGET 0x60002u
#define PAGE 20000u
#define PAGES 3u

static void check(multipc_status status, const char *what) {
  if (status != MULTIPC_OK) {
    fprintf(stderr, "%s: %s: %s\n", what, multipc_status_name(status), multipc_last_error());
    exit(1);
  }
}

static uint64_t now_ps(const multipc_machine *machine) {
  multipc_machine_state state;
  check(multipc_machine_look(machine, &state), "look");
  return state.time_ps;
}

// A driver on a node, opened, with one user that owns 256 message identifiers.
static multipc_put *open_driver(multipc_machine *machine, uint32_t node, uint32_t model,
                                uint32_t *first) {
  multipc_hardware hardware;
  multipc_put_config config;
  multipc_put_started started;
  multipc_put *put = NULL;
  uint8_t table[MULTIPC_TABLE_BYTES];
  uint32_t router = 0;
  uint32_t sap = 0;
  check(multipc_machine_hardware(machine, node, &hardware), "hardware");
  check(multipc_put_new(&hardware, &put), "driver");
  check(multipc_put_config_default(put, &config), "configuration");
  check(multipc_machine_router_of(machine, node, &router), "router");
  check(multipc_machine_table(machine, router, table), "table");
  config.table = table;
  config.base = TABLES;
  config.entries = 64;
  config.counters = 256;
  config.nodes = 2;
  config.model = model;
  check(multipc_put_open(put, &config, &started), "open");
  check(multipc_put_register_sap(put, &sap), "user");
  check(multipc_put_attach(put, sap, 256, first), "identifiers");
  printf("node %u: opened at %.3f us, STATUS %08x, identifiers from %u\n", node,
         (double)now_ps(machine) / 1e6, started.status, *first);
  return put;
}

// Lets the sender's interrupts come, and looks at the receiver every microsecond, until each
// has told what it should.
static void serve(multipc_machine *machine, multipc_put *puts[2], int sent, int received) {
  const uint64_t limit = now_ps(machine) + 10000000000u;
  check(multipc_machine_watch(machine, MULTIPC_PIN_INTA), "watch");
  while (sent > 0 || received > 0) {
    multipc_event pins[4];
    multipc_put_event events[8];
    multipc_put_served served;
    size_t changes = 0;
    uint8_t asserted = 0;
    if (now_ps(machine) > limit) {
      fprintf(stderr, "nothing arrives\n");
      exit(1);
    }
    check(multipc_machine_run_until_time(machine, now_ps(machine) + 1000000u, pins, 4, &changes),
          "run");
    for (uint32_t node = 0; node < 2; node++) {
      if (node == 0) {
        check(multipc_machine_interrupt(machine, 0, &asserted), "INTA#");
        if (!asserted) {
          continue;
        }
        check(multipc_put_interrupt(puts[0], 8, events, 8, &served), "interrupt");
      } else {
        check(multipc_put_poll(puts[1], 8, events, 8, &served), "poll");
      }
      for (size_t i = 0; i < served.events; i++) {
        char words[128];
        check(multipc_put_event_text(&events[i], words, sizeof words), "words");
        printf("node %u: %s\n", node, words);
        if (events[i].short_message) {
          printf("node %u: its data are %08x %08x\n", node, events[i].data[0], events[i].data[1]);
        }
        sent -= events[i].kind == MULTIPC_PUT_SENT;
        received -= events[i].kind == MULTIPC_PUT_RECEIVED;
      }
    }
  }
}

int main(void) {
  static uint8_t bytes[PAGES * PAGE];
  const uint32_t last = MULTIPC_LMP | MULTIPC_NOS | MULTIPC_LMI | MULTIPC_NOR;
  multipc_machine_config config;
  multipc_machine *machine = NULL;
  multipc_put *puts[2];
  multipc_put_state state;
  multipc_entry entries[PAGES];
  multipc_entry letter;
  uint32_t first[2] = {0, 0};
  uint64_t sequence = 0;
  uint8_t up = 0;
  const uint8_t *found = NULL;

  check(multipc_check_abi(MULTIPC_ABI_VERSION), "version");
  check(multipc_machine_config_default(&config), "configuration");
  check(multipc_machine_new("pair", &config, &machine), "machine");
  puts[0] = open_driver(machine, 0, MULTIPC_MODEL_INTERRUPT, &first[0]);
  puts[1] = open_driver(machine, 1, MULTIPC_MODEL_POLLING, &first[1]);
  check(multipc_machine_run_until_links(machine, 1000000000u, &up), "links");
  printf("links work at %.3f us\n", (double)now_ps(machine) / 1e6);
  check(multipc_put_ready(puts[0]), "ready");
  check(multipc_put_ready(puts[1]), "ready");

  // One message of three pages: only the last has flags.
  for (uint32_t i = 0; i < sizeof bytes; i++) {
    bytes[i] = (uint8_t)(i * 13u + (i >> 9));
  }
  check(multipc_machine_memory_write(machine, 0, SOURCE, bytes, sizeof bytes), "store");
  memset(entries, 0, sizeof entries);
  for (uint32_t i = 0; i < PAGES; i++) {
    entries[i].node = 1;
    entries[i].mi = first[1] + 7u;
    entries[i].length = PAGE;
    entries[i].local = SOURCE + i * PAGE;
    entries[i].remote = TARGET + i * PAGE;
  }
  entries[PAGES - 1u].flags = last;
  check(multipc_put_post(puts[0], entries, PAGES, &sequence), "post");
  serve(machine, puts, 1, 1);
  check(multipc_machine_memory_view(machine, 1, TARGET, sizeof bytes, &found), "view");
  if (memcmp(found, bytes, sizeof bytes) != 0) {
    fprintf(stderr, "the message is not what was sent\n");
    return 1;
  }
  printf("%u bytes right at node 1\n", PAGES * PAGE);

  // Eight bytes that travel in the entry itself.
  memset(&letter, 0, sizeof letter);
  letter.node = 1;
  letter.mi = first[1] + 8u;
  letter.flags = MULTIPC_SM | MULTIPC_LMP | MULTIPC_LMI | MULTIPC_NOR;
  letter.remote = 0x600DF00Du;
  letter.local = 0x12345678u;
  check(multipc_put_post(puts[0], &letter, 1, &sequence), "short");
  serve(machine, puts, 0, 1);

  // What the driver refuses, it names.
  letter.node = 2;
  if (multipc_put_post(puts[0], &letter, 1, &sequence) != MULTIPC_ERROR_ARGUMENT) {
    fprintf(stderr, "an unknown node was not refused\n");
    return 1;
  }
  printf("refused: %s\n", multipc_last_error());
  check(multipc_put_look(puts[0], &state), "look");
  printf("node 0: %llu entries posted, %llu pages told\n", (unsigned long long)state.posted,
         (unsigned long long)state.sent);
  for (int node = 0; node < 2; node++) {
    check(multipc_put_close(puts[node]), "close");
    multipc_put_free(puts[node]);
  }
  multipc_machine_free(machine);
  return 0;
}
