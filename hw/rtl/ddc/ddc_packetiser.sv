// Link clock: an order (one page, or one short message) and the words of the
// TX FIFO become packets, one character a cycle while the port takes them.
// hw/doc/rtl-ddc.md, "Packetiser".
module ddc_packetiser #(
    parameter integer GAP = 7          // idle cycles after EP
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
    output reg         overflow,       // the page left packet 65536 or beyond
    // TX FIFO
    input  wire        avail,
    input  wire [31:0] head,
    output wire        pop,
    // port
    input  wire        flush,
    input  wire        ready,
    output wire        sent,
    output wire [8:0]  symbol
);
  // The word that is loaded next.
  localparam [3:0] IDLE = 0, HEAD0 = 1, HEAD1 = 2, HEAD2 = 3, HEAD3 = 4, HEAD4 = 5, DATA = 6,
      TAIL = 7, CRC = 8, LAST = 9;

  reg [3:0]  stage;
  reg [31:0] word;
  reg        mark;                     // byte 3 of `word` is a control character
  reg        loaded;                   // `word` waits to leave, from byte `lane` on
  reg [1:0]  lane;
  reg        seen;                     // order begun
  reg        busy;                     // an order is in hand
  reg [14:0] page_left;                // data words of the page in no packet yet
  reg [11:0] here;                     // data words of this packet not loaded yet
  reg [31:0] address;
  reg [31:0] crc;
  reg [3:0]  gap;
  reg        dropping;                 // the rest of the packet does not leave
  reg [15:0] packets;                  // of the message so far, this one included

  wire short_message = o_control[26] || o_control[29];
  wire [16:0] span = {1'b0, o_length} + {15'd0, o_remote[1:0]} + 17'd3;
  wire [14:0] all  = short_message || o_length == 0 ? 15'd0 : span[16:2];

  // A packet begins: with the order, or behind the packet before.
  wire begin_order  = stage == IDLE && !busy && order != seen;
  wire begin_packet = stage == IDLE && (busy || order != seen);
  wire [14:0] left_now = begin_order ? all : page_left;
  wire [11:0] size     = left_now > {3'd0, o_max} ? o_max : left_now[11:0];
  wire [3:0]  at       = begin_packet ? HEAD0 : stage;
  wire [11:0] here_now = begin_packet ? size : here;

  wire known = at == HEAD0 ? here_now == 0 || avail : at == DATA ? avail : at != IDLE;
  wire load  = gap == 0 && !loaded && known;
  wire end_of_page = page_left == 0;
  wire last_packet = end_of_page && o_control[30];
  wire [1:0] lane_of_last = o_remote[1:0] + (short_message ? 2'd0 : o_length[1:0]) - 2'd1;

  reg [31:0] next_word;
  reg        next_mark;
  always @* begin
    next_mark = 0;
    case (at)
      HEAD0: begin
        next_word = {8'h1B, 8'h00, o_rp[7:0], o_rp[15:8]};
        next_mark = 1;
      end
      HEAD1: next_word = {o_control[31:25], 1'b0, o_control[23:0]};
      HEAD2: next_word = address;
      HEAD3: next_word = short_message ? o_data2 : ~crc;
      DATA:  next_word = head;
      TAIL: begin
        next_word = {8'h3B, last_packet, 5'd0, end_of_page ? lane_of_last : 2'd3,
                     last_packet ? packets : 16'd0};
        next_mark = 1;
      end
      LAST: begin
        next_word = {8'h2B, 24'd0};
        next_mark = 1;
      end
      default: next_word = ~crc;       // HEAD4, CRC
    endcase
  end
  assign pop = load && at == DATA;

  wire [31:0] crc_next;
  ddc_crc32 u_crc (.crc(at == HEAD0 ? 32'hFFFFFFFF : crc), .word(next_word), .next(crc_next));

  // The character that leaves.
  wire untouched = ((stage == IDLE || stage == HEAD0) && !loaded)
                || (stage == HEAD1 && loaded && lane == 0);
  wire drop_now  = dropping || (flush && !untouched);
  wire [31:0] now_word = loaded ? word : next_word;
  wire        now_mark = loaded ? mark : next_mark;
  wire moves = gap == 0 && (loaded || load) && (ready || drop_now);
  assign sent   = moves && !drop_now;
  assign symbol = {now_mark && lane == 2'd3, now_word[8*lane+:8]};
  wire packet_ends = moves && lane == 2'd3 && stage == IDLE && loaded;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      stage     <= IDLE;
      word      <= 0;
      mark      <= 0;
      loaded    <= 0;
      lane      <= 0;
      seen      <= 0;
      busy      <= 0;
      page_left <= 0;
      here      <= 0;
      address   <= 0;
      crc       <= 0;
      gap       <= 0;
      dropping  <= 0;
      packets   <= 0;
      left      <= 0;
      overflow  <= 0;
    end else begin
      dropping <= drop_now;
      if (gap != 0) gap <= gap - 4'd1;
      if (gap == 0 && !loaded && begin_packet) begin
        if (begin_order) begin
          seen     <= order;
          busy     <= 1;
          address  <= o_remote;
          overflow <= 0;
        end
        page_left <= left_now;
        here      <= size;
        stage     <= HEAD0;
      end
      if (load) begin
        loaded <= 1;
        word   <= next_word;
        mark   <= next_mark;
        crc    <= crc_next;
        case (at)
          HEAD0: begin
            page_left <= left_now - {3'd0, here_now};
            stage     <= HEAD1;
            packets   <= packets == 16'hFFFF ? packets : packets + 16'd1;
            overflow  <= (overflow && !begin_order) || packets == 16'hFFFF;
          end
          HEAD1: stage <= HEAD2;
          HEAD2: begin
            address <= {address[31:2] + {18'd0, here}, 2'b00};
            stage   <= HEAD3;
          end
          HEAD3:
          if (short_message) stage <= HEAD4;
          else begin
            crc   <= 32'hFFFFFFFF;
            stage <= here == 0 ? TAIL : DATA;
          end
          HEAD4: stage <= LAST;
          DATA: begin
            here  <= here - 12'd1;
            stage <= here == 12'd1 ? TAIL : DATA;
          end
          TAIL:    stage <= CRC;
          CRC:     stage <= LAST;
          default: stage <= IDLE;      // LAST
        endcase
      end
      if (moves) begin
        lane <= lane + 2'd1;
        if (lane == 2'd3) loaded <= 0;
      end
      if (packet_ends) begin
        gap      <= GAP[3:0];
        dropping <= 0;
        if (page_left == 0) begin
          busy <= 0;
          left <= !left;
          if (o_control[30]) packets <= 0;
        end
      end
    end

  // Bytes within the last word; bit 24 stays with the sender.
  wire unused = &{1'b0, span[1:0], o_control[24]};
endmodule
