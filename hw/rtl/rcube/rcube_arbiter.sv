// Who gets which output (hw/doc/rcube.md, "One edge, block by block" 4).
//
// Each input picks one free output that it asks for, the first from its own
// number upwards; each output takes one input that picked it, the first above
// its last winner. "First" is the lowest bit, x & -x.
module rcube_arbiter (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        enable,
    input  wire [63:0] request,  // row of input i at 8i, bit o: output o
    input  wire [7:0]  free,
    output reg  [63:0] grant     // the same way round
);

    reg [63:0] above;            // row of output o: inputs above its last winner
    reg [63:0] above_next;

    integer    i, o, k;
    reg [63:0] picked;
    reg [7:0]  wanted, higher, asking, choice, winner;

    // Rows: as seen from output i, then turned back.
    always @* begin
        picked = 64'd0;
        for (i = 0; i < 8; i = i + 1) begin
            wanted = request[8*i +: 8] & free;
            wanted = (wanted >> i) | (wanted << (8 - i));
            wanted = wanted & (~wanted + 8'd1);
            picked[8*i +: 8] = (wanted << i) | (wanted >> (8 - i));
        end
    end

    // Columns.
    always @* begin
        grant      = 64'd0;
        above_next = above;
        for (o = 0; o < 8; o = o + 1) begin
            for (k = 0; k < 8; k = k + 1) asking[k] = picked[8*k + o];
            higher = asking & above[8*o +: 8];
            choice = higher != 8'd0 ? higher : asking;
            winner = choice & (~choice + 8'd1);
            for (k = 0; k < 8; k = k + 1) grant[8*k + o] = winner[k];
            if (asking != 8'd0) above_next[8*o +: 8] = ~(winner | (winner - 8'd1));
        end
    end

    // After reset input 0 comes first.
    always @(posedge clk or negedge rst_n)
        if (!rst_n)       above <= {64{1'b1}};
        else if (!enable) above <= {64{1'b1}};
        else              above <= above_next;

endmodule
