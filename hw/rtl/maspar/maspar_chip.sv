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
    input  wire                crossbar,     // strap
    input  wire                restart,      // paths and wires: as after reset
    input  wire                take,         // shift one address bit in
    input  wire                open,         // decide; the paths exist from the next tick on
    input  wire                close,        // the paths are gone from the next tick on
    input  wire [  INPUTS-1:0] in_request,   // level: somebody wants to go on from here
    input  wire [  INPUTS-1:0] in_data,      // address bits, towards the target
    output reg  [GROUPS*4-1:0] out_request,  // bit 4 * group + wire
    output reg  [GROUPS*4-1:0] out_data,
    input  wire [GROUPS*4-1:0] back_in,      // acknowledge and data bits, towards the source
    output reg  [  INPUTS-1:0] back_out
);
  localparam integer Bits = $clog2(GROUPS);
  localparam integer Share = INPUTS / 4;  // inputs of a crossbar

  reg [Bits*INPUTS-1:0] taken;  // steering bits, the newest in the low INPUTS bits

  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) taken <= {Bits * INPUTS{1'b0}};
    else if (take && !restart) taken <= {taken[(Bits-1)*INPUTS-1:0], in_data};
  end

  // A row of crosspoints for each output; what comes back is the OR of all rows.
  genvar g, b, w;
  generate
    for (g = 0; g < GROUPS; g = g + 1) begin : g_group
      for (b = 0; b <= Bits; b = b + 1) begin : g_bit
        // Who asks for a group whose number has the same low b bits.
        wire [INPUTS-1:0] want;
        if (b == 0) assign want = in_request;
        else if (((g >> (b - 1)) & 1) == 1) assign want = g_bit[b-1].want & taken[(b-1)*INPUTS+:INPUTS];
        else assign want = g_bit[b-1].want & ~taken[(b-1)*INPUTS+:INPUTS];
      end
      for (w = 0; w < 4; w = w + 1) begin : g_wire
        localparam integer Output = 4 * g + w;
        localparam [INPUTS-1:0] Mine = {{INPUTS - Share{1'b0}}, {Share{1'b1}}} << (w * Share);
        wire [INPUTS-1:0] left;  // has no wire yet
        wire [INPUTS-1:0] eligible;
        wire [INPUTS-1:0] first;
        if (w == 0) assign left = g_bit[Bits].want;
        else assign left = g_wire[w-1].left & ~g_wire[w-1].first;
        assign eligible = crossbar ? left & Mine : left;
        assign first = eligible & (~eligible + 1'b1);

        reg [INPUTS-1:0] row;  // one-hot, or 0
        reg occupied;
        wire [INPUTS-1:0] backward;  // of this row and those before
        if (w != 0) assign backward = g_wire[w-1].backward | {INPUTS{back_in[Output]}} & row;
        else if (g != 0)
          assign backward = g_group[g-1].g_wire[3].backward | {INPUTS{back_in[Output]}} & row;
        else assign backward = {INPUTS{back_in[Output]}} & row;

        always @(posedge clk or negedge rst_n) begin
          if (!rst_n) begin
            row <= {INPUTS{1'b0}};
            occupied <= 1'b0;
            out_request[Output] <= 1'b0;
            out_data[Output] <= 1'b0;
          end else if (restart) begin
            row <= {INPUTS{1'b0}};
            occupied <= 1'b0;
            out_request[Output] <= 1'b0;
            out_data[Output] <= 1'b0;
          end else begin
            if (open) begin
              row <= first;
              occupied <= eligible != {INPUTS{1'b0}};
            end else if (close) begin
              row <= {INPUTS{1'b0}};
              occupied <= 1'b0;
            end
            // The request leaves with the first bit.
            out_request[Output] <= occupied;
            out_data[Output] <= |(row & in_data);
          end
        end
      end
    end
  endgenerate

  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) back_out <= {INPUTS{1'b0}};
    else if (restart) back_out <= {INPUTS{1'b0}};
    else back_out <= g_group[GROUPS-1].g_wire[3].backward;
  end
endmodule
