// The configuration chain: 258 bytes, file byte 257 first (hw/doc/rcube.md,
// "Configuration"). With R3_INIT high it stands still and is the routing table.
module rcube_chain #(
    parameter BYTES = 258
) (
    input  wire               clk,
    input  wire               rst_n,
    input  wire               r3_init,
    input  wire               r3_strobe,  // a byte of R3_DOUT is there
    input  wire [7:0]         r3_dout,
    output reg  [8*BYTES-1:0] bytes       // byte k of the table at 8k
);

    always @(posedge clk or negedge rst_n)
        if (!rst_n)                     bytes <= {8*BYTES{1'b0}};
        else if (r3_strobe && !r3_init) bytes <= {bytes[8*BYTES-9:0], r3_dout};

endmodule
