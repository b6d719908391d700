// The registers of a deserialiser, character by character: in_* comes out
// STAGES edges later. A parallel port has none of them.
module hsl_deserialiser #(
    parameter STAGES = 4
) (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       enable,
    input  wire       parallel,
    input  wire       in_signal,
    input  wire       in_fcc,
    input  wire [8:0] in_sym,
    output wire       rx_signal,
    output wire       rx_fcc,
    output wire [8:0] rx_sym
);

    // {signal, symbol} of each stage, the newest low
    reg [10*STAGES-1:0] stages;

    always @(posedge clk or negedge rst_n)
        if (!rst_n)       stages <= {10*STAGES{1'b0}};
        else if (!enable) stages <= {10*STAGES{1'b0}};
        else              stages <= {stages[10*(STAGES-1)-1:0], in_signal, in_sym};

    assign rx_signal = parallel ? in_signal : stages[10*STAGES-1];
    assign rx_sym    = parallel ? in_sym    : stages[10*STAGES-2 -: 9];
    assign rx_fcc    = parallel && in_fcc;

endmodule
