// One input of the router with its link, for a figure of area and frequency on a
// small FPGA: deserialiser, link port, FIFO, interval compare, packet state. All
// pins are registered, and the routing table of the input is a chain of its own,
// so that only paths inside the lane count. Not part of the router.
module rcube_lane (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       enable,
    input  wire       chain_strobe,
    input  wire [7:0] chain_byte,
    input  wire       in_signal,
    input  wire [8:0] in_sym,
    input  wire       offer,
    input  wire [8:0] offer_sym,
    input  wire [7:0] grant,
    input  wire [7:0] full,
    input  wire [7:0] output_down,
    output reg        out_signal,
    output reg  [8:0] out_sym,
    output reg        taken,
    output reg  [7:0] request,
    output reg  [7:0] holds,
    output reg        push,
    output reg  [8:0] push_sym,
    output reg        up
);

    // 16 bytes of bounds, 8 of selections, deletion, header length (1 bit)
    reg [264:0] table_bits;

    always @(posedge clk)
        if (chain_strobe) table_bits <= {table_bits[256:0], chain_byte};

    reg       offer_r;
    reg [8:0] offer_sym_r;
    reg [7:0] grant_r, full_r, output_down_r;

    always @(posedge clk) begin
        offer_r       <= offer;
        offer_sym_r   <= offer_sym;
        grant_r       <= grant;
        full_r        <= full;
        output_down_r <= output_down;
    end

    wire       rx_signal, rx_fcc, tx_signal, tx_fcc, is_taken, store, freed, is_up, down, pushes;
    wire [8:0] rx_sym, tx_sym, pushes_sym;
    wire [7:0] requests, held;

    hsl_deserialiser deserialiser (
        .clk       (clk),
        .rst_n     (rst_n),
        .enable    (enable),
        .parallel  (1'b0),
        .in_signal (in_signal),
        .in_fcc    (1'b0),
        .in_sym    (in_sym),
        .rx_signal (rx_signal),
        .rx_fcc    (rx_fcc),
        .rx_sym    (rx_sym)
    );

    hsl_port link (
        .clk       (clk),
        .rst_n     (rst_n),
        .enable    (enable),
        .parallel  (1'b0),
        .quick     (1'b0),
        .offer     (offer_r),
        .offer_sym (offer_sym_r),
        .taken     (is_taken),
        .tx_signal (tx_signal),
        .tx_fcc    (tx_fcc),
        .tx_sym    (tx_sym),
        .rx_signal (rx_signal),
        .rx_fcc    (rx_fcc),
        .rx_sym    (rx_sym),
        .store     (store),
        .freed     (freed),
        .up        (is_up),
        .down      (down)
    );

    rcube_input entry (
        .clk         (clk),
        .rst_n       (rst_n),
        .enable      (enable),
        .bounds      (table_bits[127:0]),
        .selections  (table_bits[255:128]),
        .two         (table_bits[264]),
        .deletion    (table_bits[263:256]),
        .store       (store),
        .store_sym   (rx_sym),
        .link_down   (down),
        .freed       (freed),
        .request     (requests),
        .grant       (grant_r),
        .holds       (held),
        .full        (full_r),
        .output_down (output_down_r),
        .push        (pushes),
        .push_sym    (pushes_sym)
    );

    /* verilator lint_off UNUSEDSIGNAL */
    wire unused = tx_fcc;  // a serial link has no pulse
    /* verilator lint_on UNUSEDSIGNAL */

    always @(posedge clk) begin
        out_signal <= tx_signal;
        out_sym    <= tx_sym;
        taken      <= is_taken;
        request    <= requests;
        holds      <= held;
        push       <= pushes;
        push_sym   <= pushes_sym;
        up         <= is_up;
    end

endmodule
