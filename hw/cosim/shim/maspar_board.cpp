// A machine of 16 boards: the Verilated board 16 times and the Verilated backplane.
//
// Verilator would write out each board on its own if the machine were one top, which takes
// the compiler many minutes. All wires between boards come from registers, so settling the
// backplane once before each edge is exact.
#include "Vmaspar_board.h"
#include "../maspar_backplane/Vmaspar_backplane.h"
#include "maspar_router.h"
#include "shim.h"

#include <memory>
#include <vector>

struct Machine {
    std::vector<std::unique_ptr<Vmaspar_board>> boards;
    Vmaspar_backplane backplane;
    uint8_t clk = 0;

    explicit Machine(VerilatedContext *context) : backplane(context, "backplane") {
        for (int b = 0; b < 16; b++) {
            std::string name = "board" + std::to_string(b);
            boards.emplace_back(new Vmaspar_board(context, name.c_str()));
        }
    }

    template <typename Pin> static uint64_t word(const Pin &pin, int b) {
        uint64_t value;
        std::memcpy(&value, reinterpret_cast<const char *>(&pin) + 8 * b, 8);
        return value;
    }

    template <typename Pin> static void set_word(Pin &pin, int b, uint64_t value) {
        std::memcpy(reinterpret_cast<char *>(&pin) + 8 * b, &value, 8);
    }

    void wire() {
        for (int b = 0; b < 16; b++) {
            const Vmaspar_board &board = *boards[b];
            set_word(backplane.out_request1, b, board.out_request1);
            set_word(backplane.out_data1, b, board.out_data1);
            set_word(backplane.back2, b, board.back2);
            set_word(backplane.out_request2, b, board.out_request2);
            set_word(backplane.out_data2, b, board.out_data2);
            set_word(backplane.back3, b, board.back3);
        }
        backplane.eval();
        for (int b = 0; b < 16; b++) {
            Vmaspar_board &board = *boards[b];
            board.from2 = word(backplane.from2, b);
            board.request2 = word(backplane.request2, b);
            board.data2 = word(backplane.data2, b);
            board.from3 = word(backplane.from3, b);
            board.request3 = word(backplane.request3, b);
            board.data3 = word(backplane.data3, b);
        }
    }

    void eval() {
        if (clk) wire();
        for (auto &board : boards) {
            board->clk = clk;
            board->eval();
        }
        if (!clk) wire(); // for looking at
    }

    void final() {
        backplane.final();
        for (auto &board : boards) board->final();
    }
};

static void drive(Machine &top, const In &in) {
    for (int b = 0; b < 16; b++) {
        Vmaspar_board &board = *top.boards[b];
        board.rst_n = in.rst_n;
        board.ropen = in.ropen;
        board.rfetch = in.rfetch;
        board.bits = in.bits;
        board.write = in.write;
        if (in.write) write_board(board, in, b);
    }
}

static void sample(const Machine &top, Out &out) {
    std::memset(&out, 0, sizeof out);
    for (int b = 0; b < 16; b++) {
        const Vmaspar_board &board = *top.boards[b];
        sample_board(board, out, b);
        // All boards count alike, or the OR shows it.
        out.busy |= board.busy;
        out.fetching |= board.fetching;
        out.tick |= board.tick;
        out.any |= board.any;
        out.request[16 + b] = board.request2;
        out.data[16 + b] = board.data2;
        out.back[16 + b] = board.back2;
        out.request[32 + b] = board.request3;
        out.data[32 + b] = board.data3;
        out.back[32 + b] = board.back3;
    }
}

SHIM(maspar_board, Machine, In, Out)
