// Link clock: four characters of the input FIFO become one tagged word of the
// RX FIFO. A control character belongs in byte 3; one that stands elsewhere
// spoils the packet up to its end.
module ddc_assembler (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        in_valid,
    input  wire [8:0]  in_symbol,
    output wire        in_take,
    input  wire        flush,         // the port goes down at this edge
    input  wire        room,          // the RX FIFO takes a word
    output wire        push,
    output wire [34:0] push_word,     // tag, word
    output wire [7:0]  ends_gray      // packet ends pushed so far
);
  localparam [2:0] DATA = 0, BP = 1, ED = 2, EP = 3, EEP = 4, MISPLACED = 5;
  localparam [8:0] C_EP = 9'h12B, C_EEP = 9'h14B, C_BP = 9'h11B, C_ED = 9'h13B;

  reg [31:0] bytes;
  reg [1:0]  lane;
  reg        in_packet;
  reg        skipping;                // the packet is spoilt: wait for its end
  reg        closing;                 // a cut is to be pushed before anything else
  reg [7:0]  ends, ends_g;

  wire       closing_1  = closing || (flush && in_packet);
  wire [1:0] lane_1     = flush ? 2'd0 : lane;
  wire       skipping_1 = skipping && !flush;
  wire       close      = closing_1 && room;
  assign in_take   = in_valid && room && !closing_1;
  assign ends_gray = ends_g;

  wire control = in_symbol[8];
  wire full    = lane_1 == 2'd3;
  reg [2:0] tag;
  reg       stray;
  reg       is_end;
  always @* begin
    stray  = 0;
    is_end = 0;
    tag    = DATA;
    if (control)
      case (in_symbol)
        C_EEP: begin
          tag    = EEP;
          is_end = 1;
        end
        C_EP: begin
          tag    = full && !skipping_1 ? EP : MISPLACED;
          is_end = 1;
        end
        C_BP: begin
          tag   = BP;
          stray = !full;
        end
        C_ED: begin
          tag   = ED;
          stray = !full;
        end
        default: stray = 1;
      endcase
  end
  wire word_done = in_take && (is_end || (full && !stray));
  wire ended     = close || (in_take && is_end);
  wire [7:0] ends_next = ends + {7'd0, ended};
  reg [31:0] joined;
  always @* begin
    joined = flush ? 32'd0 : bytes;
    joined[8*lane_1+:8] = joined[8*lane_1+:8] | in_symbol[7:0];
  end
  assign push      = close || (word_done && (is_end || !skipping_1));
  assign push_word = close ? {EEP, 32'd0} : {tag, joined};

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      bytes     <= 0;
      lane      <= 0;
      in_packet <= 0;
      skipping  <= 0;
      closing   <= 0;
      ends      <= 0;
      ends_g    <= 0;
    end else begin
      closing <= closing_1 && !room;
      ends    <= ends_next;
      ends_g  <= ends_next ^ (ends_next >> 1);
      if (in_take) begin
        bytes     <= word_done ? 32'd0 : joined;
        lane      <= is_end ? 2'd0 : lane_1 + 2'd1;
        in_packet <= !is_end;
        skipping  <= !is_end && (skipping_1 || stray);
      end else if (flush) begin
        bytes     <= 0;
        lane      <= 0;
        in_packet <= 0;
        skipping  <= 0;
      end
    end
endmodule
