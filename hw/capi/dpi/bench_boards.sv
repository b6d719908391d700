// Two boards of models on a cable with registers of the user's, and a CPU that this bench
// plays on both:
//
//   bench = board A 1 === hsl_repeater === 1 board B = bench
//
// Start and posting: hw/doc/put.md, "Start", "One page, call by call".
`timescale 1ns / 1ps

module bench_boards;

    import "DPI-C" function int multipc_dpi_table_byte(input int node, input int index);

    localparam [7:0] PCI_COMMAND = 8'h04, STATUS = 8'h40, STATUS_MASK = 8'h44;
    localparam [7:0] COMMAND = 8'h48, R3_DOUT = 8'h74;
    localparam [7:0] LPE_MAX = 8'h50, LPE_CURRENT = 8'h54, LPE_NEW = 8'h58, LPE_BASE = 8'h5C;
    localparam [7:0] LMI_MAX = 8'h60, LMI_CURRENT = 8'h64, LMI_NEW = 8'h68, LMI_BASE = 8'h6C;
    localparam [31:0] LME = 32'h1000, LMR = 32'h1080, SOURCE = 32'h8000, TARGET = 32'h9000;
    localparam integer WORDS = 64;

    // 33 and 66 MHz, never an edge of both at once. A clock is no register.
    reg clk_pci = 1'b0, clk_link = 1'b0, rst_n = 1'b0;
    // verilator lint_off BLKSEQ
    initial #5 forever #15.15 clk_pci = ~clk_pci;
    always #7.575 clk_link = ~clk_link;
    // verilator lint_on BLKSEQ

    // Bit 0: board A, bit 1: board B.
    reg  [1:0]  start = 2'b00;
    reg         write = 1'b0;
    reg  [7:0]  offset = 8'd0;
    reg  [31:0] wdata = 32'd0;
    wire [1:0]  done, inta_n, req_n;
    wire [31:0] rdata_a, rdata_b;
    // Ports 2 to 7 lead nowhere.
    // verilator lint_off UNUSEDSIGNAL
    wire [7:0]  signal_a, signal_b, status_a, status_b;
    wire [71:0] sym_a, sym_b;
    // verilator lint_on UNUSEDSIGNAL
    wire        to_a_signal, to_b_signal;
    wire [8:0]  to_a_sym, to_b_sym;

    board_model a (
        .clk_pci(clk_pci), .clk_link(clk_link), .rst_n(rst_n),
        .cfg_start(start[0]), .cfg_write(write), .cfg_offset(offset), .cfg_wdata(wdata),
        .cfg_done(done[0]), .cfg_rdata(rdata_a), .inta_n(inta_n[0]), .req_n(req_n[0]),
        .in_signal({6'd0, to_a_signal, 1'b0}), .in_sym({54'd0, to_a_sym, 9'd0}),
        .out_signal(signal_a), .out_sym(sym_a), .link_status(status_a)
    );

    board_model b (
        .clk_pci(clk_pci), .clk_link(clk_link), .rst_n(rst_n),
        .cfg_start(start[1]), .cfg_write(write), .cfg_offset(offset), .cfg_wdata(wdata),
        .cfg_done(done[1]), .cfg_rdata(rdata_b), .inta_n(inta_n[1]), .req_n(req_n[1]),
        .in_signal({6'd0, to_b_signal, 1'b0}), .in_sym({54'd0, to_b_sym, 9'd0}),
        .out_signal(signal_b), .out_sym(sym_b), .link_status(status_b)
    );

    hsl_repeater repeater (
        .clk(clk_link), .rst_n(rst_n),
        .a_in_signal(signal_a[1]), .a_in_sym(sym_a[17:9]),
        .a_out_signal(to_a_signal), .a_out_sym(to_a_sym),
        .b_in_signal(signal_b[1]), .b_in_sym(sym_b[17:9]),
        .b_out_signal(to_b_signal), .b_out_sym(to_b_sym)
    );

    task automatic next;
        @(posedge clk_pci);
        #1;
    endtask

    task automatic expect_equal(input string what, input int found, input int expected);
        if (found != expected) begin
            $display("%s: %0d, expected %0d", what, found, expected);
            $fatal(1);
        end
        $display("%s: %0d", what, found);
    endtask

    // A configuration access of one board: 0 is A, 1 is B.
    task automatic access(
        input  integer    board,
        input  reg        writes,
        input  reg [7:0]  register,
        input  reg [31:0] value,
        output reg [31:0] result
    );
        {start, write, offset, wdata} = {2'b01 << board, writes, register, value};
        next;
        start = 2'b00;
        while (!done[board]) next;
        result = board == 0 ? rdata_a : rdata_b;
    endtask

    task automatic put(input integer board, input reg [7:0] register, input reg [31:0] value);
        // verilator lint_off UNUSEDSIGNAL
        reg [31:0] nothing;
        // verilator lint_on UNUSEDSIGNAL
        access(board, 1'b1, register, value, nothing);
    endtask

    task automatic get(input integer board, input reg [7:0] register, output reg [31:0] value);
        access(board, 1'b0, register, 32'd0, value);
    endtask

    task automatic start_board(input integer board);
        integer i;
        put(board, COMMAND, 32'h0000_8000);
        put(board, LPE_MAX, LME + 32'h70);
        put(board, LPE_CURRENT, LME);
        put(board, LPE_NEW, LME);
        put(board, LPE_BASE, LME);
        put(board, LMI_MAX, LMR + 32'h70);
        put(board, LMI_NEW, LMR);
        put(board, LMI_CURRENT, LMR);
        put(board, LMI_BASE, LMR);
        for (i = 257; i >= 0; i = i - 1)
            put(board, R3_DOUT, 32'(multipc_dpi_table_byte(board, i)));
        put(board, COMMAND, 32'h8000_0000);
        put(board, COMMAND, 32'h8000_4000);
        put(board, COMMAND, 32'h8000_6000);
        put(board, COMMAND, 32'h8000_7000);
        put(board, STATUS_MASK, 32'hC0FB_F0FF);
        put(board, PCI_COMMAND, 32'h0000_0104);
    endtask

    integer i, clocks, wrong = 0;
    reg [31:0] value;

    initial begin
        repeat (3) next;
        rst_n = 1'b1;
        repeat (3) next;
        start_board(0);
        start_board(1);
        for (clocks = 0; clocks < 8000 && {status_a, status_b} != 16'h0303; clocks = clocks + 1)
            next;
        expect_equal("links of board A", int'(status_a), 3);
        expect_equal("links of board B", int'(status_b), 3);
        // What the start has counted as errors is forgotten.
        for (i = 0; i < 2; i = i + 1) begin
            put(i, STATUS, 32'h00FF_F000);
            put(i, PCI_COMMAND, 32'h0000_0104);
        end
        expect_equal("neither board asks", int'({inta_n, req_n}), 15);

        for (i = 0; i < WORDS; i = i + 1) a.poke(SOURCE + 4 * i, 32'hA500_0000 + i);
        // To node 1; NOR, LMP, LMI, NOS; message identifier 2.
        a.poke(LME, 32'h0001_0000 + 4 * WORDS);
        a.poke(LME + 4, 32'hCA00_0002);
        a.poke(LME + 8, TARGET);
        a.poke(LME + 12, SOURCE);
        put(0, LPE_NEW, LME + 16);
        for (clocks = 0; clocks < 2000 && inta_n != 2'b00; clocks = clocks + 1) next;
        expect_equal("both boards tell", int'(inta_n), 0);
        $display("PCI clocks from LPE_NEW to the second INTA#: %0d", clocks);
        for (i = 0; i < WORDS; i = i + 1)
            if (b.peek(TARGET + 4 * i) != 32'hA500_0000 + i) wrong = wrong + 1;
        expect_equal("wrong words at board B", wrong, 0);
        get(1, LMI_NEW, value);
        expect_equal("reports at board B", (value - LMR) / 16, 1);
        expect_equal("its message identifier", b.peek(LMR + 4) & 32'h00FF_FFFF, 2);

        // Taken and acknowledged: the lines rise.
        put(1, LMI_CURRENT, LMR + 16);
        put(0, STATUS, 32'h8000_0000);
        put(1, STATUS, 32'h4000_0000);
        next;
        expect_equal("neither board tells", int'(inta_n), 3);
        $display("PASS");
        $finish;
    end

endmodule
