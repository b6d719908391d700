// One controller on a PCI bus that this bench plays: configuration accesses, a byte for the
// router, a descriptor that nobody hands out, and the start of the link:
//
//   bench == PCI == PCI-DDC = parallel port = bench
//
// Cycles are those of hw/doc/pci-ddc.md ("Timing", "Port").
`timescale 1ns / 1ps

`ifndef DDC
`define DDC ddc_model
`endif

module bench_ddc;

    localparam [7:0] PCI_COMMAND = 8'h04, STATUS_MASK = 8'h44, COMMAND = 8'h48;
    localparam [7:0] LPE_MAX = 8'h50, LPE_CURRENT = 8'h54, LPE_NEW = 8'h58, LPE_BASE = 8'h5C;
    localparam [7:0] R3_DOUT = 8'h74;
    localparam [3:0] CONFIG_READ = 4'hA, CONFIG_WRITE = 4'hB;

    // 33 and 66 MHz, never an edge of both at once. A clock is no register.
    reg clk_pci = 1'b0, clk_link = 1'b0, rst_n = 1'b0;
    // verilator lint_off BLKSEQ
    initial #5 forever #15.15 clk_pci = ~clk_pci;
    always #7.575 clk_link = ~clk_link;
    // verilator lint_on BLKSEQ

    // The bench as initiator; its lines are released where they are high.
    reg  [31:0] m_ad = 32'd0;
    reg  [3:0]  m_cbe_n = 4'hF;
    reg         m_ad_oe = 1'b0, m_cbe_oe = 1'b0, m_frame_n = 1'b1, m_irdy_n = 1'b1;
    reg         idsel = 1'b0, gnt_n = 1'b1, par = 1'b0;
    reg         signal = 1'b0;

    wire [31:0] c_ad;
    wire [3:0]  c_cbe_n;
    wire        c_ad_oe, c_cbe_oe, c_par, c_par_oe, c_frame_n, c_frame_oe, c_irdy_n, c_irdy_oe;
    wire        c_trdy_n, c_trdy_oe, c_devsel_n, c_devsel_oe, c_stop_n, c_stop_oe;
    wire        c_perr_n, c_perr_oe, c_serr_oe, req_n, inta_n, strobe, r3_init;
    wire [7:0]  chain_byte;
    wire        tx_signal, tx_fcc, tx_valid;
    wire [8:0]  tx_symbol;

    // The bus: whoever drives, else the pull-ups.
    wire [31:0] ad = c_ad_oe ? c_ad : m_ad_oe ? m_ad : 32'hFFFF_FFFF;
    wire [3:0]  cbe_n = c_cbe_oe ? c_cbe_n : m_cbe_oe ? m_cbe_n : 4'hF;
    wire        frame_n = c_frame_oe ? c_frame_n : m_frame_n;
    wire        irdy_n = c_irdy_oe ? c_irdy_n : m_irdy_n;
    wire        trdy_n = !c_trdy_oe || c_trdy_n;
    wire        devsel_n = !c_devsel_oe || c_devsel_n;
    wire        stop_n = !c_stop_oe || c_stop_n;
    wire        perr_n = !c_perr_oe || c_perr_n;

    // PAR of whoever drives AD, one clock later.
    always @(posedge clk_pci) par <= ^{ad, cbe_n};

    `DDC chip (
        .clk_pci(clk_pci), .clk_link(clk_link), .rst_n(rst_n),
        .pci_ad(ad), .pci_cbe_n(cbe_n), .pci_par(c_par_oe ? c_par : par),
        .pci_frame_n(frame_n), .pci_irdy_n(irdy_n), .pci_trdy_n(trdy_n),
        .pci_devsel_n(devsel_n), .pci_stop_n(stop_n), .pci_perr_n(perr_n),
        .pci_idsel(idsel), .pci_gnt_n(gnt_n),
        .out_ad(c_ad), .out_ad_oe(c_ad_oe), .out_cbe_n(c_cbe_n), .out_cbe_oe(c_cbe_oe),
        .out_par(c_par), .out_par_oe(c_par_oe), .out_frame_n(c_frame_n),
        .out_frame_oe(c_frame_oe), .out_irdy_n(c_irdy_n), .out_irdy_oe(c_irdy_oe),
        .out_trdy_n(c_trdy_n), .out_trdy_oe(c_trdy_oe), .out_devsel_n(c_devsel_n),
        .out_devsel_oe(c_devsel_oe), .out_stop_n(c_stop_n), .out_stop_oe(c_stop_oe),
        .out_perr_n(c_perr_n), .out_perr_oe(c_perr_oe), .out_serr_oe(c_serr_oe),
        .out_req_n(req_n), .out_inta_n(inta_n),
        .chain_strobe(strobe), .chain_byte(chain_byte), .r3_init(r3_init), .r3_status(8'd0),
        .rx_signal(signal), .rx_fcc(1'b0), .rx_valid(1'b0), .rx_symbol(9'd0),
        .tx_signal(tx_signal), .tx_fcc(tx_fcc), .tx_valid(tx_valid), .tx_symbol(tx_symbol)
    );

    // Inputs change after the edge, away from it.
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

    integer claimed;

    // A configuration access, type 0: address, then one data phase. `claimed` is the clock
    // after the address in which DEVSEL# can be sampled low.
    task automatic access(
        input  reg [3:0]  command,
        input  reg [7:0]  offset,
        input  reg [31:0] wdata,
        output reg [31:0] rdata
    );
        integer clocks;
        {m_ad, m_ad_oe, m_cbe_n, m_cbe_oe} = {24'd0, offset, 1'b1, command, 1'b1};
        {m_frame_n, idsel} = 2'b01;
        next;
        {m_ad, m_ad_oe, m_cbe_n} = {wdata, command == CONFIG_WRITE, 4'h0};
        {m_frame_n, m_irdy_n, idsel} = 3'b100;
        claimed = 0;
        for (clocks = 1; trdy_n; clocks = clocks + 1) begin
            if (!devsel_n && claimed == 0) claimed = clocks;
            if (clocks > 16) $fatal(1, "nobody answers");
            next;
        end
        if (claimed == 0) claimed = clocks;
        rdata = ad;
        next;
        {m_ad_oe, m_cbe_oe, m_irdy_n} = 3'b001;
    endtask

    task automatic write(input reg [7:0] offset, input reg [31:0] value);
        // verilator lint_off UNUSEDSIGNAL
        reg [31:0] nothing;
        // verilator lint_on UNUSEDSIGNAL
        access(CONFIG_WRITE, offset, value, nothing);
        next;
    endtask

    task automatic read(input reg [7:0] offset, output reg [31:0] value);
        access(CONFIG_READ, offset, 32'd0, value);
        next;
    endtask

    // Bytes for the router, and FCC pulses on the link with the cycles between them.
    integer strobes = 0, pulses = 0, apart = 0, since = 0;
    reg [7:0] byte_seen = 8'd0;
    always @(posedge clk_pci)
        if (strobe) begin
            strobes <= strobes + 1;
            byte_seen <= chain_byte;
        end
    always @(posedge clk_link)
        if (tx_signal && tx_fcc) begin
            pulses <= pulses + 1;
            apart <= since + 1;
            since <= 0;
        end else since <= since + 1;

    reg [31:0] value;
    integer clocks;

    initial begin
        repeat (3) next;
        rst_n = 1'b1;
        repeat (3) next;
        read(8'h00, value);
        expect_equal("register 00h", value, 0);
        expect_equal("DEVSEL# is there to sample after clocks", claimed, 2);
        write(LPE_BASE, 32'h0000_1000);
        read(LPE_BASE, value);
        expect_equal("LPE_BASE", value, 32'h1000);

        write(R3_DOUT, 32'h0000_00A5);
        repeat (2) next;
        expect_equal("bytes for the router", strobes, 1);
        expect_equal("the byte", int'(byte_seen), 32'hA5);

        // A ring of eight, transmit on, one entry posted: the chip asks for the bus.
        write(LPE_MAX, 32'h0000_1070);
        write(LPE_CURRENT, 32'h0000_1000);
        write(LPE_NEW, 32'h0000_1000);
        write(STATUS_MASK, 32'hC0FB_F000);
        write(COMMAND, 32'h0000_4000);
        write(PCI_COMMAND, 32'h0000_0004);
        access(CONFIG_WRITE, LPE_NEW, 32'h0000_1010, value);
        for (clocks = 0; req_n && clocks < 16; clocks = clocks + 1) next;
        expect_equal("clocks from LPE_NEW to REQ#", clocks, 1);
        gnt_n = 1'b0;
        for (clocks = 0; frame_n && clocks < 16; clocks = clocks + 1) next;
        gnt_n = 1'b1;
        expect_equal("address of the descriptor", ad, 32'h1000);
        // Nobody claims it: the chip ends it, tells, and stops.
        repeat (16) next;
        expect_equal("INTA# is low", {31'd0, !inta_n}, 1);
        read(PCI_COMMAND, value);
        expect_equal("received master abort", {31'd0, value[29]}, 1);
        expect_equal("Bus Master", {31'd0, value[2]}, 0);

        // The link: the router's signal, then receive on.
        signal = 1'b1;
        write(COMMAND, 32'h0000_7000);
        repeat (20) next;
        expect_equal("R3_INIT and signal", {30'd0, r3_init, tx_signal}, 3);
        expect_equal("FCC pulses", pulses, 2);
        expect_equal("link cycles between them", apart, 8);
        // No packet, no SERR#: nothing was sent and no parity was wrong.
        if (tx_valid || tx_symbol != 9'd0 && tx_valid || c_serr_oe) $fatal(1, "not quiet");
        $display("PASS");
        $finish;
    end

endmodule
