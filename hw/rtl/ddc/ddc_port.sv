// Parallel port towards the router (link clock): start-up, credits, the input
// FIFO of 64 symbols, flow control pulses. hw/doc/hsl.md, "Start-up" and
// "A port, edge by edge".
module ddc_port #(
    parameter integer RESTART     = 16,  // cycles of silence after an exception
    parameter integer FIRST_FCC   = 2,   // cycles from "up" to the first pulse
    parameter integer FCC_SPACING = 8
) (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       enable,        // COMMAND Rx_INIT
    input  wire       loopback,      // COMMAND LOOPBACK
    // pins
    input  wire       rx_signal,
    input  wire       rx_fcc,
    input  wire       rx_valid,      // a symbol that is not IDLE
    input  wire [8:0] rx_symbol,
    output reg        tx_signal,
    output reg        tx_fcc,
    output reg        tx_valid,
    output reg  [8:0] tx_symbol,
    // packetiser
    input  wire       offer,
    input  wire [8:0] offer_symbol,
    output wire       taken,
    output wire       up,
    // assembler
    output wire       in_valid,
    output wire [8:0] in_symbol,
    input  wire       in_take,
    output wire       lost           // the signal was lost at this edge
);
  localparam [2:0] OFF = 0, LISTEN = 1, OPENING = 2, RUN = 3, SILENT = 4;

  reg [2:0] phase;
  reg [4:0] timer;
  reg [1:0] grants;                  // opening pulses still to send
  reg [2:0] owed;                    // pulses for symbols taken
  reg [6:0] credit;
  reg [4:0] taken_count;             // symbols taken since the last pulse
  reg [8:0] store[0:63];
  reg [5:0] rd;
  reg [5:0] wr;
  reg [6:0] level;
  reg       was_loop;

  wire running = (phase == OPENING) || (phase == RUN);
  wire restart = (was_loop != loopback) || !enable;
  wire drop    = running && !loopback && (!rx_signal || !enable || credit_error);
  wire credit_error = rx_fcc && ({1'b0, credit} - {7'd0, taken} + 8'd32 > 8'd64);

  assign up        = loopback ? enable : running;
  assign taken     = loopback ? (enable && offer && level < 7'd64)
                              : (running && offer && credit != 0);
  assign in_valid  = level != 0;
  assign in_symbol = store[rd];
  assign lost      = drop;

  wire store_it = loopback ? taken : (running && rx_valid && rx_signal && level < 7'd64);
  wire [8:0] store_sym = loopback ? offer_symbol : rx_symbol;
  wire first_pulse = (phase == OPENING) && (timer == 0) && (grants != 0);
  wire later_pulse = running && !first_pulse && owed != 0;

  always @(posedge clk) if (store_it) store[wr] <= store_sym;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      phase       <= OFF;
      timer       <= 0;
      grants      <= 0;
      owed        <= 0;
      credit      <= 0;
      taken_count <= 0;
      rd          <= 0;
      wr          <= 0;
      level       <= 0;
      was_loop    <= 0;
      tx_signal   <= 0;
      tx_fcc      <= 0;
      tx_valid    <= 0;
      tx_symbol   <= 0;
    end else begin
      was_loop  <= loopback;
      tx_signal <= (phase != OFF) && (phase != SILENT) && !loopback;
      tx_fcc    <= first_pulse || later_pulse;
      tx_valid  <= taken && !loopback;
      tx_symbol <= taken && !loopback ? offer_symbol : 9'd0;

      // credit
      if (running)
        credit <= credit - {6'd0, taken} + (rx_fcc ? 7'd32 : 7'd0);

      // input FIFO
      if (store_it) wr <= wr + 6'd1;
      if (in_take) rd <= rd + 6'd1;
      level <= level + {6'd0, store_it} - {6'd0, in_take};

      // pulses
      if (in_take && !loopback) taken_count <= taken_count + 5'd1;
      owed <= owed - {2'd0, later_pulse}
              + {2'd0, in_take && !loopback && taken_count == 5'd31};

      if (timer != 0) timer <= timer - 5'd1;
      case (phase)
        OFF:     if (enable && !loopback) phase <= LISTEN;
        LISTEN: begin
          if (!enable || loopback) phase <= OFF;
          else if (rx_signal) begin
            phase  <= OPENING;
            timer  <= FIRST_FCC[4:0] - 5'd1;
            grants <= 2'd2;
          end
        end
        OPENING:
        if (first_pulse) begin
          grants <= grants - 2'd1;
          timer  <= FCC_SPACING[4:0] - 5'd1;
          if (grants == 2'd1) phase <= RUN;
        end
        RUN:     ;
        default: if (timer == 0) phase <= enable && !loopback ? LISTEN : OFF;
      endcase

      if (drop || (restart && phase != OFF && phase != SILENT) || was_loop != loopback) begin
        phase       <= enable ? SILENT : OFF;
        timer       <= RESTART[4:0] - 5'd1;
        grants      <= 0;
        owed        <= 0;
        credit      <= 0;
        taken_count <= 0;
        rd          <= 0;
        wr          <= 0;
        level       <= 0;
      end
    end
endmodule
