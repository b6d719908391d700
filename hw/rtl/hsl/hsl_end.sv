// A port with the register of its output pins: what a chip with one link has.
// For bringing up hsl_port alone, in lock-step and in synthesis.
module hsl_end (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       enable,
    input  wire       parallel,
    input  wire       quick,
    input  wire       offer,
    input  wire [8:0] offer_sym,
    input  wire       freed,
    input  wire       in_signal,
    input  wire       in_fcc,
    input  wire [8:0] in_sym,
    output reg        out_signal,
    output reg        out_fcc,
    output reg  [8:0] out_sym,
    output reg        taken,
    output reg        stored,
    output reg  [8:0] stored_sym,
    output reg        went_down,
    output wire       up
);

    wire       tx_signal, tx_fcc, tx_taken, store, down;
    wire [8:0] tx_sym;

    hsl_port port (
        .clk       (clk),
        .rst_n     (rst_n),
        .enable    (enable),
        .parallel  (parallel),
        .quick     (quick),
        .offer     (offer),
        .offer_sym (offer_sym),
        .taken     (tx_taken),
        .tx_signal (tx_signal),
        .tx_fcc    (tx_fcc),
        .tx_sym    (tx_sym),
        .rx_signal (in_signal),
        .rx_fcc    (in_fcc),
        .rx_sym    (in_sym),
        .store     (store),
        .freed     (freed),
        .up        (up),
        .down      (down)
    );

    wire on = enable && tx_signal;

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            out_signal <= 1'b0;
            out_fcc    <= 1'b0;
            out_sym    <= 9'd0;
            taken      <= 1'b0;
            stored     <= 1'b0;
            stored_sym <= 9'd0;
            went_down  <= 1'b0;
        end else begin
            out_signal <= on;
            out_fcc    <= enable && tx_fcc;
            out_sym    <= on ? tx_sym : 9'd0;
            taken      <= enable && tx_taken;
            stored     <= enable && store;
            stored_sym <= enable && store ? in_sym : 9'd0;
            went_down  <= enable && down;
        end

endmodule
