// DPI-C on top of multipc.h: packed vectors on one side, structures on the other. An error
// of a call ends the simulation.
#include <stdio.h>
#include <stdlib.h>

#include "multipc.h"
#include "svdpi.h"

static void check(multipc_status status) {
  if (status != MULTIPC_OK) {
    fprintf(stderr, "multipc: %s: %s\n", multipc_status_name(status), multipc_last_error());
    exit(1);
  }
}

// The 9 bits at 9k of a vector of 72.
static uint16_t symbol(const svBitVecVal *vector, unsigned k) {
  const unsigned at = 9u * k;
  const uint64_t low = vector[at / 32u];
  const uint64_t high = at / 32u < 2u ? vector[at / 32u + 1u] : 0u;
  return (uint16_t)((high << 32 | low) >> at % 32u & MULTIPC_LINE_SYMBOL);
}

static void set_symbol(svBitVecVal *vector, unsigned k, uint16_t line) {
  for (unsigned bit = 0; bit < 9; bit++) {
    const unsigned at = 9u * k + bit;
    if (line >> bit & 1u) {
      vector[at / 32u] |= 1u << at % 32u;
    }
  }
}

#ifdef __cplusplus
extern "C" {
#endif

void *multipc_dpi_rcube_new(const svBitVecVal *parallel, svBit quick);
void multipc_dpi_rcube_free(void *rcube);
void multipc_dpi_rcube_step(void *rcube, svBit r3_init, svBit r3_strobe,
                            const svBitVecVal *r3_dout, const svBitVecVal *in_signal,
                            const svBitVecVal *in_fcc, const svBitVecVal *in_sym,
                            svBitVecVal *out_signal, svBitVecVal *out_fcc,
                            svBitVecVal *out_sym, svBitVecVal *link_status);
int multipc_dpi_table_byte(int node, int index);

void *multipc_dpi_rcube_new(const svBitVecVal *parallel, svBit quick) {
  const multipc_rcube_config config = {(uint8_t)parallel[0], quick};
  multipc_rcube *rcube = NULL;
  check(multipc_check_abi(MULTIPC_ABI_VERSION));
  check(multipc_rcube_new(&config, &rcube));
  return rcube;
}

void multipc_dpi_rcube_free(void *rcube) { multipc_rcube_free((multipc_rcube *)rcube); }

void multipc_dpi_rcube_step(void *rcube, svBit r3_init, svBit r3_strobe,
                            const svBitVecVal *r3_dout, const svBitVecVal *in_signal,
                            const svBitVecVal *in_fcc, const svBitVecVal *in_sym,
                            svBitVecVal *out_signal, svBitVecVal *out_fcc,
                            svBitVecVal *out_sym, svBitVecVal *link_status) {
  multipc_rcube_inputs in;
  multipc_rcube_outputs out;
  for (unsigned k = 0; k < MULTIPC_PORTS; k++) {
    uint16_t line = MULTIPC_LINE_NO_SIGNAL;
    if (in_signal[0] >> k & 1u) {
      line = symbol(in_sym, k);
      if (in_fcc[0] >> k & 1u) {
        line |= MULTIPC_LINE_FCC;
      }
    }
    in.lines[k] = line;
  }
  check(multipc_rcube_chain((multipc_rcube *)rcube, r3_init, r3_strobe, (uint8_t)r3_dout[0]));
  check(multipc_rcube_step((multipc_rcube *)rcube, &in, &out));
  out_signal[0] = out_fcc[0] = 0;
  out_sym[0] = out_sym[1] = out_sym[2] = 0;
  for (unsigned k = 0; k < MULTIPC_PORTS; k++) {
    if ((out.lines[k] & MULTIPC_LINE_NO_SIGNAL) == 0) {
      out_signal[0] |= 1u << k;
      out_fcc[0] |= (svBitVecVal)((out.lines[k] & MULTIPC_LINE_FCC) != 0) << k;
      set_symbol(out_sym, k, out.lines[k]);
    }
  }
  link_status[0] = out.link_status;
}

// A byte of the routing table of one of two boards: its own node on port 0, the other node
// on port 1.
int multipc_dpi_table_byte(int node, int index) {
  const uint16_t bounds[8] = {0, 1, 1, 1, 1, 1, 1, 1};
  uint8_t selections[8];
  uint8_t table[MULTIPC_TABLE_BYTES];
  for (unsigned i = 0; i < 8; i++) {
    // Header 0 is in interval 0, all above in interval 7.
    selections[i] = (i == 0) == (node == 0) ? 1u << 0 : 1u << 1;
  }
  check(multipc_table_uniform(bounds, selections, table));
  return index >= 0 && index < MULTIPC_TABLE_BYTES ? table[index] : 0;
}

#ifdef __cplusplus
}
#endif
