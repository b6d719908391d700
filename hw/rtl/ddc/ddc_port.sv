// Link clock: parallel port towards the router: start-up, credits, the input
// FIFO of 64 symbols, flow control pulses. hw/doc/rtl-ddc.md, "Port".
module ddc_port #(
    parameter integer FIRST_FCC   = 2,   // edges from "up" to the first pulse
    parameter integer FCC_SPACING = 8
) (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       enable,        // COMMAND Rx_INIT
    input  wire       loopback,      // COMMAND LOOPBACK
    // pins
    input  wire       rx_signal,
    input  wire       rx_fcc,
    input  wire       rx_valid,      // a symbol that is not a filler
    input  wire [8:0] rx_symbol,
    output reg        tx_signal,
    output reg        tx_fcc,
    output reg        tx_valid,
    output reg  [8:0] tx_symbol,
    // packetiser
    output wire       ready,         // a symbol may leave at this edge
    input  wire       sent,
    input  wire [8:0] sent_symbol,
    // assembler
    output wire       in_valid,
    output wire [8:0] in_symbol,
    input  wire       in_take,
    output wire       flush          // the port goes down at this edge
);
  reg [8:0] store[0:63];
  reg [5:0] rd;
  reg [6:0] level;
  reg       up;
  reg       broken;                  // credit error
  reg       was_loop;
  reg [6:0] credit;
  reg [4:0] taken;                   // symbols taken since the last pulse
  reg [1:0] owed;                    // pulses to send
  reg [1:0] initial_left;            // pulses of the start to come
  reg [3:0] timer;                   // edges to the next of them

  wire outside = enable && !loopback;
  wire gone    = up && (!outside || !rx_signal || broken);
  assign flush = gone || loopback != was_loop;

  wire       up_1     = up && !flush;
  wire [6:0] level_1  = flush ? 7'd0 : level;
  assign ready     = loopback ? enable && level_1 < 7'd64 : up_1 && credit != 0;
  assign in_valid  = level_1 != 0;
  assign in_symbol = store[rd];

  // What comes in.
  wire drives   = outside && !gone;
  wire comes_up = drives && rx_signal && !up_1;
  wire listens  = drives && rx_signal;
  wire [6:0] level_2 = level_1 - {6'd0, in_take};
  wire       store_it = (loopback ? sent : listens && rx_valid) && level_2 < 7'd64;
  wire [5:0] wr = rd + level[5:0];

  // Credits and pulses.
  wire [6:0] credit_1 = flush || comes_up ? 7'd0 : credit - {6'd0, sent && drives};
  wire [6:0] credit_2 = credit_1 + 7'd32;
  wire       excess   = listens && rx_fcc && credit_2 > 7'd64;
  wire       full_flit = in_take && taken == 5'd31;
  wire [1:0] initial_1 = comes_up ? 2'd2 : flush ? 2'd0 : initial_left;
  wire [3:0] timer_1   = (comes_up ? FIRST_FCC[3:0] : timer) - 4'd1;
  wire       initial_due = drives && initial_1 != 0 && timer_1 == 0;
  wire [1:0] owed_1 = (flush || comes_up ? 2'd0 : owed + {1'b0, full_flit && up_1})
                    + {1'b0, initial_due};
  wire       pulse  = drives && owed_1 != 0;

  always @(posedge clk)
    if (store_it) store[flush ? 6'd0 : wr] <= loopback ? sent_symbol : rx_symbol;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      rd           <= 0;
      level        <= 0;
      up           <= 0;
      broken       <= 0;
      was_loop     <= 0;
      credit       <= 0;
      taken        <= 0;
      owed         <= 0;
      initial_left <= 0;
      timer        <= 0;
      tx_signal    <= 0;
      tx_fcc       <= 0;
      tx_valid     <= 0;
      tx_symbol    <= 0;
    end else begin
      was_loop <= loopback;
      up       <= up_1 || comes_up;
      broken   <= excess;
      rd       <= flush ? 6'd0 : rd + {5'd0, in_take};
      level    <= level_2 + {6'd0, store_it};
      taken    <= flush || comes_up ? 5'd0 : taken + {4'd0, in_take};
      credit   <= listens && rx_fcc ? (excess ? 7'd64 : credit_2) : credit_1;
      owed     <= owed_1 - {1'b0, pulse};
      initial_left <= initial_1 - {1'b0, initial_due};
      if (drives && initial_1 != 0) timer <= initial_due ? FCC_SPACING[3:0] : timer_1;
      tx_signal <= drives;
      tx_fcc    <= pulse;
      tx_valid  <= drives && sent;
      tx_symbol <= drives && sent ? sent_symbol : 9'd0;
    end
endmodule
