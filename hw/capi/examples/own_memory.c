// Two boards inside a harness that has its own memory, its own clocks and its own cable: what
// a SystemC module or a QEMU device does. Board 0 sends a short message to board 1.
//
//   memory - calls - board 0 = 1 === this file === 1 = board 1 - calls - memory
//
// Built as two_boards.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multipc.h"

#define MEMORY 0x4000u
#define LME 0x1000u
#define LMR 0x1080u
#define LAST 0x70u  // the last of eight entries

typedef struct {
  multipc_board *board;
  uint8_t memory[MEMORY];
  multipc_board_outputs pins;
} node;

static node nodes[2];

static void check(multipc_status status) {
  if (status != MULTIPC_OK) {
    fprintf(stderr, "%s: %s\n", multipc_status_name(status), multipc_last_error());
    exit(1);
  }
}

// The memory, as the bus sees it: little-endian words.
static uint8_t claims(void *user, uint32_t addr) {
  (void)user;
  return addr < MEMORY;
}

static uint32_t read_word(void *user, uint32_t addr) {
  const uint8_t *bytes = (const uint8_t *)user + addr;
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

static void write_word(void *user, uint32_t addr, uint32_t value, uint8_t enables) {
  uint8_t *bytes = (uint8_t *)user + addr;
  for (unsigned i = 0; i < 4; i++) {
    if (enables >> i & 1u) {
      bytes[i] = (uint8_t)(value >> (8 * i));
    }
  }
}

// Two link edges and a PCI edge; a pin changes once an edge.
static void cycle(void) {
  for (int edge = 0; edge < 2; edge++) {
    // Both sample what the other drove before the edge: a cable of one cycle.
    const uint16_t driven[2] = {nodes[0].pins.lines[1], nodes[1].pins.lines[1]};
    for (int i = 0; i < 2; i++) {
      multipc_rcube_inputs in;
      for (int port = 0; port < MULTIPC_PORTS; port++) {
        in.lines[port] = MULTIPC_LINE_NO_SIGNAL;
      }
      in.lines[1] = driven[1 - i];
      check(multipc_board_step_link(nodes[i].board, &in, &nodes[i].pins));
    }
  }
  for (int i = 0; i < 2; i++) {
    check(multipc_board_step_pci(nodes[i].board, &nodes[i].pins));
  }
}

static uint32_t access_register(int i, uint8_t offset, uint8_t write, uint32_t value) {
  check(multipc_board_config_start(nodes[i].board, offset, write, value));
  for (int limit = 0; !nodes[i].pins.config_done; limit++) {
    if (limit > 10000) {
      fprintf(stderr, "no answer\n");
      exit(1);
    }
    cycle();
  }
  check(multipc_board_config_take(nodes[i].board, &value));
  cycle();
  return value;
}

static void set(int i, uint8_t offset, uint32_t value) { access_register(i, offset, 1, value); }

static uint32_t get(int i, uint8_t offset) { return access_register(i, offset, 0, 0); }

static void start(int i) {
  const uint16_t bounds[8] = {0, 1, 1, 1, 1, 1, 1, 1};
  uint8_t selections[8];
  uint8_t table[MULTIPC_TABLE_BYTES];
  for (int k = 0; k < 8; k++) {
    // This node on port 0, the other on port 1; headers from 1 are in interval 7.
    selections[k] = (k == 0) == (i == 0) ? 1u : 2u;
  }
  check(multipc_table_uniform(bounds, selections, table));
  set(i, 0x48, 0x8000u);  // soft reset
  set(i, 0x50, LME + LAST);
  set(i, 0x54, LME);
  set(i, 0x58, LME);
  set(i, 0x5C, LME);
  set(i, 0x60, LMR + LAST);
  set(i, 0x64, LMR);
  set(i, 0x68, LMR);
  set(i, 0x6C, LMR);
  for (int k = MULTIPC_TABLE_BYTES; k > 0; k--) {
    set(i, 0x74, table[k - 1]);
  }
  set(i, 0x48, 0x80004000u);  // transmit, router, receive
  set(i, 0x48, 0x80006000u);
  set(i, 0x48, 0x80007000u);
  set(i, 0x44, 0xC0FBF0FFu);
  set(i, 0x04, 0x00000104u);
}

int main(void) {
  // A short message to node 1: NOR, LMP, LMI, SM; the data lie in the address fields.
  const uint32_t message[4] = {1u << 16, 0xCC000007u, 0x600DF00Du, 0x12345678u};
  check(multipc_check_abi(MULTIPC_ABI_VERSION));
  for (int i = 0; i < 2; i++) {
    const multipc_memory memory = {nodes[i].memory, claims, read_word, write_word};
    check(multipc_board_new(MULTIPC_REVISION_IDEAL, &memory, &nodes[i].board));
    check(multipc_board_pins(nodes[i].board, &nodes[i].pins));
  }
  start(0);
  start(1);
  for (int k = 0; k < 10000; k++) {
    cycle();
  }
  if ((get(0, 0x40) & 0xFFu) != 3u || (get(1, 0x40) & 0xFFu) != 3u) {
    fprintf(stderr, "links do not come up\n");
    return 1;
  }
  for (unsigned k = 0; k < 4; k++) {
    write_word(nodes[0].memory, LME + 4u * k, message[k], 0xF);
  }
  set(0, 0x58, LME + 16u);
  int waited = 0;
  for (; nodes[1].pins.inta_n && waited < 10000; waited++) {
    cycle();
  }
  if (nodes[1].pins.inta_n || get(1, 0x68) != LMR + 16u ||
      read_word(nodes[1].memory, LMR + 8u) != message[2] ||
      read_word(nodes[1].memory, LMR + 12u) != message[3]) {
    fprintf(stderr, "no message\n");
    return 1;
  }
  printf("INTA# of board 1 low after %d PCI cycles; %08x %08x in its report\n", waited,
         (unsigned)message[2], (unsigned)message[3]);
  multipc_board_free(nodes[0].board);
  multipc_board_free(nodes[1].board);
  return 0;
}
