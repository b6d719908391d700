// A link port with the register of its output pins.
#include "Vhsl_end.h"
#include "shim.h"

struct In {
    uint16_t offer_sym;
    uint16_t in_sym;
    uint8_t rst_n, enable, parallel, quick;
    uint8_t offer, freed, in_signal, in_fcc;
};

struct Out {
    uint16_t out_sym, stored_sym;
    uint8_t out_signal, out_fcc, taken, stored, went_down, up;
};

static void drive(Vhsl_end &top, const In &in) {
    top.offer_sym = in.offer_sym;
    top.in_sym = in.in_sym;
    top.rst_n = in.rst_n;
    top.enable = in.enable;
    top.parallel = in.parallel;
    top.quick = in.quick;
    top.offer = in.offer;
    top.freed = in.freed;
    top.in_signal = in.in_signal;
    top.in_fcc = in.in_fcc;
}

static void sample(const Vhsl_end &top, Out &out) {
    out.out_sym = top.out_sym;
    out.stored_sym = top.stored_sym;
    out.out_signal = top.out_signal;
    out.out_fcc = top.out_fcc;
    out.taken = top.taken;
    out.stored = top.stored;
    out.went_down = top.went_down;
    out.up = top.up;
}

SHIM(hsl_end, Vhsl_end, In, Out)
