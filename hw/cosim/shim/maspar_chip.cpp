// One router chip.
#include "Vmaspar_chip.h"
#include "shim.h"

struct In {
    uint8_t rst_n, crossbar, restart, take, open, close;
    uint64_t in_request, in_data, back_in;
};

struct Out {
    uint64_t out_request, out_data, back_out;
};

static void drive(Vmaspar_chip &top, const In &in) {
    top.rst_n = in.rst_n;
    top.crossbar = in.crossbar;
    top.restart = in.restart;
    top.take = in.take;
    top.open = in.open;
    top.close = in.close;
    top.in_request = in.in_request;
    top.in_data = in.in_data;
    top.back_in = in.back_in;
}

static void sample(const Vmaspar_chip &top, Out &out) {
    out.out_request = top.out_request;
    out.out_data = top.out_data;
    out.back_out = top.back_out;
}

SHIM(maspar_chip, Vmaspar_chip, In, Out)
