// One board of a machine of BOARDS boards (1, 2, 4, 8 or 16): 64 clusters, a chip of stage 1,
// 16 / BOARDS chips of stage 2, a chip of stage 3. Document: hw/doc/rtl-maspar.md.

module maspar_board #(
    parameter integer BOARDS = 16
) (
    input  wire                      clk,
    input  wire                      rst_n,
    input  wire                      ropen,
    input  wire                      rfetch,
    input  wire [               6:0] bits,
    output wire                      busy,
    output wire                      fetching,
    output wire [               6:0] tick,
    // PE registers: one PE of each cluster in a cycle.
    input  wire                      write,
    input  wire [               3:0] write_pe,
    input  wire [              63:0] write_flag,
    input  wire [         64*14-1:0] write_target,
    input  wire [         64*64-1:0] write_value,
    output wire                      any,           // some tflag is set
    output wire [         64*16-1:0] tflag,
    output wire [              63:0] connected,
    output wire [          64*4-1:0] picked,
    output wire [         64*64-1:0] got,
    // The wires at the inputs of stage 1 and of the PE select, for looking at.
    output wire [              63:0] request1,
    output wire [              63:0] data1,
    output wire [              63:0] back1,
    output wire [              63:0] request4,
    output wire [              63:0] data4,
    output wire [              63:0] back4,
    // Stage 1 to the backplane: {group, wire}.
    output wire [              63:0] out_request1,
    output wire [              63:0] out_data1,
    input  wire [              63:0] from2,
    // Stage 2: its inputs, and its outputs {chip, board, wire}.
    input  wire [64*16/BOARDS-1:0] request2,
    input  wire [64*16/BOARDS-1:0] data2,
    output wire [64*16/BOARDS-1:0] back2,
    output wire [64*16/BOARDS-1:0] out_request2,
    output wire [64*16/BOARDS-1:0] out_data2,
    input  wire [64*16/BOARDS-1:0] from3,
    // Stage 3: its inputs {group, wire}.
    input  wire [              63:0] request3,
    input  wire [              63:0] data3,
    output wire [              63:0] back3
);
  wire restart, empty, pick, ask, send, told, load, shift, arrive, release_;
  wire [3:0] take, open, close;
  wire [5:0] index;

  maspar_sequencer sequencer (
      .clk, .rst_n, .ropen, .rfetch, .bits, .busy, .fetching, .tick, .restart, .empty, .pick,
      .ask, .send, .take, .open, .told, .load, .shift, .arrive, .index, .release_, .close
  );

  assign any = |tflag;

  maspar_chip stage1 (
      .clk, .rst_n, .crossbar(1'b0), .restart,
      .take(take[0]), .open(open[0]), .close(close[0]),
      .in_request(request1), .in_data(data1),
      .out_request(out_request1), .out_data(out_data1),
      .back_in(from2), .back_out(back1)
  );

  // Outputs {corner, low half of the group, high half}.
  wire [63:0] out_request3, out_data3, from4;

  maspar_chip stage3 (
      .clk, .rst_n, .crossbar(1'b1), .restart,
      .take(take[2]), .open(open[2]), .close(close[2]),
      .in_request(request3), .in_data(data3),
      .out_request(out_request3), .out_data(out_data3),
      .back_in(from4), .back_out(back3)
  );

  genvar c;
  generate
    for (c = 0; c < 16 / BOARDS; c = c + 1) begin : g_stage2
      maspar_chip stage2 (
          .clk, .rst_n, .crossbar(1'b0), .restart,
          .take(take[1]), .open(open[1]), .close(close[1]),
          .in_request(request2[c*64+:64]), .in_data(data2[c*64+:64]),
          .out_request(out_request2[c*64+:64]), .out_data(out_data2[c*64+:64]),
          .back_in(from3[c*64+:64]), .back_out(back2[c*64+:64])
      );
    end
    for (c = 0; c < 64; c = c + 1) begin : g_cluster
      // A cluster's number is {corner, high half, low half}.
      localparam integer Output = (c / 16) * 16 + (c % 4) * 4 + (c / 4) % 4;
      assign request4[c] = out_request3[Output];
      assign data4[c] = out_data3[Output];
      assign from4[Output] = back4[c];
      maspar_cluster cluster (
          .clk, .rst_n, .write, .write_pe,
          .write_flag(write_flag[c]),
          .write_target(write_target[c*14+:14]),
          .write_value(write_value[c*64+:64]),
          .tflag(tflag[c*16+:16]),
          .fetching, .restart, .empty, .pick, .ask, .send,
          .take(take[3]), .open(open[3]),
          .told, .load, .shift, .arrive, .index, .release_,
          .close(close[3]),
          .out_request(request1[c]), .out_data(data1[c]), .out_back(back1[c]),
          .picked(picked[c*4+:4]),
          .connected(connected[c]),
          .got(got[c*64+:64]),
          .in_request(request4[c]), .in_data(data4[c]), .in_back(back4[c])
      );
    end
  endgenerate
endmodule
