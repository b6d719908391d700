// The ticks of ropen and rfetch: what the array control unit tells clusters and chips.
// Document: hw/doc/maspar.md, "Tick by tick".

module maspar_sequencer (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       ropen,   // pulse: tick 0 of ropen follows
    input  wire       rfetch,  // pulse: tick 0 of rfetch follows; ropen goes first
    input  wire [6:0] bits,    // of rfetch: 1 to 64, sampled with the pulse
    output reg        busy,
    output reg        fetching,  // the instruction is rfetch
    output reg  [6:0] tick,

    // In the tick in which they are high the register takes its new value at the end.
    output reg       restart,   // all: no paths (the tick before tick 0 of ropen)
    output reg       empty,     // source: nothing fetched (the tick before tick 0 of rfetch)
    output reg       pick,      // source: choose the PE, take its address
    output reg       ask,       // source: request the wire
    output reg       send,      // source: put the next address bit on the wire
    output reg [3:0] take,      // stage 1, 2, 3, PE select: shift an address bit in
    output reg [3:0] open,      // stage 1, 2, 3, PE select: decide
    output reg       told,      // source: the acknowledge has arrived
    output reg       load,      // target: take the value into the shift register
    output reg       shift,     // target: put the next bit on the wire
    output reg       arrive,    // source: bit number `index` has arrived
    output reg [5:0] index,
    output reg       release_,  // source: give the wire up, clear the flag if it had a path
    output reg [3:0] close      // stage 1, 2, 3, PE select: path gone
);
  localparam [6:0] RopenLast = 7'd41;  // 42 ticks
  localparam [6:0] FetchRest = 7'd16;  // 17 ticks and one a bit

  reg [6:0] length;  // bits of this rfetch
  reg opening;
  reg done;  // last tick
  reg [6:0] arrived;  // bits
  integer k;

  always @* begin
    opening = busy && !fetching;
    done = tick == (fetching ? FetchRest + length : RopenLast);
    restart = (!busy || done) && ropen;
    empty = (!busy || done) && !ropen && rfetch;

    pick = opening && tick == 7'd0;
    ask = opening && tick == 7'd1;
    send = 1'b0;
    for (k = 0; k < 4; k = k + 1) begin
      // A stage takes its four bits, decides in the tick after, and adds a tick of delay: the
      // source leaves out one bit time between the stages' bits, the stages are six apart.
      send = send || opening && tick >= 7'd1 + 7'd5 * k[6:0] && tick <= 7'd4 + 7'd5 * k[6:0];
      take[k] = opening && tick >= 7'd2 + 7'd6 * k[6:0] && tick <= 7'd5 + 7'd6 * k[6:0];
      open[k] = opening && tick == 7'd6 + 7'd6 * k[6:0];
    end
    told = opening && tick == 7'd29;

    load = fetching && tick == 7'd5;
    shift = fetching && tick >= 7'd6 && tick < 7'd6 + length;
    arrived = tick - 7'd10;
    arrive = fetching && tick >= 7'd10 && arrived < length;
    index = arrived[5:0];
    release_ = fetching && tick == 7'd10 + length;
    for (k = 0; k < 4; k = k + 1) close[k] = fetching && tick == 7'd10 + length + k[6:0];
  end

  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      busy <= 1'b0;
      fetching <= 1'b0;
      tick <= 7'd0;
      length <= 7'd0;
    end else if (!busy || done) begin
      // A pulse in the last tick is taken: instructions follow each other without a gap.
      busy <= ropen || rfetch;
      fetching <= rfetch && !ropen;
      tick <= 7'd0;
      length <= bits;
    end else begin
      tick <= tick + 7'd1;
    end
  end
endmodule
