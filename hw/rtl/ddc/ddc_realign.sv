// PCI clock: words of the local page become words on the remote byte lanes.
// A local word gives at most one remote word at its edge; what is left at the
// end of the page follows by `flush`. Lanes outside the page are 0.
module ddc_realign (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        load,          // a page begins
    input  wire [1:0]  local_lane,
    input  wire [1:0]  remote_lane,
    input  wire [15:0] length,
    input  wire        put,
    input  wire [31:0] word,
    output wire        push,
    output wire [31:0] push_word,
    output wire        rest,          // one more word waits for `flush`
    input  wire        flush
);
  reg [23:0] kept;                    // bytes of the remote word begun
  reg [1:0]  fill;                    // bytes in `kept`, leading lanes included
  reg [1:0]  skip;                    // leading bytes of the next local word
  reg [15:0] bytes;                   // bytes of the page still to come
  reg        tail;

  wire [2:0] fresh = 3'd4 - {1'b0, skip};
  wire [2:0] valid = bytes < {13'd0, fresh} ? bytes[2:0] : fresh;
  wire [31:0] shifted = word >> (8 * skip);
  reg  [31:0] clean;
  integer i;
  always @* begin
    clean = 0;
    for (i = 0; i < 4; i = i + 1)
      if (i[2:0] < valid) clean[8*i+:8] = shifted[8*i+:8];
  end
  wire [55:0] joined = {32'd0, kept} | ({24'd0, clean} << (8 * fill));
  wire [2:0]  total  = {1'b0, fill} + valid;
  wire [15:0] after  = bytes - {13'd0, valid};

  assign push      = flush || (put && (total >= 3'd4 || after == 0));
  assign push_word = flush ? {8'd0, kept} : joined[31:0];
  assign rest      = tail;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      kept  <= 0;
      fill  <= 0;
      skip  <= 0;
      bytes <= 0;
      tail  <= 0;
    end else if (load) begin
      kept  <= 0;
      fill  <= remote_lane;
      skip  <= local_lane;
      bytes <= length;
      tail  <= 0;
    end else if (flush) tail <= 0;
    else if (put) begin
      skip  <= 0;
      bytes <= after;
      kept  <= total >= 3'd4 ? joined[55:32] : joined[23:0];
      fill  <= total[1:0];
      tail  <= after == 0 && total > 3'd4;
    end
endmodule
