// One output: a FIFO of 5 in front of the link port.
module rcube_output #(
    parameter DEPTH = 5
) (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       enable,
    input  wire       link_down,  // this edge takes the link down
    input  wire       push,
    input  wire [8:0] push_sym,
    input  wire       taken,      // the port sends the oldest
    output wire       full,
    output wire       offer,
    output wire [8:0] offer_sym
);

    localparam [2:0] LAST = DEPTH - 1, ALL = DEPTH;

    reg [9*DEPTH-1:0] fifo;       // the oldest low
    reg [2:0]         filled;

    assign full      = filled == ALL;
    assign offer     = filled != 3'd0;
    assign offer_sym = fifo[8:0];

    // Where the new symbol goes: behind those that stay.
    wire [2:0]         at   = filled - {2'd0, taken};
    wire [9*DEPTH-1:0] stay = taken ? {9'd0, fifo[9*DEPTH-1:9]} : fifo;

    integer           k;
    reg [9*DEPTH-1:0] next;

    always @* begin
        next = stay;
        for (k = 0; k <= {29'd0, LAST}; k = k + 1)
            if (push && at == k[2:0]) next[9*k +: 9] = push_sym;
    end

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            fifo   <= {9*DEPTH{1'b0}};
            filled <= 3'd0;
        end else if (!enable || link_down) begin
            fifo   <= {9*DEPTH{1'b0}};
            filled <= 3'd0;
        end else begin
            fifo   <= next;
            filled <= at + {2'd0, push};
        end

endmodule
