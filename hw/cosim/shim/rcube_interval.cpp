// The interval decoder of one input.
#include "Vrcube_interval.h"
#include "shim.h"

struct In {
    uint16_t bounds[8];
    uint16_t header;
    uint8_t two;
};

struct Out {
    uint8_t interval;
};

static void drive(Vrcube_interval &top, const In &in) {
    for (int k = 0; k < 4; k++)
        top.bounds[k] = in.bounds[2 * k] | uint32_t(in.bounds[2 * k + 1]) << 16;
    top.header = in.header;
    top.two = in.two;
}

static void sample(const Vrcube_interval &top, Out &out) { out.interval = top.interval; }

SHIM(rcube_interval, Vrcube_interval, In, Out)
