// Half a MasPar router chip (32 inputs, 8 groups) behind registered pins, for a figure of
// area and frequency on a small FPGA, which the whole chip does not fit. Not part of the
// router.
module maspar_half_chip (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        crossbar,
    input  wire        restart,
    input  wire        take,
    input  wire        open,
    input  wire        close,
    input  wire [31:0] in_request,
    input  wire [31:0] in_data,
    output wire [31:0] out_request,
    output wire [31:0] out_data,
    input  wire [31:0] back_in,
    output wire [31:0] back_out
);
  reg [4:0] control;
  reg [31:0] request;
  reg [31:0] data;
  reg [31:0] back;

  always @(posedge clk) begin
    control <= {crossbar, restart, take, open, close};
    request <= in_request;
    data <= in_data;
    back <= back_in;
  end

  maspar_chip #(
      .INPUTS(32),
      .GROUPS(8)
  ) chip (
      .clk,
      .rst_n,
      .crossbar(control[4]),
      .restart(control[3]),
      .take(control[2]),
      .open(control[1]),
      .close(control[0]),
      .in_request(request),
      .in_data(data),
      .out_request,
      .out_data,
      .back_in(back),
      .back_out
  );
endmodule
