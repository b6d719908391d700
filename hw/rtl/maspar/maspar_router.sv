// The router of a machine of BOARDS boards (1, 2, 4, 8 or 16): a chip a board at stages 1 and
// 3, sixteen chips at stage 2, and the clusters around them. Document: hw/doc/rtl-maspar.md.

module maspar_router #(
    parameter integer BOARDS = 1
) (
    input  wire                     clk,
    input  wire                     rst_n,
    input  wire                     ropen,
    input  wire                     rfetch,
    input  wire [              6:0] bits,
    output wire                     busy,
    output wire                     fetching,
    output wire [              6:0] tick,
    output wire                     any,           // gor1 of tflag
    // PE registers: one PE of each cluster in a cycle.
    input  wire                     write,
    input  wire [              3:0] write_pe,
    input  wire [    BOARDS*64-1:0] write_flag,
    input  wire [ BOARDS*64*14-1:0] write_target,
    input  wire [ BOARDS*64*64-1:0] write_value,
    input  wire [              3:0] read_pe,
    output wire [ BOARDS*64*64-1:0] read_fetched,
    output wire [ BOARDS*64*16-1:0] tflag,
    // Every wire between the parts. Cluster: board * 64 + cluster.
    output wire [    BOARDS*64-1:0] cluster_request,
    output wire [    BOARDS*64-1:0] cluster_data,
    output wire [    BOARDS*64-1:0] cluster_back,
    output wire [    BOARDS*64-1:0] stage1_request,
    output wire [    BOARDS*64-1:0] stage1_data,
    output wire [    BOARDS*64-1:0] stage1_back,
    output wire [      16*64-1:0] stage2_request,
    output wire [      16*64-1:0] stage2_data,
    output wire [      16*64-1:0] stage2_back,
    output wire [    BOARDS*64-1:0] stage3_request,
    output wire [    BOARDS*64-1:0] stage3_data,
    output wire [    BOARDS*64-1:0] stage3_back,
    output wire [    BOARDS*64-1:0] acknowledged,
    output wire [ BOARDS*64*4-1:0] picked,
    output wire [    BOARDS*64-1:0] selected,
    output wire [ BOARDS*64*4-1:0] selected_pe
);
  wire pick, send, told, load, shift_out, shift_in, clear, release_;
  wire take1, take2, take3, take4, open1, open2, open3, open4, close1, close2, close3, close4;

  maspar_sequencer sequencer (
      .clk, .rst_n, .ropen, .rfetch, .bits, .busy, .fetching, .tick, .pick, .send, .take1, .take2,
      .take3, .take4, .open1, .open2, .open3, .open4, .told, .load, .shift_out, .shift_in, .clear,
      .release_, .close1, .close2, .close3, .close4
  );

  assign any = |tflag;

  genvar b, c, g, w;
  generate
    for (b = 0; b < BOARDS; b = b + 1) begin : g_board
      // Stage 1: inputs are the clusters of the board, outputs {group, wire}.
      wire [63:0] back1;
      maspar_chip stage1 (
          .clk, .rst_n, .crossbar(1'b0), .take(take1), .open(open1), .close(close1),
          .in_request(cluster_request[b*64+:64]),
          .in_data(cluster_data[b*64+:64]),
          .out_request(stage1_request[b*64+:64]),
          .out_data(stage1_data[b*64+:64]),
          .back_in(back1),
          .back_out(stage1_back[b*64+:64])
      );
      for (g = 0; g < 16; g = g + 1) begin : g_back1
        for (w = 0; w < 4; w = w + 1) begin : g_wire
          assign back1[g*4+w] = stage2_back[g*64+(3-w)*16+b];
        end
      end

      // Stage 3: inputs are {group, wire}, outputs {corner, low half of group, high half}.
      wire [63:0] request3, data3, out_request3, out_data3, back3;
      for (g = 0; g < 16; g = g + 1) begin : g_in3
        assign request3[g*4+:4] = stage2_request[g*64+b*4+:4];
        assign data3[g*4+:4] = stage2_data[g*64+b*4+:4];
      end
      maspar_chip stage3 (
          .clk, .rst_n, .crossbar(1'b1), .take(take3), .open(open3), .close(close3),
          .in_request(request3),
          .in_data(data3),
          .out_request(out_request3),
          .out_data(out_data3),
          .back_in(back3),
          .back_out(stage3_back[b*64+:64])
      );
      for (c = 0; c < 64; c = c + 1) begin : g_cluster
        // A cluster's number is {corner, high half, low half}.
        localparam integer Output = (c / 16) * 16 + (c % 4) * 4 + (c / 4) % 4;
        assign stage3_request[b*64+c] = out_request3[Output];
        assign stage3_data[b*64+c] = out_data3[Output];
        assign back3[Output] = cluster_back[b*64+c];
        maspar_cluster cluster (
            .clk, .rst_n, .write, .write_pe,
            .write_flag(write_flag[b*64+c]),
            .write_target(write_target[(b*64+c)*14+:14]),
            .write_value(write_value[(b*64+c)*64+:64]),
            .read_pe,
            .read_fetched(read_fetched[(b*64+c)*64+:64]),
            .tflag(tflag[(b*64+c)*16+:16]),
            .pick, .send, .told, .take4, .open4, .load, .shift_out, .shift_in, .clear, .release_,
            .close4,
            .out_request(cluster_request[b*64+c]),
            .out_data(cluster_data[b*64+c]),
            .out_back(stage1_back[b*64+c]),
            .picked(picked[(b*64+c)*4+:4]),
            .acknowledged(acknowledged[b*64+c]),
            .in_request(stage3_request[b*64+c]),
            .in_data(stage3_data[b*64+c]),
            .in_back(cluster_back[b*64+c]),
            .selected(selected[b*64+c]),
            .selected_pe(selected_pe[(b*64+c)*4+:4])
        );
      end
    end

    // Stage 2, a chip a group. High-priority outputs of stage 1 go to low-priority inputs:
    // wire 3 of all boards comes first. Outputs are {board, wire}.
    for (g = 0; g < 16; g = g + 1) begin : g_group
      wire [63:0] request2, data2, back2;
      for (b = 0; b < 16; b = b + 1) begin : g_in2
        for (w = 0; w < 4; w = w + 1) begin : g_wire
          if (b < BOARDS) begin : g_there
            assign request2[(3-w)*16+b] = stage1_request[b*64+g*4+w];
            assign data2[(3-w)*16+b] = stage1_data[b*64+g*4+w];
            assign back2[b*4+w] = stage3_back[b*64+g*4+w];
          end else begin : g_absent
            assign request2[(3-w)*16+b] = 1'b0;
            assign data2[(3-w)*16+b] = 1'b0;
            assign back2[b*4+w] = 1'b0;
          end
        end
      end
      maspar_chip stage2 (
          .clk, .rst_n, .crossbar(1'b0), .take(take2), .open(open2), .close(close2),
          .in_request(request2),
          .in_data(data2),
          .out_request(stage2_request[g*64+:64]),
          .out_data(stage2_data[g*64+:64]),
          .back_in(back2),
          .back_out(stage2_back[g*64+:64])
      );
    end
  endgenerate
endmodule
