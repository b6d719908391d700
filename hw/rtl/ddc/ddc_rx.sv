// PCI clock: receive block. Takes words of the RX FIFO, checks framing and
// CRCs, writes data to the address the packet carries, hands good packets to
// the completion block. hw/doc/rtl-ddc.md, "Receive".
module ddc_rx #(
    parameter integer BURST   = 16,
    parameter integer TIMEOUT = 1 << 20,
    parameter integer A       = 8
) (
    input  wire        clk,
    input  wire        rst_n,
    // RX FIFO: the level and the four oldest words
    input  wire [A:0]  level,
    input  wire [34:0] word0,
    input  wire [34:0] word1,
    input  wire [34:0] word2,
    input  wire [34:0] word3,
    output wire        pop,
    input  wire [7:0]  ends_gray,     // packet ends pushed, after two flip-flops
    // bus
    output wire        waits,         // wants the bus, as it stood
    output wire        want,          // at the end of this edge
    output wire [31:2] address,
    output wire        last_word,
    output wire [31:0] wdata,
    output wire [3:0]  wbe,
    input  wire        writing,       // a data burst is on the bus
    input  wire        written,       // a word of it moved
    // completion
    input  wire        busy,
    output wire        start,
    output reg  [31:0] control,
    output wire        p_short,
    output wire        p_last,
    output wire [15:0] p_expected,
    output wire [31:0] p_data1,
    output wire [31:0] p_data2,
    // events
    output reg         eep_error,
    output reg         crc_header_error,
    output reg         crc_data_error,
    output reg         ep_error,
    output wire        timeout_error
);
  localparam [2:0] T_DATA = 0, T_BP = 1, T_ED = 2, T_EP = 3, T_EEP = 4, T_MISPLACED = 5, T_NONE = 7;
  localparam [3:0] BEGIN = 0, HEAD1 = 1, HEAD2 = 2, HEAD3 = 3, HEAD4 = 4, DATA = 5, CRC = 6, END = 7,
      DISCARD = 8;

  reg [3:0]  state, state_next;
  reg [31:0] crc;
  reg [31:0] data1;                    // address of the packet, or data 1
  reg [31:0] data2;
  reg [29:0] at;                       // word address of the next data word
  reg [3:0]  enables;                  // of the next data word, if it is not the last
  reg [31:0] tail;
  reg        good;                     // the data CRC matched
  reg [7:0]  ends_taken;
  reg [20:0] starved;

  wire [2:0]  tag0 = level >= 1 ? word0[34:32] : T_NONE;
  wire [2:0]  tag1 = level >= 2 ? word1[34:32] : T_NONE;
  wire [2:0]  tag2 = level >= 3 ? word2[34:32] : T_NONE;
  wire [2:0]  tag3 = level >= 4 ? word3[34:32] : T_NONE;
  wire [31:0] word = word0[31:0];
  wire short_message = control[26] || control[29];

  // Gray code back to binary.
  reg [7:0] ends;
  integer i;
  always @* begin
    ends = ends_gray;
    for (i = 6; i >= 0; i = i - 1) ends[i] = ends[i+1] ^ ends_gray[i];
  end

  // What happens at this edge.
  wire active  = !busy && !(state == DATA && writing);
  wire present = tag0 != T_NONE;
  wire follows = tag1 == T_DATA || tag1 == T_ED;
  wire stray   = tag0 == T_DATA && tag1 != T_NONE && !follows;    // cannot be data after all
  wire enough  = ends != ends_taken || level > BURST[A:0];
  wire may_write = tag0 == T_DATA && follows && enough;
  wire take    = active && present && (state != DATA || tag0 != T_DATA || stray);
  assign pop   = take || written;
  wire is_end  = take && (tag0 == T_EP || tag0 == T_EEP || tag0 == T_MISPLACED);

  wire [31:0] crc_next;
  ddc_crc32 u_crc (.crc(state == BEGIN || tag0 == T_BP ? 32'hFFFFFFFF : crc), .word(word),
                   .next(crc_next));

  reg [2:0] expected;
  reg       broken;
  always @* begin
    case (state)
      BEGIN:   expected = T_BP;
      END:     expected = T_EP;
      DATA:    expected = T_ED;
      default: expected = T_DATA;
    endcase
    state_next       = state;
    eep_error        = 0;
    crc_header_error = 0;
    crc_data_error   = 0;
    ep_error         = 0;
    broken           = take && state != DISCARD && tag0 != expected && !(state == DATA && stray);
    if (take) begin
      if (state == DISCARD) begin
        eep_error = tag0 == T_EEP;
        if (is_end) state_next = BEGIN;
      end else if (broken) begin
        eep_error  = tag0 == T_EEP;
        ep_error   = tag0 != T_EEP;
        state_next = tag0 == T_BP ? HEAD1 : is_end ? BEGIN : DISCARD;
      end else
        case (state)
          BEGIN: state_next = HEAD1;
          HEAD1: state_next = HEAD2;
          HEAD2: state_next = HEAD3;
          HEAD3, HEAD4:
          if (state == HEAD3 && short_message) state_next = HEAD4;
          else begin
            crc_header_error = word != ~crc;
            state_next = crc_header_error ? DISCARD : short_message ? END : DATA;
          end
          DATA:  if (!stray) state_next = CRC;
          CRC: begin
            crc_data_error = word != ~crc && !tail[22];
            state_next     = END;
          end
          default: state_next = BEGIN;               // END
        endcase
    end
  end

  assign start      = take && state == END && tag0 == T_EP && good;
  assign p_short    = short_message;
  assign p_last     = short_message ? control[30] : tail[23];
  assign p_expected = short_message ? 16'd1 : tail[15:0];
  assign p_data1    = short_message ? data1 : 32'd0;
  assign p_data2    = short_message ? data2 : 32'd0;

  // The FIFO at the end of this edge.
  wire [2:0]  now0 = pop ? tag1 : tag0;
  wire [2:0]  now1 = pop ? tag2 : tag1;
  wire [2:0]  now2 = pop ? tag3 : tag2;
  wire [31:0] now_word = pop ? word1[31:0] : word;
  wire [1:0]  now_lane = pop ? word2[17:16] : word1[17:16];   // if that is the tail
  wire [A:0]  now_level = level - {{A{1'b0}}, pop};
  wire [7:0]  now_taken = ends_taken + {7'd0, is_end};
  wire now_enough = ends != now_taken || now_level > BURST[A:0];

  assign waits = state == DATA && !busy && may_write;
  assign want  = state_next == DATA && !busy && now0 == T_DATA && (now1 == T_DATA || now1 == T_ED)
              && now_enough;
  assign address = at;
  assign wdata   = now_word;
  wire [3:0] now_enables = written ? 4'hF : enables;
  assign wbe       = now1 == T_ED ? now_enables & (4'hF >> (2'd3 - now_lane)) : now_enables;
  assign last_word = !(now1 == T_DATA && (now2 == T_DATA || now2 == T_ED));

  // Edges without progress inside the packet.
  wire starves = active && !take && state != BEGIN && !(state == DATA && may_write);
  assign timeout_error = starves && starved == TIMEOUT[20:0] - 21'd1 && TIMEOUT != 0;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state      <= BEGIN;
      crc        <= 0;
      data1      <= 0;
      data2      <= 0;
      at         <= 0;
      enables    <= 0;
      tail       <= 0;
      good       <= 0;
      control    <= 0;
      ends_taken <= 0;
      starved    <= 0;
    end else begin
      state      <= state_next;
      ends_taken <= now_taken;
      if (starves) starved <= starved == 21'h1FFFFF ? starved : starved + 21'd1;
      else if (!busy) starved <= state == BEGIN && !take ? starved : 21'd0;
      if (written) begin
        crc     <= crc_next;
        at      <= at + 30'd1;
        enables <= 4'hF;
      end
      if (take) crc <= crc_next;
      if (take && !broken)
        case (state)
          HEAD1: control <= {word[31:25], 1'b0, word[23:0]};
          HEAD2: begin
            data1   <= word;
            at      <= word[31:2];
            enables <= 4'hF << word[1:0];
          end
          HEAD3, HEAD4:
          if (state == HEAD3 && short_message) data2 <= word;
          else begin
            crc  <= 32'hFFFFFFFF;      // of the data from here on
            good <= 1;
          end
          DATA: if (stray) crc <= crc; else tail <= word;
          CRC: good <= !crc_data_error;
          default: ;
        endcase
    end

  // The tail word has reserved bits; of words further back the tag and perhaps
  // the lane matter.
  wire unused = &{1'b0, tail[31:24], tail[21:16], word1[31:0], word2[31:0], word3[31:0]};
endmodule
