// A cluster of 16 PEs at both ends of the router: picks a requesting PE and drives the wire
// into stage 1; takes the wire from stage 3 and selects the PE that it names.
//
// The PEs hold their target (a slot: board, cluster, PE), their flag, the value that others
// fetch, and what they fetched. Document: hw/doc/rtl-maspar.md.

module maspar_cluster (
    input  wire        clk,
    input  wire        rst_n,
    // PE registers.
    input  wire        write,
    input  wire [ 3:0] write_pe,
    input  wire        write_flag,
    input  wire [13:0] write_target,
    input  wire [63:0] write_value,
    output reg  [15:0] tflag,
    // Ticks: see maspar_sequencer.
    input  wire        fetching,
    input  wire        restart,
    input  wire        empty,
    input  wire        pick,
    input  wire        ask,
    input  wire        send,
    input  wire        take,
    input  wire        open,
    input  wire        told,
    input  wire        load,
    input  wire        shift,
    input  wire        arrive,
    input  wire [ 5:0] index,
    input  wire        release_,
    input  wire        close,
    // As a source.
    output reg         out_request,
    output reg         out_data,
    input  wire        out_back,
    output reg  [ 3:0] picked,
    output reg         connected,  // the PE knows of its path; until the next ropen
    output reg  [63:0] got,
    // As a target.
    input  wire        in_request,
    input  wire        in_data,
    output reg         in_back
);
  reg [13:0] target[0:15];
  reg [63:0] value[0:15];

  reg asks;
  reg [15:0] address;  // the next bit on top
  reg selected;
  reg [3:0] selected_pe;
  reg [63:0] outgoing;  // the next bit at the bottom
  reg [3:0] lowest;
  reg [13:0] wanted;
  integer i;

  // The lowest PE that has its flag set.
  always @* begin
    lowest = 4'd0;
    for (i = 15; i >= 0; i = i - 1) begin
      if (tflag[i]) lowest = i[3:0];
    end
    wanted = target[lowest];
  end

  always @(posedge clk) begin
    if (write) begin
      target[write_pe] <= write_target;
      value[write_pe] <= write_value;
    end
  end

  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      tflag <= 16'd0;
      asks <= 1'b0;
      address <= 16'd0;
      out_request <= 1'b0;
      out_data <= 1'b0;
      picked <= 4'd0;
      connected <= 1'b0;
      got <= 64'd0;
      selected <= 1'b0;
      selected_pe <= 4'd0;
      outgoing <= 64'd0;
      in_back <= 1'b0;
    end else begin
      if (write) tflag[write_pe] <= write_flag;

      // Source.
      if (pick) begin
        asks <= tflag != 16'd0;
        picked <= lowest;
        // Group, board, corner and the low half of the group again, PE. In a slot: board
        // 13:10, corner 9:8, group 7:4, PE 3:0.
        address <= {wanted[7:4], wanted[13:10], wanted[9:8], wanted[5:4], wanted[3:0]};
      end else if (send) begin
        address <= {address[14:0], 1'b0};
      end
      out_data <= send & asks & address[15];
      if (ask) out_request <= asks;
      if (told) connected <= out_back;
      if (empty) got <= 64'd0;
      if (arrive) got[index] <= out_back;
      if (release_) begin
        out_request <= 1'b0;
        if (out_request && connected) tflag[picked] <= 1'b0;
      end

      // Target. The acknowledge is a level; data bits take its place.
      if (take) selected_pe <= {selected_pe[2:0], in_data};
      if (open) selected <= in_request;
      if (load) outgoing <= value[selected_pe];
      else if (shift) outgoing <= outgoing >> 1;
      in_back <= selected & (fetching ? shift & outgoing[0] : 1'b1);
      if (close) selected <= 1'b0;

      if (restart) begin
        out_request <= 1'b0;
        out_data <= 1'b0;
        connected <= 1'b0;
        selected <= 1'b0;
        in_back <= 1'b0;
      end
    end
  end
endmodule
