// The MasPar router: one router cycle tick by tick with the wires of a path, then the whole bit
// reversal of 16,384 PEs.
//
// C11 and C++17:
//   cargo build --release --manifest-path hw/capi/Cargo.toml
//   cc -std=c11 -Ihw/capi/include hw/capi/examples/maspar.c
//      hw/capi/target/release/libmultipc_capi.a -lpthread -ldl -lm -o maspar
#include <stdio.h>
#include <stdlib.h>

#include "multipc.h"

#define PES 16384u

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

// Requests on the wires at the inputs of a stage, over all boards.
static unsigned requests(const multipc_maspar *maspar, uint32_t stage) {
  multipc_maspar_wires wires;
  unsigned count = 0;
  check(multipc_maspar_pins(maspar, stage, &wires), "pins");
  for (unsigned board = 0; board < MULTIPC_MASPAR_BOARDS; board++) {
    for (uint64_t left = wires.request[board]; left != 0; left &= left - 1) {
      count++;
    }
  }
  return count;
}

int main(void) {
  static uint16_t targets[PES];
  static uint64_t values[PES];
  static uint64_t got[PES];
  static multipc_maspar_path paths[1024];
  multipc_maspar_config config;
  multipc_maspar *maspar = NULL;
  multipc_maspar_state state;
  multipc_maspar_report report;
  size_t count = 0;
  uint8_t any = 0;

  check(multipc_check_abi(MULTIPC_ABI_VERSION), "version");
  check(multipc_maspar_config_preset("mp1", &config), "configuration");
  check(multipc_maspar_new(&config, &maspar), "router");
  check(multipc_maspar_pattern(maspar, "bit-reversal", targets, PES), "pattern");
  for (uint32_t pe = 0; pe < PES; pe++) {
    values[pe] = 0xA0000000u + pe;
  }

  // One ropen, stopped where each stage has decided, and one rfetchc.
  check(multipc_maspar_load(maspar, targets, PES), "load");
  check(multipc_maspar_ropen(maspar), "ropen");
  static const uint32_t looks[4] = {2, 8, 14, 20};
  for (uint32_t stage = 1; stage <= 4; stage++) {
    check(multipc_maspar_look(maspar, &state), "look");
    check(multipc_maspar_step(maspar, looks[stage - 1] - state.tick, &state), "step");
    printf("tick %2u: %4u requests at stage %u\n", state.tick, requests(maspar, stage), stage);
  }
  check(multipc_maspar_step(maspar, 1000, &state), "step");
  printf("ropen ends after %llu ticks: %u paths\n", (unsigned long long)state.ticks,
         state.connected);
  check(multipc_maspar_rfetch(maspar, 32, values, PES), "rfetchc");
  check(multipc_maspar_step(maspar, 1000, &state), "step");
  check(multipc_maspar_gor1(maspar, &any), "gor1");
  check(multipc_maspar_paths(maspar, paths, 1024, &count), "paths");
  for (size_t i = 0; i < count; i++) {
    if (paths[i].target != targets[paths[i].source] || paths[i].value != values[paths[i].target]) {
      fail("a wrong value came back");
    }
  }
  printf("PE %u got %llx from PE %u, and %zu others got theirs\n", paths[0].source,
         (unsigned long long)paths[0].value, paths[0].target, count - 1u);
  check(multipc_maspar_look(maspar, &state), "look");
  printf("after %llu ticks %u PEs still ask\n", (unsigned long long)state.ticks, state.asking);

  // The whole loop at once, from the start.
  check(multipc_maspar_load(maspar, targets, PES), "load");
  check(multipc_maspar_route(maspar, 32, values, got, PES, &report), "route");
  for (uint32_t pe = 0; pe < PES; pe++) {
    if (got[pe] != values[targets[pe]]) {
      fail("a PE got a wrong value");
    }
  }
  printf("bit reversal: %u router cycles, %llu ticks, %u PEs served\n", report.cycles,
         (unsigned long long)report.ticks, report.served);

  if (multipc_maspar_pattern(maspar, "all-to:16384", targets, PES) == MULTIPC_OK) {
    fail("a PE that is not there was not refused");
  }
  printf("refused: %s\n", multipc_last_error());
  multipc_maspar_free(maspar);
  return 0;
}
