// FIFO between two clocks. Each side owns a free-running counter of words
// moved; the other side sees it in Gray code after two flip-flops, so a word
// pushed at one edge is acted on at the third edge of the other clock.
// The store has a power of two places, of which LIMIT are used.
module ddc_fifo #(
    parameter integer W     = 36,   // bits of an entry
    parameter integer A     = 8,    // log2 of the places of the store
    parameter integer LIMIT = 133   // entries that may wait
) (
    input  wire         wclk,
    input  wire         wrst_n,
    input  wire         push,       // ignored by nobody: the writer heeds `room`
    input  wire [W-1:0] wdata,
    output wire [A:0]   room,       // free places, as the writer knows
    input  wire         rclk,
    input  wire         rrst_n,
    input  wire         pop,
    output wire [W-1:0] head,
    output wire [W-1:0] second,
    output wire [W-1:0] third,
    output wire [W-1:0] fourth,
    output wire [A:0]   level       // waiting entries, as the reader knows
);
  reg [W-1:0] store[0:(1 << A) - 1];
  reg [A:0] wcount, wgray, rcount, rgray;
  reg [A:0] w_at_r1, w_at_r2, r_at_w1, r_at_w2;
  reg [A:0] w_seen, r_seen;
  integer i;

  wire [A:0] wnext = wcount + {{A{1'b0}}, push};
  wire [A:0] rnext = rcount + {{A{1'b0}}, pop};
  wire [A-1:0] at_second = rcount[A-1:0] + {{(A-1){1'b0}}, 1'b1};
  wire [A-1:0] at_fourth = rcount[A-1:0] + {{(A-2){1'b0}}, 2'd3};
  wire [A-1:0] at_third  = rcount[A-1:0] + {{(A-2){1'b0}}, 2'd2};

  // Gray code back to binary.
  always @* begin
    w_seen = w_at_r2;
    r_seen = r_at_w2;
    for (i = A - 1; i >= 0; i = i - 1) begin
      w_seen[i] = w_seen[i+1] ^ w_at_r2[i];
      r_seen[i] = r_seen[i+1] ^ r_at_w2[i];
    end
  end

  assign room   = LIMIT[A:0] - (wcount - r_seen);
  assign level  = w_seen - rcount;
  assign head   = store[rcount[A-1:0]];
  assign second = store[at_second];
  assign third  = store[at_third];
  assign fourth = store[at_fourth];

  always @(posedge wclk) if (push) store[wcount[A-1:0]] <= wdata;

  always @(posedge wclk or negedge wrst_n)
    if (!wrst_n) begin
      wcount  <= 0;
      wgray   <= 0;
      r_at_w1 <= 0;
      r_at_w2 <= 0;
    end else begin
      wcount  <= wnext;
      wgray   <= wnext ^ (wnext >> 1);
      r_at_w1 <= rgray;
      r_at_w2 <= r_at_w1;
    end

  always @(posedge rclk or negedge rrst_n)
    if (!rrst_n) begin
      rcount  <= 0;
      rgray   <= 0;
      w_at_r1 <= 0;
      w_at_r2 <= 0;
    end else begin
      rcount  <= rnext;
      rgray   <= rnext ^ (rnext >> 1);
      w_at_r1 <= wgray;
      w_at_r2 <= w_at_r1;
    end
endmodule
