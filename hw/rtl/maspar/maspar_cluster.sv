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
    input  wire [ 3:0] read_pe,
    output wire [63:0] read_fetched,
    output reg  [15:0] tflag,
    // Ticks.
    input  wire        pick,
    input  wire        send,
    input  wire        told,
    input  wire        take4,
    input  wire        open4,
    input  wire        load,
    input  wire        shift_out,
    input  wire        shift_in,
    input  wire        clear,
    input  wire        release_,
    input  wire        close4,
    // As a source.
    output reg         out_request,
    output wire        out_data,
    input  wire        out_back,
    output reg  [ 3:0] picked,
    output reg         acknowledged,
    // As a target.
    input  wire        in_request,
    input  wire        in_data,
    output reg         in_back,
    output reg         selected,
    output reg  [ 3:0] selected_pe
);
  reg [13:0] target[0:15];
  reg [63:0] value[0:15];
  reg [63:0] fetched[0:15];

  reg [16:0] address;  // bit 16 is on the wire
  reg [63:0] outgoing;  // value on its way out; the bit on the wire is in_back
  reg [3:0] lowest;
  reg [13:0] wanted;
  integer i;

  assign out_data = address[16];
  assign read_fetched = fetched[read_pe];

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
    // Least significant bit first: after 64 bits all are in place. With fewer bits the
    // value is in the high end.
    if (shift_in && acknowledged) fetched[picked] <= {out_back, fetched[picked][63:1]};
  end

  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      tflag <= 16'd0;
      out_request <= 1'b0;
      address <= 17'd0;
      picked <= 4'd0;
      acknowledged <= 1'b0;
      in_back <= 1'b0;
      selected <= 1'b0;
      selected_pe <= 4'd0;
      outgoing <= 64'd0;
    end else begin
      if (write) tflag[write_pe] <= write_flag;

      if (pick) begin
        out_request <= tflag != 16'd0;
        picked <= lowest;
        acknowledged <= 1'b0;
        // Group, board, corner and the low half of the group again, PE. In a slot: board
        // 13:10, corner 9:8, group 7:4, PE 3:0.
        if (tflag != 16'd0) begin
          address <= {1'b0, wanted[7:4], wanted[13:10], wanted[9:8], wanted[5:4], wanted[3:0]};
        end
      end else if (send) begin
        address <= {address[15:0], 1'b0};
      end else begin
        address[16] <= 1'b0;
      end
      if (told) acknowledged <= out_back;
      if (clear && acknowledged) tflag[picked] <= 1'b0;
      if (release_) begin
        out_request <= 1'b0;
        acknowledged <= 1'b0;
      end

      if (take4) selected_pe <= {selected_pe[2:0], in_data};
      if (open4) begin
        selected <= in_request;
        in_back <= in_request;
      end
      if (load) begin
        outgoing <= value[selected_pe] >> 1;
        in_back <= selected & value[selected_pe][0];
      end else if (shift_out) begin
        outgoing <= outgoing >> 1;
        in_back <= selected & outgoing[0];
      end
      if (close4) begin
        selected <= 1'b0;
        in_back <= 1'b0;
      end
    end
  end
endmodule
