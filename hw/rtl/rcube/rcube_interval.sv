// Which of eight intervals a header belongs to (hw/doc/rcube.md, "Interval routing").
//
// Eight comparators: the number of bounds not above the header, minus one, modulo 8.
// With one-character headers the high bytes alone are compared: the low byte of the
// header then counts as the highest.
module rcube_interval (
    input  wire [127:0] bounds,   // b0 first: high byte, low byte
    input  wire [15:0]  header,   // first character high
    input  wire         two,      // header of two characters
    output wire [2:0]   interval
);

    wire [15:0] value = {header[15:8], two ? header[7:0] : 8'hff};
    reg  [7:0]  below;
    integer     k;

    always @*
        for (k = 0; k < 8; k = k + 1) below[k] = {bounds[16*k +: 8], bounds[16*k+8 +: 8]} <= value;

    // The sum of eight bits, modulo 8, as a tree.
    wire [2:0] a = {2'd0, below[0]} + {2'd0, below[1]} + {2'd0, below[2]};
    wire [2:0] b = {2'd0, below[3]} + {2'd0, below[4]} + {2'd0, below[5]};
    wire [2:0] c = {2'd0, below[6]} + {2'd0, below[7]} + 3'd7;  // minus one

    assign interval = (a + b) + c;

endmodule
