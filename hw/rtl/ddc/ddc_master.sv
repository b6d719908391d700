// PCI clock: initiator of memory reads and writes. One transfer is on the bus
// at a time; the block that asked for it tells at each edge which word comes
// next and whether another may follow it.
module ddc_master #(
    parameter integer ABORT_CLOCKS = 4,  // clocks without DEVSEL# after the address
    parameter integer BACKOFF      = 2   // clocks of REQ# high after STOP#
) (
    input  wire        clk,
    input  wire        rst_n,
    // bus as sampled
    input  wire [31:0] ad,
    input  wire        frame_n,
    input  wire        irdy_n,
    input  wire        trdy_n,
    input  wire        devsel_n,
    input  wire        stop_n,
    input  wire        gnt_n,
    // bus as driven
    output reg         ad_oe,
    output reg  [31:0] ad_out,
    output reg         cbe_oe,
    output reg  [3:0]  cbe_out,
    output reg         frame_oe,
    output reg         frame_out,
    output reg         irdy_oe,
    output reg         irdy_out,
    output reg         req_n,
    // transfer
    output wire        free,           // a transfer may be started at this edge
    input  wire        start,
    input  wire        write,
    input  wire [31:2] address,
    input  wire        more,           // another word may follow the one driven next
    input  wire [31:0] wdata,          // the word driven next
    input  wire [3:0]  wbe,
    input  wire        other_waits,
    input  wire [7:0]  latency,
    output wire        moved,
    output wire [31:0] rdata,
    output wire        ended,          // the transfer is off the bus
    output wire        target_abort,
    output wire        master_abort
);
  localparam [2:0] IDLE = 0, REQUEST = 1, ADDRESS = 2, DATA = 3, CLOSE = 4;
  reg [2:0] state;
  reg       writing;
  reg       claimed;
  reg [2:0] waited;
  reg [7:0] timer;
  reg [1:0] backoff;

  wire in_data = state == DATA;
  wire stop    = in_data && !stop_n && (claimed || !devsel_n);
  assign moved = in_data && !trdy_n;
  assign rdata = ad;
  assign target_abort = in_data && !stop_n && devsel_n && claimed;
  assign master_abort = in_data && !claimed && devsel_n && waited == ABORT_CLOCKS[2:0] - 3'd1;

  wire out_of_time = timer == 0 && (gnt_n || other_waits);
  wire last        = !more || out_of_time;
  wire was_last    = frame_out;         // the phase on the bus is the last
  wire closing     = stop || target_abort || master_abort;
  assign ended = (in_data && was_last && (moved || closing)) || state == CLOSE;
  assign free  = (state == IDLE && backoff == 0) || (in_data && was_last && moved && !closing);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state     <= IDLE;
      writing   <= 0;
      claimed   <= 0;
      waited    <= 0;
      timer     <= 0;
      backoff   <= 0;
      ad_oe     <= 0;
      ad_out    <= 0;
      cbe_oe    <= 0;
      cbe_out   <= 4'hF;
      frame_oe  <= 0;
      frame_out <= 1;
      irdy_oe   <= 0;
      irdy_out  <= 1;
      req_n     <= 1;
    end else begin
      if (backoff != 0) backoff <= backoff - 2'd1;
      if (timer != 0 && !frame_out) timer <= timer - 8'd1;
      // an asserted line is driven high for a clock before it is released
      frame_oe  <= !frame_out;
      irdy_oe   <= !irdy_out;
      case (state)
        REQUEST:
        if (!gnt_n && frame_n && irdy_n) begin
          state     <= ADDRESS;
          frame_oe  <= 1;
          frame_out <= 0;
          ad_oe     <= 1;
          ad_out    <= {address, 2'b00};
          cbe_oe    <= 1;
          cbe_out   <= {3'b011, write};
          writing   <= write;
          timer     <= latency;
        end
        ADDRESS: begin
          state     <= DATA;
          claimed   <= 0;
          waited    <= 0;
          irdy_oe   <= 1;
          irdy_out  <= 0;
          frame_oe  <= 1;
          frame_out <= !more;
          req_n     <= !more;
          ad_oe     <= writing;
          ad_out    <= wdata;
          cbe_out   <= writing ? ~wbe : 4'h0;
        end
        DATA: begin
          claimed  <= claimed || !devsel_n;
          waited   <= waited + 3'd1;
          irdy_oe  <= 1;
          if (closing || (moved && was_last)) begin
            frame_oe  <= !frame_out;
            frame_out <= 1;
            req_n     <= 1;
            if (was_last) begin
              irdy_out <= 1;
              state    <= IDLE;
              ad_oe    <= 0;
              cbe_oe   <= 0;
            end else state <= CLOSE;
            if (stop) backoff <= BACKOFF[1:0];
          end else if (moved) begin
            frame_oe  <= 1;
            frame_out <= last;
            req_n     <= last;
            ad_out    <= wdata;
            cbe_out   <= writing ? ~wbe : 4'h0;
          end else frame_oe <= !frame_out;
        end
        CLOSE: begin
          irdy_oe  <= 1;
          irdy_out <= 1;
          ad_oe    <= 0;
          cbe_oe   <= 0;
          state    <= IDLE;
        end
        default: ;
      endcase
      if (start) begin
        state <= REQUEST;
        req_n <= 0;
      end
    end
endmodule
