// Link clock: an order (one page, or one short message) and the words of the
// TX FIFO become packets, one character a cycle while the port takes them.
module ddc_packetiser #(
    parameter integer GAP = 7          // idle cycles between packets of a page
) (
    input  wire        clk,
    input  wire        rst_n,
    // order, stable while it is worked on
    input  wire        order,          // toggles with each order
    input  wire [15:0] o_rp,
    input  wire [31:0] o_control,
    input  wire [31:0] o_remote,       // or data 1
    input  wire [31:0] o_data2,
    input  wire [15:0] o_length,
    input  wire [11:0] o_max,          // data words of a packet at most
    output reg         left,           // toggles when the page has left
    output reg         overflow,       // toggles: more than 65535 packets
    // TX FIFO
    input  wire        avail,
    input  wire [31:0] head,
    output wire        pop,
    // port
    input  wire        up,
    output wire        offer,
    output wire [8:0]  symbol,
    input  wire        taken
);
  localparam [3:0] WAIT = 0, W0 = 1, W1 = 2, W2 = 3, W3 = 4, DATA = 5, TAIL = 6, DCRC = 7,
      END = 8, PAUSE = 9, SHORT3 = 10, SHORT4 = 11;

  reg [3:0]  state;
  reg [1:0]  lane;
  reg [31:0] crc;
  reg [15:0] packets;                  // of the message, before this one
  reg [14:0] words;                    // data words of the page still to send
  reg [11:0] here;                     // data words of this packet still to send
  reg [29:0] address;                  // word address of this packet
  reg        first;                    // first packet of the page
  reg        spoilt;                   // the port went down inside this packet
  reg [3:0]  pause;
  reg        seen;                     // the order worked on
  reg [31:0] word;
  reg        mark;                     // control character in byte 3

  wire short_message = o_control[26] || o_control[29];
  wire last_page     = o_control[30];
  wire [16:0] span   = {1'b0, o_length} + {15'd0, o_remote[1:0]} + 17'd3;
  wire [14:0] all    = o_length == 0 ? 15'd0 : span[16:2];
  wire [11:0] size   = words > {3'd0, o_max} ? o_max : words[11:0];
  wire final_packet  = words == {3'd0, size_held};
  reg  [11:0] size_held;
  wire [15:0] count  = packets + 16'd1;
  wire [1:0]  lane_of_last = o_remote[1:0] + o_length[1:0] - 2'd1;
  wire last_packet   = final_packet && last_page;

  always @* begin
    mark = 0;
    case (state)
      W0: begin
        word = {8'h1B, 8'h00, o_rp[7:0], o_rp[15:8]};
        mark = 1;
      end
      W1:      word = {o_control[31:25], 1'b0, o_control[23:0]};
      W2:      word = short_message ? o_remote : {address, first ? o_remote[1:0] : 2'd0};
      SHORT3:  word = o_data2;
      W3, SHORT4, DCRC: word = ~crc;
      DATA:    word = head;
      TAIL: begin
        word = {8'h3B, last_packet, 5'd0, final_packet ? lane_of_last : 2'd3,
                last_packet ? count : 16'd0};
        mark = 1;
      end
      default: begin                   // END
        word = {8'h2B, 24'd0};
        mark = 1;
      end
    endcase
  end

  wire sending = state != WAIT && state != PAUSE && (state != DATA || avail);
  wire go      = spoilt ? sending : taken;
  assign offer  = sending && !spoilt;
  assign symbol = {mark && lane == 2'd3, word[8*lane+:8]};
  wire word_done = go && lane == 2'd3;
  assign pop = word_done && state == DATA;

  wire [31:0] crc_next;
  ddc_crc32 u_crc (.crc(crc), .word(word), .next(crc_next));

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state     <= WAIT;
      lane      <= 0;
      crc       <= 32'hFFFFFFFF;
      packets   <= 0;
      words     <= 0;
      here      <= 0;
      size_held <= 0;
      address   <= 0;
      first     <= 0;
      spoilt    <= 0;
      pause     <= 0;
      seen      <= 0;
      left      <= 0;
      overflow  <= 0;
    end else begin
      if (go) lane <= lane + 2'd1;
      if (word_done) crc <= crc_next;
      if (!up && state != WAIT && state != PAUSE && !(state == W0 && lane == 0)) spoilt <= 1;
      case (state)
        WAIT:
        if (order != seen) begin
          words   <= all;
          address <= o_remote[31:2];
          first   <= 1;
          crc     <= 32'hFFFFFFFF;
          // a page with data starts with its first word
          if (short_message || o_length == 0 || avail) begin
            state     <= W0;
            seen      <= order;
            size_held <= all > {3'd0, o_max} ? o_max : all[11:0];
          end
        end
        W0: if (word_done) state <= W1;
        W1: if (word_done) state <= W2;
        W2: if (word_done) state <= short_message ? SHORT3 : W3;
        W3:
        if (word_done) begin
          crc   <= 32'hFFFFFFFF;
          here  <= size_held;
          state <= size_held == 0 ? TAIL : DATA;
        end
        DATA:
        if (word_done) begin
          here <= here - 12'd1;
          if (here == 12'd1) state <= TAIL;
        end
        TAIL: if (word_done) state <= DCRC;
        SHORT3: if (word_done) state <= SHORT4;
        SHORT4, DCRC: if (word_done) state <= END;
        PAUSE: begin
          pause <= pause - 4'd1;
          if (pause == 4'd1) begin
            state     <= W0;
            size_held <= size;
          end
        end
        default:
        if (word_done) begin           // END
          spoilt <= 0;
          crc    <= 32'hFFFFFFFF;
          first  <= 0;
          if (!short_message) begin
            packets <= last_packet ? 16'd0 : count;
            if (packets == 16'hFFFF && !last_packet) overflow <= !overflow;
          end
          if (short_message || final_packet) begin
            left  <= !left;
            state <= WAIT;
          end else begin
            words   <= words - {3'd0, size_held};
            address <= address + {18'd0, size_held};
            pause   <= GAP[3:0];
            state   <= PAUSE;
          end
        end
      endcase
    end

  // Bytes within the last word; bit 24 stays with the sender.
  wire unused = &{1'b0, span[1:0], o_control[24]};
endmodule
