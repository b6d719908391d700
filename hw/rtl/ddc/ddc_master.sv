// PCI clock: the bus master and its arbiter. One transfer is on the bus at a
// time; the block that asked for it tells at each edge which word comes next
// and whether another may follow. IRDY# is asserted in every data phase.
// hw/doc/rtl-ddc.md, "Bus master".
module ddc_master #(
    parameter integer DEVSEL_CLOCKS = 4,  // data phases without DEVSEL# before the abort
    parameter integer BACKOFF       = 2   // clocks of REQ# high after STOP#
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
    output wire        req_n,
    // arbiter
    input  wire        enabled,        // Bus Master, after the bus errors of this edge
    input  wire        enabled_now,    // and after all errors of this edge
    input  wire [3:0]  balance,
    input  wire        tx_want,        // at the end of this edge
    input  wire [2:0]  tx_kind,
    input  wire        rx_want,
    input  wire [2:0]  rx_kind,
    // transfer
    output reg  [2:0]  kind,           // 0: none
    output wire        on_bus,
    output wire        begins,         // the address phase is driven
    input  wire [31:2] address,
    input  wire        last_word,      // the word driven next is the last for now
    input  wire [31:0] wdata,          // the word driven next
    input  wire [3:0]  wbe,
    input  wire        other_waits,    // the other block, as it stood
    input  wire [7:0]  latency,
    output wire        moved,
    output wire [31:0] rdata,
    output wire        target_abort,
    output wire        master_abort
);
  localparam [1:0] IDLE = 0, ADDRESS = 1, DATA = 2, ABORTING = 3;
  reg [1:0] phase;
  reg       requesting;
  reg       last;                      // FRAME# is high: the last data phase
  reg       selected;
  reg [2:0] waited;
  reg [8:0] clocks;
  reg [1:0] backoff;
  reg [3:0] turn;
  reg       last_was_tx;

  wire writing  = kind >= 3'd3 && kind != 3'd5;
  wire in_data  = phase == DATA;
  wire aborted  = in_data && selected && devsel_n && !stop_n;
  wire claimed  = selected || !devsel_n;
  wire timeout  = in_data && !claimed && waited == DEVSEL_CLOCKS[2:0] - 3'd1;
  wire give_up  = aborted || timeout;
  wire live     = in_data && claimed && !aborted;
  wire stopped  = live && !stop_n;
  assign moved  = live && !trdy_n;
  assign rdata  = ad;
  assign target_abort = aborted;
  assign master_abort = timeout;
  assign on_bus = phase != IDLE;
  assign begins = phase == IDLE && kind != 0 && requesting && !gnt_n && frame_n && irdy_n;
  assign req_n  = !requesting;

  wire finish = (in_data && last && (give_up || moved || stopped)) || phase == ABORTING;
  wire load   = phase == ADDRESS || (in_data && !last && moved);
  wire [8:0] clocks_now = clocks == 9'h1FF ? clocks : clocks + 9'd1;
  wire expired   = clocks_now >= {1'b0, latency};
  wire load_last = last_word || (expired && (gnt_n || other_waits)) || !enabled;

  // arbiter
  wire idle_after = finish || (phase == IDLE && !begins);
  wire [1:0] backoff_after = stopped || give_up ? BACKOFF[1:0]
                           : phase == IDLE && backoff != 0 ? backoff - 2'd1 : backoff;
  wire [2:0] kind_kept = finish ? 3'd0 : kind;
  wire [7:0] product   = {4'd0, turn} * {4'd0, balance};
  wire [4:0] share     = {1'b0, product[3:0]} + {1'b0, balance};
  wire rx_turn = balance == 4'd8 ? last_was_tx : share[4];
  wire both    = tx_want && rx_want;
  wire pick_rx = rx_want && (!tx_want || rx_turn);
  wire pick    = kind_kept == 0 && (tx_want || rx_want);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      phase       <= IDLE;
      kind        <= 0;
      requesting  <= 0;
      last        <= 0;
      selected    <= 0;
      waited      <= 0;
      clocks      <= 0;
      backoff     <= 0;
      turn        <= 0;
      last_was_tx <= 0;
      ad_oe       <= 0;
      ad_out      <= 0;
      cbe_oe      <= 0;
      cbe_out     <= 4'hF;
      frame_oe    <= 0;
      frame_out   <= 1;
      irdy_oe     <= 0;
      irdy_out    <= 1;
    end else begin
      backoff <= backoff_after;
      clocks  <= clocks_now;
      case (phase)
        IDLE: begin
          irdy_oe <= 0;
          if (begins) begin
            phase     <= ADDRESS;
            last      <= 0;
            selected  <= 0;
            waited    <= 0;
            clocks    <= 0;
            frame_oe  <= 1;
            frame_out <= 0;
            ad_oe     <= 1;
            ad_out    <= {address, 2'b00};
            cbe_oe    <= 1;
            cbe_out   <= {3'b011, writing};
          end
        end
        ADDRESS: phase <= DATA;
        DATA: begin
          selected <= claimed;
          if (!claimed) waited <= waited + 3'd1;
          if (stopped || give_up) begin
            requesting <= 0;
            last       <= 1;
            frame_out  <= 1;
          end
          if (give_up) phase <= ABORTING;
        end
        default: ;
      endcase
      if (load) begin
        last      <= load_last || stopped;
        frame_out <= load_last || stopped;
        irdy_oe   <= 1;
        irdy_out  <= 0;
        ad_oe     <= writing;
        ad_out    <= wdata;
        cbe_out   <= writing ? ~wbe : 4'h0;
        if (load_last) requesting <= 0;
      end
      if (finish) begin
        phase      <= IDLE;
        requesting <= 0;
        irdy_out   <= 1;               // driven high for one clock
        frame_oe   <= 0;
        ad_oe      <= 0;
        cbe_oe     <= 0;
        kind       <= 0;
      end
      if (idle_after) begin
        if (!enabled_now) begin
          kind       <= 0;
          requesting <= 0;
        end else if (kind_kept != 0 || pick) begin
          requesting <= backoff_after == 0;
          if (pick) begin
            kind        <= pick_rx ? rx_kind : tx_kind;
            last_was_tx <= !pick_rx;
            if (both && balance != 4'd8) turn <= turn + 4'd1;
          end
        end
      end
    end

  // Of the product only the place within 16 turns matters.
  wire unused = &{1'b0, product[7:4], share[3:0]};
endmodule
