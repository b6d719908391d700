// The router chip of the MasPar MP-1: INPUTS inputs, GROUPS groups of four outputs.
//
// One chip serves all three stages. With `crossbar` low it is a hyperbar: the four outputs
// of a group are interchangeable, the first four inputs that ask get them in order. With
// `crossbar` high it is four crossbars: input i belongs to crossbar i / (INPUTS / 4) and can
// have only that crossbar's output of a group.
//
// Priority is by position: input 0 first. Nothing is kept from one ropen to the next.
// Document: hw/doc/rtl-maspar.md.

module maspar_chip #(
    parameter integer INPUTS = 64,
    parameter integer GROUPS = 16
) (
    input  wire                clk,
    input  wire                rst_n,
    input  wire                crossbar,    // strap
    input  wire                take,        // shift one address bit in
    input  wire                open,        // decide; the paths exist from the next tick on
    input  wire                close,       // the paths are gone from the next tick on
    input  wire [INPUTS-1:0]   in_request,  // level: somebody wants to go on from here
    input  wire [INPUTS-1:0]   in_data,     // address and data bits, towards the target
    output reg  [GROUPS*4-1:0] out_request,
    output reg  [GROUPS*4-1:0] out_data,
    input  wire [GROUPS*4-1:0] back_in,     // acknowledge and data bits, towards the source
    output reg  [INPUTS-1:0]   back_out
);
  localparam integer GroupBits = $clog2(GROUPS);
  localparam integer InputBits = $clog2(INPUTS);
  localparam integer Outputs = GROUPS * 4;
  localparam integer Share = INPUTS / 4;  // inputs of a crossbar

  reg [INPUTS*GroupBits-1:0] address;  // group wanted, per input
  reg [INPUTS-1:0] connected;  // per input
  reg [INPUTS*2-1:0] granted_wire;  // per input
  reg [Outputs*InputBits-1:0] source;  // per output

  // Arbitration, for the tick of `open`.
  reg [INPUTS-1:0] next_connected;
  reg [INPUTS*2-1:0] next_wire;
  reg [Outputs-1:0] next_used;
  reg [Outputs*InputBits-1:0] next_source;
  reg [3:0] used;  // wires of the group that are taken
  reg [3:0] offer;  // the wire that the input can have, one-hot
  reg won;
  integer g;
  integer i;
  integer w;

  always @* begin
    next_connected = {INPUTS{1'b0}};
    next_wire = {INPUTS * 2{1'b0}};
    next_used = {Outputs{1'b0}};
    next_source = {Outputs * InputBits{1'b0}};
    used = 4'b0000;
    offer = 4'b0000;
    won = 1'b0;
    if (open) begin
      for (g = 0; g < GROUPS; g = g + 1) begin
        used = 4'b0000;
        for (i = 0; i < INPUTS; i = i + 1) begin
          // In a hyperbar the taken wires are always the first ones: 0, 1, 11, 111, 1111.
          offer = crossbar ? 4'b0001 << (i / Share) : {used[2:0], 1'b1};
          offer = offer & ~used;
          won = in_request[i] && address[i*GroupBits+:GroupBits] == g[GroupBits-1:0] &&
              offer != 4'b0000;
          if (won) begin
            used = used | offer;
            next_connected[i] = 1'b1;
            next_wire[i*2+:2] = {offer[3] | offer[2], offer[3] | offer[1]};
            for (w = 0; w < 4; w = w + 1) begin
              if (offer[w]) next_source[(g*4+w)*InputBits+:InputBits] = i[InputBits-1:0];
            end
          end
        end
        next_used[g*4+:4] = used;
      end
    end
  end

  integer k;

  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      address <= {INPUTS * GroupBits{1'b0}};
      connected <= {INPUTS{1'b0}};
      granted_wire <= {INPUTS * 2{1'b0}};
      source <= {Outputs * InputBits{1'b0}};
      out_request <= {Outputs{1'b0}};
      out_data <= {Outputs{1'b0}};
      back_out <= {INPUTS{1'b0}};
    end else begin
      if (take) begin
        for (k = 0; k < INPUTS; k = k + 1) begin
          address[k*GroupBits+:GroupBits] <= {address[k*GroupBits+:GroupBits-1], in_data[k]};
        end
      end
      if (open) begin
        connected <= next_connected;
        granted_wire <= next_wire;
        source <= next_source;
        out_request <= next_used;
      end else if (close) begin
        connected <= {INPUTS{1'b0}};
        out_request <= {Outputs{1'b0}};
      end
      // One register a stage, both ways.
      for (k = 0; k < Outputs; k = k + 1) begin
        out_data[k] <= out_request[k] & in_data[source[k*InputBits+:InputBits]];
      end
      for (k = 0; k < INPUTS; k = k + 1) begin
        back_out[k] <= connected[k] &
            back_in[{address[k*GroupBits+:GroupBits], granted_wire[k*2+:2]}];
      end
    end
  end
endmodule
