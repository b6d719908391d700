// The input FIFO: 64 symbols, of which the two oldest can be seen, as the header
// has to be.
//
// These two are registers; the others are in a memory whose output is registered
// (a block RAM). A symbol that is written to where the memory reads is passed by;
// what the memory gives then does not matter, and x lets synthesis know.
module rcube_fifo (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       enable,
    input  wire       flush,
    input  wire       store,
    input  wire [8:0] store_sym,
    input  wire       pop,      // the oldest leaves; only when not empty
    output reg  [8:0] first,
    output reg  [8:0] second,
    output wire       empty,
    output wire       many      // two at least
);

    reg [6:0] filled;

    assign empty = filled == 7'd0;
    assign many  = filled >= 7'd2;

    // What stays is counted first: a full FIFO that loses one can store one. A
    // symbol without credit finds it full, and is lost.
    wire [6:0] stay   = filled - {6'd0, pop};
    wire       accept = store && stay != 7'd64;

    reg [8:0]  memory [0:63];
    reg [5:0]  tail;            // next to be written
    reg [5:0]  head;            // third oldest
    reg [8:0]  read, passed;
    reg        passes;

    wire       write   = accept && stay >= 7'd2;
    wire       refill  = pop && filled > 7'd2;
    wire [5:0] head_on = head + {5'd0, refill};
    wire       meet    = write && tail == head_on;
    wire [8:0] third   = passes ? passed : read;

    always @(posedge clk) begin
        if (write) memory[tail] <= store_sym;
        read   <= meet ? 9'bx : memory[head_on];
        passed <= store_sym;
        passes <= meet;
        if (accept && stay == 7'd0) first <= store_sym;
        else if (pop)               first <= second;
        if (accept && stay == 7'd1) second <= store_sym;
        else if (pop)               second <= third;
    end

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            filled <= 7'd0;
            head   <= 6'd0;
            tail   <= 6'd0;
        end else if (!enable || flush) begin
            filled <= 7'd0;
            head   <= 6'd0;
            tail   <= 6'd0;
        end else begin
            filled <= stay + {6'd0, accept};
            head   <= head_on;
            tail   <= tail + {5'd0, write};
        end

endmodule
