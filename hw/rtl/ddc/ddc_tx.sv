// PCI clock: transmit block. Fetches descriptors, reads pages through the
// realigner into the TX FIFO, gives orders to the packetiser. One page at a time.
module ddc_tx #(
    parameter integer FIFO_WORDS = 133,
    parameter integer REFILL     = 66,
    parameter integer A          = 8
) (
    input  wire        clk,
    input  wire        rst_n,
    // registers
    input  wire        enabled,       // Bus Master, after the bus errors of this edge
    input  wire        tx_init,
    input  wire [11:0] mpl,
    input  wire [31:0] lpe_current,
    input  wire [31:0] lpe_after,     // LPE_CURRENT at the end of this edge
    input  wire [31:0] lpe_new,
    output wire        lpe_advance,
    // bus
    output wire        waits,         // wants the bus, as it stood
    output wire        want,          // at the end of this edge
    output wire [2:0]  kind,
    output wire [31:2] address,
    output wire        last_word,
    input  wire        word_in,       // a word of ours moved
    input  wire [31:0] rdata,
    // TX FIFO
    input  wire [A:0]  room,
    output wire        push,
    output wire [31:0] push_word,
    // order
    output reg         order,         // toggles with each
    output reg  [15:0] o_rp,
    output reg  [31:0] o_control,
    output reg  [31:0] o_remote,
    output reg  [31:0] o_data2,
    output reg  [15:0] o_length,
    output reg  [11:0] o_max,
    input  wire        left,          // toggles when the page has left
    output wire        page_back,     // a page comes back from the link
    output wire        page_sent
);
  localparam [1:0] IDLE = 0, FETCH = 1, PAGE = 2, LEAVING = 3;
  localparam [2:0] K_FETCH = 1, K_PAGE = 2;
  reg [1:0]  state;
  reg [1:0]  got;                     // words of the descriptor that are in
  reg [14:0] words;                   // local words still to read
  reg [29:0] from;
  reg        left_seen;
  reg        refilling;               // the FIFO was full
  reg        empty;                   // the page in hand sends nothing

  wire fetched   = state == FETCH && word_in && got == 2'd3;
  wire page_word = state == PAGE && word_in;
  wire short_message = o_control[26] || o_control[29];
  wire has_data  = !short_message && o_length != 0;
  wire no_packet = !short_message && o_length == 0 && !o_control[30];
  wire [16:0] span = {1'b0, o_length} + {15'd0, rdata[1:0]} + 17'd3;
  assign lpe_advance = fetched;

  wire rest;
  ddc_realign u_realign (
      .clk(clk), .rst_n(rst_n),
      .load(fetched && has_data),
      .local_lane(rdata[1:0]), .remote_lane(o_remote[1:0]), .length(o_length),
      .put(page_word), .word(rdata),
      .push(push), .push_word(push_word), .rest(rest), .flush(rest));

  // The word that moved.
  wire [1:0]  state_1 = fetched ? (has_data ? PAGE : LEAVING) : state;
  wire [14:0] words_1 = fetched ? span[16:2] : words - {14'd0, page_word};
  wire [A:0]  room_1  = room - {{A{1'b0}}, push};
  wire [1:0]  got_1   = got + {1'b0, state == FETCH && word_in};
  wire        refilling_1 = !fetched && (refilling || (page_word && room_1 < 3));
  // The end of the page, on the bus and on the link.
  wire [1:0] state_2 = state_1 == PAGE && words_1 == 0 ? LEAVING : state_1;
  assign page_back = state_2 == LEAVING && !fetched && !empty && left != left_seen;
  wire returned    = page_back || (state_2 == LEAVING && (fetched ? no_packet : empty));
  assign page_sent = returned && o_control[25];
  wire refilling_2 = refilling_1 && state_2 == PAGE && room_1 < REFILL[A:0];
  // The next descriptor.
  wire [1:0] state_3 = returned ? IDLE : state_2;
  wire [1:0] state_4 = state_3 == IDLE && tx_init && lpe_after != lpe_new && enabled ? FETCH : state_3;

  assign waits = state == FETCH || (state == PAGE && !refilling && words != 0);
  assign want  = state_4 == FETCH || (state_4 == PAGE && !refilling_2);
  assign kind  = state_4 == FETCH ? K_FETCH : K_PAGE;
  wire [29:0] field = lpe_current[31:2] + {28'd0, got};
  assign address   = state == FETCH ? field : from;
  assign last_word = state == FETCH ? got_1 == 2'd3 : words_1 <= 15'd1 || room_1 < 3;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state     <= IDLE;
      got       <= 0;
      words     <= 0;
      from      <= 0;
      left_seen <= 0;
      refilling <= 0;
      empty     <= 0;
      order     <= 0;
      o_rp      <= 0;
      o_control <= 0;
      o_remote  <= 0;
      o_data2   <= 0;
      o_length  <= 0;
      o_max     <= 0;
    end else begin
      state     <= state_4;
      words     <= words_1;
      refilling <= refilling_2;
      got       <= state_3 == IDLE ? 2'd0 : got_1;
      if (page_word) from <= from + 30'd1;
      if (returned) begin
        left_seen <= left;
        empty     <= 0;
      end
      if (state == FETCH && word_in)
        case (got)
          2'd0: begin
            o_rp     <= rdata[31:16];
            o_length <= rdata[15:0];
          end
          2'd1: o_control <= rdata;
          2'd2: o_remote <= rdata;
          default: begin
            o_data2 <= rdata;
            from    <= rdata[31:2];
            o_max   <= mpl == 0 || mpl > FIFO_WORDS[11:0] ? FIFO_WORDS[11:0] : mpl;
            if (!no_packet) order <= !order;
            empty <= no_packet && !returned;
          end
        endcase
    end

  // Bytes within the last word, and within the entry.
  wire unused = &{1'b0, span[1:0], lpe_current[1:0]};
endmodule
