// The ticks of ropen and rfetch: what the array control unit tells clusters and chips.
// Document: hw/doc/rtl-maspar.md, "The ticks".

module maspar_sequencer (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       ropen,   // pulse: tick 0 of ropen follows; ignored while busy
    input  wire       rfetch,  // pulse: tick 0 of rfetch follows; ignored while busy
    input  wire [6:0] bits,    // of rfetch: 1 to 64, sampled with the pulse
    output reg        busy,
    output reg        fetching,  // the instruction is rfetch
    output reg  [6:0] tick,

    // In the tick in which they are high the register takes its new value at the end.
    output reg pick,        // cluster: choose the PE
    output reg send,        // cluster: put the next address bit on the wire
    output reg take1,       // stage 1, 2, 3, PE select: shift an address bit in
    output reg take2,
    output reg take3,
    output reg take4,
    output reg open1,       // stage 1, 2, 3, PE select: decide
    output reg open2,
    output reg open3,
    output reg open4,
    output reg told,        // cluster: the acknowledge has arrived
    output reg load,        // target: take the value into the shift register
    output reg shift_out,   // target: next bit
    output reg shift_in,    // source: a bit has arrived
    output reg clear,       // source: tflag of the PE that had a path
    output reg release_,    // cluster: give the wire up
    output reg close1,      // stage 1, 2, 3, PE select: path gone
    output reg close2,
    output reg close3,
    output reg close4
);
  localparam [6:0] RopenLast = 7'd41;  // 42 ticks
  localparam [6:0] FetchRest = 7'd16;  // 17 ticks and one a bit

  reg [6:0] length;  // bits of this rfetch
  reg opening;
  reg done;  // last tick

  always @* begin
    opening = busy && !fetching;
    done = tick == (fetching ? FetchRest + length : RopenLast);

    pick = opening && tick == 7'd0;
    send = opening && (tick >= 7'd1 && tick <= 7'd4 || tick >= 7'd6 && tick <= 7'd9 ||
        tick >= 7'd11 && tick <= 7'd14 || tick >= 7'd16 && tick <= 7'd19);
    take1 = opening && tick >= 7'd2 && tick <= 7'd5;
    open1 = opening && tick == 7'd6;
    take2 = opening && tick >= 7'd8 && tick <= 7'd11;
    open2 = opening && tick == 7'd12;
    take3 = opening && tick >= 7'd14 && tick <= 7'd17;
    open3 = opening && tick == 7'd18;
    take4 = opening && tick >= 7'd20 && tick <= 7'd23;
    open4 = opening && tick == 7'd24;
    told = opening && tick == 7'd29;

    load = fetching && tick == 7'd5;
    shift_out = fetching && tick >= 7'd6 && tick < 7'd6 + length;
    shift_in = fetching && tick >= 7'd9 && tick < 7'd9 + length;
    clear = fetching && tick == 7'd10 + length;
    release_ = fetching && tick == 7'd11 + length;
    close1 = fetching && tick == 7'd12 + length;
    close2 = fetching && tick == 7'd13 + length;
    close3 = fetching && tick == 7'd14 + length;
    close4 = fetching && tick == 7'd15 + length;
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
