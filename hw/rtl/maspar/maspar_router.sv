// The router of a whole machine: boards and backplane. Document: hw/doc/rtl-maspar.md.

module maspar_router #(
    parameter integer BOARDS = 1
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    ropen,
    input  wire                    rfetch,
    input  wire [             6:0] bits,
    output wire                    busy,
    output wire                    fetching,
    output wire [             6:0] tick,
    // PE registers: one PE of each cluster in a cycle. Cluster number: board * 64 + cluster.
    input  wire                    write,
    input  wire [             3:0] write_pe,
    input  wire [   BOARDS*64-1:0] write_flag,
    input  wire [BOARDS*64*14-1:0] write_target,
    input  wire [BOARDS*64*64-1:0] write_value,
    output wire                    any,           // gor1 of tflag
    output wire [BOARDS*64*16-1:0] tflag,
    output wire [   BOARDS*64-1:0] connected,
    output wire [ BOARDS*64*4-1:0] picked,
    output wire [BOARDS*64*64-1:0] got,
    // The wires at the inputs of stage 1, 2, 3 and of the PE select: chip * 64 + input.
    output wire [   BOARDS*64-1:0] request1,
    output wire [       16*64-1:0] request2,
    output wire [   BOARDS*64-1:0] request3,
    output wire [   BOARDS*64-1:0] request4,
    output wire [   BOARDS*64-1:0] data1,
    output wire [       16*64-1:0] data2,
    output wire [   BOARDS*64-1:0] data3,
    output wire [   BOARDS*64-1:0] data4,
    output wire [   BOARDS*64-1:0] back1,
    output wire [       16*64-1:0] back2,
    output wire [   BOARDS*64-1:0] back3,
    output wire [   BOARDS*64-1:0] back4
);
  localparam integer Stage2 = 64 * 16 / BOARDS;  // wires of a board's stage 2

  wire [BOARDS-1:0] each_busy, each_fetching, each_any;
  // All boards count alike: the first one's tick is shown.
  // verilator lint_off UNUSEDSIGNAL
  wire [BOARDS*7-1:0] each_tick;
  // verilator lint_on UNUSEDSIGNAL
  wire [BOARDS*64-1:0] out_request1, out_data1, from2;
  wire [16*64-1:0] out_request2, out_data2, from3;

  assign busy = |each_busy;
  assign fetching = |each_fetching;
  assign tick = each_tick[6:0];
  assign any = |each_any;

  maspar_backplane #(
      .BOARDS(BOARDS)
  ) backplane (
      .out_request1, .out_data1, .from2, .request2, .data2, .back2, .out_request2, .out_data2,
      .from3, .request3, .data3, .back3
  );

  genvar b;
  generate
    for (b = 0; b < BOARDS; b = b + 1) begin : g_board
      maspar_board #(
          .BOARDS(BOARDS)
      ) board (
          .clk, .rst_n, .ropen, .rfetch, .bits,
          .busy(each_busy[b]),
          .fetching(each_fetching[b]),
          .tick(each_tick[b*7+:7]),
          .write, .write_pe,
          .write_flag(write_flag[b*64+:64]),
          .write_target(write_target[b*64*14+:64*14]),
          .write_value(write_value[b*64*64+:64*64]),
          .any(each_any[b]),
          .tflag(tflag[b*64*16+:64*16]),
          .connected(connected[b*64+:64]),
          .picked(picked[b*64*4+:64*4]),
          .got(got[b*64*64+:64*64]),
          .request1(request1[b*64+:64]),
          .data1(data1[b*64+:64]),
          .back1(back1[b*64+:64]),
          .request4(request4[b*64+:64]),
          .data4(data4[b*64+:64]),
          .back4(back4[b*64+:64]),
          .out_request1(out_request1[b*64+:64]),
          .out_data1(out_data1[b*64+:64]),
          .from2(from2[b*64+:64]),
          .request2(request2[b*Stage2+:Stage2]),
          .data2(data2[b*Stage2+:Stage2]),
          .back2(back2[b*Stage2+:Stage2]),
          .out_request2(out_request2[b*Stage2+:Stage2]),
          .out_data2(out_data2[b*Stage2+:Stage2]),
          .from3(from3[b*Stage2+:Stage2]),
          .request3(request3[b*64+:64]),
          .data3(data3[b*64+:64]),
          .back3(back3[b*64+:64])
      );
    end
  endgenerate
endmodule
