// The registers of a serialiser, character by character; the last one drives the
// pins. A parallel port has only that one.
module hsl_serialiser #(
    parameter STAGES = 3
) (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       enable,
    input  wire       parallel,
    input  wire       tx_signal,
    input  wire       tx_fcc,
    input  wire [8:0] tx_sym,
    output reg        out_signal,
    output reg        out_fcc,
    output reg  [8:0] out_sym
);

    // {signal, symbol} of each stage before the pins, the newest low
    reg [10*(STAGES-1)-1:0] stages;

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            stages     <= {10*(STAGES-1){1'b0}};
            out_signal <= 1'b0;
            out_fcc    <= 1'b0;
            out_sym    <= 9'd0;
        end else if (!enable) begin
            stages     <= {10*(STAGES-1){1'b0}};
            out_signal <= 1'b0;
            out_fcc    <= 1'b0;
            out_sym    <= 9'd0;
        end else begin
            stages     <= {stages[10*(STAGES-2)-1:0], tx_signal, tx_sym};
            out_signal <= parallel ? tx_signal : stages[10*(STAGES-1)-1];
            out_sym    <= parallel ? tx_sym    : stages[10*(STAGES-1)-2 -: 9];
            out_fcc    <= parallel && tx_fcc;
        end

endmodule
