// Link clock: four characters of the input FIFO become one tagged word of the
// RX FIFO. A control character belongs in byte 3; one that stands elsewhere
// spoils the packet up to its end.
module ddc_assembler (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        in_valid,
    input  wire [8:0]  in_symbol,
    output wire        in_take,
    input  wire        lost,          // the link went down at this edge
    input  wire        room,          // the RX FIFO takes a word
    output reg         push,
    output reg  [34:0] push_word,     // tag, word
    output wire [7:0]  ends_gray      // packet ends pushed so far
);
  localparam [2:0] DATA = 0, BP = 1, ED = 2, EP = 3, CUT = 4, BAD = 5, BAD_END = 6;
  localparam [8:0] C_EP = 9'h12B, C_EEP = 9'h14B, C_BP = 9'h11B, C_ED = 9'h13B;

  reg [23:0] bytes;
  reg [1:0]  lane;
  reg        open;                  // a packet has begun and not ended
  reg        cut;                     // a cut is to be pushed
  reg [7:0]  ends;
  reg        is_end;

  assign in_take   = in_valid && room && !cut && !lost;
  assign ends_gray = ends ^ (ends >> 1);

  wire control = in_symbol[8];
  wire full    = lane == 2'd3;

  always @* begin
    push      = 0;
    is_end    = 0;
    push_word = {DATA, in_symbol[7:0], bytes};
    if (cut && room) begin
      push      = 1;
      is_end    = 1;
      push_word = {CUT, 32'd0};
    end else if (in_take) begin
      push = control || full;
      if (control) begin
        case (in_symbol)
          C_EEP: begin
            push_word[34:32] = CUT;
            is_end           = 1;
          end
          C_EP: begin
            push_word[34:32] = full ? EP : BAD_END;
            is_end           = 1;
          end
          C_BP:    push_word[34:32] = full ? BP : BAD;
          C_ED:    push_word[34:32] = full ? ED : BAD;
          default: push_word[34:32] = BAD;
        endcase
      end
    end
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      bytes  <= 0;
      lane   <= 0;
      open <= 0;
      cut    <= 0;
      ends   <= 0;
    end else begin
      if (in_take) begin
        bytes[8*lane+:8] <= in_symbol[7:0];
        lane             <= push ? 2'd0 : lane + 2'd1;
        open           <= !is_end;
      end
      if (push && cut) begin
        cut    <= 0;
        open <= 0;
      end
      if (is_end) ends <= ends + 8'd1;
      if (lost) begin
        lane <= 0;
        cut  <= open || cut;
      end
    end
endmodule
