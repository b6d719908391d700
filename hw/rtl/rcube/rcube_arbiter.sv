// Who gets which output (hw/doc/rcube.md, "One edge, block by block" 4).
//
// Each input picks one free output that it asks for, the first from its own
// number upwards; each output takes one input that picked it, the first above
// its last winner.
module rcube_arbiter (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        enable,
    input  wire [63:0] request,  // row of input i at 8i, bit o: output o
    input  wire [7:0]  free,
    output reg  [63:0] grant     // the same way round
);

    reg [23:0] last;             // 3 bits an output: the input that won last

    integer    i, m, o, n;
    reg [2:0]  column, row;
    reg [7:0]  wanted, found;
    reg [63:0] picked;
    reg [23:0] winner;

    always @* begin
        picked = 64'd0;
        for (i = 0; i < 8; i = i + 1) begin
            wanted = request[8*i +: 8] & free;
            // From the far end, so that the nearest stays.
            for (m = 7; m >= 0; m = m - 1) begin
                column = i[2:0] + m[2:0];
                if (wanted[column]) picked[8*i +: 8] = 8'd1 << column;
            end
        end
    end

    always @* begin
        grant  = 64'd0;
        winner = last;
        found  = 8'd0;
        for (o = 0; o < 8; o = o + 1) begin
            for (n = 8; n >= 1; n = n - 1) begin
                row = last[3*o +: 3] + n[2:0];
                if (picked[8*row + o]) begin
                    winner[3*o +: 3] = row;
                    found[o]         = 1'b1;
                end
            end
            if (found[o]) grant[8*winner[3*o +: 3] + o] = 1'b1;
        end
    end

    // Input 0 comes first after reset.
    always @(posedge clk or negedge rst_n)
        if (!rst_n)       last <= {8{3'd7}};
        else if (!enable) last <= {8{3'd7}};
        else              last <= winner;

endmodule
