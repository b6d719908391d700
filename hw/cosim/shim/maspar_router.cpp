// The router of a machine of one board: boards and backplane in one Verilated top.
#include "Vmaspar_router.h"
#include "maspar_router.h"
#include "shim.h"

static void drive(Vmaspar_router &top, const In &in) {
    top.rst_n = in.rst_n;
    top.ropen = in.ropen;
    top.rfetch = in.rfetch;
    top.bits = in.bits;
    top.write = in.write;
    if (in.write) write_board(top, in, 0);
}

static void sample(const Vmaspar_router &top, Out &out) {
    std::memset(&out, 0, sizeof out);
    out.busy = top.busy;
    out.fetching = top.fetching;
    out.tick = top.tick;
    out.any = top.any;
    sample_board(top, out, 0);
    get(top.request2, &out.request[16], 16);
    get(top.data2, &out.data[16], 16);
    get(top.back2, &out.back[16], 16);
    out.request[32] = top.request3;
    out.data[32] = top.data3;
    out.back[32] = top.back3;
}

SHIM(maspar_router, Vmaspar_router, In, Out)
