// What the bytes of the chain mean, a wire for each (hw/doc/rcube.md,
// "Configuration"). No logic.
module rcube_table (
    /* verilator lint_off UNUSEDSIGNAL */
    // The second byte of a selection is ignored.
    input  wire [2063:0] bytes,
    /* verilator lint_on UNUSEDSIGNAL */
    output reg  [1023:0] bounds,      // 128 bits an input, interval 0 low
    output reg  [511:0]  selections,  // 64 bits an input, interval 0 low
    output wire [7:0]    deletion,    // bit k: output k
    output wire [7:0]    two          // bit k: header of input k has two characters
);

    integer k, j;

    assign deletion = bytes[8*128 +: 8];
    assign two      = bytes[8*129 +: 8];

    // Even links in one half of the file, odd ones in the other; bounds ascend
    // by link and interval with the high byte first, selections descend.
    always @*
        for (k = 0; k < 4; k = k + 1)
            for (j = 0; j < 8; j = j + 1) begin
                bounds[128*(2*k)   + 16*j +: 16] = {bytes[8*(16*k+2*j)     +: 8], bytes[8*(16*k+2*j+1)   +: 8]};
                bounds[128*(2*k+1) + 16*j +: 16] = {bytes[8*(130+16*k+2*j) +: 8], bytes[8*(131+16*k+2*j) +: 8]};
                selections[64*(2*k)   + 8*j +: 8] = bytes[8*(64  + 16*(3-k) + 2*(7-j)) +: 8];
                selections[64*(2*k+1) + 8*j +: 8] = bytes[8*(194 + 16*(3-k) + 2*(7-j)) +: 8];
            end

endmodule
