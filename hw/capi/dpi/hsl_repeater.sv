// The user's RTL of the examples: registers on a cable, both directions, STAGES deep.
module hsl_repeater #(
    parameter integer STAGES = 2
) (
    input  wire       clk,
    input  wire       rst_n,

    input  wire       a_in_signal,
    input  wire [8:0] a_in_sym,
    output wire       a_out_signal,
    output wire [8:0] a_out_sym,

    input  wire       b_in_signal,
    input  wire [8:0] b_in_sym,
    output wire       b_out_signal,
    output wire [8:0] b_out_sym
);

    // Signal in bit 9 of each stage; the last stage lies highest.
    reg [10*STAGES-1:0] to_a, to_b;

    assign {a_out_signal, a_out_sym} = to_a[10*STAGES-1 -: 10];
    assign {b_out_signal, b_out_sym} = to_b[10*STAGES-1 -: 10];

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            to_a <= {10*STAGES{1'b0}};
            to_b <= {10*STAGES{1'b0}};
        end else begin
            to_a <= {to_a[10*STAGES-11:0], b_in_signal, b_in_sym};
            to_b <= {to_b[10*STAGES-11:0], a_in_signal, a_in_sym};
        end

endmodule
