// PCI clock: transmit block. Fetches descriptors, reads pages through the
// realigner into the TX FIFO, gives orders to the packetiser.
module ddc_tx #(
    parameter integer FIFO_WORDS = 133,
    parameter integer REFILL     = 66,
    parameter integer A          = 8
) (
    input  wire        clk,
    input  wire        rst_n,
    // registers
    input  wire        tx_init,
    input  wire [11:0] mpl,
    input  wire [31:0] lpe_current,
    input  wire [31:0] lpe_new,
    output wire        lpe_advance,
    // bus
    output wire        want,
    output wire [2:0]  kind,
    output wire [31:2] address,
    output wire        more,
    input  wire        mine,          // the transfer on the bus is ours
    input  wire        started,
    input  wire        moved,
    input  wire [31:0] rdata,
    input  wire        ended,
    // TX FIFO
    input  wire [A:0]  room,
    output wire        push,
    output wire [31:0] push_word,
    // order
    output reg         order,
    output reg  [15:0] o_rp,
    output reg  [31:0] o_control,
    output reg  [31:0] o_remote,
    output reg  [31:0] o_data2,
    output reg  [15:0] o_length,
    output reg  [11:0] o_max,
    input  wire        left,          // toggles when the page has left
    output wire        page_sent
);
  localparam [1:0] IDLE = 0, FETCH = 1, READ = 2, DRAIN = 3;
  reg [1:0]  state;
  reg [1:0]  field;
  reg [14:0] words;                   // local words still to read
  reg [29:0] from;
  reg        left_seen;
  reg        full;                    // interrupted by a full FIFO
  reg        busy;                    // the transfer on the bus is ours

  wire word_in   = mine && moved;
  wire fetched   = state == FETCH && word_in && field == 2'd3;
  wire short_message = o_control[26] || o_control[29];
  wire nothing   = !short_message && o_length == 0 && !o_control[30];
  wire has_data  = !short_message && o_length != 0;
  wire [16:0] span = {1'b0, o_length} + {15'd0, rdata[1:0]} + 17'd3;
  assign lpe_advance = fetched;

  // Page words
  wire page_word = state == READ && word_in;
  wire rest, done;
  wire flush = rest;
  ddc_realign u_realign (
      .clk(clk), .rst_n(rst_n),
      .load(fetched && has_data),
      .local_lane(rdata[1:0]), .remote_lane(o_remote[1:0]), .length(o_length),
      .put(page_word), .word(rdata),
      .push(push), .push_word(push_word), .rest(rest), .flush(flush), .done(done));

  wire [14:0] words_after = words - {14'd0, page_word};
  wire [A:0]  room_after  = room - {{A{1'b0}}, push};
  wire enough = full ? room_after >= REFILL[A:0] : room_after >= 2;

  wire returned = left != left_seen;
  assign page_sent = (state == DRAIN && returned && o_control[25])
                  || (fetched && nothing && o_control[25]);

  wire idle_now = state == IDLE || (state == DRAIN && returned);
  wire fetch_wanted = idle_now && tx_init && lpe_current != lpe_new;
  wire fetch_going  = state == FETCH;
  wire read_wanted  = (state == READ && words_after != 0 && enough)
                   || (fetched && has_data);
  assign want = !(fetched && !has_data) && (fetch_wanted || (fetch_going && !fetched) || read_wanted);
  assign kind = (fetch_wanted || (fetch_going && !fetched)) ? 3'd1 : 3'd2;
  wire [1:0] field_after = field + {1'b0, state == FETCH && word_in};
  wire [29:0] from_now = fetched ? rdata[31:2] : from + {29'd0, page_word};
  assign address = state == READ || fetched ? from_now
                 : {lpe_current[31:4], (state == FETCH ? field_after : 2'd0)};
  assign more = state == READ ? (words_after > 1 && room_after > 2) : field_after != 2'd3;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state     <= IDLE;
      field     <= 0;
      words     <= 0;
      from      <= 0;
      left_seen <= 0;
      full      <= 0;
      busy      <= 0;
      order     <= 0;
      o_rp      <= 0;
      o_control <= 0;
      o_remote  <= 0;
      o_data2   <= 0;
      o_length  <= 0;
      o_max     <= 0;
    end else begin
      busy <= started || (busy && !ended);
      case (state)
        IDLE: if (started) state <= FETCH;
        FETCH:
        if (word_in) begin
          field <= field + 2'd1;
          case (field)
            2'd0: begin
              o_rp     <= rdata[31:16];
              o_length <= rdata[15:0];
            end
            2'd1: o_control <= rdata;
            2'd2: o_remote <= rdata;
            default: begin
              o_data2 <= rdata;
              from    <= rdata[31:2];
              words   <= span[16:2];
              o_max   <= mpl == 0 || mpl > FIFO_WORDS[11:0] ? FIFO_WORDS[11:0] : mpl;
              full    <= 0;
              if (nothing) state <= IDLE;
              else begin
                order <= !order;
                state <= has_data ? READ : DRAIN;
              end
            end
          endcase
        end
        READ: begin
          from  <= from_now;
          words <= words_after;
          if (ended && words_after != 0 && room_after < 3) full <= 1;
          if (started) full <= 0;
          if (words_after == 0 && !rest && done) state <= DRAIN;
        end
        default:
        if (returned) begin
          left_seen <= left;
          state     <= started ? FETCH : IDLE;
        end
      endcase
    end

  // Bytes within the last word.
  wire unused = &{1'b0, span[1:0]};
endmodule
