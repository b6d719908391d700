// The whole router.
#include "Vrcube.h"
#include "shim.h"

struct In {
    uint16_t sym[8];
    uint8_t signal, fcc;
    uint8_t rst_n, parallel, quick;
    uint8_t r3_init, r3_strobe, r3_dout;
};

struct Out {
    uint16_t sym[8];
    uint8_t signal, fcc, link_status;
};

static void drive(Vrcube &top, const In &in) {
    uint64_t low = 0;
    for (int k = 0; k < 7; k++)
        low |= uint64_t(in.sym[k]) << 9 * k;
    low |= uint64_t(in.sym[7]) << 63;
    top.in_sym[0] = low;
    top.in_sym[1] = low >> 32;
    top.in_sym[2] = in.sym[7] >> 1;
    top.in_signal = in.signal;
    top.in_fcc = in.fcc;
    top.rst_n = in.rst_n;
    top.parallel = in.parallel;
    top.quick = in.quick;
    top.r3_init = in.r3_init;
    top.r3_strobe = in.r3_strobe;
    top.r3_dout = in.r3_dout;
}

static void sample(const Vrcube &top, Out &out) {
    uint64_t low = top.out_sym[0] | uint64_t(top.out_sym[1]) << 32;
    for (int k = 0; k < 7; k++)
        out.sym[k] = low >> 9 * k & 0x1ff;
    out.sym[7] = low >> 63 | top.out_sym[2] << 1;
    out.signal = top.out_signal;
    out.fcc = top.out_fcc;
    out.link_status = top.link_status;
}

SHIM(rcube, Vrcube, In, Out)
