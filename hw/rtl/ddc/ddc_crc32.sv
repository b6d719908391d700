// CRC-32 of IEEE 802.3 (reflected 0x04C11DB7) over one 32-bit word, byte 0
// first, bit 0 of each byte first: 32 steps of the shift register, unrolled.
module ddc_crc32 (
    input  wire [31:0] crc,
    input  wire [31:0] word,
    output reg  [31:0] next
);
  integer i;
  always @* begin
    next = crc ^ word;
    for (i = 0; i < 32; i = i + 1)
      next = {1'b0, next[31:1]} ^ (next[0] ? 32'hEDB88320 : 32'h0);
  end
endmodule
