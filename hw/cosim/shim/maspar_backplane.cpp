// The wires between the boards; no clock, so `settle` is all there is.
#include "Vmaspar_backplane.h"
#include "shim.h"

#include <cstring>

struct In {
    uint64_t out_request1[16], out_data1[16], back2[16];
    uint64_t out_request2[16], out_data2[16], back3[16];
};

struct Out {
    uint64_t from2[16], request2[16], data2[16];
    uint64_t from3[16], request3[16], data3[16];
};

// SHIM toggles a clock.
struct Backplane : Vmaspar_backplane {
    uint8_t clk;
    explicit Backplane(VerilatedContext *context) : Vmaspar_backplane(context), clk(0) {}
};

static void drive(Backplane &top, const In &in) {
    std::memcpy(&top.out_request1, in.out_request1, 128);
    std::memcpy(&top.out_data1, in.out_data1, 128);
    std::memcpy(&top.back2, in.back2, 128);
    std::memcpy(&top.out_request2, in.out_request2, 128);
    std::memcpy(&top.out_data2, in.out_data2, 128);
    std::memcpy(&top.back3, in.back3, 128);
}

static void sample(const Backplane &top, Out &out) {
    std::memcpy(out.from2, &top.from2, 128);
    std::memcpy(out.request2, &top.request2, 128);
    std::memcpy(out.data2, &top.data2, 128);
    std::memcpy(out.from3, &top.from3, 128);
    std::memcpy(out.request3, &top.request3, 128);
    std::memcpy(out.data3, &top.data3, 128);
}

SHIM(maspar_backplane, Backplane, In, Out)
