// Two routers, each with a controller that this bench plays on port 0, joined on their ports
// 1 through the user's RTL:
//
//   bench = 0 router A 1 === hsl_repeater === 1 router B 0 = bench
//
// The links come up, a packet goes from A to B, and both take exactly the cycles of
// hw/doc/hsl.md ("Start-up") and hw/doc/rcube.md ("The way of a symbol").
`timescale 1ns / 1ps

`ifndef ROUTER_A
`define ROUTER_A rcube_model
`endif
`ifndef ROUTER_B
`define ROUTER_B rcube_model
`endif

module bench;

    import "DPI-C" function int multipc_dpi_table_byte(input int node, input int index);

    localparam integer STAGES = 2;
    localparam integer DATA = 20;
    localparam [8:0] EP = 9'h12B, IDLE = 9'h1AB;
    // From the last byte of the tables: 11,216 for two routers on a wire without registers,
    // of which each further one adds three.
    localparam integer LINK_UP = 11216 + 3 * STAGES;
    // Parallel to serial 8, serial to parallel 10, pin to pin.
    localparam integer LATENCY = 8 + STAGES + 10;

    reg        clk = 1'b0, rst_n = 1'b0;
    reg        r3_init = 1'b0, r3_strobe = 1'b0;
    reg  [7:0] dout_a = 8'd0, dout_b = 8'd0;
    // The bench's side of ports 0.
    reg        signal = 1'b0, fcc = 1'b0;
    reg  [8:0] sym = IDLE;

    // Ports 2 to 7 lead nowhere.
    // verilator lint_off UNUSEDSIGNAL
    wire [7:0]  signal_a, signal_b, fcc_a, fcc_b, status_a, status_b;
    wire [71:0] sym_a, sym_b;
    // verilator lint_on UNUSEDSIGNAL
    wire        to_a_signal, to_b_signal;
    wire [8:0]  to_a_sym, to_b_sym;

    // 66 MHz. A clock is no register.
    // verilator lint_off BLKSEQ
    always #7.575 clk = ~clk;
    // verilator lint_on BLKSEQ

    `ROUTER_A a (
        .clk(clk), .rst_n(rst_n), .parallel(8'h01), .quick(1'b0),
        .r3_init(r3_init), .r3_strobe(r3_strobe), .r3_dout(dout_a),
        .in_signal({6'd0, to_a_signal, signal}), .in_fcc({7'd0, fcc}),
        .in_sym({54'd0, to_a_sym, sym}),
        .out_signal(signal_a), .out_fcc(fcc_a), .out_sym(sym_a), .link_status(status_a)
    );

    `ROUTER_B b (
        .clk(clk), .rst_n(rst_n), .parallel(8'h01), .quick(1'b0),
        .r3_init(r3_init), .r3_strobe(r3_strobe), .r3_dout(dout_b),
        .in_signal({6'd0, to_b_signal, signal}), .in_fcc({7'd0, fcc}),
        .in_sym({54'd0, to_b_sym, IDLE}),
        .out_signal(signal_b), .out_fcc(fcc_b), .out_sym(sym_b), .link_status(status_b)
    );

    hsl_repeater #(.STAGES(STAGES)) repeater (
        .clk(clk), .rst_n(rst_n),
        .a_in_signal(signal_a[1]), .a_in_sym(sym_a[17:9]),
        .a_out_signal(to_a_signal), .a_out_sym(to_a_sym),
        .b_in_signal(signal_b[1]), .b_in_sym(sym_b[17:9]),
        .b_out_signal(to_b_signal), .b_out_sym(to_b_sym)
    );

    integer cycle = 0;
    always @(posedge clk) cycle <= cycle + 1;

    // Inputs change after the edge, away from it.
    task automatic next;
        @(posedge clk);
        #1;
    endtask

    task automatic expect_equal(input string what, input int found, input int expected);
        if (found != expected) begin
            $display("%s: %0d, expected %0d", what, found, expected);
            $fatal(1);
        end
        $display("%s: %0d", what, found);
    endtask

    // What the packet consists of: two header characters (node 1), data, EP.
    function automatic [8:0] packet(input integer i);
        if (i == 0) packet = 9'h000;
        else if (i == 1) packet = 9'h001;
        else if (i < DATA + 2) packet = {1'b0, 8'(i * 37)};
        else packet = EP;
    endfunction

    integer up = 0, first = 0, released, sent, got = 0, wrong = 0, i;

    // Port 0 of B: the symbols that are not fillers.
    always @(posedge clk) begin
        if (up == 0 && status_a == 8'h03 && status_b == 8'h03) up <= cycle;
        if (signal_b[0] && sym_b[8:0] != IDLE) begin
            if (got == 0) first <= cycle;
            if (sym_b[8:0] != packet(got)) wrong <= wrong + 1;
            got <= got + 1;
        end
    end

    initial begin
        repeat (3) next;
        rst_n = 1'b1;
        next;
        for (i = 257; i >= 0; i = i - 1) begin
            dout_a = 8'(multipc_dpi_table_byte(0, i));
            dout_b = 8'(multipc_dpi_table_byte(1, i));
            r3_strobe = 1'b1;
            next;
        end
        r3_strobe = 1'b0;
        r3_init = 1'b1;
        signal = 1'b1;
        released = cycle;
        // As controllers, 64 characters of credit to each router: two pulses, 8 apart.
        repeat (4) next;
        fcc = 1'b1; next; fcc = 1'b0;
        repeat (7) next;
        fcc = 1'b1; next; fcc = 1'b0;

        for (i = 0; i < 2 * LINK_UP && up == 0; i = i + 1) next;
        expect_equal("edges from R3_INIT to both links up", up - released, LINK_UP);
        repeat (20) next;

        sent = cycle;
        for (i = 0; i < DATA + 3; i = i + 1) begin
            sym = packet(i);
            next;
        end
        sym = IDLE;
        repeat (LATENCY + 10) next;
        expect_equal("symbols at the other board", got, DATA + 3);
        expect_equal("wrong ones", wrong, 0);
        expect_equal("cycles from pin to pin", first - sent, LATENCY);
        $display("PASS");
        $finish;
    end

endmodule
