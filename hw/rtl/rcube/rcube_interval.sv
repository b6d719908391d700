// Which of eight intervals a header belongs to (hw/doc/rcube.md, "Interval routing").
//
// Eight comparators: the number of bounds not above the header, minus one, modulo 8.
// With one-character headers the high bytes alone are compared.
module rcube_interval (
    input  wire [127:0] bounds,   // b7 .. b0, 16 bits each
    input  wire [15:0]  header,   // first character high
    input  wire         two,      // header of two characters
    output wire [2:0]   interval
);

    integer     k;
    reg [3:0]   below;
    reg [15:0]  mask;

    always @* begin
        mask  = two ? 16'hffff : 16'hff00;
        below = 4'd0;
        for (k = 0; k < 8; k = k + 1)
            if ((bounds[16*k +: 16] & mask) <= (header & mask))
                below = below + 4'd1;
    end

    /* verilator lint_off UNUSEDSIGNAL */
    wire [3:0] number = below - 4'd1;  // modulo 8
    /* verilator lint_on UNUSEDSIGNAL */

    assign interval = number[2:0];

endmodule
