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
void *multipc_dpi_ddc_new(void);
void multipc_dpi_ddc_free(void *ddc);
void multipc_dpi_ddc_pci(void *ddc, unsigned ad, unsigned pins, unsigned *driven_ad,
                         unsigned *driven_ad_oe, unsigned *driven);
void multipc_dpi_ddc_link(void *ddc, unsigned line, svBitVecVal *driven);
void *multipc_dpi_board_new(unsigned bytes);
void multipc_dpi_board_free(void *handle);
void multipc_dpi_board_pci(void *handle, svBit start, svBit write, unsigned offset,
                           unsigned wdata, unsigned *done, unsigned *rdata, svBitVecVal *pins);
void multipc_dpi_board_link(void *handle, const svBitVecVal *in_signal,
                            const svBitVecVal *in_sym, svBitVecVal *out_signal,
                            svBitVecVal *out_sym, svBitVecVal *link_status);
unsigned multipc_dpi_board_peek(void *handle, unsigned addr);
void multipc_dpi_board_poke(void *handle, unsigned addr, unsigned word);
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

// One controller: the word `pins` is that of ddc_model.sv, its lowest bits first.
void *multipc_dpi_ddc_new(void) {
  multipc_ddc *ddc = NULL;
  check(multipc_check_abi(MULTIPC_ABI_VERSION));
  check(multipc_ddc_new(MULTIPC_REVISION_IDEAL, &ddc));
  return ddc;
}

void multipc_dpi_ddc_free(void *ddc) { multipc_ddc_free((multipc_ddc *)ddc); }

void multipc_dpi_ddc_pci(void *ddc, unsigned ad, unsigned pins, unsigned *driven_ad,
                         unsigned *driven_ad_oe, unsigned *driven) {
  multipc_ddc_inputs in;
  multipc_ddc_outputs out;
  check(multipc_ddc_idle_inputs(&in));
  in.ad = ad;
  in.cbe_n = pins & 0xFu;
  in.par = pins >> 4 & 1u;
  in.frame_n = pins >> 5 & 1u;
  in.irdy_n = pins >> 6 & 1u;
  in.trdy_n = pins >> 7 & 1u;
  in.devsel_n = pins >> 8 & 1u;
  in.stop_n = pins >> 9 & 1u;
  in.perr_n = pins >> 10 & 1u;
  in.idsel = pins >> 11 & 1u;
  in.gnt_n = pins >> 12 & 1u;
  in.r3_status = (uint8_t)(pins >> 16);
  check(multipc_ddc_step_pci((multipc_ddc *)ddc, &in, &out));
  const uint8_t bits[] = {
      out.cbe_oe,   out.par,       out.par_oe, out.frame_n, out.frame_oe, out.irdy_n,
      out.irdy_oe,  out.trdy_n,    out.trdy_oe, out.devsel_n, out.devsel_oe, out.stop_n,
      out.stop_oe,  out.perr_n,    out.perr_oe, out.serr_oe, out.req_n, out.inta_n,
      out.r3_strobe, out.r3_init};
  unsigned word = out.cbe_n;
  for (unsigned i = 0; i < sizeof bits; i++) {
    word |= (unsigned)bits[i] << (4u + i);
  }
  *driven_ad = out.ad;
  *driven_ad_oe = out.ad_oe;
  *driven = word | (unsigned)out.r3_dout << 24;
}

void multipc_dpi_ddc_link(void *ddc, unsigned line, svBitVecVal *driven) {
  uint16_t in = MULTIPC_LINE_NO_SIGNAL;
  uint16_t out = 0;
  if (line >> 11 & 1u) {
    in = line >> 9 & 1u ? line & MULTIPC_LINE_SYMBOL : MULTIPC_IDLE;
    if (line >> 10 & 1u) {
      in |= MULTIPC_LINE_FCC;
    }
  }
  check(multipc_ddc_step_link((multipc_ddc *)ddc, in, &out));
  *driven = 0;
  if ((out & MULTIPC_LINE_NO_SIGNAL) == 0) {
    const unsigned symbol = out & MULTIPC_LINE_SYMBOL;
    *driven = 1u << 11 | (unsigned)((out & MULTIPC_LINE_FCC) != 0) << 10;
    if (symbol != MULTIPC_IDLE) {
      *driven |= 1u << 9 | symbol;
    }
  }
}

// One board with its memory.
typedef struct {
  multipc_board *board;
  uint32_t *words;
  unsigned bytes;
  int running;
} dpi_board;

static uint8_t claims(void *user, uint32_t addr) {
  return addr < ((dpi_board *)user)->bytes;
}

static uint32_t read_word(void *user, uint32_t addr) { return ((dpi_board *)user)->words[addr / 4u]; }

static void write_word(void *user, uint32_t addr, uint32_t value, uint8_t enables) {
  uint32_t mask = 0;
  for (unsigned i = 0; i < 4; i++) {
    mask |= enables >> i & 1u ? 0xFFu << 8u * i : 0u;
  }
  uint32_t *word = &((dpi_board *)user)->words[addr / 4u];
  *word = (*word & ~mask) | (value & mask);
}

void *multipc_dpi_board_new(unsigned bytes) {
  dpi_board *board = (dpi_board *)calloc(1, sizeof *board);
  multipc_memory memory;
  if (board != NULL) {
    board->words = (uint32_t *)calloc(bytes / 4u + 1u, 4u);
  }
  if (board == NULL || board->words == NULL) {
    fprintf(stderr, "multipc: no memory for a board of %u bytes\n", bytes);
    exit(1);
  }
  board->bytes = bytes & ~3u;
  memory.user = board;
  memory.claims = claims;
  memory.read = read_word;
  memory.write = write_word;
  check(multipc_check_abi(MULTIPC_ABI_VERSION));
  check(multipc_board_new(MULTIPC_REVISION_IDEAL, &memory, &board->board));
  return board;
}

void multipc_dpi_board_free(void *handle) {
  dpi_board *board = (dpi_board *)handle;
  if (board != NULL) {
    multipc_board_free(board->board);
    free(board->words);
    free(board);
  }
}

void multipc_dpi_board_pci(void *handle, svBit start, svBit write, unsigned offset,
                           unsigned wdata, unsigned *done, unsigned *rdata, svBitVecVal *pins) {
  dpi_board *board = (dpi_board *)handle;
  multipc_board_outputs out;
  uint32_t value = 0;
  if (start && !board->running) {
    check(multipc_board_config_start(board->board, (uint8_t)offset, write, wdata));
    board->running = 1;
  }
  check(multipc_board_step_pci(board->board, &out));
  *done = board->running && out.config_done;
  if (*done) {
    check(multipc_board_config_take(board->board, &value));
    board->running = 0;
  }
  *rdata = value;
  *pins = (unsigned)out.inta_n | (unsigned)out.req_n << 1;
}

void multipc_dpi_board_link(void *handle, const svBitVecVal *in_signal,
                            const svBitVecVal *in_sym, svBitVecVal *out_signal,
                            svBitVecVal *out_sym, svBitVecVal *link_status) {
  multipc_rcube_inputs in;
  multipc_board_outputs out;
  for (unsigned k = 0; k < MULTIPC_PORTS; k++) {
    in.lines[k] = in_signal[0] >> k & 1u ? symbol(in_sym, k) : MULTIPC_LINE_NO_SIGNAL;
  }
  check(multipc_board_step_link(((dpi_board *)handle)->board, &in, &out));
  out_signal[0] = 0;
  out_sym[0] = out_sym[1] = out_sym[2] = 0;
  for (unsigned k = 0; k < MULTIPC_PORTS; k++) {
    if ((out.lines[k] & MULTIPC_LINE_NO_SIGNAL) == 0) {
      out_signal[0] |= 1u << k;
      set_symbol(out_sym, k, out.lines[k]);
    }
  }
  link_status[0] = out.link_status;
}

unsigned multipc_dpi_board_peek(void *handle, unsigned addr) {
  return claims(handle, addr) ? read_word(handle, addr) : 0xFFFFFFFFu;
}

void multipc_dpi_board_poke(void *handle, unsigned addr, unsigned word) {
  if (claims(handle, addr)) {
    write_word(handle, addr, word, 0xFu);
  }
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
