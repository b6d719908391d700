// The wires between the stages of a machine of BOARDS boards; nothing but wires.
//
// Stage 1 of board b, group g, wire w goes to stage 2, chip g, input (3 - w) * 16 + b: a
// high-priority output to a low-priority input. Stage 2 of chip g, board t, wire v goes to
// stage 3 of board t, input 4 * g + v.

module maspar_backplane #(
    parameter integer BOARDS = 16
) (
    input  wire [BOARDS*64-1:0] out_request1,  // {board, group, wire}
    input  wire [BOARDS*64-1:0] out_data1,
    output wire [BOARDS*64-1:0] from2,
    output wire [    16*64-1:0] request2,      // {group, 3 - wire, board}
    output wire [    16*64-1:0] data2,
    input  wire [    16*64-1:0] back2,
    // {group, board, wire}; outputs for boards that a small machine does not have lead nowhere,
    // nor do the acknowledgements to them.
    // verilator lint_off UNUSEDSIGNAL
    input  wire [    16*64-1:0] out_request2,
    input  wire [    16*64-1:0] out_data2,
    // verilator lint_on UNUSEDSIGNAL
    output wire [    16*64-1:0] from3,
    output wire [BOARDS*64-1:0] request3,      // {board, group, wire}
    output wire [BOARDS*64-1:0] data3,
    input  wire [BOARDS*64-1:0] back3
);
  genvar b, g, w;
  generate
    for (g = 0; g < 16; g = g + 1) begin : g_group
      for (b = 0; b < 16; b = b + 1) begin : g_board
        for (w = 0; w < 4; w = w + 1) begin : g_wire
          localparam integer Near = b * 64 + g * 4 + w;  // stages 1 and 3
          localparam integer In2 = g * 64 + (3 - w) * 16 + b;
          localparam integer Out2 = g * 64 + b * 4 + w;
          if (b < BOARDS) begin : g_there
            assign request2[In2] = out_request1[Near];
            assign data2[In2] = out_data1[Near];
            assign from2[Near] = back2[In2];
            assign request3[Near] = out_request2[Out2];
            assign data3[Near] = out_data2[Out2];
            assign from3[Out2] = back3[Near];
          end else begin : g_absent
            assign request2[In2] = 1'b0;
            assign data2[In2] = 1'b0;
            assign from3[Out2] = 1'b0;
          end
        end
      end
    end
  endgenerate
endmodule
