// Pins of the router of a machine, and those of them that one board has.
#ifndef COSIM_MASPAR_ROUTER_H
#define COSIM_MASPAR_ROUTER_H

#include <cstddef>
#include <cstdint>
#include <cstring>

struct In {
    uint8_t rst_n, ropen, rfetch, bits, write, write_pe;
    uint64_t write_flag[16];
    uint16_t write_target[1024];
    uint64_t write_value[1024];
};

struct Out {
    uint8_t busy, fetching, tick, any;
    uint64_t tflag[256];
    uint64_t connected[16];
    uint64_t picked[64];
    uint64_t got[1024];
    // 16 * stage + chip
    uint64_t request[64], data[64], back[64];
};

// Pins of more than 64 bits are arrays of 32-bit words, low word first.
template <typename Pin> static void set(Pin &pin, const void *values, size_t bytes) {
    std::memcpy(&pin, values, bytes);
}

template <typename Pin> static void get(const Pin &pin, uint64_t *values, size_t words) {
    std::memcpy(values, &pin, words * 8);
}

// Registers of the PEs of board `b`.
template <typename Top> static void write_board(Top &top, const In &in, int b) {
    top.write_pe = in.write_pe;
    top.write_flag = in.write_flag[b];
    set(top.write_value, &in.write_value[b * 64], 64 * 8);
    uint32_t targets[28] = {};
    for (int c = 0; c < 64; c++) {
        int at = c * 14;
        uint64_t bits = uint64_t(in.write_target[b * 64 + c] & 0x3FFF) << (at % 32);
        targets[at / 32] |= uint32_t(bits);
        if (at % 32 > 18) targets[at / 32 + 1] |= uint32_t(bits >> 32);
    }
    set(top.write_target, targets, sizeof targets);
}

// What board `b` shows of its clusters.
template <typename Top> static void sample_board(const Top &top, Out &out, int b) {
    get(top.tflag, &out.tflag[b * 16], 16);
    out.connected[b] = top.connected;
    get(top.picked, &out.picked[b * 4], 4);
    get(top.got, &out.got[b * 64], 64);
    out.request[b] = top.request1;
    out.data[b] = top.data1;
    out.back[b] = top.back1;
    out.request[48 + b] = top.request4;
    out.data[48 + b] = top.data4;
    out.back[48 + b] = top.back4;
    // The model tells who was picked only of those that have a path.
    for (int c = 0; c < 64; c++)
        if (!(out.connected[b] >> c & 1)) out.picked[b * 4 + c / 16] &= ~(UINT64_C(15) << (c % 16 * 4));
}

#endif
